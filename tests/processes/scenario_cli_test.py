"""What `troupe scenario` says and returns when a run is not as it has to be.

Usage: scenario_cli_test.py TROUPE
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

TROUPE = os.path.abspath(sys.argv[1])

JOB = """story = "s"
worlds = ["sim", "process"]
limit = "20s"
[topology]
ranks = 3
[workload]
steps = 10
[[workload.operation]]
kind = "all_reduce"
count = 1000
"""
KILL = """[[fault]]
kind = "kill"
rank = 1
step = 3
"""
STOP = """[[fault]]
kind = "stop"
rank = 1
step = 3
[settings.transport]
silence_timeout = "50m"
write_timeout = "10m"
[settings.collective]
timeout = "1h"
"""


class ScenarioCommand(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def script(self, text):
        path = os.path.join(self.directory.name, "script.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def scenario(self, *words, limit=60):
        return subprocess.run([TROUPE, "scenario", *words], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=limit, cwd=self.directory.name)

    def test_a_wrong_result_is_1_in_both_worlds_and_says_how_to_play_it_again(self):
        path = self.script(JOB + KILL)
        for world in ("sim", "process"):
            done = self.scenario("run", path, "--world", world, "--seed", "4711")
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            line = f"reproduce: troupe scenario run {path} --world {world} --seed 4711\n"
            self.assertIn(line, done.stdout)
            self.assertRegex(done.stdout, "rank 0 has to end in ok, but it ended in peer_lost")

    def test_what_never_ends_is_124_in_both_worlds(self):
        path = self.script(JOB.replace('"20s"', '"2s"') + STOP)
        for world in ("sim", "process"):
            done = self.scenario("run", path, "--world", world)
            self.assertEqual(done.returncode, 124, done.stdout + done.stderr)
            self.assertIn("missed deadline: rank 0 has to end in ok, but it had not ended",
                          done.stdout)

    def test_an_actor_that_throws_because_a_fault_says_so_is_no_crash(self):
        text = JOB.replace(', "process"', "") + KILL.replace(
            '"kill"', '"throwing_actor"\nactor = "rank"')
        done = self.scenario("run", self.script(text))
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertNotIn("crash", done.stdout)

    def test_a_process_that_ends_by_itself_is_4(self):
        path = self.script(JOB.replace("steps = 10", 'steps = 200\ncompute = "20ms"'))
        run = subprocess.Popen([TROUPE, "scenario", "run", path, "--world", "process"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        victim, deadline = None, time.monotonic() + 20
        while victim is None and time.monotonic() < deadline:
            found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(run.pid)],
                                   capture_output=True, text=True).stdout.split()
            victim = int(found[-1]) if len(found) == 3 else None
        os.kill(victim, signal.SIGSEGV)  # nobody in the script did
        out, error = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 4, out + error)
        self.assertRegex(out, "crash: rank [012]: its process ended: killed by SIGSEGV")

    def test_a_bad_script_is_2_with_its_line_and_nothing_starts(self):
        done = self.scenario("run", self.script(JOB + KILL.replace("rank = 1", "rank = 7")))
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"script.toml:11: rank 7 does not exist; there are 0 to 2")

    def test_a_world_that_cannot_play_a_fault_names_it(self):
        text = JOB + KILL.replace('"kill"', '"power_off"')
        done = self.scenario("check", self.script(text))
        self.assertEqual(done.returncode, 2)
        self.assertIn("power_off cannot be played in world process", done.stderr)
        done = self.scenario("run", self.script(text.replace(', "process"', "")), "--world",
                             "process")
        self.assertEqual(done.returncode, 2)

    def test_rows_and_test_cases_say_what_was_found(self):
        path = self.script(JOB + KILL)
        done = self.scenario("run", path, "--seeds", "1..3", "--json", "rows.json", "--junit",
                             "rows.xml")
        self.assertEqual(done.returncode, 1)
        with open(os.path.join(self.directory.name, "rows.json"), encoding="utf-8") as file:
            rows = json.load(file)
        self.assertEqual([row["seed"] for row in rows], [1, 2, 3])
        self.assertEqual({row["result"] for row in rows}, {"wrong result"})
        self.assertEqual(rows[0]["ranks"][1]["outcome"], "killed")
        self.assertRegex(rows[0]["trace_hash"], "^[0-9a-f]{16}$")
        suite = xml.etree.ElementTree.parse(os.path.join(self.directory.name, "rows.xml")).getroot()
        self.assertEqual(suite.get("failures"), "3")
        self.assertEqual(len(suite.findall("testcase/failure")), 6)  # two survivors a run

    def test_shrinking_keeps_what_fails_and_nothing_else(self):
        path = self.script(JOB + KILL + """[[fault]]
kind = "slow"
rank = 0
step = 2
by = "1ms"
""")
        once = self.scenario("shrink", path, "--seed", "3")
        again = self.scenario("shrink", path, "--seed", "3")
        self.assertEqual(once.returncode, 0, once.stderr)
        self.assertEqual(once.stdout, again.stdout)
        self.assertNotIn("slow", once.stdout)
        self.assertIn("ranks = 2\n", once.stdout)
        self.assertRegex(once.stdout, r'kind = "kill"')
        small = self.script(once.stdout)
        self.assertEqual(self.scenario("run", small, "--seed", "3").returncode, 1)

    def test_nothing_is_left_of_the_processes(self):
        path = self.script(JOB + KILL)
        self.scenario("run", path, "--world", "process")
        listing = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
        self.assertFalse(re.search(f"scenario rank {re.escape(path)}", listing))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
