# The lane adapters: net/fabric, net/host, net/shm and net/tcp.
troupe_test(unit net/fabric fabric SOURCES fabric_test.cpp DEPS troupe::net_fabric)
troupe_test(unit net/host host_network SOURCES host_network_test.cpp DEPS troupe::net_host)
foreach(thing shm_frame_wire shm_network shm_stranger)
  troupe_test(unit net/shm ${thing} SOURCES ${thing}_test.cpp DEPS troupe::net_shm)
endforeach()
foreach(thing tcp_address tcp_frame_wire tcp_network)
  troupe_test(unit net/tcp ${thing} SOURCES ${thing}_test.cpp DEPS troupe::net_tcp)
endforeach()
