# The cores of membership and fault-tolerant all-reduce, without CAF.
add_library(epoch_world STATIC EXCLUDE_FROM_ALL
  epoch_world.cpp epoch_world_checks.cpp epoch_world_effects.cpp
  ${PROJECT_SOURCE_DIR}/actors/rank/epoch_machine.cpp)
target_link_libraries(epoch_world PUBLIC troupe::net_membership troupe::collectives
  PRIVATE troupe_flags)
target_include_directories(epoch_world PUBLIC ${PROJECT_SOURCE_DIR})

troupe_test(sim actors epoch_search SOURCES epoch_search_test.cpp DEPS epoch_world TIMEOUT 300)
troupe_test(sim actors epoch SOURCES epoch_schedule.cpp epoch_sim_test.cpp DEPS epoch_world
  TIMEOUT 300)
