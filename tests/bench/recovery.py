#!/usr/bin/env python3
"""How long survivors of a fault-tolerant job stand still when a rank ends.

Kills (or stops) one rank of a job again and again, and prints the time until the last survivor
has done its next all_reduce: median, worst, least.

Usage: recovery.py BUILD_DIRECTORY [--ranks N] [--runs N] [--count ELEMENTS] [--how kill|stop]
"""
import argparse
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import tempfile
import time


def stopped_children(parent):
    listed = subprocess.run(["ps", "-o", "pid=,stat=", "--ppid", str(parent)], text=True,
                            capture_output=True).stdout
    return [int(line.split()[0]) for line in listed.splitlines() if "T" in line.split()[1]]


def play(options, run):
    build = pathlib.Path(options.build)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TROUPE_")}
    if options.how == "stop":
        environment["TROUPE_TRANSPORT_HEARTBEAT_INTERVAL"] = "50ms"
        environment["TROUPE_TRANSPORT_SILENCE_TIMEOUT"] = "250ms"
    victim = run % options.ranks
    steps = "400" if options.how == "stop" else "300"
    with tempfile.NamedTemporaryFile() as note:
        job = subprocess.Popen(
            [build / "bin/troupe", "launch", "-n", str(options.ranks), "--keep-going", "--timeout",
             "60", "--", build / "tests/bin/survivor_rank", steps, str(options.count), str(victim),
             "100", options.how, note.name],
            env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if options.how == "stop":
            while job.poll() is None and os.path.getsize(note.name) == 0:
                time.sleep(0.01)
            time.sleep(2)
            for pid in stopped_children(job.pid):
                os.kill(pid, signal.SIGCONT)
        text, _ = job.communicate()
    lost = options.ranks - 1
    return [float(ms) for ms in
            re.findall(rf"recovered ([\d.]+) epoch \d+ of {lost} ranks", text)], text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--how", choices=("kill", "stop"), default="kill")
    options = parser.parse_args()
    last = []
    for run in range(options.runs):
        times, text = play(options, run)
        if len(times) != options.ranks - 1:
            raise SystemExit(f"run {run}: {len(times)} survivors recovered\n{text}")
        last.append(max(times))
    print(json.dumps({"how": options.how, "ranks": options.ranks, "count": options.count,
                      "runs": options.runs, "median_ms": round(statistics.median(last), 2),
                      "worst_ms": round(max(last), 2), "least_ms": round(min(last), 2)}))


if __name__ == "__main__":
    main()
