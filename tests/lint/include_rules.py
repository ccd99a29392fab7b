"""Who may include whom: our directories by the include table, vendors by directory."""

import re

from source_tree import Violation


def include_table(tree):
    """A quoted include names a file from the root that the include table allows."""
    for file in tree.code_files():
        row = tree.row_of(file.path)
        for line, quote, path in file.includes():
            if quote != '"' or path.startswith("../") or "/../" in path:
                continue
            if path not in tree.files:
                yield Violation(file.path, line, f'"{path}" is no file of this tree')
                continue
            other = tree.row_of(path)
            if row is None:
                yield Violation(file.path, line, "no row TROUPE_MAY_USE_... speaks for this file")
            elif other != row and other not in tree.may_use[row]:
                allowed = ", ".join(tree.may_use[row]) or "nothing"
                yield Violation(file.path, line,
                                f'{row} may not include "{path}": it may use {allowed}')


def include_style(tree):
    """Includes start at the root: no `../`, quotes for ours, <> for everything else."""
    for file in tree.code_files():
        for line, quote, path in file.includes():
            if path.startswith("..") or "/../" in path:
                yield Violation(file.path, line, f"{path}: paths start at the root")
            elif quote == "<" and path in tree.files:
                yield Violation(file.path, line, f"<{path}> is ours: use quotes")


def private_header(tree):
    """A header in detail/ is included only from the directory that holds that detail/."""
    for file in tree.code_files():
        for line, quote, path in file.includes():
            owner, found, _ = path.partition("detail/")
            if quote == '"' and found and not file.path.startswith(owner):
                yield Violation(file.path, line, f'"{path}" is private to {owner}')


# One vendor, one directory. (pattern of the include, what it is, path prefixes that may have it)
VENDORS = [
    (r"caf/", "CAF", ("actors/", "tests/")),
    (r"prometheus/", "prometheus-cpp", ("actors/",)),
    (r"hwloc", "hwloc", ("actors/",)),
    (r"sys/epoll\.h", "epoll",
     ("net/host/", "net/shm/", "net/tcp/", "net/verbs/", "runtime/cli/", "tests/")),
    (r"(sys/(socket|un|uio)\.h|netinet/|arpa/|netdb\.h|ifaddrs\.h|net/if\.h)", "sockets",
     ("actors/reporter/", "net/emulation/", "net/shm/", "net/tcp/", "runtime/cli/", "tests/")),
    (r"(infiniband/|rdma/)", "verbs", ("net/verbs/", "net/emulation/", "tests/")),
    (r"(cuda|cooperative_groups)", "CUDA", ("kernels/",)),
    (r"openssl/", "OpenSSL", ("net/crypto/",)),
    (r"toml", "the TOML parser", ("config/",)),
    (r"CLI/", "CLI11", ("runtime/cli/",)),
    (r"mpi\.h", "Open MPI", ("tests/bench/peers/",)),
    (r"gloo/", "gloo", ("tests/bench/peers/",)),
    (r"(nanobind|pybind11)/", "Python bindings", ("runtime/python/",)),
    (r"boost/", "Boost", ("tests/", "docs/examples/")),
]


def vendor_headers(tree):
    """Headers of a vendor stay in the one directory that knows the vendor; a _machine has none."""
    toml_users = []
    for file in tree.code_files():
        for line, quote, path in file.includes():
            if quote != "<":
                continue
            for pattern, vendor, homes in VENDORS:
                if not re.match(pattern, path):
                    continue
                if not file.path.startswith(homes):
                    yield Violation(file.path, line, f"{vendor} only in {' and '.join(homes)}")
                elif is_machine(file) and vendor != "Boost":
                    yield Violation(file.path, line, f"a pure core includes no {vendor}")
                elif vendor == "the TOML parser":
                    toml_users.append((file.path, line))
    for path, line in toml_users[1:]:
        yield Violation(path, line, f"the TOML parser is {toml_users[0][0]}'s alone")


PURE_DIRECTORIES = ("net/link/", "net/bootstrap/", "net/wire/", "collectives/")


def is_machine(file):
    return re.search(r"_machine\.(hpp|cpp)$", file.name) is not None


def is_pure(file):
    return file.path.startswith(PURE_DIRECTORIES) or (
        is_machine(file) and not file.path.startswith("tests/"))


IMPURE_HEADERS = {"thread", "mutex", "shared_mutex", "condition_variable", "future", "atomic",
                  "random", "iostream", "fstream", "ctime", "time.h",
                  "filesystem", "semaphore", "stop_token", "unistd.h", "pthread.h"}
IMPURE_WORDS = re.compile(
    r"\b(\w*_clock\s*::\s*now|clock_gettime|gettimeofday|s?rand(?=\s*\()|random_device"
    r"|std::(cout|cerr)|(f(printf|puts|open|write)|printf|puts)(?=\s*\()|this_thread"
    r"|unordered_(map|set)|getenv)\b")


def pure_cores(tree):
    """A core has no clock, thread, randomness or I/O, and no container with an arbitrary order."""
    for file in tree.code_files():
        if not is_pure(file):
            continue
        for line, quote, path in file.includes():
            if quote == "<" and path in IMPURE_HEADERS:
                yield Violation(file.path, line, f"a pure core does not include <{path}>")
        for number, line in enumerate(file.code.split("\n"), 1):
            found = IMPURE_WORDS.search(line)
            if found:
                yield Violation(file.path, number, f"a pure core does not use {found.group(0)}")


ENVIRONMENT = re.compile(r"\b(secure_getenv|getenv|setenv|putenv|unsetenv|environ)\b")
# The emulated NIC lies under programs that know nothing of it: it reads variables of its own.
ENVIRONMENT_HOMES = {"config/load.cpp": {"getenv", "secure_getenv", "environ"},
                     "net/emulation/detail/settings.cpp": {"getenv"}}


def environment(tree):
    """The environment is read in config/load.cpp only; the launcher may copy its own, and the
    emulated NIC reads what is meant for it."""
    for file in tree.code_files():
        if file.path.startswith("tests/"):
            continue
        allowed = ENVIRONMENT_HOMES.get(file.path, set())
        if file.path.startswith("runtime/cli/"):
            allowed = {"environ"}
        for number, line in enumerate(file.code.split("\n"), 1):
            for word in ENVIRONMENT.findall(line):
                if word not in allowed:
                    yield Violation(file.path, number,
                                    f"{word}: the environment is read in config/load.cpp only")


RULES = [include_table, include_style, private_header, vendor_headers, pure_cores, environment]
