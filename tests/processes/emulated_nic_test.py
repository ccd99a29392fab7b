#!/usr/bin/env python3
"""Programs that were not written for it, on the emulated NIC.

Usage: emulated_nic_test.py LIBRARY_DIRECTORY TROUPE_NIC TROUPE
Exit status 77: ibverbs-utils is missing.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import unittest

DIRECTORY, NIC, TROUPE = sys.argv[1:4]
TOOLS = ("ibv_devinfo", "ibv_rc_pingpong", "nm")
LIMIT_S = 120


def environment(job, **more):
    plain = {k: v for k, v in os.environ.items() if not k.startswith("TROUPE_EMULATION_")}
    return {**plain, "LD_LIBRARY_PATH": DIRECTORY, "TROUPE_EMULATION_JOB": job, **more}


def run(words, **options):
    return subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, check=False,
                          **options)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_listening(port):
    wanted = f":{port:04X}"
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(table, encoding="ascii") as lines:
            for line in lines:
                fields = line.split()
                if fields[1].endswith(wanted) and fields[3] == "0A":
                    return True
    return False


class PingPong:
    """ibv_rc_pingpong between two processes, each with a card of its own."""

    def __init__(self, job, *words, client_job=None):
        port = free_port()
        call = ["ibv_rc_pingpong", "-g", "1", "-p", str(port), *words]
        self.processes = [self.start([*call, "-d", "emu0"], job)]
        limit = time.monotonic() + LIMIT_S
        while not is_listening(port):
            if time.monotonic() > limit or self.processes[0].poll() is not None:
                raise AssertionError(f"no server: {self.processes[0].communicate()}")
            time.sleep(0.01)
        client = [*call, "-d", "emu1", "127.0.0.1"]
        self.processes.append(self.start(client, client_job or job))

    @staticmethod
    def start(words, job):
        return subprocess.Popen(words, env=environment(job), stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def ends(self):
        """(exit code, output) of both."""
        return [(p.returncode, text) for p, text in
                ((p, p.communicate(timeout=LIMIT_S)[0]) for p in self.processes)]

    def first_end(self):
        """The output of the process that ends first."""
        limit = time.monotonic() + LIMIT_S
        while time.monotonic() < limit:
            for process in self.processes:
                if process.poll() is not None:
                    return process.communicate()[0]
            time.sleep(0.01)
        raise AssertionError("both go on")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()
            process.stdout.close()


def versions(library):
    """{symbol: version} of what a library defines by default, and its version nodes."""
    out = run(["nm", "-D", "--defined-only", library]).stdout
    symbols = dict(re.findall(r" [TDB] (\w+)@@(\w+(?:\.\w+)*)$", out, re.MULTILINE))
    return symbols, set(re.findall(r" A (\w+(?:\.\w+)*)(?:@@\S+)?$", out, re.MULTILINE))


def system_library():
    listed = run(["/sbin/ldconfig", "-p"]).stdout
    found = re.search(r"libibverbs\.so\.1 .*=> (\S+)", listed)
    return found.group(1) if found else None


class EmulatedNic(unittest.TestCase):

    def test_ibv_devinfo_lists_the_devices(self):
        done = run(["ibv_devinfo", "-v"], env=environment("devinfo", TROUPE_EMULATION_HOST="258"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(re.findall(r"hca_id:\s+(\S+)", done.stdout), ["emu0", "emu1"])
        self.assertEqual(done.stdout.count("PORT_ACTIVE"), 2)
        self.assertIn("::ffff:10.1.2.1, RoCE v2", done.stdout)

    def test_the_number_of_devices_is_a_setting_and_a_wrong_one_ends_the_program(self):
        one = run(["ibv_devinfo"], env=environment("devices", TROUPE_EMULATION_DEVICES="1"))
        self.assertEqual(re.findall(r"hca_id:\s+(\S+)", one.stdout), ["emu0"])
        wrong = run(["ibv_devinfo"], env=environment("devices", TROUPE_EMULATION_DEVICES="99"))
        self.assertEqual(wrong.returncode, 2)
        self.assertIn('TROUPE_EMULATION_DEVICES = "99": must be a number from 0 to 16',
                      wrong.stderr)

    def test_a_wrong_network_file_or_fault_ends_the_program_with_its_place(self):
        missing = run(["ibv_devinfo"], env=environment("x", TROUPE_EMULATION_NETWORK="/none"))
        self.assertEqual(missing.returncode, 2)
        self.assertIn("cannot be read: No such file or directory", missing.stderr)
        fault = run(["ibv_devinfo"], env=environment("x", TROUPE_EMULATION_FAULTS="break emu0"))
        self.assertEqual(fault.returncode, 2)
        self.assertIn('fault command "break emu0": "break" must be one of', fault.stderr)

    def test_ibv_rc_pingpong_runs_polling_and_with_events(self):
        for words in (("-n", "200"), ("-n", "200", "-e"), ("-n", "20", "-s", "1000000")):
            with self.subTest(words=words), PingPong("pingpong", *words) as both:
                for code, text in both.ends():
                    self.assertEqual(code, 0, text)
                    self.assertRegex(text, r"\d+ iters in")

    def test_jobs_do_not_reach_each_other(self):
        with PingPong("one", "-n", "10", client_job="other") as both:
            client = both.processes[1].communicate(timeout=LIMIT_S)[0]
            self.assertIn("transport retry counter exceeded", client)

    def test_a_job_without_processes_is_said_so(self):
        nobody = run([NIC, "--job", "nobody", "status"])
        self.assertEqual(nobody.returncode, 3)
        self.assertIn('no such process of job "nobody"', nobody.stderr)

    def test_a_wrong_command_is_refused_before_anybody_gets_it(self):
        wrong = run([NIC, "explode", "emu0"])
        self.assertEqual(wrong.returncode, 2)
        self.assertIn('"explode" must be one of', wrong.stderr)

    def test_faults_reach_running_programs(self):
        with PingPong("faults", "-n", "100000000", "-e") as both:
            answered = ""
            limit = time.monotonic() + LIMIT_S
            while not re.search(r"emu1 port=up requests=[1-9]", answered):
                self.assertLess(time.monotonic(), limit, answered)
                answered = run([NIC, "--job", "faults", "status"]).stdout
            server = str(both.processes[0].pid)
            down = run([NIC, "--job", "faults", "--process", server, "down all"])
            self.assertEqual((down.returncode, down.stdout),
                             (0, f"rank - process {server}: ok\n"))
            # Whose turn it is to send runs out of retries; the other one may wait for ever.
            ended = both.first_end()
            self.assertIn("transport retry counter exceeded", ended)

    def test_symbols_have_the_versions_of_the_real_library(self):
        real = system_library()
        if real is None:
            self.skipTest("the system has no libibverbs.so.1")
        ours, our_nodes = versions(os.path.join(DIRECTORY, "libibverbs.so.1"))
        theirs, their_nodes = versions(real)
        self.assertGreater(len(ours), 60)
        self.assertEqual({s: v for s, v in ours.items() if theirs.get(s) != v}, {})
        self.assertLessEqual({n for n in their_nodes if n.startswith("IBVERBS_")}, our_nodes)

    def test_launch_slides_it_under_the_ranks(self):
        words = [TROUPE, "launch", "-n", "2", "--emulate", "--emulated-hosts", "2", "--",
                 "ibv_devinfo", "-v", "-d", "emu1"]
        done = run(words, env={k: v for k, v in environment("x").items()
                               if k != "LD_LIBRARY_PATH"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\[0\].*::ffff:10\.0\.0\.2, RoCE v2")
        self.assertRegex(done.stdout, r"\[1\].*::ffff:10\.0\.1\.2, RoCE v2")


if __name__ == "__main__":
    gone = [tool for tool in TOOLS if shutil.which(tool) is None]
    if gone:
        print(f"SKIPPED: {', '.join(gone)} missing (ibverbs-utils, binutils)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
