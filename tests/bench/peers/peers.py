#!/usr/bin/env python3
"""./dev bench peers: Troupe, Open MPI and gloo side by side, and the goals held against it.

Jobs of all libraries with the same number of ranks live at the same time and take turns, operation
by operation and size by size, so that whatever the machine does hits all alike. Whoever has no turn
sleeps in read(2)."""

import contextlib
import functools
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import peer_plan
import peer_report
from peer_jobs import Job, JobFailed, OthersMeter

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
BUILD = os.path.join(ROOT, "build", "bench-peers")
CALLS_MIN, CALLS_MAX = 5, 20_000
RESTARTS_MAX = 3
START_UP_TURNS = 3
START_UP_DEADLINE_S = 30


def say(text=""):
    print(text, flush=True)


def warn(text):
    print(f"peers: WARNING: {text}", file=sys.stderr, flush=True)


# -- build -----------------------------------------------------------------------------------------

def run_step(name, command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"peers: {name} failed:\n{done.stdout[-4000:]}")
    return done.stdout


def build(troupe_build):
    """Installs the measured Troupe for itself and builds the programs against it."""
    installed = os.path.join(BUILD, "installed")
    jobs = str(os.cpu_count() or 2)
    # Minutes, the first time: its progress is shown.
    made = subprocess.run(["cmake", "--build", troupe_build, "--parallel", jobs,
                           "--target", "troupe_programs"], stdout=sys.stderr, check=False)
    if made.returncode != 0:
        sys.exit(f"peers: building Troupe in {troupe_build} failed")
    run_step("installing Troupe", ["cmake", "--install", troupe_build, "--prefix", installed])
    out = run_step("configuring the programs",
                   ["cmake", "-S", HERE, "-B", BUILD, "-G", "Ninja",
                    f"-DCMAKE_PREFIX_PATH={installed}", "-DCMAKE_BUILD_TYPE=Release"])
    for line in out.splitlines():
        if "is missing" in line:
            warn(line.strip())
    run_step("building the programs", ["cmake", "--build", BUILD, "--parallel", jobs])
    return os.path.join(installed, "bin", "troupe")


# -- commands --------------------------------------------------------------------------------------

class Launcher:
    """How each row is started on this machine; `reason_against` says why one cannot be."""

    def __init__(self, plan, troupe, directory, in_process_lanes=None):
        self.plan, self.troupe, self.directory = plan, troupe, directory
        self.in_process_lanes = in_process_lanes
        self.cores = len(os.sched_getaffinity(0))
        self.started = 0

    def program(self, library):
        return os.path.join(BUILD, "bin", f"{library}_peer")

    def reason_against(self, row):
        if not os.path.exists(self.program(row.library)):
            return f"{row.library} is not installed here (docs/dependencies.md)"
        if row.library == "openmpi" and shutil.which("mpirun") is None:
            return "there is no mpirun (openmpi-bin)"
        return None

    def command(self, row, ranks, control):
        self.started += 1
        rest = ["--control", control, "--deadline", "90"]
        program = self.program(row.library)
        if row.library == "openmpi":
            return self.mpirun(row, ranks) + [program, *rest]
        if row.library == "gloo":
            store = os.path.join(self.directory, f"gloo_{self.started}")
            os.mkdir(store)
            # One shell starts and collects all ranks, as mpirun and `troupe launch` do.
            line = 'for r in $(seq 0 $(($1 - 1))); do "$2" "$r" "$1" "$3" "$4" "$5" "$6" "$7" & ' \
                   "done; wait"
            return ["sh", "-c", line, "sh", str(ranks), program, store, *rest]
        return self.troupe_command(row, ranks, [program, *rest])

    def mpirun(self, row, ranks):
        words = ["mpirun", "-n", str(ranks), "--oversubscribe"]
        if os.geteuid() == 0:
            words += ["--allow-run-as-root"]
        if row.lanes == "tcp":
            words += ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self",
                      "--mca", "btl_tcp_if_include", "lo"]
        if ranks > self.cores:
            words += ["--mca", "mpi_yield_when_idle", "1"]
        return words

    def troupe_command(self, row, ranks, program):
        settings = [word for setting in self.plan.troupe_settings for word in ("--set", setting)]
        if row.lanes == "in_process":
            if self.in_process_lanes:
                settings += ["--set", f"transport.lanes={self.in_process_lanes}"]
            return [*program, "--threads", str(ranks), *settings]
        settings += ["--set", f"transport.lanes={row.lanes}"]
        return [self.troupe, "launch", "-n", str(ranks), "--no-tag", "--grace", "2", "--",
                *program, *settings]


