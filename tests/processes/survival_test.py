"""Fault-tolerant jobs of real processes: whoever is left goes on, with the same bits everywhere.

Usage: survival_test.py SURVIVOR_RANK TROUPE
"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SURVIVOR, TROUPE = sys.argv[1:3]


def clean_environment(**more):
    others = ("TROUPE_", "SLURM", "OMPI")
    env = {k: v for k, v in os.environ.items() if not k.startswith(others)}
    env.update(more)
    return env


class Job:
    """A job under `troupe launch --keep-going`, and what its ranks said."""

    def __init__(self, size, steps, count, *fault, options=(), pause=0, **environment):
        self.pause = pause
        with tempfile.NamedTemporaryFile() as note:
            arguments = [str(a) for a in (steps, count, *fault)]
            if fault:
                arguments.append(note.name)
            self.process = subprocess.Popen(
                [TROUPE, "launch", "-n", str(size), "--timeout", "100", *options, "--", SURVIVOR,
                 *arguments],
                env=clean_environment(**environment), text=True, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT)
            self.on_start(note.name)
            try:
                self.text, _ = self.process.communicate(timeout=110)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.text, _ = self.process.communicate()
                raise AssertionError(f"the job hangs: {self.text}")
        self.code = self.process.returncode

    def on_start(self, note):
        pass

    def ends(self):
        """(rank, "ok", epoch, contributors, bits) or (rank, code, "intact" or "broken")."""
        out = []
        for line in self.text.splitlines():
            well = r"\[(\d+)\] ended ok \d+ epoch (\d+) contributors (\S+) bits (\w+)"
            if found := re.match(well, line):
                out.append((int(found[1]), "ok", int(found[2]), found[3], found[4]))
            elif found := re.match(r"\[(\d+)\] ended (\w+) at step \d+(?:, input (\w+))?", line):
                out.append((int(found[1]), found[2], found[3]))
        return sorted(out)


KEEP = ("--keep-going",)


class Survival(unittest.TestCase):
    def expect(self, job, survivors):
        """All of them ended well, with one epoch, one list of contributors and one result."""
        ends = [e for e in job.ends() if e[1] == "ok"]
        self.assertEqual([e[0] for e in ends], survivors, job.text)
        self.assertEqual(len({e[2:] for e in ends}), 1, job.text)
        self.assertEqual(ends[0][3], ",".join(map(str, survivors)), job.text)

    def test_a_killed_rank_is_left_out_whoever_it_is(self):
        for victim in (0, 2, 3):
            job = Job(4, 300, 100_000, victim, 100, "kill", options=KEEP)
            self.expect(job, [r for r in range(4) if r != victim])
            self.assertEqual(job.code, 0, job.text)

    def test_the_launchers_word_shrinks_a_pair_to_one(self):
        job = Job(2, 200, 1000, 1, 50, "kill", options=KEEP)
        self.expect(job, [0])

    def test_silence_alone_never_shrinks_past_half(self):
        job = StoppedJob(2, 200, 1000, 1, 50, "stop", options=KEEP, pause=5,
                         TROUPE_TRANSPORT_HEARTBEAT_INTERVAL="20ms",
                         TROUPE_TRANSPORT_SILENCE_TIMEOUT="200ms",
                         TROUPE_FAULT_TOLERANCE_DECISION="500ms")
        ends = {e[0]: e for e in job.ends()}
        self.assertEqual(ends[0][1:], ("no_quorum", "intact"), job.text)

    def test_a_rank_that_leaves_in_good_order_is_no_fault(self):
        job = Job(3, 200, 5000, 1, 50, "leave", options=KEEP)
        self.expect(job, [0, 2])

    def test_a_stopped_rank_is_left_out_and_learns_it_when_it_goes_on(self):
        job = StoppedJob(4, 500, 1000, 3, 50, "stop", options=KEEP, pause=1.5,
                         TROUPE_TRANSPORT_HEARTBEAT_INTERVAL="50ms",
                         TROUPE_TRANSPORT_SILENCE_TIMEOUT="300ms")
        self.expect(job, [0, 1, 2])
        zombie = [e for e in job.ends() if e[0] == 3]
        self.assertEqual(zombie[0][2], "intact", job.text)
        self.assertIn(zombie[0][1], ("evicted", "no_quorum"), job.text)


    def test_a_replacement_comes_into_the_running_job(self):
        job = ReplacedJob(4, 800, 10_000, 2, 30, "replace", options=KEEP,
                          TROUPE_BOOTSTRAP_SECRET="of this job")
        newcomer, _ = job.newcomer.communicate(timeout=60)
        self.assertEqual(job.newcomer.returncode, 0, newcomer + job.text)
        ended = re.search(r"ended ok \d+ epoch (\d+) contributors (\S+) bits (\w+)", newcomer)
        ends = [e for e in job.ends() if e[1] == "ok"]
        self.assertEqual([e[0] for e in ends], [0, 1, 3], job.text)
        self.assertEqual({e[4] for e in ends}, {ended[3]}, job.text + newcomer)
        self.assertEqual(ended[2], "0,1,3,4", newcomer)


class StoppedJob(Job):
    """One of its ranks stops itself, and is continued `pause` seconds later: while the others,
    which take ten milliseconds a step, are still there."""

    def on_start(self, note):
        limit = time.monotonic() + 60
        stopped = []
        while time.monotonic() < limit and not stopped:
            time.sleep(0.02)
            if os.path.getsize(note) != 0:
                stopped = self.stopped_children()
        time.sleep(self.pause)
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)

    def stopped_children(self):
        listed = subprocess.run(["ps", "-o", "pid=,stat=", "--ppid", str(self.process.pid)],
                                text=True, capture_output=True).stdout
        return [int(line.split()[0]) for line in listed.splitlines() if "T" in line.split()[1]]


class ReplacedJob(Job):
    """A rank is killed; another process comes in with the invitation that a survivor writes."""

    def on_start(self, note):
        path = note + ".invitation"
        limit = time.monotonic() + 60
        while not os.path.exists(path):
            if time.monotonic() > limit or self.process.poll() is not None:
                self.process.kill()
                raise AssertionError("nobody wrote an invitation: " + self.process.stdout.read())
            time.sleep(0.02)
        with open(path) as invitation:
            text = invitation.read().strip()
        os.unlink(path)
        self.newcomer = subprocess.Popen(
            [SURVIVOR, "800", "10000"], text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=clean_environment(TROUPE_FAULT_TOLERANCE_INVITATION=text,
                                  TROUPE_BOOTSTRAP_SECRET="of this job"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
