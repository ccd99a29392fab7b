#!/usr/bin/env python3
"""Checks the rules of the house that a compiler does not: lint.py [--root DIR] [--list] [RULE...].

Exit status: 0 clean, 1 violations, 2 wrong call, 77 clean but a rule could not run here."""

import argparse
import os
import sys

import build_rules
import document_rules
import include_rules
import shape_rules
from build_rules import Skipped
from source_tree import Tree

RULES = {rule.__name__: rule
         for module in (include_rules, shape_rules, build_rules, document_rules)
         for rule in module.RULES}
SKIP_STATUS = 77


def run(tree, names):
    """(number of violations, reasons of rules that could not run), printing each violation."""
    count, skipped = 0, []
    for name in names:
        try:
            for violation in RULES[name](tree):
                print(f"{violation} [{name}]")
                count += 1
        except Skipped as reason:
            skipped.append(f"{name}: {reason}")
    return count, skipped


def main(arguments):
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description="Checks the rules of the house.")
    parser.add_argument("--root", default=os.path.dirname(os.path.dirname(here)),
                        help="the checkout (default: the one this file is in)")
    parser.add_argument("--list", action="store_true", help="name the rules and end")
    parser.add_argument("rules", nargs="*", help="rules to check (default: all)")
    options = parser.parse_args(arguments)
    if options.list:
        for name, rule in RULES.items():
            print(f"{name:16} {' '.join(rule.__doc__.split())}")
        return 0
    unknown = [name for name in options.rules if name not in RULES]
    if unknown:
        print(f"lint: no rule {', '.join(unknown)}; there are: {', '.join(RULES)}", file=sys.stderr)
        return 2
    names = options.rules or list(RULES)
    count, skipped = run(Tree(options.root), names)
    for reason in skipped:
        print(f"lint: SKIPPED {reason}")
    print(f"lint: {len(names) - len(skipped)} rules, {count} violations")
    return 1 if count else SKIP_STATUS if skipped else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
