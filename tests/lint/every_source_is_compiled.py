#!/usr/bin/env python3
"""every_source_is_compiled.py ROOT COMPILE_COMMANDS [DIRECTORY/...]: fails for a .cpp that this
build leaves out.

Left out on purpose: projects of their own, which tests configure (a fixture, the consumer) or a
benchmark does (the programs of the peers), and directories that the build says it is without."""

import json
import os
import sys

from source_tree import Tree

OWN_PROJECTS = ("tests/lint/planted_module/", "tests/consumer/", "tests/bench/peers/")


def main(root, commands_path, *without):
    with open(commands_path, encoding="utf-8") as stream:
        commands = json.load(stream)
    compiled = {os.path.relpath(os.path.join(entry["directory"], entry["file"]), root)
                for entry in commands}
    missing = [file.path for file in Tree(root).code_files()
               if file.path.endswith(".cpp") and file.path not in compiled
               and not file.path.startswith(OWN_PROJECTS + without)]
    for path in missing:
        print(f"{path}: not compiled by this build")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
