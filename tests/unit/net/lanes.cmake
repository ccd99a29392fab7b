# The lane adapters: net/fabric and net/tcp.
troupe_test(unit net/fabric fabric SOURCES fabric_test.cpp DEPS troupe::net_fabric)
