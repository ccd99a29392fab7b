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
foreach(page commands scenarios)
  add_test(NAME processes.runtime/cli.documented_${page}
    COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/cli_documented_commands_test.py
      ${PROJECT_SOURCE_DIR}/docs/${page}.md $<TARGET_FILE_DIR:troupe>)
  set_tests_properties(processes.runtime/cli.documented_${page} PROPERTIES
    LABELS processes TIMEOUT 300 ENVIRONMENT SCENARIOS=${PROJECT_SOURCE_DIR}/config/scenarios)
endforeach()

add_test(NAME processes.runtime/cli.scenario_command
  COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/scenario_cli_test.py
    $<TARGET_FILE:troupe>)
set_tests_properties(processes.runtime/cli.scenario_command PROPERTIES
  LABELS processes TIMEOUT 300 PROCESSORS 2)
foreach(world sim process)
  add_test(NAME processes.runtime/cli.scenarios_${world}
    COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/scenario_scripts_test.py
      ${PROJECT_SOURCE_DIR}/config/scenarios $<TARGET_FILE:troupe> ${world})
  set_tests_properties(processes.runtime/cli.scenarios_${world} PROPERTIES
    LABELS processes TIMEOUT 600 PROCESSORS 2)
endforeach()

add_subdirectory(${PROJECT_SOURCE_DIR}/tests/unit/runtime/cli unit_runtime_cli)
