#!/usr/bin/env python3
"""Each rule of the lint is seen to fail on a planted violation, and to pass on a clean tree."""

import os
import shutil
import sys
import tempfile
import unittest

import lint
from build_rules import CLANG_FORMAT, Skipped
from planted_violations import ALLOWED, CLEAN, PLANTED
from source_tree import Tree


def violations(files, rule):
    """'path:line' of each violation of one rule in a tree of these files."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as stream:
                stream.write(text)
        return [f"{v.path}:{v.line}" for v in lint.RULES[rule](Tree(root))]


class EachRule(unittest.TestCase):
    def test_passes_on_a_clean_tree(self):
        for rule in lint.RULES:
            with self.subTest(rule=rule):
                try:
                    self.assertEqual(violations(CLEAN, rule), [])
                except Skipped as reason:
                    self.skipTest(str(reason))

    def test_fails_on_what_is_planted_and_only_there(self):
        for rule, path, text, line in PLANTED:
            if rule == "formatting" and shutil.which(CLANG_FORMAT) is None:
                continue
            with self.subTest(rule=rule, path=path, text=text[:60]):
                self.assertEqual(violations({**CLEAN, path: text}, rule), [f"{path}:{line}"])

    def test_passes_on_what_only_looks_like_a_violation(self):
        for rule, path, text in ALLOWED:
            with self.subTest(rule=rule, path=path, text=text[:60]):
                self.assertEqual(violations({**CLEAN, path: text}, rule), [])

    def test_has_a_planted_violation(self):
        self.assertEqual({rule for rule, *_ in PLANTED}, set(lint.RULES))

    @unittest.skipUnless("LINT_RULES_IN_CTEST" in os.environ, "run by ctest only")
    def test_is_an_entry_of_ctest(self):
        self.assertEqual(set(os.environ["LINT_RULES_IN_CTEST"].split(",")), set(lint.RULES))


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=1))
