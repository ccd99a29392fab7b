# The `troupe` program as its users run it.
add_library(troupe_test_cli_process STATIC cli_process.cpp)
target_include_directories(troupe_test_cli_process PUBLIC ${PROJECT_SOURCE_DIR})
target_compile_definitions(troupe_test_cli_process
  PRIVATE BOOST_TEST_DYN_LINK
  PUBLIC TROUPE_PROGRAM="$<TARGET_FILE:troupe>")
target_link_libraries(troupe_test_cli_process PRIVATE troupe_flags Boost::unit_test_framework)
add_dependencies(troupe_test_cli_process troupe)

foreach(thing launch_environment launch_output launch_failure cli_usage cli_bench cli_sim)
  troupe_test(processes runtime/cli ${thing} SOURCES ${thing}_test.cpp
    DEPS troupe_test_cli_process TIMEOUT 180)
endforeach()

troupe_test(processes runtime/cli cli_memory SOURCES cli_memory_test.cpp
  DEPS troupe_test_cli_process troupe::runtime_cli TIMEOUT 300)

find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
add_test(NAME processes.runtime/cli.documented_commands
  COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/cli_documented_commands_test.py
    ${PROJECT_SOURCE_DIR}/docs/commands.md $<TARGET_FILE_DIR:troupe>)
set_tests_properties(processes.runtime/cli.documented_commands PROPERTIES
  LABELS processes TIMEOUT 300)

add_subdirectory(${PROJECT_SOURCE_DIR}/tests/unit/runtime/cli unit_runtime_cli)
