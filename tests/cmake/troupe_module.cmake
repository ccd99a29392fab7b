# Flags that every target of Troupe compiles with, and nobody who links to it inherits.
add_library(troupe_flags INTERFACE)
set(troupe_warnings
  -Wall -Wextra -Wpedantic -Wconversion $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>
  $<$<BOOL:${TROUPE_WERROR}>:-Werror>)
target_compile_options(troupe_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${troupe_warnings}>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlapping copies in std::string concatenation that are none (GCC PR 105651).
  target_compile_options(troupe_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(TROUPE_SANITIZE)
  target_compile_options(troupe_flags INTERFACE
    -fsanitize=${TROUPE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(TROUPE_SANITIZE MATCHES "undefined")
    # CAF's intrusive queues (caf/intrusive/task_queue.hpp) cast their sentinel to an element.
    target_compile_options(troupe_flags INTERFACE -fno-sanitize=vptr)
  endif()
  target_link_options(troupe_flags INTERFACE -fsanitize=${TROUPE_SANITIZE})
endif()

# troupe_module(<directory> [PURE]
#   HEADERS <public headers...> SOURCES <files...> DEPS <directories...> EXTERNAL <targets...>)
#
# One module per directory: target troupe_<directory> (slashes become underscores), alias
# troupe::<directory>. DEPS outside the include table stop the configure step. PURE modules compile
# without exceptions and RTTI, so that the compiler keeps the promise of a core. Every public header
# is compiled on its own when tests are built (<target>_verify_interface_header_sets).
function(troupe_module directory)
  cmake_parse_arguments(PARSE_ARGV 1 module
    "PURE" "" "HEADERS;SOURCES;DEPS;EXTERNAL;PRIVATE_EXTERNAL")
  string(REPLACE "/" "_" name ${directory})
  troupe_check_layering(${directory} "${module_DEPS}")

  set(target troupe_${name})
  if(module_SOURCES)
    add_library(${target} STATIC ${module_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:troupe_flags>)
    if(module_PURE)
      target_compile_options(${target} PRIVATE -fno-exceptions -fno-rtti)
    endif()
    set_target_properties(${target} PROPERTIES VISIBILITY_INLINES_HIDDEN ON)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(troupe::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})

  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/troupe>)
  foreach(dependency IN LISTS module_DEPS)
    string(REPLACE "/" "_" dependency_name ${dependency})
    target_link_libraries(${target} ${scope} troupe_${dependency_name})
  endforeach()
  target_link_libraries(${target} ${scope} ${module_EXTERNAL})
  if(module_PRIVATE_EXTERNAL)
    target_link_libraries(${target} PRIVATE ${module_PRIVATE_EXTERNAL})
  endif()

  if(module_HEADERS)
    target_sources(${target} ${scope} FILE_SET HEADERS
      BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${module_HEADERS})
    set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  endif()
  set_property(GLOBAL APPEND PROPERTY TROUPE_MODULES ${target})
  set_property(TARGET ${target} PROPERTY TROUPE_DEPS "${module_DEPS}")
endfunction()

# The row of the include table that speaks for a directory: its own, or that of its top level.
function(troupe_layer_of directory out)
  if(DEFINED TROUPE_MAY_USE_${directory})
    set(${out} ${directory} PARENT_SCOPE)
  else()
    string(REGEX REPLACE "/.*" "" top ${directory})
    set(${out} ${top} PARENT_SCOPE)
  endif()
endfunction()

function(troupe_check_layering directory deps)
  troupe_layer_of(${directory} layer)
  if(NOT DEFINED TROUPE_MAY_USE_${layer})
    message(FATAL_ERROR "${directory}: no row TROUPE_MAY_USE_${layer} in the root CMakeLists.txt")
  endif()
  foreach(dependency IN LISTS deps)
    troupe_layer_of(${dependency} target_layer)
    if(NOT target_layer STREQUAL layer AND NOT target_layer IN_LIST TROUPE_MAY_USE_${layer})
      message(FATAL_ERROR
        "${directory} may not use ${dependency}: TROUPE_MAY_USE_${layer} allows "
        "'${TROUPE_MAY_USE_${layer}}' (the include table, root CMakeLists.txt)")
    endif()
  endforeach()
endfunction()
