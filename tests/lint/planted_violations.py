"""A small clean tree, and what is planted in it: (rule, path, text, line of the violation)."""

ROOT_CMAKE = """\
set(TROUPE_MAY_USE_runtime "")
set(TROUPE_MAY_USE_config "runtime")
set(TROUPE_MAY_USE_net "runtime;config")
set(TROUPE_MAY_USE_collectives "runtime;config")
set(TROUPE_MAY_USE_actors "runtime;config;net;collectives")
set(TROUPE_MAY_USE_runtime/cli "runtime;config")
set(TROUPE_MAY_USE_tests "runtime;config;net;collectives;actors")
set(TROUPE_MAY_USE_docs "runtime")
"""

EXAMPLE = "int main() {}\n"

CLEAN = {
    "CMakeLists.txt": ROOT_CMAKE,
    "runtime/CMakeLists.txt": "troupe_module(runtime HEADERS rank.hpp SOURCES rank.cpp)\n",
    "runtime/rank.hpp": "#pragma once\n\n#include <cstdint>\n",
    "runtime/rank.cpp": '#include "runtime/rank.hpp"\n',
    "net/CMakeLists.txt": "troupe_module(net/link HEADERS link/link.hpp link/link_machine.hpp)\n",
    "net/link/link.hpp": '#pragma once\n\n#include "runtime/rank.hpp"\n',
    "net/link/link_machine.hpp": "#pragma once\n",
    "docs/examples/CMakeLists.txt": "add_executable(hello hello_all_reduce.cpp)\n",
    "docs/examples/hello_all_reduce.cpp": EXAMPLE,
    "docs/page.md": "# Page\n\n## A part of it\n\nSee [above](#a-part-of-it).\n",
    "README.md": f"# Troupe\n\n```cpp\n{EXAMPLE}```\n\n[page](docs/page.md#a-part-of-it)\n",
}


def header(line):
    return f"#pragma once\n\n{line}\n"


def function(body_lines):
    return "void f() {\n" + "  g();\n" * body_lines + "}\n"


def nested(depth):
    opening = "".join("  " * (i + 1) + "if (a) {\n" for i in range(depth))
    return "void f() {\n" + opening + "}" * depth + "\n}\n"


