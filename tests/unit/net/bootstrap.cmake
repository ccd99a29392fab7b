troupe_test(unit net/crypto hmac SOURCES crypto_hmac_test.cpp DEPS troupe::net_crypto)
troupe_test(unit net/bootstrap wire SOURCES bootstrap_wire_test.cpp DEPS troupe::net_bootstrap)
troupe_test(unit net/bootstrap handshake SOURCES bootstrap_handshake_test.cpp
  DEPS troupe::net_bootstrap troupe::net_crypto)
troupe_test(unit net/bootstrap machine SOURCES bootstrap_machine_test.cpp
  DEPS troupe::net_bootstrap troupe::net_crypto)
troupe_test(unit net/bootstrap address_list SOURCES bootstrap_address_list_test.cpp
  DEPS troupe::net_bootstrap)