# -- measuring -------------------------------------------------------------------------------------

class Seat:
    """A row's job at one number of ranks: started when needed, again after it broke."""

    def __init__(self, row, ranks, launcher, environment):
        self.row, self.ranks, self.launcher, self.environment = row, ranks, launcher, environment
        self.job, self.starts = None, 0
        self.reason = launcher.reason_against(row)

    def ready(self):
        """The job, or none with the reason in `reason`."""
        if self.job is None and self.reason is None:
            self.starts += 1
            try:
                self.job = Job(f"{self.row.name}_{self.starts}", self.ranks,
                               functools.partial(self.launcher.command, self.row, self.ranks),
                               self.launcher.directory, self.environment)
            except JobFailed as failure:
                self.reason = str(failure)
        return self.job

    def broke(self, failure):
        self.job.end()
        self.job = None
        if self.starts > RESTARTS_MAX:
            self.reason = f"broke {self.starts} times, last: {failure}"

    def close(self):
        if self.job is not None:
            self.job.quit()
            self.job = None


def calls_within(budget_s, mean_ns):
    """As many calls as the time allows; few of the slowest, as all else would take minutes."""
    fewest = CALLS_MIN if mean_ns < 200e6 else 3
    return max(fewest, min(CALLS_MAX, int(budget_s * 1e9 / max(mean_ns, 1))))


def take_turn(job, measurement, budget_s):
    """p50 of rank 0, mean of the slowest rank, and who else used the cores."""
    ready = job.command(f"prepare {measurement.operation} {measurement.bytes}")
    calls = calls_within(budget_s, max(int(words[1]) for words in ready))
    meter = OthersMeter(job)
    timed = job.command(f"time {calls}")
    others = meter.share()
    job.command("release")
    return peer_report.Turn(p50_ns=int(timed[0][1]), others=others,
                            mean_ns=max(int(words[2]) for words in timed) / calls)


def measure(seats, measurement, plan, first):
    """The rows of one measurement; who begins changes from one to the next."""
    turns = {seat.row: [] for seat in seats}
    reasons = {}
    for turn in range(peer_plan.rounds_of(plan, measurement)):
        shift = (first + turn) % len(seats)
        for seat in seats[shift:] + seats[:shift]:
            if seat.row in reasons:
                continue
            job = seat.ready()
            if job is None:
                reasons[seat.row] = seat.reason
                continue
            try:
                turns[seat.row].append(take_turn(job, measurement, plan.budget_s))
            except JobFailed as failure:
                reasons[seat.row] = str(failure)
                if not failure.alive:
                    seat.broke(failure)
    return [peer_report.missing_row(seat.row, measurement, reasons[seat.row])
            if seat.row in reasons else
            peer_report.measured_row(seat.row, measurement, turns[seat.row]) for seat in seats]


def measure_all(plan, launcher, environment, results):
    say(peer_report.heading(plan.rows))
    for ranks in dict.fromkeys(m.ranks for m in plan.measurements):
        seats = [Seat(row, ranks, launcher, environment) for row in plan.rows]
        with contextlib.ExitStack() as stack:
            for seat in seats:
                stack.callback(seat.close)
            for first, measurement in enumerate(plan.measurements):
                if measurement.ranks != ranks:
                    continue
                rows = measure(seats, measurement, plan, first)
                results += rows
                say(peer_report.table_line(measurement, plan.rows, rows))