PLANTED = [
    ("include_table", "net/link/link.hpp", header('#include "actors/x.hpp"'), 3),
    ("include_table", "runtime/rank.cpp", '#include "net/link/link.hpp"\n', 1),
    ("include_table", "runtime/cli/main.cpp", '#include "net/link/link.hpp"\n', 1),
    ("include_table", "collectives/plan.cpp", '\n#include "net/link/link.hpp"\n', 2),
    ("include_table", "docs/examples/hello_all_reduce.cpp", '#include "net/link/link.hpp"\n', 1),
    ("include_table", "net/link/link.hpp", header('#include "link_machine.hpp"'), 3),
    ("include_style", "net/link/link.hpp", header('#include "../link_machine.hpp"'), 3),
    ("include_style", "net/link/link.hpp", header("#include <runtime/rank.hpp>"), 3),
    ("private_header", "actors/a.cpp", '#include "net/link/detail/part.hpp"\n', 1),
    ("vendor_headers", "net/link/link.hpp", header("#include <caf/all.hpp>"), 3),
    ("vendor_headers", "actors/rank/rank_machine.cpp", "#include <caf/all.hpp>\n", 1),
    ("vendor_headers", "actors/endpoint.cpp", "#include <sys/socket.h>\n", 1),
    ("vendor_headers", "net/tcp/tcp.cpp", "#include <openssl/hmac.h>\n", 1),
    ("vendor_headers", "runtime/cli/main.cpp", "#include <toml++/toml.h>\n", 1),
    ("vendor_headers", "actors/endpoint.cpp", "#include <CLI/CLI.hpp>\n", 1),
    ("vendor_headers", "tests/unit/net/x_test.cpp", "#include <mpi.h>\n", 1),
    ("vendor_headers", "tests/bench/x_bench.cpp", "#include <gloo/context.h>\n", 1),
    ("vendor_headers", "net/link/link.hpp", header("#include <cuda_runtime.h>"), 3),
    ("pure_cores", "net/link/link_machine.hpp", header("#include <thread>"), 3),
    ("pure_cores", "net/link/link.hpp", header("auto t = std::chrono::steady_clock::now();"), 3),
    ("pure_cores", "collectives/plan.cpp", "int x = rand();\n", 1),
    ("pure_cores", "actors/rank/rank_machine.cpp", "#include <iostream>\n", 1),
    ("pure_cores", "net/link/link.cpp", 'void f() { std::printf("x"); }\n', 1),
    ("environment", "net/link/link.cpp", 'auto x = std::getenv("A");\n', 1),
    ("environment", "runtime/cli/main.cpp", 'auto x = getenv("A");\n', 1),
    ("line_length", "runtime/rank.cpp", "\n//" + "x" * 99 + "\n", 2),
    ("line_length", "dev", "#" + "x" * 100 + "\n", 1),
    ("file_length", "runtime/rank.cpp", "\n" * 501, 0),
    ("function_length", "runtime/rank.cpp", "\n" + function(69), 2),
    ("function_length", "runtime/rank.cpp",
     "namespace a {\nstruct s {\n  s() noexcept : x_{1}, y_(2) {\n" + "g();\n" * 70 + "}\n};\n}\n",
     3),
    ("nesting", "runtime/rank.cpp", nested(5), 1),
    ("pragma_once", "net/link/link.hpp", '#include "runtime/rank.hpp"\n#pragma once\n', 1),
    ("using_namespace", "net/link/link.hpp", header("using namespace std;"), 3),
    ("file_names", "net/link/link_utils.hpp", "#pragma once\n", 0),
    ("file_names", "net/common/link.hpp", "#pragma once\n", 0),
    ("file_names", "net/link/link_v2.hpp", "#pragma once\n", 0),
    ("file_names", "scripts/run.sh", "\n", 0),
    ("file_names", "net/link/LinkState.hpp", "#pragma once\n", 0),
    ("unfinished", "runtime/rank.cpp", "// TODO: finish\n", 1),
    ("machine_paths", "docs/page.md", "# Page\n\nLook into /home/me/troupe.\n", 3),
    ("built_sources", "tests/unit/forgotten_test.cpp", "\n", 0),
    ("built_sources", "net/link/forgotten.hpp", "#pragma once\n", 0),
    ("public_header", "runtime/rank.hpp", header('#include "net/link/detail/part.hpp"'), 3),
    ("public_header", "runtime/rank.hpp", header("#include <caf/actor.hpp>"), 3),
    ("formatting", "runtime/rank.cpp", "\nint  x;\n", 2),
    ("dead_link", "docs/page.md", "# Page\n\n[gone](gone.md)\n\n## A part of it\n", 3),
    ("dead_link", "README.md", "# Troupe\n\n[part](docs/page.md#no-part)\n", 3),
    ("dead_reference", "runtime/rank.cpp", "// see docs/gone.md\n", 1),
    ("document_shape", "docs/page.md", "# Page\n\n# Another\n\n## A part of it\n", 0),
    ("document_shape", "docs/page.md", "Text first\n\n# Page\n", 1),
    ("readme_example", "README.md", "# Troupe\n\n```cpp\nint main() { return 1; }\n```\n", 3),
]

ALLOWED = [
    ("include_table", "net/link/link.cpp", '// #include "actors/x.hpp"\n'),
    ("include_table", "tests/unit/t.cpp", '#include "net/link/link.hpp"\n'),
    ("vendor_headers", "net/tcp/tcp.cpp", "#include <sys/socket.h>\n"),
    ("pure_cores", "net/link/link.cpp", "// std::chrono::steady_clock::now() is not asked\n"),
    ("pure_cores", "net/link/link.cpp", 'auto x = "printf()";\n'),
    ("pure_cores", "net/link/link.cpp", "void f() { std::snprintf(a, 8, b); }\n"),
    ("environment", "config/load.cpp", 'auto x = std::getenv("A");\n'),
    ("environment", "tests/unit/t.cpp", 'setenv("A", "b", 1);\n'),
    ("function_length", "runtime/rank.cpp", function(68)),
    ("function_length", "runtime/rank.cpp", "int x[] = {\n" + "1,\n" * 90 + "};\n"),
    ("function_length", "runtime/rank.cpp",
     "namespace {\nclass c final : public b {\n"
     + "  int x() const { return 1'000; }\n" * 90 + "};\n}\n"),
    ("nesting", "runtime/rank.cpp", nested(4)),
    ("nesting", "runtime/rank.cpp", "void f() { g(a{b{c{d{e{f{1}}}}}}); }\n"),
    ("unfinished", "runtime/rank.cpp", "// TODO(#12): finish\n"),
    ("using_namespace", "runtime/rank.cpp", "using namespace std;\n"),
    ("dead_link", "docs/page.md", "# Page\n\n```\n[gone](gone.md)\n```\n\n## A part of it\n"),
    ("built_sources", "tests/CMakeLists.txt", "foreach(x a b)\n  t(${x}_test.cpp)\nendforeach()\n"),
]
