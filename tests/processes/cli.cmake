# The `troupe` program as its users run it.
add_library(troupe_test_cli_process STATIC cli_process.cpp)
target_include_directories(troupe_test_cli_process PUBLIC ${PROJECT_SOURCE_DIR})
target_compile_definitions(troupe_test_cli_process
  PRIVATE BOOST_TEST_DYN_LINK TROUPE_PROGRAM="$<TARGET_FILE:troupe>")
target_link_libraries(troupe_test_cli_process PRIVATE troupe_flags Boost::unit_test_framework)
add_dependencies(troupe_test_cli_process troupe)

foreach(thing launch_environment launch_output launch_failure)
  troupe_test(processes runtime/cli ${thing} SOURCES ${thing}_test.cpp
    DEPS troupe_test_cli_process TIMEOUT 180)
endforeach()

add_subdirectory(${PROJECT_SOURCE_DIR}/tests/unit/runtime/cli unit_runtime_cli)
