"""Jobs of real processes that meet bad luck: each rank ends in the right error, in time.

Usage: job_faults_test.py RANK_PROBE TROUPE
"""
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time
import unittest

PROBE, TROUPE = sys.argv[1:3]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Rank:
    """One rank process and what it printed."""

    def __init__(self, rank, size, port, *arguments, host="127.0.0.1", **environment):
        others = ("TROUPE_", "SLURM", "OMPI")
        env = {k: v for k, v in os.environ.items() if not k.startswith(others)}
        env.update(RANK=str(rank), WORLD_SIZE=str(size), LOCAL_RANK=str(rank), MASTER_ADDR=host,
                   MASTER_PORT=str(port), TROUPE_BOOTSTRAP_SECRET="job secret")
        env.update(environment)
        self.process = subprocess.Popen([PROBE, *arguments], env=env, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def line(self):
        """The next line that the probe itself printed: the library logs to the same place."""
        while (text := self.process.stdout.readline()).startswith("troupe: "):
            pass
        return text.strip()

    def end(self, limit=30):
        """(code, milliseconds, message) of the line that says how it ended."""
        try:
            text, _ = self.process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            self.process.kill()
            text, _ = self.process.communicate()
            raise AssertionError(f"a rank hangs: {text!r}")
        found = re.search(r"^ended (\w+) (\d+) ?(.*)$", text, re.M)
        if not found:
            raise AssertionError(f"a rank said nothing: {text!r}")
        return found[1], int(found[2]), found[3]


def job(size, *arguments, **environment):
    port = free_port()
    return [Rank(r, size, port, *arguments, **environment) for r in range(size)]


class FaultsWhileRunning(unittest.TestCase):
    def kill_one(self, size, count, victim, host="127.0.0.1", lanes="auto"):
        port = free_port()
        ranks = [Rank(r, size, port, "loop", str(count), "20", host=host,
                      TROUPE_TRANSPORT_LANES=lanes) for r in range(size)]
        for r in ranks:
            self.assertRegex(r.line(), "^running")
        time.sleep(0.2)
        killed = time.monotonic()
        ranks[victim].process.send_signal(signal.SIGKILL)
        for number, r in enumerate(ranks):
            if number == victim:
                r.process.wait()
                continue
            code, _, message = r.end(limit=10)
            self.assertLess(time.monotonic() - killed, 2.0)
            self.assertEqual(code, "peer_lost")
            self.assertIn(f"rank {victim}", message)
        ranks[victim].process.stdout.close()

    def test_a_killed_rank_ends_small_operations_of_all_others_within_two_seconds(self):
        self.kill_one(4, 1000, 2)

    def test_a_killed_rank_ends_large_operations_of_all_others_within_two_seconds(self):
        self.kill_one(3, 2_000_000, 0)

    def test_the_same_over_sockets(self):
        self.kill_one(4, 1000, 2, lanes="tcp")
        self.kill_one(3, 2_000_000, 0, lanes="tcp")

    def test_a_rank_alone_needs_no_rendezvous(self):
        alone = subprocess.run([PROBE, "idle", "0"], env={"RANK": "0", "WORLD_SIZE": "1"},
                               capture_output=True, text=True, timeout=30)
        self.assertRegex(alone.stdout, r"ended ok \d+")

    def test_an_abort_does_not_wait_for_a_peer_that_is_stopped(self):
        for lanes in ("tcp", "shm"):
            ranks = job(2, "abort", "8000000", TROUPE_TRANSPORT_LANES=lanes)
            for r in ranks:
                self.assertRegex(r.line(), "^running")
            ranks[1].process.send_signal(signal.SIGSTOP)
            time.sleep(0.3)
            ranks[0].process.send_signal(signal.SIGUSR1)
            code, milliseconds, _ = ranks[0].end(limit=20)
            self.assertEqual(code, "aborted", lanes)
            self.assertLess(milliseconds, 1000, lanes)
            ranks[1].process.kill()
            ranks[1].process.communicate()

    def test_a_killed_job_leaves_no_shared_memory(self):
        def names():
            with open("/proc/net/unix") as f:
                return {line.split()[-1] for line in f if "troupe.shm." in line}
        files, before = set(os.listdir("/dev/shm")), names()
        ranks = job(3, "loop", "1000000", "20", TROUPE_TRANSPORT_LANES="shm")
        for r in ranks:
            self.assertRegex(r.line(), "^running")
        self.assertNotEqual(names(), before)
        for r in ranks:
            r.process.send_signal(signal.SIGKILL)
        for r in ranks:
            r.process.wait()
            r.process.stdout.close()
        self.assertEqual(set(os.listdir("/dev/shm")) - files, set())
        self.assertEqual(names() - before, set())

    def test_ipv6_carries_a_job_and_its_faults(self):
        try:
            with socket.socket(socket.AF_INET6) as s:
                s.bind(("::1", 0))
        except OSError:
            self.skipTest("this machine has no ::1")
        self.kill_one(2, 1000, 1, host="::1")

    def test_an_idle_job_uses_no_measurable_processor_time(self):
        ranks = job(2, "idle", "4")
        for r in ranks:
            self.assertRegex(r.line(), "^running")
        time.sleep(0.5)  # what the barrier left behind

        def ticks(r):
            with open(f"/proc/{r.process.pid}/stat") as f:
                fields = f.read().rsplit(")", 1)[1].split()
            return int(fields[11]) + int(fields[12])

        before = [ticks(r) for r in ranks]
        time.sleep(2.5)
        after = [ticks(r) for r in ranks]
        for r in ranks:
            self.assertEqual(r.end()[0], "ok")
        # 2 ticks are 20 ms of 2.5 s: under 1 %.
        for a, b in zip(after, before):
            self.assertLessEqual(a - b, 2)


class FaultsWhileJoining(unittest.TestCase):
    QUICK = {"TROUPE_BOOTSTRAP_TIMEOUT": "2s"}

    def ends(self, ranks):
        return [r.end(limit=15) for r in ranks]

    def test_a_missing_rank_is_named_at_the_deadline(self):
        port = free_port()
        ranks = [Rank(r, 3, port, **self.QUICK) for r in (0, 2)]
        for code, spent, message in self.ends(ranks):
            self.assertEqual(code, "timed_out")
            self.assertIn("rank 1", message)
            self.assertLess(spent, 5000)

    def test_a_duplicate_rank_is_refused_with_both_addresses(self):
        port = free_port()
        ranks = [Rank(r, 3, port, **self.QUICK) for r in (0, 1, 1)]
        ends = self.ends(ranks)
        self.assertTrue(any(code == "membership_conflict" and "rank 1" in message
                            for code, _, message in ends), ends)
        self.assertTrue(all(code != "ok" for code, _, _ in ends), ends)

    def test_different_world_sizes_are_both_named(self):
        port = free_port()
        ranks = [Rank(0, 2, port, **self.QUICK), Rank(1, 3, port, **self.QUICK)]
        ends = self.ends(ranks)
        self.assertTrue(any(code == "membership_conflict" and "2" in message and "3" in message
                            for code, _, message in ends), ends)

    def test_different_must_agree_options_are_named_with_both_values(self):
        port = free_port()
        ranks = [Rank(0, 2, port, **self.QUICK),
                 Rank(1, 2, port, TROUPE_TRANSPORT_SEGMENT_BYTES="128KiB", **self.QUICK)]
        ends = self.ends(ranks)
        self.assertTrue(any("transport.segment_bytes" in message and "128KiB" in message
                            and "1MiB" in message for _, _, message in ends), ends)

    def test_a_wrong_secret_does_not_join(self):
        port = free_port()
        ranks = [Rank(0, 2, port, **self.QUICK),
                 Rank(1, 2, port, TROUPE_BOOTSTRAP_SECRET="other", **self.QUICK)]
        ends = self.ends(ranks)
        self.assertNotEqual(ends[0][0], "ok")
        self.assertNotEqual(ends[1][0], "ok")

    def test_strangers_are_shrugged_off(self):
        port = free_port()
        first = Rank(0, 2, port)
        strangers = []
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline and len(strangers) < 3:
            try:
                strangers.append(socket.create_connection(("127.0.0.1", port), timeout=1))
            except OSError:
                time.sleep(0.05)
        self.assertEqual(len(strangers), 3)
        strangers[0].sendall(b"GET / HTTP/1.0\r\n\r\n")
        strangers[1].sendall(os.urandom(4096))
        second = Rank(1, 2, port)
        for code, _, message in self.ends([first, second]):
            self.assertEqual(code, "ok", message)
        for s in strangers:
            s.close()

    def with_its_name_taken(self, lanes):
        """A job whose rank 0 finds that somebody else has its name in shared memory."""
        port = free_port()
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as squatter:
            squatter.bind(f"\0troupe.shm.127.0.0.1:{port}")
            ranks = [Rank(r, 2, port, TROUPE_TRANSPORT_LANES=lanes, **self.QUICK)
                     for r in range(2)]
            texts = [r.process.communicate(timeout=20)[0] for r in ranks]
        return port, texts

    def test_without_shared_memory_sockets_do_and_it_says_why(self):
        port, texts = self.with_its_name_taken("auto")
        for text in texts:
            self.assertRegex(text, r"(?m)^ended ok")
        self.assertRegex(texts[0], f"troupe: rank 0: .*sockets.*127.0.0.1:{port}.*in use")

    def test_where_shared_memory_is_required_nothing_else_will_do(self):
        port, texts = self.with_its_name_taken("shm")
        self.assertRegex(texts[0], f"(?m)^ended system_failure .*127.0.0.1:{port}")
        self.assertNotRegex(texts[1], r"(?m)^ended ok")

    def test_too_few_descriptors_are_told_with_needed_and_available(self):
        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (10, 10))
        env = dict(os.environ, RANK="0", WORLD_SIZE="2", MASTER_ADDR="127.0.0.1",
                   MASTER_PORT=str(free_port()))
        done = subprocess.run([PROBE], env=env, preexec_fn=few, capture_output=True, text=True,
                              timeout=30)
        self.assertIn("resource_exhausted", done.stdout)
        self.assertRegex(done.stdout, r"16\b.*\b10\b|\b10\b.*16\b")

    def test_bad_options_are_named_with_place_and_range(self):
        ends = self.ends([Rank(0, 1, free_port(), TROUPE_TRANSPORT_EAGER_BYTE="1KiB")])
        self.assertEqual(ends[0][0], "bad_configuration")
        self.assertIn("TROUPE_TRANSPORT_EAGER_BYTES", ends[0][2])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
