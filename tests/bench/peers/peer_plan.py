"""What is measured: the rows (a library over something), the operations, the sizes."""

import argparse
from dataclasses import dataclass, field

KIB, MIB = 1024, 1024 * 1024
OPERATIONS = ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "barrier", "ping_pong"]
START_UP_RANKS = 64


@dataclass(frozen=True)
class Row:
    """A library and what it moves bytes over."""
    library: str
    lanes: str

    @property
    def name(self):
        return f"{self.library}/{self.lanes}"


OPENMPI_TCP = Row("openmpi", "tcp")
OPENMPI_SHM = Row("openmpi", "shm")
GLOO_TCP = Row("gloo", "tcp")
TROUPE_TCP = Row("troupe", "tcp")
TROUPE_SHM = Row("troupe", "shm")
TROUPE_IN_PROCESS = Row("troupe", "in_process")
ROWS = [OPENMPI_TCP, OPENMPI_SHM, GLOO_TCP, TROUPE_TCP, TROUPE_SHM, TROUPE_IN_PROCESS]


@dataclass(frozen=True)
class Measurement:
    """One operation at one size. Sizes follow nccl-tests: the larger buffer of a rank."""
    operation: str
    ranks: int
    bytes: int


@dataclass
class Plan:
    rows: list
    measurements: list
    rounds: int
    budget_s: float
    start_up: bool
    troupe_settings: list = field(default_factory=list)


def measurements(operations, ranks, sizes):
    """Each operation at each size; a barrier has no size, a ping-pong two ranks."""
    found = []
    for count in ranks:
        for size in sizes:
            for operation in operations:
                if operation == "ping_pong" and count != 2:
                    continue
                bytes_ = 0 if operation == "barrier" else size
                wanted = Measurement(operation, count, bytes_)
                if wanted not in found:
                    found.append(wanted)
    return found


def quick_measurements():
    """What the goals need, and a little more."""
    return (measurements(["all_reduce", "barrier", "ping_pong"], [2], [8])
            + measurements(["all_reduce", "all_gather", "reduce_scatter", "all_to_all"], [2],
                           [64 * KIB])
            + measurements(["all_reduce"], [2], [MIB, 16 * MIB])
            + measurements(["all_reduce"], [4, 8], [8]))


def rounds_of(plan, measurement):
    """One turn is enough, and long enough, where all ranks together move half a GiB."""
    return 1 if measurement.bytes * measurement.ranks >= 512 * MIB else plan.rounds


def size_of(text):
    """8, 64K, 16M, 1G; powers of 1024."""
    units = {"K": KIB, "M": MIB, "G": 1024 * MIB}
    digits, unit = (text[:-1], text[-1].upper()) if text[-1:].upper() in units else (text, "")
    if not digits.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is no size: 8, 64K, 16M")
    return int(digits) * units.get(unit, 1)


def list_of(convert):
    return lambda text: [convert(word) for word in text.split(",")]


def row_of(text):
    for row in ROWS:
        if row.name == text:
            return row
    names = ", ".join(row.name for row in ROWS)
    raise argparse.ArgumentTypeError(f"no row '{text}'; there are: {names}")


def operation_of(text):
    if text not in OPERATIONS:
        raise argparse.ArgumentTypeError(
            f"no operation '{text}'; there are: {', '.join(OPERATIONS)}")
    return text


def rank_count_of(text):
    if not text.isdecimal() or not 2 <= int(text) <= 64:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of ranks from 2 to 64")
    return int(text)


def above_zero(convert):
    def number(text):
        value = convert(text)
        if value <= 0:
            raise argparse.ArgumentTypeError(f"{text} is not above 0")
        return value
    return number


def parser():
    out = argparse.ArgumentParser(
        prog="./dev bench peers",
        description="Measures Troupe, Open MPI and gloo side by side in one run, with one loop, "
                    "and holds the result against Troupe's goals.")
    out.add_argument("--quick", action="store_true", help="what the goals need, under a minute")
    out.add_argument("--json", metavar="F", help="also write the rows there")
    out.add_argument("--in-process", action="store_true",
                     help="only ranks that are threads of one process, beside Open MPI's default")
    out.add_argument("--rows", type=list_of(row_of),
                     help="only these: " + ",".join(row.name for row in ROWS))
    out.add_argument("--operations", type=list_of(operation_of),
                     help="only these: " + ",".join(OPERATIONS))
    out.add_argument("--ranks", type=list_of(rank_count_of), help="only these (2,4,8)")
    out.add_argument("--sizes", type=list_of(size_of), help="only these (8,1K,64K,1M,16M,128M)")
    out.add_argument("--rounds", type=above_zero(int), help="times that each row has its turn; the "
                     "median of the quiet ones counts (3, --quick 1)")
    out.add_argument("--budget", type=above_zero(float), metavar="S",
                     help="seconds of timed calls in a turn (0.3, --quick 0.2)")
    out.add_argument("--set", action="append", default=[], metavar="NAME=VALUE",
                     help="an option of Troupe's configuration for all rows of Troupe")
    out.add_argument("--in-process-lanes", metavar="KIND",
                     help="transport.lanes of troupe/in_process (default: the runtime's)")
    out.add_argument("--troupe-build", metavar="DIR",
                     help="measure the Troupe of this build directory (default: build/release)")
    out.add_argument("--rep-movsb-off", action="store_true",
                     help="run all with glibc's memcpy kept from `rep movsb`, which some "
                          "processors run at 3.5 GB/s")
    out.add_argument("--no-start-up", action="store_true",
                     help=f"leave out the start of {START_UP_RANKS} processes")
    return out


def plan_of(options):
    rows = options.rows or ([OPENMPI_SHM, TROUPE_IN_PROCESS] if options.in_process else ROWS)
    chosen = options.operations or options.ranks or options.sizes
    if options.quick and not chosen:
        wanted = quick_measurements()
    else:
        sizes = [8, 64 * KIB, MIB] if options.quick else \
            [8, KIB, 64 * KIB, MIB, 16 * MIB, 128 * MIB]
        wanted = measurements(options.operations or OPERATIONS, options.ranks or [2, 4, 8],
                              options.sizes or sizes)
    start_up = not (options.no_start_up or chosen or options.in_process)
    return Plan(rows=rows, measurements=wanted,
                rounds=options.rounds or (1 if options.quick else 3),
                budget_s=options.budget or (0.2 if options.quick else 0.3),
                start_up=start_up and any(row.library == "troupe" for row in rows),
                troupe_settings=options.set)
