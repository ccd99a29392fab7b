# troupe_link_tests(): for each module a program <module>_link_test that holds the whole archive and
# links only what the module declares. A module that calls into a directory it did not name under
# DEPS or EXTERNAL does not link, however the rest of the build hides it.
#
# Front doors (runtime/cli and its siblings) are joined to actors/ at link time by design: they call
# the factory that runtime/communicator.hpp declares. Their link test gets actors/, too, unless they
# are what actors/ itself is built on.
function(troupe_link_tests)
  set(below_actors "")
  if(TARGET troupe_actors)
    get_target_property(below_actors troupe_actors TROUPE_DEPS)
    list(TRANSFORM below_actors REPLACE "/" "_")
  endif()
  get_property(modules GLOBAL PROPERTY TROUPE_MODULES)
  foreach(module IN LISTS modules)
    get_target_property(type ${module} TYPE)
    if(type STREQUAL "INTERFACE_LIBRARY")
      continue()
    endif()
    string(REGEX REPLACE "^troupe_" "" name ${module})
    set(test ${name}_link_test)
    add_executable(${test} ${PROJECT_SOURCE_DIR}/tests/cmake/link_test.cpp)
    target_link_libraries(${test} PRIVATE troupe_flags $<LINK_LIBRARY:WHOLE_ARCHIVE,${module}>)
    if(name MATCHES "^runtime_" AND TARGET troupe_actors AND NOT name IN_LIST below_actors)
      target_link_libraries(${test} PRIVATE troupe_actors)
    endif()
    add_test(NAME lint.link.${name} COMMAND ${test})
    set_tests_properties(lint.link.${name} PROPERTIES LABELS lint TIMEOUT 30)
  endforeach()
endfunction()
