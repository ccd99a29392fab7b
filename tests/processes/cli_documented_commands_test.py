"""Runs every command of the ```sh blocks of a document and compares exit codes.

usage: cli_documented_commands_test.py DOCUMENT DIRECTORY_OF_TROUPE [PATTERN]

The lines of a block run in order in one empty directory. `# exit N` at the end of a line is the
exit code that the document promises; without it, 0. PATTERN runs only the lines that match.
"""

import os
import re
import subprocess
import sys
import tempfile

LIMIT_S = 60


def blocks(text):
    """Lists of (line number, command, expected exit code)."""
    block = None
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            if block:
                yield block
            block = [] if line.strip() == "```sh" else None
        elif block is not None and line.strip() and not line.startswith("#"):
            found = re.search(r"\s+# exit (\d+)$", line)
            command = line[:found.start()] if found else line
            block.append((number, command, int(found.group(1)) if found else 0))


def run_block(block, environment, pattern):
    """Problems of the lines of one block, and how many ran."""
    problems, count = [], 0
    with tempfile.TemporaryDirectory() as directory:
        for number, command, expected in block:
            if not re.search(pattern, command):
                continue
            count += 1
            try:
                done = subprocess.run(["bash", "-c", command], cwd=directory, env=environment,
                                      stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                      timeout=LIMIT_S)
            except subprocess.TimeoutExpired:
                problems.append(f"line {number}: {command}\n  did not end within {LIMIT_S} s")
                continue
            if done.returncode != expected:
                problems.append(f"line {number}: {command}\n  exit code {done.returncode}, "
                                f"documented: {expected}\n{done.stdout}{done.stderr}")
    return problems, count


def main():
    document, programs = sys.argv[1:3]
    pattern = sys.argv[3] if len(sys.argv) > 3 else ""
    with open(document, encoding="utf-8") as file:
        text = file.read()
    environment = dict(os.environ, PATH=programs + ":" + os.environ["PATH"])
    problems, count = [], 0
    for block in blocks(text):
        found, ran = run_block(block, environment, pattern)
        problems += found
        count += ran
    if count == 0:
        problems.append(f"{document} documents no command")
    print("\n".join(problems + [f"{count} commands, {len(problems)} problems"]))
    return 1 if problems else 0


sys.exit(main())
