#!/usr/bin/env python3
"""The driver's own logic on canned answers: no peer, no Troupe, no timing."""

import json
import os
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import peer_jobs  # pylint: disable=wrong-import-position
import peer_plan
import peer_report
import peers
from peer_plan import (GLOO_TCP, MIB, OPENMPI_SHM, OPENMPI_TCP, ROWS, TROUPE_IN_PROCESS,
                       TROUPE_SHM, TROUPE_TCP, Measurement)

KEYS = {"library", "lanes", "operation", "ranks", "bytes", "p50_us", "busbw_gbs"}


def result(row, measurement, p50_us, mean_us=None, others=0.0):
    turn = peer_report.Turn(p50_us * 1000, (mean_us or p50_us) * 1000, others)
    return peer_report.measured_row(row, measurement, [turn])


def small(ranks):
    return Measurement("all_reduce", ranks, 8)


def verdicts(results):
    return {goal.text: peer_report.judged(goal, results)[0] for goal in peer_report.GOALS}


def plan_for(*words):
    return peer_plan.plan_of(peer_plan.parser().parse_args(words))


class Rows(unittest.TestCase):
    def test_have_the_keys_that_readers_of_the_file_expect(self):
        rows = [result(TROUPE_TCP, small(2), 10),
                peer_report.missing_row(GLOO_TCP, small(2), "not installed"),
                peer_report.start_up_row([1, 2, 3], [(5, 4, 2, 1)])]
        for row in json.loads(json.dumps(rows)):
            self.assertLessEqual(KEYS, set(row))

    def test_of_the_start_say_what_it_took_of_the_median_and_the_busiest_rank(self):
        row = peer_report.start_up_row([3e8], [(5, 4, 2, 1), (1, 1, 0, 3), (60, 63, 63, 0)])
        self.assertEqual(peer_report.start_up_text(row),
                         "messages a rank 9 (most 123), connections accepted 2 (most 63: the "
                         "rendezvous), dialled at most 3")

    def test_take_bus_bandwidth_from_the_mean_of_the_slowest_rank(self):
        row = result(TROUPE_TCP, Measurement("all_reduce", 4, 16 * MIB), 1000, mean_us=2000)
        self.assertEqual(row["p50_us"], 1000)
        self.assertAlmostEqual(row["busbw_gbs"], 16 * MIB * 1.5 / 2e6, places=3)

    def test_follow_the_factors_of_nccl_tests(self):
        factors = {"all_reduce": 1.75, "all_gather": 0.875, "reduce_scatter": 0.875,
                   "all_to_all": 0.875, "barrier": 0, "ping_pong": 1}
        self.assertEqual(factors, {name: peer_report.bus_factor(name, 8)
                                   for name in peer_plan.OPERATIONS})

    def test_count_at_least_one_element_for_each_peer(self):
        self.assertEqual(peer_report.bytes_moved("all_gather", 8, 8), 32)
        self.assertEqual(peer_report.bytes_moved("all_reduce", 8, 8), 8)

    def test_give_a_ping_pong_one_way(self):
        self.assertEqual(result(TROUPE_TCP, Measurement("ping_pong", 2, 8), 30)["p50_us"], 15)

    def test_are_medians_over_the_turns_that_others_disturbed_least(self):
        turns = [peer_report.Turn(p50_ns, 1, others) for p50_ns, others in
                 ((9000, 0.02), (1000, 0.0), (2000, 0.05), (50_000, 0.5), (60_000, 0.06))]
        row = peer_report.measured_row(TROUPE_TCP, small(2), turns)
        self.assertEqual((row["p50_us"], row["others"]), (2, 0.05))


