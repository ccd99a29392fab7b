troupe_test(unit net/emulation text SOURCES emulation_text_test.cpp DEPS troupe::net_emulation)

# The emulated NIC, through the interface that programs see. Not there without verbs headers. Two
# NICs of one process map the same page twice: ThreadSanitizer cannot see them synchronise there.
if(TARGET troupe_emulated_ibverbs AND NOT TROUPE_SANITIZE STREQUAL "thread")
  add_library(troupe_emulated_node STATIC emulated_node.cpp)
  target_link_libraries(troupe_emulated_node
    PUBLIC troupe_emulated_ibverbs PRIVATE troupe::net_emulation troupe_flags)
  target_include_directories(troupe_emulated_node PRIVATE ${PROJECT_SOURCE_DIR})
  foreach(thing failure fault misuse network process stress transfer)
    troupe_test(unit net/emulation ${thing} SOURCES emulation_${thing}_test.cpp
      DEPS troupe_emulated_node troupe::net_emulation)
  endforeach()
endif()
