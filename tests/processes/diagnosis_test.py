"""Jobs of real processes in which something goes wrong: `troupe analyze` names what and who.

Usage: diagnosis_test.py FAULT_PROBE TROUPE
"""
import json
import os
import pickle
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

PROBE, TROUPE = sys.argv[1:3]
SIZE = 4


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Job:
    """The ranks of one job, which stay until `close`."""

    def __init__(self, what, victim, wait_for=range(SIZE), start=range(SIZE), **environment):
        others = ("TROUPE_", "SLURM", "OMPI")
        env = {k: v for k, v in os.environ.items() if not k.startswith(others)}
        env.update(WORLD_SIZE=str(SIZE), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()),
                   TROUPE_BOOTSTRAP_SECRET="job secret", TROUPE_COLLECTIVE_TIMEOUT="60s")
        env.update(environment)
        self.processes = {
            r: subprocess.Popen([PROBE, what, str(victim)], env=dict(env, RANK=str(r)), text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL)
            for r in start}
        for r in wait_for:
            line = self.processes[r].stdout.readline()
            if not line.startswith("running"):
                self.close()
                raise AssertionError(f"rank {r} did not get on: {line!r}")

    def pids(self, without=()):
        return [str(p.pid) for r, p in self.processes.items() if r not in without]

    def close(self):
        for p in self.processes.values():
            p.kill()
        for p in self.processes.values():
            p.wait()
            p.stdout.close()
            p.stdin.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def troupe(*words, limit=60):
    return subprocess.run([TROUPE, *words], capture_output=True, text=True, timeout=limit)


def analyze(*targets, **options):
    words = [w for k, v in options.items() for w in ("--" + k.replace("_", "-"), v)]
    done = troupe("analyze", *targets, "--json", *words)
    if not done.stdout:
        raise AssertionError(f"no verdict: {done.stderr!r}")
    return json.loads(done.stdout), done.returncode


def until(verdict, *targets, seconds=30, **options):
    """The first analysis that comes to the verdict; the last one if none does: a slow machine needs
    longer until an operation is old enough to count as stuck."""
    end = time.monotonic() + seconds
    while True:
        found, code = analyze(*targets, **options)
        if found["verdict"] == verdict or time.monotonic() > end:
            return found, code
        time.sleep(0.2)


class Verdicts(unittest.TestCase):
    def check(self, job, verdict, culprits, code, without=(), **options):
        found, exit_code = until(verdict, *job.pids(without), **options)
        self.assertEqual(found["verdict"], verdict, found)
        self.assertEqual(found["culprits"], culprits, found)
        self.assertEqual(exit_code, code, found)
        return found

    def test_a_rank_that_never_joins(self):
        with Job("never_joined", 2) as job:
            found = self.check(job, "never_joined", [2], 15)
            self.assertIn("Rank 2 never joined all_reduce(count 1000, float32, sum)",
                          found["sentence"])
            by_rank = {row["rank"]: row for row in found["ranks"]}
            self.assertIn("rank 2", by_rank[0]["waits_for"] + by_rank[1]["waits_for"]
                          + by_rank[3]["waits_for"])

    def test_another_count(self):
        with Job("mismatch", 1) as job:
            found = self.check(job, "mismatched_call", [1], 11)
            self.assertIn("count 1001", found["sentence"])

    def test_two_communicators_in_another_order(self):
        with Job("order", 3) as job:
            self.check(job, "communicator_deadlock", [3], 17)

    def test_a_killed_rank(self):
        with Job("loop", 0) as job:
            job.processes[2].kill()
            job.processes[2].wait()
            self.check(job, "process_dead", [2], 12, without=[2])

    def test_a_stopped_rank(self):
        with Job("loop", 0) as job:
            job.processes[1].send_signal(signal.SIGSTOP)
            found = self.check(job, "rank_silent", [1], 14, wait="1s")
            self.assertTrue(any("did not answer" in note for note in found["notes"]), found)

    def test_a_rank_that_never_sends(self):
        with Job("no_send", 3) as job:
            self.check(job, "never_joined", [3], 15)

    def test_a_job_that_calls_nothing(self):
        with Job("outside", 0) as job:
            self.check(job, "stuck_outside", [], 18, outside_after="1s")

    def test_a_rank_that_is_slow(self):
        with Job("slow", 1) as job:
            self.check(job, "slow_rank", [1], 19)

    def test_ranks_that_wait_for_one_that_was_not_started(self):
        with Job("outside", 0, wait_for=(), start=(0, 1, 3), TROUPE_BOOTSTRAP_TIMEOUT="60s") as job:
            end = time.monotonic() + 30
            while len(troupe("dump", *job.pids()).stdout.splitlines()) != 3:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.1)
            self.check(job, "join_incomplete", [2], 20)

    def test_a_job_that_gets_on_is_not_accused(self):
        with Job("loop", 0) as job:
            for _ in range(20):
                found, code = analyze(*job.pids(), wait="20s", stuck_after="30s")
                # On a crowded machine a rank may truly be slow for a while.
                self.assertIn(found["verdict"], ("all_good", "slow_rank"), found)
                self.assertIn(code, (0, 19))


