"""Limits of length and nesting, and what a file must look like."""

import re

from source_tree import Violation

LINE_COLUMNS_MAX = 100
FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 500
NESTING_MAX = 4


def line_length(tree):
    """Code, CMake and scripts keep to 100 columns."""
    for file in tree:
        if file.is_code or file.is_cmake or file.is_script:
            for number, line in enumerate(file.lines, 1):
                if len(line) > LINE_COLUMNS_MAX:
                    yield Violation(file.path, number,
                                    f"{len(line)} columns, at most {LINE_COLUMNS_MAX}")


def file_length(tree):
    """A file of code has at most 500 lines."""
    for file in tree:
        count = len(file.lines) - (file.lines[-1] == "")
        if (file.is_code or file.is_cmake or file.is_script) and count > FILE_LINES_MAX:
            yield Violation(file.path, 0, f"{count} lines, at most {FILE_LINES_MAX}")


class Block:
    """An open brace: its kind (namespace, type, function, block, value) and where it stands."""

    def __init__(self, kind, line, head):
        self.kind, self.line, self.head = kind, line, head


QUALIFIER = re.compile(r"(\b(const|noexcept|override|final|mutable|constexpr)|&&?)$")


def kind_of(head, inside_function):
    """What a brace opens, from the text since the last statement ended. A heuristic that knows the
    formatted style of this tree, not a parser."""
    text = head.strip()
    if re.search(r"\bnamespace\b[\w\s:]*$", text) or re.search(r'\bextern\s*"\s*"$', text):
        return "namespace"
    while QUALIFIER.search(text):
        text = QUALIFIER.sub("", text).rstrip()
    if re.search(r"\b(else|do|try)$", text) or (inside_function and re.search(r"(^|:)$", text)):
        return "block"
    if text.endswith(")") and not re.search(r"\b(alignas|decltype)\([^()]*\)$", text):
        return "block"
    if re.search(r"\)\s*(const|noexcept|mutable)*\s*->[^;{}]*$", text):
        return "block"
    if re.search(r"\[[^\[\]]*\]$", text) and not re.search(r"[\w\])]\s*\[[^\[\]]*\]$", text):
        return "block"
    if re.search(r"\b(class|struct|union|enum)\b", text) and not text.endswith("="):
        return "type"
    if text.endswith("{}") and re.search(r"\)\s*(noexcept)?\s*:[^:]", text):
        return "block"
    return "value"


def functions_of(code):
    """(first line, last line, deepest nesting inside) of every function body."""
    stack, head, line = [], "", 1
    depth_max = 0
    for character in code:
        if character == "\n":
            line += 1
        if character == "{":
            inside = any(block.kind == "function" for block in stack)
            kind = kind_of(head, inside)
            if kind == "block" and not inside:
                kind, depth_max = "function", 0
            stack.append(Block(kind, line, head))
            head = ""
            depth_max = max(depth_max, sum(block.kind == "block" for block in stack))
        elif character == "}":
            if not stack:
                return
            block = stack.pop()
            head = block.head + "{}" if block.kind == "value" else ""
            if block.kind == "function":
                yield block.line, line, depth_max
        elif character == ";" and not (stack and stack[-1].kind == "value"):
            head = "" if head.count("(") == head.count(")") else head + ";"
        else:
            head += character


def function_length(tree):
    """A function has at most 70 lines."""
    for file in tree.code_files():
        for first, last, _ in functions_of(file.code):
            count = last - first + 1
            if count > FUNCTION_LINES_MAX:
                yield Violation(file.path, first,
                                f"function of {count} lines, at most {FUNCTION_LINES_MAX}")


def nesting(tree):
    """At most four blocks lie inside one another in a function."""
    for file in tree.code_files():
        for first, _, depth in functions_of(file.code):
            if depth > NESTING_MAX:
                yield Violation(file.path, first,
                                f"function nests {depth} blocks, at most {NESTING_MAX}")


def pragma_once(tree):
    """A header starts with #pragma once."""
    for file in tree.code_files():
        if file.is_header:
            first = next((line for line in file.lines if line.strip()), "")
            if first.strip() != "#pragma once":
                yield Violation(file.path, 1, "a header starts with #pragma once")


def using_namespace(tree):
    """No header says `using namespace`."""
    for file in tree.code_files():
        if not file.is_header:
            continue
        for number, line in enumerate(file.code.split("\n"), 1):
            if re.search(r"\busing\s+namespace\b", line):
                yield Violation(file.path, number, "no `using namespace` in a header")


BANNED_NAMES = re.compile(r"(^|[_.])(utils?|commons?|helpers?|misc|legacy)([_.]|$)")
SECOND_VERSION = re.compile(r"(_v?2|_new|_old)(\.|$)")
TOP_LEVEL = {"runtime", "config", "collectives", "net", "kernels", "actors", "tests", "docs", ".ci"}


def file_names(tree):
    """A file has an owner's name: no utils, no second versions, no new top-level directory."""
    for file in tree:
        parts = file.path.split("/")
        for part in parts:
            if BANNED_NAMES.search(part) or SECOND_VERSION.search(part):
                yield Violation(file.path, 0, f"'{part}' is no name: say what it is about")
        if len(parts) > 1 and parts[0] not in TOP_LEVEL:
            yield Violation(file.path, 0, f"no top-level directory {parts[0]}/ (design, section 2)")
        if file.is_code and not re.fullmatch(r"[a-z0-9_]+\.[a-z]+", file.name):
            yield Violation(file.path, 0, "file names are snake_case")


UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b(?!\(#\d+\))")


def unfinished(tree):
    """A TODO names the issue that will do it: TODO(#12)."""
    for file in tree:
        if file.path.startswith("tests/lint/") or not (
                file.is_code or file.is_cmake or file.is_script):
            continue
        for number, line in enumerate(file.lines, 1):
            found = UNFINISHED.search(line)
            if found:
                yield Violation(file.path, number, f"{found.group(1)} without an issue: (#12)")


MACHINE_PATHS = re.compile(r"(?<![\w.}$])/(work|root|home)/")


def machine_paths(tree):
    """No file names a path of one machine."""
    for file in tree:
        if file.path.startswith("tests/lint/"):
            continue
        for number, line in enumerate(file.lines, 1):
            found = MACHINE_PATHS.search(line)
            if found:
                yield Violation(file.path, number, f"{found.group(0)} is a path of one machine")


RULES = [line_length, file_length, function_length, nesting, pragma_once, using_namespace,
         file_names, unfinished, machine_paths]
