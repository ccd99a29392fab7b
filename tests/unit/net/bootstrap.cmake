troupe_test(unit net/crypto hmac SOURCES crypto_hmac_test.cpp DEPS troupe::net_crypto)
