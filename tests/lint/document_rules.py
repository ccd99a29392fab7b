"""Documents: links that lead somewhere, one title each, examples that are the tested ones."""

import os
import re

from source_tree import Violation

EXAMPLE = "docs/examples/hello_all_reduce.cpp"


def without_code(file):
    """(number, line) of the lines outside fenced blocks."""
    fenced = False
    for number, line in enumerate(file.lines, 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def slug(title):
    """The anchor that a heading gets."""
    plain = re.sub(r"[^\w\s-]", "", title.replace("`", "").strip().lower())
    return plain.replace(" ", "-")


def anchors(file):
    headings = (re.match(r"#+\s+(.*)", line) for _, line in without_code(file))
    return {slug(found.group(1)) for found in headings if found}


def dead_link(tree):
    """Each link of a document leads to a file, and its anchor to a heading."""
    for file in tree.documents():
        for number, line in without_code(file):
            for target in re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, anchor = target.partition("#")
                full = os.path.normpath(os.path.join(file.directory, path)) if path else file.path
                if not os.path.exists(os.path.join(tree.root, full)):
                    yield Violation(file.path, number, f"dead link {target}")
                elif anchor and full in tree.files and anchor not in anchors(tree.files[full]):
                    yield Violation(file.path, number, f"no heading for {target}")


def dead_reference(tree):
    """A page that code or text names by its path (docs/x.md) exists."""
    for file in tree:
        if file.path.startswith("tests/lint/"):
            continue
        for number, line in enumerate(file.lines, 1):
            for path in re.findall(r"(?<![\w/.-])docs/[\w./-]+\.(?:md|cpp|hpp)\b", line):
                if path not in tree.files:
                    yield Violation(file.path, number, f"{path} does not exist")


def document_shape(tree):
    """A document has one title, and it comes first."""
    for file in tree.documents():
        titles = [number for number, line in without_code(file) if re.match(r"#\s", line)]
        if len(titles) != 1:
            yield Violation(file.path, 0, f"{len(titles)} titles (lines with one #), not one")
        elif next(n for n, line in without_code(file) if line.strip()) != titles[0]:
            yield Violation(file.path, 1, "a document starts with its title")


def readme_example(tree):
    """The program in README.md is the example that CI compiles, to the letter."""
    readme, example = tree.files.get("README.md"), tree.files.get(EXAMPLE)
    if readme is None or example is None:
        missing = EXAMPLE if example is None else "README.md"
        yield Violation(missing, 0, "missing: README.md shows the program of this file")
        return
    blocks = re.findall(r"```cpp\n(.*?)```", readme.text, re.DOTALL)
    if example.text not in blocks:
        line = readme.text[:readme.text.find("```cpp")].count("\n") + 1
        yield Violation("README.md", line, f"the cpp block differs from {EXAMPLE}")


RULES = [dead_link, dead_reference, document_shape, readme_example]
