#!/usr/bin/env python3
"""variant_symbols.py [--expect-leak] NM OBJECT...: what objects for more than the baseline define.

The linker keeps one copy of a weak symbol (an inline function, a template) for the whole program. A
copy that was compiled for AVX-512 would then run on machines that have none. So such an object may
define functions of its own namespace alone, and no weak or unique symbol."""

import re
import subprocess
import sys

OWN = re.compile(r"^troupe::(\w+::)*detail::(avx2|avx512)::")


def symbols(nm, path):
    """(kind, name) of each symbol that the object defines for others."""
    run = subprocess.run([nm, "--defined-only", "--extern-only", "--demangle", path], text=True,
                         capture_output=True, check=True, timeout=30)
    for line in run.stdout.splitlines():
        found = re.match(r"(?:[0-9a-f]+)?\s*(\w) (.+)$", line)
        if found:
            yield found.group(1), found.group(2)


def main(arguments):
    expect_leak = arguments[:1] == ["--expect-leak"]
    nm, *objects = arguments[1:] if expect_leak else arguments
    objects = [path for argument in objects for path in argument.split(";") if path]
    if not objects:
        print("SKIPPED: this processor has the baseline alone")
        return 0
    own = leaked = 0
    for path in objects:
        for kind, name in symbols(nm, path):
            if kind == "T" and OWN.match(name):
                own += 1
            else:
                leaked += 1
                print(f"{path}: {kind} {name}: not of this instruction set alone")
    print(f"{len(objects)} objects, {own} functions of their own, {leaked} others")
    if expect_leak:
        return 0 if leaked else 1
    return 1 if leaked or not own else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
