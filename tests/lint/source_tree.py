"""The files of a checkout, read once, and what the rules need to know about each."""

import os
import re

SKIPPED_DIRECTORIES = {".git", "build", ".cache", "__pycache__"}
CODE_SUFFIXES = (".cpp", ".hpp", ".cu", ".cuh", ".c", ".h")
HEADER_SUFFIXES = (".hpp", ".cuh", ".h")
SCRIPT_NAMES = ("dev", ".ci/run")


class Violation:
    """One broken rule at one line. Line 0 means the file as a whole."""

    def __init__(self, path, line, text):
        self.path, self.line, self.text = path, line, text

    def __str__(self):
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.text}"


class SourceFile:
    """A text file: `path` relative to the root with slashes, `lines`, and `code` without comments,
    string contents and preprocessor lines (line numbers stay)."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.lines = text.split("\n")
        self.directory = os.path.dirname(path)
        self.name = os.path.basename(path)
        self._code = None

    @property
    def is_code(self):
        return self.path.endswith(CODE_SUFFIXES)

    @property
    def is_header(self):
        return self.path.endswith(HEADER_SUFFIXES)

    @property
    def is_cmake(self):
        return self.name == "CMakeLists.txt" or self.path.endswith(".cmake")

    @property
    def is_document(self):
        return self.path.endswith(".md")

    @property
    def is_script(self):
        return self.path.endswith((".py", ".sh")) or self.path in SCRIPT_NAMES

    @property
    def code(self):
        if self._code is None:
            self._code = strip_preprocessor(strip_comments(self.text, keep_strings=False))
        return self._code

    def includes(self):
        """(line, quote, path) of each include that is not commented out."""
        pattern = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
        for number, line in enumerate(strip_comments(self.text).split("\n"), 1):
            found = pattern.match(line)
            if found:
                yield number, found.group(1), found.group(2)


class Tree:
    """Every text file below `root`, and the include table of its root CMakeLists.txt."""

    def __init__(self, root):
        self.root = root
        self.files = {}
        for directory, names, files in os.walk(root):
            # Of hidden directories only CI's is part of the tree; the others are tools' own.
            names[:] = sorted(n for n in names if n not in SKIPPED_DIRECTORIES
                              and (not n.startswith(".") or n == ".ci"))
            for name in sorted(files):
                full = os.path.join(directory, name)
                path = os.path.relpath(full, root).replace(os.sep, "/")
                text = read_text(full)
                if text is not None:
                    self.files[path] = SourceFile(path, text)
        self.may_use = include_table(self.files.get("CMakeLists.txt"))

    def __iter__(self):
        return iter(self.files.values())

    def code_files(self):
        return [f for f in self if f.is_code]

    def cmake_files(self):
        return [f for f in self if f.is_cmake]

    def documents(self):
        return [f for f in self if f.is_document]

    def row_of(self, path):
        """The row of the include table that speaks for a file: its longest directory with one."""
        parts = path.split("/")[:-1]
        while parts:
            row = "/".join(parts)
            if row in self.may_use:
                return row
            parts.pop()
        return None


def read_text(path):
    """The file as text; none if it is not UTF-8 text or not a plain file."""
    if os.path.islink(path):
        return None
    try:
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
    except (UnicodeDecodeError, OSError):
        return None
    return None if "\0" in text else text


def include_table(root_cmake):
    """{directory: [directories it may use]} from the set(TROUPE_MAY_USE_...) lines."""
    table = {}
    if root_cmake is None:
        return table
    pattern = r'^\s*set\(TROUPE_MAY_USE_(\S+)\s+"([^"]*)"\)'
    for name, rows in re.findall(pattern, root_cmake.text, re.MULTILINE):
        table[name] = [row for row in rows.split(";") if row]
    return table


TOKEN = re.compile(
    r"""(?P<line>//[^\n]*)|(?P<block>/\*.*?\*/)"""
    r"""|(?P<raw>R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)")"""
    r"""|(?P<string>"(?:\\.|[^"\\\n])*")"""
    r"""|(?P<character>(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*')""", re.DOTALL)


def strip_comments(text, keep_strings=True):
    """The text with comments blanked, and on request the contents of strings, too."""

    def blank(match):
        whole = match.group(0)
        if match.group("line") or match.group("block"):
            return re.sub(r"[^\n]", " ", whole)
        if keep_strings:
            return whole
        return '"' + re.sub(r"[^\n]", " ", whole[1:-1]) + '"'

    return TOKEN.sub(blank, text)


def strip_preprocessor(text):
    """The text with preprocessor lines and their continuations blanked."""
    out, continued = [], False
    for line in text.split("\n"):
        if continued or line.lstrip().startswith("#"):
            continued = line.endswith("\\")
            out.append("")
        else:
            out.append(line)
    return "\n".join(out)
