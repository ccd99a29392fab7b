"""What comes out: rows for the table and the JSON file, and the goals held against them."""

from dataclasses import dataclass

import peer_plan
from peer_plan import (GLOO_TCP, MIB, OPENMPI_SHM, OPENMPI_TCP, START_UP_RANKS, TROUPE_IN_PROCESS,
                       TROUPE_SHM, TROUPE_TCP)


def bus_factor(operation, ranks):
    """nccl-tests: what the busiest link carries, in units of the size."""
    if operation == "all_reduce":
        return 2 * (ranks - 1) / ranks
    if operation in ("all_gather", "reduce_scatter", "all_to_all"):
        return (ranks - 1) / ranks
    return 1 if operation == "ping_pong" else 0


def bytes_moved(operation, ranks, size):
    """The size that counts: at least one element for each peer."""
    if operation in ("all_gather", "reduce_scatter", "all_to_all"):
        return max(1, size // 4 // ranks) * 4 * ranks
    return size


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


@dataclass(frozen=True)
class Turn:
    """What a row measured when it was its turn, in nanoseconds, and the share of all cores that
    others used meanwhile."""
    p50_ns: float
    mean_ns: float
    others: float = 0.0


# Turns as quiet as the quietest, within what the kernel's clock ticks can tell apart.
OTHERS_TOLERANCE = 0.05


def quiet_turns(turns):
    """Those that others disturbed least: the rest measure the others."""
    least = min(turn.others for turn in turns)
    return [turn for turn in turns if turn.others <= least + OTHERS_TOLERANCE]


def measured_row(row, measurement, turns):
    """One object of the JSON file: the median of the quiet turns. A ping-pong is given one way."""
    quiet = quiet_turns(turns)
    ways = 2 if measurement.operation == "ping_pong" else 1
    p50_ns = median([turn.p50_ns for turn in quiet]) / ways
    mean_ns = median([turn.mean_ns for turn in quiet]) / ways
    size = bytes_moved(measurement.operation, measurement.ranks, measurement.bytes)
    bus = size * bus_factor(measurement.operation, measurement.ranks) / mean_ns if mean_ns else 0
    return {"library": row.library, "lanes": row.lanes, "operation": measurement.operation,
            "ranks": measurement.ranks, "bytes": measurement.bytes,
            "p50_us": round(p50_ns / 1000, 3), "busbw_gbs": round(bus, 4),
            "avg_us": round(mean_ns / 1000, 3),
            "others": round(max(turn.others for turn in quiet), 3), "reason": None}


def missing_row(row, measurement, reason):
    """A row that could not be measured says why."""
    return {"library": row.library, "lanes": row.lanes, "operation": measurement.operation,
            "ranks": measurement.ranks, "bytes": measurement.bytes, "p50_us": None,
            "busbw_gbs": None, "avg_us": None, "others": None, "reason": reason}


def start_up_row(wall_ns, took):
    """`took`: of each rank (messages sent, received, connections accepted, dialled)."""
    measurement = peer_plan.Measurement("start_up", START_UP_RANKS, 0)
    row = measured_row(TROUPE_TCP, measurement, [Turn(ns, ns) for ns in wall_ns])
    sent, received, accepted, dialled = zip(*took)
    return row | {"messages_p50": median(map(sum, zip(sent, received))),
                  "messages_max": max(map(sum, zip(sent, received))),
                  "fan_in_p50": median(accepted), "fan_in_max": max(accepted),
                  "dialled_max": max(dialled)}


def start_up_text(row):
    return (f"messages a rank {row['messages_p50']:.0f} (most {row['messages_max']}), "
            f"connections accepted {row['fan_in_p50']:.0f} (most {row['fan_in_max']}: the "
            f"rendezvous), dialled at most {row['dialled_max']}")


# -- table -----------------------------------------------------------------------------------------

CELL = 19


def size_text(size):
    for unit, name in ((1024 * MIB, "GiB"), (MIB, "MiB"), (1024, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B" if size else "-"


def time_text(us):
    if us >= 10_000:
        return f"{us / 1000:.1f}ms"
    return f"{us:.0f}us" if us >= 100 else f"{us:.2f}us"


def heading(rows):
    first = f"{'ranks':>5} {'operation':<14} {'size':>8}"
    return first + "".join(f"{row.name:>{CELL}}" for row in rows) + f"{'others':>8}"


def cell(result):
    if result is None or result["p50_us"] is None:
        return "n/a"
    text = time_text(result["p50_us"])
    bus = f"{result['busbw_gbs']:.2f}" if result["busbw_gbs"] >= 0.005 else ""
    return f"{text} {bus:>6}"


def table_line(measurement, rows, results):
    """p50 and busbw of each row, and the most of all cores that others used in a turn."""
    others = max([r["others"] for r in results if r["others"] is not None], default=0)
    found = {(r["library"], r["lanes"]): r for r in results}
    cells = "".join(f"{cell(found.get((row.library, row.lanes))):>{CELL}}" for row in rows)
    first = f"{measurement.ranks:>5} {measurement.operation:<14} {size_text(measurement.bytes):>8}"
    return f"{first}{cells}{others:>8.0%}"


def reasons(results):
    """Each reason once, with the operations of its row that it kept from being measured."""
    found = {}
    for result in results:
        if result["reason"]:
            key = (f"{result['library']}/{result['lanes']}", result["reason"])
            where = f"{result['operation']} x{result['ranks']}"
            if where not in found.setdefault(key, []):
                found[key].append(where)
    return [f"n/a {name} ({', '.join(places[:4])}{', ...' if len(places) > 4 else ''}): {reason}"
            for (name, reason), places in found.items()]


# -- goals -----------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Goal:
    """`ours` of one measurement against factor times that of `theirs`, or against a number."""
    ours: peer_plan.Row
    operation: str
    ranks: int
    bytes: int
    key: str  # p50_us: at most the bound; busbw_gbs: at least
    factor: float
    theirs: peer_plan.Row = None  # none: factor is the bound itself

    @property
    def text(self):
        sign = "<=" if self.key == "p50_us" else ">="
        size = f" {size_text(self.bytes)}" if self.bytes else ""
        what = f"{self.ours.name} {self.operation}{size} x{self.ranks} {self.key}"
        bound = f"{self.factor:g}" if self.theirs is None else \
            f"{self.factor:g} x {self.theirs.name}"
        return f"{what} {sign} {bound}"


GOALS = [
    Goal(TROUPE_TCP, "all_reduce", 2, 8, "p50_us", 1.3, OPENMPI_TCP),
    Goal(TROUPE_TCP, "all_reduce", 2, 8, "p50_us", 0.2, GLOO_TCP),
    Goal(TROUPE_TCP, "all_reduce", 2, 16 * MIB, "busbw_gbs", 1, OPENMPI_TCP),
    Goal(TROUPE_TCP, "all_reduce", 4, 8, "p50_us", 1, OPENMPI_TCP),
    Goal(TROUPE_TCP, "all_reduce", 8, 8, "p50_us", 1, OPENMPI_TCP),
    Goal(TROUPE_SHM, "all_reduce", 2, 8, "p50_us", 3),
    Goal(TROUPE_SHM, "all_reduce", 2, MIB, "busbw_gbs", 1, OPENMPI_SHM),
    Goal(TROUPE_SHM, "all_reduce", 2, 16 * MIB, "busbw_gbs", 1, OPENMPI_SHM),
    Goal(TROUPE_IN_PROCESS, "all_reduce", 2, 16 * MIB, "busbw_gbs", 2, OPENMPI_SHM),
    Goal(TROUPE_TCP, "start_up", START_UP_RANKS, 0, "p50_us", 1_000_000),
]


def row_of_goal(results, row, goal):
    for r in results:
        if (r["library"], r["lanes"], r["operation"], r["ranks"], r["bytes"]) == \
                (row.library, row.lanes, goal.operation, goal.ranks, goal.bytes):
            return r if r[goal.key] is not None else None
    return None


def judged(goal, results):
    """(verdict, ours, bound); verdict is met, missed by N %, or not measured, and says if others
    used so much of the machine that it means little."""
    ours = row_of_goal(results, goal.ours, goal)
    theirs = None if goal.theirs is None else row_of_goal(results, goal.theirs, goal)
    if ours is None or (goal.theirs is not None and theirs is None):
        missing = goal.ours if ours is None else goal.theirs
        return f"not measured: no {missing.name}", None, None
    value = ours[goal.key]
    bound = goal.factor * (theirs[goal.key] if theirs else 1)
    others = max(r["others"] for r in (ours, theirs) if r)
    doubt = f" (others used {others:.0%})" if others > 2 * OTHERS_TOLERANCE else ""
    lower_is_better = goal.key == "p50_us"
    if (value <= bound) if lower_is_better else (value >= bound):
        return f"met{doubt}", value, bound
    by = (value / bound - 1) if lower_is_better else (1 - value / bound)
    return f"missed by {by:.0%}{doubt}", value, bound


def goal_lines(results):
    lines = [f"{'goal':<72}{'ours':>12}{'bound':>12}{'ours/bound':>12}  verdict"]
    for goal in GOALS:
        verdict, ours, bound = judged(goal, results)
        texts = ["-" if value is None else f"{value:.2f}" for value in (ours, bound)]
        ratio = f"{ours / bound:.2f}" if ours is not None and bound else "-"
        lines.append(f"{goal.text:<72}{texts[0]:>12}{texts[1]:>12}{ratio:>12}  {verdict}")
    return lines
