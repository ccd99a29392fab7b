#!/usr/bin/env python3
"""Every command line of the documents is run, or checked against the program that takes it.

documented_commands.py ROOT BUILD_DIR: reads the ```sh blocks of every document.
A line that no row of HOW speaks for is an error: a command nobody runs is a command that rots."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from source_tree import Tree

TIMEOUT_S = 120

# What would take minutes is run with a smaller number; the rest of the line is run as it stands.
SMALLER = [(r"-e 128M\b", "-e 64K"), (r"-e 1M\b", "-e 64K"), (r"-n 1024\b", "-n 64")]


def commands(tree):
    """(file, line number, command) of every line of every sh block, continuation lines joined."""
    for file in tree.documents():
        if file.path in ("docs/commands.md", "docs/scenarios.md"):  # whole scripts, own tests
            continue
        shell, pending, start = False, "", 0
        for number, line in enumerate(file.lines, 1):
            if line.strip().startswith("```"):
                shell = line.strip() == "```sh"
                continue
            if not shell or not line.strip() or line.lstrip().startswith("#"):
                continue
            start = start if pending else number
            pending += line.rstrip("\\").strip() + " "
            if line.rstrip().endswith("\\"):
                continue
            for part in re.split(r"\s&&\s", re.sub(r"\s#\s.*", "", pending.strip())):
                yield file.path, start, part.strip()
            pending = ""


class Checker:
    """Runs or checks one command; a method returns the reason why the command is wrong, or none."""

    def __init__(self, root, build):
        self.root, self.build = root, build
        self.bin = os.path.join(build, "bin")
        with open(os.path.join(root, "CMakePresets.json"), encoding="utf-8") as stream:
            self.presets = {preset["name"] for preset in json.load(stream)["configurePresets"]}

    def dev(self, words):
        """./dev WORD FLAGS: the word exists, and its help knows each flag."""
        if len(words) < 2 or words[1].startswith("-"):
            return None if words[1:] == ["--help"] else "no command"
        run = subprocess.run([os.path.join(self.root, "dev"), words[1], "--help"], text=True,
                             capture_output=True, check=False, timeout=TIMEOUT_S)
        if run.returncode != 0 or f"usage: ./dev {words[1]}" not in run.stdout:
            return f"./dev {words[1]} --help fails"
        if words[1] in ("bench", "demo"):
            return None
        flags = [word for word in words[2:] if word.startswith("-")]
        unknown = [flag for flag in flags if flag not in re.split(r"[\s\[\],|]+", run.stdout)]
        return f"./dev {words[1]} --help does not know {unknown[0]}" if unknown else None

    def cmake(self, words):
        """cmake --preset P, cmake --build build/P, ctest --test-dir build/P: P is a preset."""
        text = " ".join(words)
        named = re.findall(r"--preset[ =](\S+)|(?:--build|--test-dir) build/(\w+)", text)
        unknown = {name for pair in named for name in pair if name} - self.presets
        return f"no preset {', '.join(sorted(unknown))}" if unknown else None

    def program(self, words):
        """A program of ours: runs, from an empty directory, with its documented arguments."""
        names = {os.path.basename(entry): os.path.join(directory, entry)
                 for directory in (os.path.join(self.build, "tests", "bin"), self.bin)
                 for entry in os.listdir(directory)}
        environment = dict(os.environ, PATH=f"{self.bin}:{os.environ['PATH']}")
        while re.match(r"\w+=", words[0]):
            environment.update([words.pop(0).split("=", 1)])
        line = " ".join(shlex.quote(word) for word in words)
        for pattern, small in SMALLER:
            line = re.sub(pattern, small, line)
        replaced = [names.get(os.path.basename(word), word) for word in shlex.split(line)]
        if not os.path.isabs(replaced[0]):
            return f"the build has no program {words[0]}"
        with tempfile.TemporaryDirectory() as empty:
            os.symlink(os.path.join(self.root, "tests"), os.path.join(empty, "tests"))
            run = subprocess.run(replaced, cwd=empty, env=environment, text=True, check=False,
                                 capture_output=True, timeout=TIMEOUT_S)
        return None if run.returncode == 0 else f"exit {run.returncode}: {run.stderr[-400:]}"

    def fuzzer(self, words):
        """A program of preset fuzz: exists here as its replay twin, and its corpus exists."""
        name, corpus = os.path.basename(words[0]), os.path.join(self.root, words[-1])
        if not os.path.exists(os.path.join(self.build, "tests", "bin", name)):
            return f"there is no fuzz target {name}"
        return None if os.path.isdir(corpus) else f"there is no {words[-1]}"

    def emulated(self, words):
        """A program of others on the emulated NIC: runs, if it is installed."""
        if shutil.which(words[1]) is None:
            return None
        directory = os.path.join(self.build, "lib", "emulation")
        run = subprocess.run(words[1:], env=dict(os.environ, LD_LIBRARY_PATH=directory), text=True,
                             capture_output=True, check=False, timeout=TIMEOUT_S)
        return None if run.returncode == 0 else f"exit {run.returncode}: {run.stderr[-400:]}"

    def nic(self, words):
        """troupe_nic COMMAND: is understood; that there is no such job is exit code 3."""
        run = subprocess.run([os.path.join(self.bin, words[0]), *words[1:]], text=True,
                             capture_output=True, check=False, timeout=TIMEOUT_S)
        return None if run.returncode == 3 else f"exit {run.returncode}: {run.stderr[-400:]}"

    def nothing(self, _words):
        """Needs no check of ours (installing a package)."""


HOW = [(r"\./dev\b", Checker.dev), (r"(cmake|ctest)\b", Checker.cmake),
       (r"build/fuzz/", Checker.fuzzer),
       (r"LD_LIBRARY_PATH=build/\w+/lib/emulation\b", Checker.emulated),
       (r"troupe_nic\b", Checker.nic),
       (r"(\w+=\S+ )*(build/\w+/(tests/)?bin/\S+|troupe)\b", Checker.program),
       (r"(apt-get|git config|python3 tests/lint)\b", Checker.nothing)]


def main(root, build):
    checker, wrong, count = Checker(root, build), 0, 0
    for path, line, command in commands(Tree(root)):
        how = next((method for pattern, method in HOW if re.match(pattern, command)), None)
        reason = how(checker, shlex.split(command)) if how else "no test runs this command"
        count += 1
        print(f"{path}:{line}: {command}: {reason or 'ok'}", flush=True)
        wrong += reason is not None
    print(f"{count} commands, {wrong} wrong")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