def start_up(launcher, environment):
    """Wall time in nanoseconds from launch until the last rank is through its first barrier, and
    each rank's (messages sent, received, connections accepted, dialled)."""
    ranks = peer_plan.START_UP_RANKS
    command = [launcher.troupe, "launch", "-n", str(ranks), "--no-tag",
               "--timeout", str(START_UP_DEADLINE_S), "--", launcher.program("troupe"),
               "--first-barrier", "--set", "transport.lanes=tcp"]
    begin = time.monotonic_ns()
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               start_new_session=True)
    try:
        out, errors = process.communicate(timeout=START_UP_DEADLINE_S + 15)
    finally:
        if process.poll() is None:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
            process.kill()
    through = [tuple(map(int, line.split()[1:])) for line in out.splitlines()
               if line.startswith("through ")]
    if len(through) != ranks:
        raise JobFailed(f"{len(through)} of {ranks} ranks passed the barrier: "
                        f"{errors.strip()[-300:]}")
    return max(line[0] for line in through) - begin, [line[1:] for line in through]


def measure_start_up(launcher, environment, results):
    measurement = peer_plan.Measurement("start_up", peer_plan.START_UP_RANKS, 0)
    try:
        turns = [start_up(launcher, environment) for _ in range(START_UP_TURNS)]
        row = peer_report.start_up_row([wall for wall, _ in turns], turns[-1][1])
        say(f"start of {measurement.ranks} processes to the first barrier: "
            f"{row['p50_us'] / 1e6:.2f} s; {peer_report.start_up_text(row)}")
    except (JobFailed, subprocess.TimeoutExpired) as failure:
        row = peer_report.missing_row(peer_plan.TROUPE_TCP, measurement, str(failure))
    results.append(row)


# -- the machine -----------------------------------------------------------------------------------

def first_line(path, otherwise="unknown"):
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.readline().strip()
    except OSError:
        return otherwise


def describe_machine():
    model = "unknown processor"
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as stream:
        model = next((line.partition(":")[2].strip() for line in stream
                      if line.startswith("model name")), model)
    congestion = first_line("/proc/sys/net/ipv4/tcp_congestion_control")
    say(f"# {platform.system()} {platform.release()}, {model}, "
        f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f}, "
        f"{time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime())}")
    say(f"# tcp congestion control: {congestion}"
        + (" (paces large messages: compare within this run only)" if congestion == "bbr" else ""))
    say("# cells: p50 of rank 0, then busbw in GB/s; others: share of all cores used by others")


def write_json(path, results):
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(results, stream, indent=1)
        stream.write("\n")


def end_by_signal(_number, _frame):
    raise KeyboardInterrupt


def main(arguments):
    options = peer_plan.parser().parse_args(arguments)
    plan = peer_plan.plan_of(options)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end_by_signal)
    try:
        troupe = build(os.path.join(ROOT, options.troupe_build or "build/release"))
    except KeyboardInterrupt:
        warn("interrupted while building")
        return 130
    environment = dict(os.environ)
    if options.rep_movsb_off:
        environment["GLIBC_TUNABLES"] = "glibc.cpu.x86_rep_movsb_threshold=1073741824"
    describe_machine()
    results, interrupted = [], False
    try:
        with tempfile.TemporaryDirectory(prefix="peers.") as directory:
            launcher = Launcher(plan, troupe, directory, options.in_process_lanes)
            for row in plan.rows:
                if launcher.reason_against(row):
                    warn(f"{row.name}: {launcher.reason_against(row)}")
            measure_all(plan, launcher, environment, results)
            if plan.start_up:
                measure_start_up(launcher, environment, results)
    except KeyboardInterrupt:
        interrupted = True
        warn("interrupted: nothing is left running; what was measured so far follows")
    for line in peer_report.reasons(results):
        say(line)
    say()
    for line in peer_report.goal_lines(results):
        say(line)
    if options.json:
        write_json(options.json, results)
    wrong = any("WRONG RESULT" in (row["reason"] or "") for row in results)
    return 130 if interrupted else 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
