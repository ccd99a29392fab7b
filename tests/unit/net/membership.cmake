troupe_test(unit net/membership wire SOURCES membership_wire_test.cpp DEPS troupe::net_membership)
troupe_test(unit net/membership machine SOURCES membership_machine_test.cpp
  DEPS troupe::net_membership)
