#!/usr/bin/env python3
"""Puts the example program into README.md, where the rule readme_example wants it to the letter."""

import os
import re
import sys

from document_rules import EXAMPLE


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    root = os.path.dirname(os.path.dirname(here))
    with open(os.path.join(root, EXAMPLE), encoding="utf-8") as stream:
        example = stream.read()
    readme_path = os.path.join(root, "README.md")
    with open(readme_path, encoding="utf-8") as stream:
        readme = stream.read()
    fresh = re.sub(r"```cpp\n.*?```", lambda _: f"```cpp\n{example}```", readme, count=1,
                   flags=re.DOTALL)
    if fresh == readme:
        print("README.md is up to date")
        return 0
    with open(readme_path, "w", encoding="utf-8") as stream:
        stream.write(fresh)
    print("README.md was written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
