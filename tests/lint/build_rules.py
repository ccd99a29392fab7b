"""What CMake knows of the tree: no source that nobody builds, no public header that leans on a
private one, no file that clang-format would change."""

import os
import re
import shutil
import subprocess

from source_tree import Violation

CLANG_FORMAT = "clang-format-14"


class Skipped(Exception):
    """A rule that cannot run here, and why."""


def expand(token, variables):
    """The token with each ${variable} of a foreach replaced by each of its values."""
    found = re.search(r"\$\{(\w+)\}", token)
    if not found:
        return [token]
    values = variables.get(found.group(1))
    if values is None:
        return []
    return [result for value in values
            for result in expand(token.replace(found.group(0), value, 1), variables)]


def mentioned_files(file):
    """Paths from the root of every source that a CMake file names, foreach variables expanded."""
    text = re.sub(r"(^|\s)#[^\n]*", " ", file.text)
    variables = {"PROJECT_SOURCE_DIR": [""], "CMAKE_SOURCE_DIR": [""],
                 "CMAKE_CURRENT_SOURCE_DIR": ["/" + file.directory],
                 "CMAKE_CURRENT_LIST_DIR": ["/" + file.directory]}
    for name, values in re.findall(r"foreach\(\s*(\w+)\s+(?:IN ITEMS\s+)?([^)]*)\)", text):
        variables.setdefault(name, []).extend(values.split())
    for name, values in re.findall(r"\bset\(\s*(\w+)\s+([^)]*)\)", text):
        variables.setdefault(name, []).extend(values.replace('"', " ").replace(";", " ").split())
    for token in re.findall(r"[^\s()\";]+\.(?:cpp|hpp|cu|cuh|c|h)\b", text):
        for path in expand(token, variables):
            base = path[1:] if path.startswith("/") else os.path.join(file.directory, path)
            yield os.path.normpath(base).replace(os.sep, "/")


def built_sources(tree):
    """Every source is named by a CMake file; every header by one, or included by somebody."""
    mentioned = {path for file in tree.cmake_files() for path in mentioned_files(file)}
    included = {path for file in tree.code_files() for _, _, path in file.includes()}
    for file in tree.code_files():
        if file.path in mentioned:
            continue
        if not file.is_header:
            yield Violation(file.path, 0, "no CMake file builds this source")
        elif file.path not in included:
            yield Violation(file.path, 0, "no CMake file names this header, nobody includes it")


def public_headers(tree):
    """Paths of the headers that troupe_module(... HEADERS ...) installs, by file of definition."""
    for file in tree.cmake_files():
        text = re.sub(r"(^|\s)#[^\n]*", " ", file.text)
        for body in re.findall(r"\btroupe_module\(([^)]*)\)", text):
            part = re.search(r"\bHEADERS\b(.*?)(\b(SOURCES|DEPS|EXTERNAL|PRIVATE_EXTERNAL)\b|$)",
                             body, re.DOTALL)
            for name in part.group(1).split() if part else []:
                if "${" in name:
                    continue
                yield os.path.normpath(os.path.join(file.directory, name)).replace(os.sep, "/")


def public_header(tree):
    """A public header includes only public headers of ours, and no CAF, CUDA or verbs."""
    public = set(public_headers(tree))
    for path in sorted(public):
        file = tree.files.get(path)
        if file is None:
            yield Violation(path, 0, "a HEADERS list names this file, but there is none")
            continue
        for line, quote, other in file.includes():
            if quote == '"' and other not in public:
                yield Violation(path, line, f'public header includes "{other}", not installed')
            elif quote == "<" and re.match(r"(caf/|cuda|infiniband/)", other):
                yield Violation(path, line, f"public header includes <{other}>")


def formatting(tree):
    """clang-format 14 would change nothing."""
    program = shutil.which(CLANG_FORMAT)
    if program is None:
        raise Skipped(f"{CLANG_FORMAT} is missing (./dev setup --checks)")
    paths = [file.path for file in tree.code_files()]
    if not paths:
        return
    run = subprocess.run([program, "--dry-run", *paths], cwd=tree.root, capture_output=True,
                         text=True, check=False)
    first_of = {}
    for path, line in re.findall(r"^(.+?):(\d+):\d+: warning: code should be", run.stderr,
                                 re.MULTILINE):
        first_of.setdefault(path, int(line))
    for path, line in first_of.items():
        yield Violation(path, line, "not formatted (./dev format)")
    if run.returncode != 0:
        yield Violation(CLANG_FORMAT, 0, run.stderr.strip()[:200])


RULES = [built_sources, public_header, formatting]
