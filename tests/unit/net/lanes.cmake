# The lane adapters: net/fabric and net/tcp.
troupe_test(unit net/fabric fabric SOURCES fabric_test.cpp DEPS troupe::net_fabric)
foreach(thing tcp_address tcp_frame_wire tcp_network)
  troupe_test(unit net/tcp ${thing} SOURCES ${thing}_test.cpp DEPS troupe::net_tcp)
endforeach()
