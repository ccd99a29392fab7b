"""Plays every script of config/scenarios in each of its worlds: all hold.

usage: scenario_scripts_test.py DIRECTORY_OF_SCRIPTS TROUPE WORLD [SCRIPT...]

In world sim with several seeds, each twice: the same trace.
"""

import json
import os
import subprocess
import sys
import tempfile
import tomllib

LIMIT_S = 120
SEEDS = "1..5"


def play(troupe, path, world):
    """What is wrong, as text; empty if nothing is."""
    with tempfile.TemporaryDirectory() as directory:
        rows = os.path.join(directory, "runs.json")
        more = ["--seeds", SEEDS, "--twice"] if world == "sim" else []
        command = [troupe, "scenario", "run", path, "--world", world, "--json", rows, *more]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            return f"did not end within {LIMIT_S} s"
        if done.returncode != 0:
            return f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
        with open(rows, encoding="utf-8") as file:
            runs = json.load(file)
        if not runs or any(run["result"] != "ok" for run in runs):
            return f"the rows say otherwise than the exit code: {runs}"
    return ""


def main():
    directory, troupe, world = sys.argv[1:4]
    names = sys.argv[4:] or sorted(os.listdir(directory))
    emulation = os.path.join(os.path.dirname(troupe), "../lib/emulation/libibverbs.so.1")
    problems, played = [], 0
    for name in names:
        path = os.path.join(directory, name)
        checked = subprocess.run([troupe, "scenario", "check", path], capture_output=True,
                                 text=True, timeout=LIMIT_S)
        if checked.returncode != 0:
            problems.append(f"{name}: {checked.stderr}")
            continue
        with open(path, "rb") as file:
            script = tomllib.load(file)
        if world not in script["worlds"]:
            continue
        cards = script.get("process", {}).get("lanes") == "verbs"
        if world == "process" and cards and not os.path.exists(emulation):
            print(f"SKIPPED {name}: built without emulated cards")
            continue
        played += 1
        if problem := play(troupe, path, world):
            problems.append(f"{name}: {problem}")
    print("\n".join(problems + [f"{played} scripts in world {world}, {len(problems)} problems"]))
    return 1 if problems or not played else 0


sys.exit(main())