class Dumps(unittest.TestCase):
    def test_a_failure_and_the_signal_write_files_that_are_analyzed(self):
        with tempfile.TemporaryDirectory() as where:
            with Job("mismatch", 1, TROUPE_TRACE_DUMP_DIRECTORY=where) as job:
                end = time.monotonic() + 30
                while len([f for f in os.listdir(where) if f.endswith(".json")]) < SIZE:
                    self.assertLess(time.monotonic(), end, os.listdir(where))
                    time.sleep(0.05)
                found, code = analyze(where)
                self.assertEqual((found["verdict"], code), ("mismatched_call", 11), found)
                for p in job.processes.values():
                    p.send_signal(signal.SIGUSR2)
                path = os.path.join(where, "troupe_rank_0.json")
                while True:
                    with open(path) as file:
                        if json.load(file)["cause"] == "signal":
                            break
                    self.assertLess(time.monotonic(), end)
                    time.sleep(0.05)
                self.assertIsNone(job.processes[0].poll())

    def test_the_flight_recorder_file_is_what_python_reads(self):
        with tempfile.TemporaryDirectory() as where, Job("no_send", 3) as job:
            until("never_joined", *job.pids())
            done = troupe("dump", *job.pids(), "--format", "flight-recorder", "--output",
                          os.path.join(where, "rank_"))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(sorted(os.listdir(where)), [f"rank_{r}" for r in range(SIZE)])
            for r in range(SIZE):
                with open(os.path.join(where, f"rank_{r}"), "rb") as file:
                    self.check_flight_record(pickle.load(file), r)

    def check_flight_record(self, record, rank):
        self.assertEqual(record["version"], "2.10")
        self.assertIn("troupe", record["comm_lib_version"])
        self.assertEqual(record["pg_config"]["1"],
                         {"name": "1", "desc": "default_pg", "ranks": "[0, 1, 2, 3]"})
        self.assertEqual(record["pg_status"]["1"],
                         {"last_enqueued_collective": 4, "last_started_collective": 4,
                          "last_completed_collective": 4})
        entries = record["entries"]
        for entry in entries:
            self.assertEqual(set(entry), {
                "record_id", "pg_id", "process_group", "collective_seq_id", "p2p_seq_id", "op_id",
                "profiling_name", "time_created_ns", "duration_ms", "input_sizes", "input_dtypes",
                "output_sizes", "output_dtypes", "state", "time_discovered_started_ns",
                "time_discovered_completed_ns", "retired", "timeout_ms", "is_p2p", "thread_id",
                "thread_name", "frames"})
        reduces = [e for e in entries if e["profiling_name"] == "nccl:all_reduce"
                   and e["process_group"] == ("1", "default_pg")]
        self.assertEqual([e["collective_seq_id"] for e in reduces], [2, 3, 4])
        for e in reduces:
            self.assertEqual((e["state"], e["retired"], e["is_p2p"]), ("completed", True, False))
            self.assertEqual((e["input_sizes"], e["input_dtypes"]), ([[1000]], ["Float"]))
            self.assertEqual((e["output_sizes"], e["output_dtypes"]), ([[1000]], ["Float"]))
            self.assertEqual(e["timeout_ms"], 60000)
            self.assertGreater(e["duration_ms"], 0)
            self.assertLess(abs(e["time_created_ns"] / 1e9 - time.time()), 300)
            self.assertGreaterEqual(e["time_discovered_completed_ns"], e["time_created_ns"])
        receives = [e for e in entries if e["is_p2p"]]
        self.assertEqual([e["profiling_name"] for e in receives],
                         [] if rank == 3 else [f"nccl:recv {rank}<-3"])
        for e in receives:
            self.assertEqual((e["state"], e["p2p_seq_id"]), ("started", 1))
            self.assertIsNone(e["time_discovered_completed_ns"])

    def analyzed_by_pytorch(self, what):
        """What PyTorch's own analyser prints about a job in which rank 2 does `what`."""
        analyser = "torch.distributed.flight_recorder.fr_trace"
        if subprocess.run([sys.executable, "-c", f"import {analyser}"],
                          capture_output=True).returncode != 0:
            self.skipTest(f"SKIPPED: {sys.executable} has no {analyser} (PyTorch 2.10 or newer)")
        with tempfile.TemporaryDirectory() as where, Job(what, 2) as job:
            until("never_joined" if what == "never_joined" else "mismatched_call", *job.pids())
            done = troupe("dump", *job.pids(), "--format", "flight-recorder", "--output",
                          os.path.join(where, "rank_"))
            self.assertEqual(done.returncode, 0, done.stderr)
            done = subprocess.run([sys.executable, "-m", analyser, where], capture_output=True,
                                  text=True, timeout=120)
            return done.stdout + done.stderr

    def test_pytorch_names_the_rank_that_never_joined(self):
        text = self.analyzed_by_pytorch("never_joined")
        self.assertIn("Not all ranks joining collective, sequence number: 5", text)
        self.assertIn("missing ranks: {2}", text)

    def test_pytorch_names_the_rank_with_another_count(self):
        text = self.analyzed_by_pytorch("mismatch")
        self.assertIn("Culprit rank 2; Error type: SIZE_OR_SYNTAX_MISMATCH", text)

    def test_the_timeline_has_every_rank_and_operation(self):
        with Job("outside", 0) as job:
            done = troupe("dump", *job.pids(), "--format", "chrome")
            self.assertEqual(done.returncode, 0, done.stderr)
            events = json.loads(done.stdout)["traceEvents"]
            for r in range(SIZE):
                mine = [e for e in events if e["pid"] == r]
                reduces = [e for e in mine if e["name"] == "all_reduce"]
                self.assertEqual(len(reduces), 6)
                self.assertTrue(all(e["ph"] == "X" and e["dur"] >= 0 and e["ts"] >= 0
                                    and e["args"]["algorithm"] != "none" for e in reduces))

    def test_top_shows_rates_and_whom_operations_wait_for(self):
        with Job("loop", 0) as job:
            rows = json.loads(troupe("top", "--once", "--json", *job.pids()).stdout)
            self.assertEqual([row["rank"] for row in rows], list(range(SIZE)))
            self.assertTrue(all(row["operations_per_second"] > 0 for row in rows), rows)
        with Job("never_joined", 2) as job:
            end = time.monotonic() + 30
            while True:
                rows = json.loads(troupe("top", "--once", "--json", *job.pids()).stdout)
                if all(row["in_flight"] == (row["rank"] != 2) for row in rows):
                    break
                self.assertLess(time.monotonic(), end, rows)
            self.assertIn("2", "".join(row["waits_for"] for row in rows))
            text = troupe("top", "--once", *job.pids()).stdout
            self.assertEqual(len(text.splitlines()), SIZE + 1, text)

    def test_what_cannot_be_asked_is_named(self):
        with Job("outside", 0, TROUPE_TRACE_REQUESTS="off") as job:
            done = troupe("analyze", *job.pids())
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, r"process \d+ .*trace\.requests")
        done = troupe("analyze", "no-such-file")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no-such-file", done.stderr)

    def test_a_stranger_at_the_socket_gets_nothing_and_harms_nothing(self):
        with Job("outside", 0) as job:
            pid = job.pids()[0]
            with open("/proc/net/unix") as file:
                name = re.search(rf"@(troupe\.report\.\d+\.{pid}\.\S+)", file.read())[1]
            for request in (b"", b"GET / HTTP/1.0\r\n\r\n", b"x" * 10000, b"dum"):
                with socket.socket(socket.AF_UNIX) as s:
                    s.connect("\0" + name)
                    try:
                        s.sendall(request)
                        s.shutdown(socket.SHUT_WR)
                        self.assertEqual(s.recv(100), b"")
                    except (BrokenPipeError, ConnectionResetError):
                        pass
            self.assertEqual(troupe("dump", pid).returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
