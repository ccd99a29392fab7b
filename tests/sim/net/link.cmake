add_library(link_world STATIC EXCLUDE_FROM_ALL
  link_checks.cpp link_options_of_seed.cpp link_owners.cpp link_windows.cpp
  link_wires.cpp link_world.cpp)
target_link_libraries(link_world PUBLIC troupe::net_link PRIVATE troupe_flags)
target_include_directories(link_world PUBLIC ${PROJECT_SOURCE_DIR})

# TROUPE_SEEDS: seeds that found bugs, played in every run.
troupe_test(sim net/link lanes SOURCES link_sim_test.cpp DEPS link_world TIMEOUT 300)
target_compile_definitions(sim_net_link_lanes PRIVATE
  TROUPE_SEEDS="${PROJECT_SOURCE_DIR}/tests/sim/seeds.txt")
