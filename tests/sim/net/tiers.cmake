troupe_test(sim net/dqplb tiers SOURCES tiers_sim_test.cpp placed_world.cpp
  DEPS troupe::net_fabric troupe::net_link troupe::net_dqplb troupe::config TIMEOUT 300)
