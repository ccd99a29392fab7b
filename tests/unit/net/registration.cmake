foreach(thing bounce_pool registration_machine)
  troupe_test(unit net/registration ${thing} SOURCES ${thing}_test.cpp
    DEPS troupe::net_registration)
endforeach()