class Table(unittest.TestCase):
    def test_shows_each_row_and_what_is_missing(self):
        results = [result(OPENMPI_TCP, small(2), 9.5, others=0.25),
                   peer_report.missing_row(TROUPE_SHM, small(2), "no lane kind shm")]
        line = peer_report.table_line(small(2), [OPENMPI_TCP, TROUPE_SHM], results)
        self.assertIn("9.50us", line)
        self.assertIn("n/a", line)
        self.assertTrue(line.endswith("25%"))
        self.assertEqual(len(line), len(peer_report.heading([OPENMPI_TCP, TROUPE_SHM])))

    def test_says_each_reason_once(self):
        results = [peer_report.missing_row(GLOO_TCP, small(n), "not installed") for n in (2, 4)]
        self.assertEqual(peer_report.reasons(results),
                         ["n/a gloo/tcp (all_reduce x2, all_reduce x4): not installed"])


class Goals(unittest.TestCase):
    def test_are_met_at_the_bound_and_missed_beyond_it(self):
        for ours, verdict in ((13.0, "met"), (14.3, "missed by 10%")):
            found = verdicts([result(TROUPE_TCP, small(2), ours),
                              result(OPENMPI_TCP, small(2), 10)])
            self.assertEqual(found["troupe/tcp all_reduce 8 B x2 p50_us <= 1.3 x openmpi/tcp"],
                             verdict)

    def test_of_bandwidth_want_more_not_less(self):
        big = Measurement("all_reduce", 2, 16 * MIB)
        for ours_us, verdict in ((500, "met"), (2000, "missed by 75%")):
            found = verdicts([result(TROUPE_IN_PROCESS, big, ours_us),
                              result(OPENMPI_SHM, big, 1000)])
            name = "troupe/in_process all_reduce 16 MiB x2 busbw_gbs >= 2 x openmpi/shm"
            self.assertEqual(found[name], verdict)

    def test_may_be_absolute(self):
        found = verdicts([result(TROUPE_SHM, small(2), 4.5),
                          peer_report.start_up_row([5e8], [(5, 4, 2, 1)])])
        self.assertEqual(found["troupe/shm all_reduce 8 B x2 p50_us <= 3"], "missed by 50%")
        self.assertEqual(found["troupe/tcp start_up x64 p50_us <= 1e+06"], "met")

    def test_say_when_others_used_the_machine(self):
        found = verdicts([result(TROUPE_SHM, small(2), 2, others=0.4)])
        self.assertEqual(found["troupe/shm all_reduce 8 B x2 p50_us <= 3"],
                         "met (others used 40%)")

    def test_name_the_row_that_was_not_measured(self):
        found = verdicts([result(TROUPE_TCP, small(2), 9),
                          peer_report.missing_row(GLOO_TCP, small(2), "not installed")])
        self.assertEqual(found["troupe/tcp all_reduce 8 B x2 p50_us <= 0.2 x gloo/tcp"],
                         "not measured: no gloo/tcp")

    def test_are_all_measured_by_the_quick_and_by_the_whole_run(self):
        for words in ([], ["--quick"]):
            plan = plan_for(*words)
            self.assertEqual(plan.rows, ROWS)
            for goal in peer_report.GOALS:
                wanted = Measurement(goal.operation, goal.ranks, goal.bytes)
                self.assertTrue(wanted in plan.measurements
                                or goal.operation == "start_up" and plan.start_up, goal.text)

    def test_have_a_line_each(self):
        self.assertEqual(len(peer_report.goal_lines([])), len(peer_report.GOALS) + 1)


class Plan(unittest.TestCase):
    def test_of_one_process_has_its_row_and_the_one_beside_it(self):
        self.assertEqual(plan_for("--in-process").rows, [OPENMPI_SHM, TROUPE_IN_PROCESS])

    def test_knows_no_ping_pong_of_four_and_one_barrier_a_rank_count(self):
        found = plan_for("--ranks", "4", "--sizes", "8,64K").measurements
        self.assertFalse([m for m in found if m.operation == "ping_pong"])
        self.assertEqual(found.count(Measurement("barrier", 4, 0)), 1)

    def test_bounds_the_calls_of_a_turn(self):
        self.assertEqual(peers.calls_within(0.2, 1), peers.CALLS_MAX)
        self.assertEqual(peers.calls_within(0.2, 2e6), 100)
        self.assertEqual(peers.calls_within(0.2, 100e6), peers.CALLS_MIN)
        self.assertEqual(peers.calls_within(0.2, 1e9), 3)


