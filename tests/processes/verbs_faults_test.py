#!/usr/bin/env python3
"""Jobs whose lanes are queue pairs of the emulated NIC: they connect, and cards that fail in
mid-run cost them no operation and no byte. What cannot work says so at the start.

Usage: verbs_faults_test.py RANK_PROBE TROUPE TROUPE_NIC LIBRARY_DIRECTORY
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

PROBE, TROUPE, NIC, DIRECTORY = sys.argv[1:5]
LIMIT_S = 100


def environment(job, **more):
    others = ("TROUPE_", "LD_LIBRARY_PATH")
    plain = {k: v for k, v in os.environ.items() if not k.startswith(others)}
    return {**plain, "TROUPE_EMULATION_JOB": job, "TROUPE_TRANSPORT_LANES": "verbs", **more}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Job:
    """A job of ranks that check every element of their all-reduces."""

    def __init__(self, name, size, *words, **more):
        self.name = f"{name}-{os.getpid()}"
        self.output = []
        self.process = subprocess.Popen(
            [TROUPE, "launch", "-n", str(size), "--emulate", "--", PROBE, *words],
            env=environment(self.name, **more), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True)

    def wait_for_progress(self, intervals):
        """How many operations there were in each of the next intervals that had any."""
        seen = []
        while len(seen) < intervals:
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError("the job ended early: " + "".join(self.output))
            self.output.append(line)
            seen += [int(count) for count in re.findall(r"^\[0\] done ([1-9]\d*)", line)]
        return seen

    def command(self, *words):
        done = subprocess.run([NIC, "--job", self.name, *words], capture_output=True, text=True,
                              timeout=LIMIT_S, check=False)
        if done.returncode != 0 or ": error" in done.stdout:
            raise AssertionError(f"troupe_nic {words}: {done.stdout}{done.stderr}")
        return done.stdout

    def requests(self):
        """What each device of rank 0 was given to send so far."""
        status = self.command("--rank", "0", "status")
        return [int(count) for count in re.findall(r"requests=(\d+)", status)]

    def wait_for_all_devices(self):
        """Reads until every device of rank 0 has sent something more."""
        before = self.requests()
        while any(now == then for now, then in zip(self.requests(), before)):
            self.wait_for_progress(1)

    def stop(self):
        """Has rank 0 end the job with an operation of all ranks."""
        status = self.command("--rank", "0", "status")
        os.kill(int(re.search(r"process (\d+)", status)[1]), signal.SIGUSR1)

    def end(self):
        """Exit code and everything that was printed."""
        rest, _ = self.process.communicate(timeout=LIMIT_S)
        return self.process.returncode, "".join(self.output) + rest

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class VerbsFaults(unittest.TestCase):

    def check(self, job, size):
        code, text = job.end()
        self.assertEqual(code, 0, text)
        self.assertEqual(len(re.findall(r"ended ok", text)), size, text)
        return text

    def with_faults(self, name, commands, size=2, **more):
        """A job that gets each command while it makes progress, goes on after the last, and then
        uses every device of rank 0 again; what the commands were answered."""
        with Job(name, size, "checked", "300000", "90", **more) as job:
            answers = []
            for words in commands:
                job.wait_for_progress(2)
                answers.append(job.command(*words))
            job.wait_for_all_devices()
            job.stop()
            self.check(job, size)
        return answers

    def test_jobs_connect_at_once(self):
        for size in (2, 2, 2, 2, 2, 4, 4):
            began = time.monotonic()
            with Job("connect", size, "idle", "0") as job:
                self.check(job, size)
            # Less than bootstrap.connect_timeout, which a missed wake-up costs.
            self.assertLess(time.monotonic() - began, 9)

    def test_broken_queue_pairs_are_made_anew(self):
        self.with_faults("break", [("break_qps", "emu1"), ("break_qps", "emu0"),
                                   ("--rank", "0", "break_qps", "emu1"),
                                   ("--rank", "1", "break_qps", "emu0")])

    def test_more_ranks_live_through_broken_queue_pairs(self):
        self.with_faults("breaks", [("--rank", "2", "break_qps", "emu1"), ("break_qps", "emu0")],
                         size=4)

    def test_a_port_that_flaps_loses_no_byte(self):
        self.with_faults("flap", [("flap", "emu0", "down", "50ms", "up", "100ms", "count", "4")])

    # Down for longer than the retries of a queue pair take: its lanes die and move.
    def test_a_port_that_goes_down_and_comes_back_loses_no_byte(self):
        self.with_faults("down", [("--rank", "0", "down emu1; after 1s up emu1")],
                         TROUPE_VERBS_TIMEOUT="12", TROUPE_VERBS_RETRY_COUNT="2")

    def test_a_port_that_is_back_carries_again(self):
        with Job("back", 2, "checked", "300000", "90", TROUPE_VERBS_TIMEOUT="12",
                 TROUPE_VERBS_RETRY_COUNT="2") as job:
            job.wait_for_progress(2)
            job.command("--rank", "0", "down", "emu1")
            job.wait_for_progress(8)
            job.command("--rank", "0", "up", "emu1")
            job.wait_for_all_devices()
            job.stop()
            self.check(job, 2)

    # Peers that know the old address run out of retries; whoever makes a pair reads it anew.
    def test_an_address_that_changes_is_read_again(self):
        self.with_faults("gid", [("--rank", "1", "change_gid", "emu0")],
                         TROUPE_VERBS_TIMEOUT="12", TROUPE_VERBS_RETRY_COUNT="2")

    # As many as a lane can wait for: none comes behind them that would tell of all before. The link
    # has a deadline of its own, moves what was on the lane and makes it anew.
    def test_completions_that_never_come_cost_a_lane_and_no_byte(self):
        def lost():
            status = job.command("--rank", "0", "status")
            return int(re.search(r"emu1 .*completions_lost=(\d+)", status)[1])

        with Job("lost", 2, "checked", "300000", "90", TROUPE_TRANSPORT_WRITE_TIMEOUT="2s") as job:
            job.wait_for_progress(2)
            job.command("--rank", "0", "lose_completions", "emu1", "40")
            while lost() < 40:
                job.wait_for_progress(1)
            job.wait_for_all_devices()
            job.stop()
            self.check(job, 2)

    def test_auto_names_the_ports_that_it_leaves_unused(self):
        with Job("auto", 2, "idle", "0", TROUPE_TRANSPORT_LANES="auto") as job:
            text = self.check(job, 2)
        said = re.findall(r"troupe: rank (\d+): the RDMA ports of this host are not used: .*", text)
        self.assertEqual(said, ["0"], text)
        self.assertRegex(text, r"set it to verbs to use them; found: emu0:1 \(\w+, Ethernet\), ")


class BadInput(unittest.TestCase):

    def rank(self, number, port, **more):
        env = environment(f"bad-{port}", LD_LIBRARY_PATH=DIRECTORY, RANK=str(number),
                          WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        return subprocess.Popen([PROBE, "idle", "0"], env={**env, **more}, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def ends(self, *ranks):
        texts = [r.communicate(timeout=LIMIT_S)[0] for r in ranks]
        return texts, [re.findall(r"^ended (\w+)", text, re.MULTILINE) for text in texts]

    def refused(self, code, *parts, **more):
        (text,), (ended,) = self.ends(self.rank(0, free_port(), **more))
        self.assertEqual(ended, [code], text)
        for part in parts:
            self.assertIn(part, text)

    def test_no_device_is_told_with_the_way_out(self):
        self.refused("not_available", "this host has no RDMA device",
                     "set transport.lanes to auto", TROUPE_EMULATION_DEVICES="0")

    def test_a_device_that_is_not_there_is_told_with_those_that_are(self):
        self.refused("bad_configuration", "verbs.devices = mlx9: there is no mlx9", "emu0:1 (",
                     "emu1:1 (", TROUPE_VERBS_DEVICES="mlx9")

    def test_ports_that_are_down_are_told(self):
        self.refused("not_available", "no RDMA port is active; found: emu0:1 (",
                     TROUPE_EMULATION_FAULTS="down all")
        self.refused("bad_configuration", "port emu1:1 is ", "bring it up, or leave it out",
                     TROUPE_EMULATION_FAULTS="down emu1", TROUPE_VERBS_DEVICES="emu1")

    def test_a_row_without_address_is_told_with_those_that_are_there(self):
        self.refused("bad_configuration", "verbs.gid_index = 9", "its rows: 0 fe80:",
                     TROUPE_VERBS_GID_INDEX="9")

    def test_too_little_locked_memory_is_told_with_limit_and_need(self):
        before = resource.getrlimit(resource.RLIMIT_MEMLOCK)
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, before[1]))
        try:
            self.refused("resource_exhausted", "RLIMIT_MEMLOCK is 64 KiB and ", " KiB more",
                         "ulimit -l unlimited",
                         TROUPE_EMULATION_FAULTS="fail_registrations emu0 1")
        finally:
            resource.setrlimit(resource.RLIMIT_MEMLOCK, before)

    def test_peers_with_different_numbers_of_devices_work_with_those_that_both_have(self):
        port = free_port()
        texts, ended = self.ends(self.rank(0, port),
                                 self.rank(1, port, TROUPE_VERBS_DEVICES="emu1"))
        self.assertEqual(ended, [["ok"], ["ok"]], texts)
        self.assertIn("this rank uses 1 RDMA ports (emu1, ...) and a peer 2", texts[1])

    def test_peers_with_different_numbers_of_queue_pairs_are_told_both(self):
        port = free_port()
        quick = {"TROUPE_BOOTSTRAP_TIMEOUT": "5s"}
        texts, ended = self.ends(
            self.rank(0, port, **quick),
            self.rank(1, port, TROUPE_TRANSPORT_DATA_LANE_COUNT="3", **quick))
        self.assertIn(["bad_configuration"], ended, texts)
        self.assertRegex("".join(texts), r"transport.data_lane_count must agree and is \d")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)
