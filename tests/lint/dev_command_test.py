#!/usr/bin/env python3
"""./dev as a newcomer meets it: help, wrong words, a machine that cannot install."""

import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMMANDS = ["setup", "build", "demo", "test", "bench", "lint", "format", "docs"]


def dev(*words, path=None):
    environment = dict(os.environ, PATH=path or os.environ["PATH"])
    return subprocess.run([os.path.join(ROOT, "dev"), *words], cwd="/", env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          timeout=60)


class Help(unittest.TestCase):
    def test_names_every_command(self):
        run = dev("--help")
        self.assertEqual(run.returncode, 0)
        for command in COMMANDS:
            self.assertRegex(run.stdout, rf"(?m)^  {command} ")

    def test_of_each_command_says_what_it_does_from_any_directory(self):
        for command in COMMANDS:
            with self.subTest(command=command):
                run = dev(command, "--help")
                self.assertEqual((run.returncode, run.stderr), (0, ""))
                self.assertTrue(run.stdout.startswith(f"usage: ./dev {command}"))
                self.assertGreater(len(run.stdout.splitlines()), 2)


class WrongWords(unittest.TestCase):
    def test_without_a_command_is_a_usage_error(self):
        self.assertEqual(dev().returncode, 2)

    def test_an_unknown_command_is_named(self):
        run = dev("tests")
        self.assertEqual(run.returncode, 2)
        self.assertIn("no command tests", run.stderr)

    def test_an_unknown_argument_is_named(self):
        for words in (["setup", "--all"], ["build", "--fast"], ["test", "--quick"],
                      ["lint", "--fix"], ["format", "--all"]):
            with self.subTest(words=words):
                run = dev(*words)
                self.assertNotEqual(run.returncode, 0)
                self.assertIn(f"unknown argument '{words[1]}'", run.stderr)

    def test_an_unknown_preset_gets_the_list_of_presets(self):
        run = dev("build", "debug")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("no preset 'debug'; there are: release dev asan tsan fuzz", run.stderr)

    def test_a_label_without_value_is_an_error(self):
        run = dev("test", "-L")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("-L needs a regular expression", run.stderr)


class Setup(unittest.TestCase):
    def setup_with(self, stubs):
        """./dev setup on a machine where these programs say and do something else."""
        with tempfile.TemporaryDirectory() as directory:
            for name, body in stubs.items():
                path = os.path.join(directory, name)
                with open(path, "w", encoding="utf-8") as stream:
                    stream.write(f"#!/bin/sh\n{body}\n")
                os.chmod(path, 0o755)
            return dev("setup", path=f"{directory}:{os.environ['PATH']}")

    def test_installs_only_what_is_missing(self):
        run = self.setup_with({
            "dpkg-query":
                'case "$*" in *libcaf-dev*) echo not-installed;; *) echo installed;; esac',
            "apt-get": 'echo "asked for: $*"', "sudo": '"$@"'})
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("install --no-install-recommends libcaf-dev\n", run.stderr)

    def test_a_machine_that_cannot_install_is_told_the_packages(self):
        run = self.setup_with({"dpkg-query": "exit 1", "apt-get": "exit 100", "sudo": '"$@"'})
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("could not install: cmake ninja-build g++ libcaf-dev", run.stderr)
        self.assertIn("apt-get install cmake ninja-build", run.stderr)

    def test_a_machine_that_has_everything_is_left_alone(self):
        run = self.setup_with({"dpkg-query": "echo installed", "apt-get": "exit 100",
                               "sudo": "exit 1"})
        self.assertEqual((run.returncode, run.stderr), (0, ""))


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=1))