# A rank that answers every command with its argument, or keeps silent.
RANK = """
import os, socket, sys, time
control = socket.socket(socket.AF_UNIX)
control.connect(sys.argv[1])
control.sendall(b"hello %d %d\\n" % (int(sys.argv[2]), os.getpid()))
for line in control.makefile():
    if line == "quit\\n": sys.exit(0)
    if sys.argv[3] == "silence": time.sleep(600)
    if sys.argv[3] == "end": print("out of luck", flush=True); os._exit(7)
    control.sendall(sys.argv[3].encode() + b"\\n")
"""


class Jobs(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.deadline = peer_jobs.COMMAND_DEADLINE_S
        self.addCleanup(setattr, peer_jobs, "COMMAND_DEADLINE_S", self.deadline)

    def job(self, answers):
        def command_of(path):
            words = [f'"{sys.executable}" -c "$0" "$1" {number} "{answer}" &'
                     for number, answer in enumerate(answers)]
            return ["sh", "-c", " ".join(words) + " wait", RANK, path]
        job = peer_jobs.Job("job", len(answers), command_of, self.directory.name, None)
        self.addCleanup(job.end)
        return job

    def assert_gone(self, job, before):
        limit = time.monotonic() + 10
        for pid in before:
            while peer_jobs.name_of(pid) and time.monotonic() < limit:
                time.sleep(0.02)
            self.assertIsNone(peer_jobs.name_of(pid))
        self.assertIsNotNone(job.process.poll())

    def test_answer_in_the_order_of_ranks_and_quit(self):
        job = self.job(["ready 1", "ready 2", "ready 3"])
        self.assertEqual(job.command("prepare barrier 0"),
                         [["ready", "1"], ["ready", "2"], ["ready", "3"]])
        pids = [rank.pid for rank in job.ranks]
        job.quit()
        self.assert_gone(job, pids)

    def test_live_on_when_all_ranks_say_that_it_failed(self):
        job = self.job(["failed not_available: all_to_all"] * 2)
        with self.assertRaisesRegex(peer_jobs.JobFailed, "not_available: all_to_all") as caught:
            job.command("prepare all_to_all 8")
        self.assertTrue(caught.exception.alive)

    def test_that_are_silent_meet_a_deadline_and_leave_nothing(self):
        peer_jobs.COMMAND_DEADLINE_S = 0.3
        job = self.job(["ready 1", "silence"])
        with self.assertRaisesRegex(peer_jobs.JobFailed, "1 of 2 ranks did not answer") as caught:
            job.command("time 1")
        self.assertFalse(caught.exception.alive)
        pids = [rank.pid for rank in job.ranks]
        job.end()
        self.assert_gone(job, pids)

    def test_whose_rank_ends_are_told_with_its_last_words(self):
        job = self.job(["end", "silence"])
        with self.assertRaisesRegex(peer_jobs.JobFailed, "a rank ended: out of luck"):
            job.command("time 1")

    def test_that_never_start_are_told_with_their_last_words(self):
        with self.assertRaisesRegex(peer_jobs.JobFailed, "ended with 5 at the start: no lane shm"):
            peer_jobs.Job("job", 1, lambda _: ["sh", "-c", "echo no lane shm; exit 5"],
                          self.directory.name, None)

    def test_are_metered_apart_from_others(self):
        job = self.job(["ready 1"])
        meter = peer_jobs.OthersMeter(job)
        meter.before = (1000, 10_000, 400)
        meter.now = lambda: (1100, 10_200, 470)
        self.assertAlmostEqual(meter.share(), 0.15)
        meter.now = lambda: (1100, 10_000, 470)
        self.assertEqual(meter.share(), 0)

    def test_a_wrong_result_is_shouted(self):
        job = self.job(["wrong element 3 of 8"])
        with self.assertRaisesRegex(peer_jobs.JobFailed, "WRONG RESULT at rank 0: element 3"):
            job.command("prepare all_reduce 8")


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=1))
