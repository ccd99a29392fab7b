add_library(bootstrap_world STATIC EXCLUDE_FROM_ALL bootstrap_world.cpp
  bootstrap_world_links.cpp)
target_link_libraries(bootstrap_world PUBLIC troupe::net_bootstrap PRIVATE troupe_flags)
target_include_directories(bootstrap_world PUBLIC ${PROJECT_SOURCE_DIR})

troupe_test(sim net/bootstrap joining
  SOURCES
    bootstrap_job.cpp bootstrap_joined_scenarios.cpp bootstrap_joining_scenarios.cpp
    bootstrap_sim_test.cpp
  DEPS bootstrap_world)
troupe_test(sim net/bootstrap scale SOURCES bootstrap_scale_sim_test.cpp DEPS bootstrap_world)
