# Defines CAF::core. CAF 0.18 and later ship a CMake package; 0.17.6, the version of Debian 12 and
# Ubuntu 24.04, does not, so the imported target is written here. Included by actors/ and, from the
# installed tree, by TroupeConfig.cmake.
if(NOT TARGET CAF::core)
  find_package(CAF CONFIG QUIET COMPONENTS core)
endif()
if(NOT TARGET CAF::core)
  find_package(Threads REQUIRED)
  find_path(CAF_INCLUDE_DIR caf/all.hpp)
  find_library(CAF_CORE_LIBRARY caf_core)
  mark_as_advanced(CAF_INCLUDE_DIR CAF_CORE_LIBRARY)
  if(NOT CAF_INCLUDE_DIR OR NOT CAF_CORE_LIBRARY)
    message(FATAL_ERROR "Troupe needs the C++ Actor Framework: install libcaf-dev, or give "
      "CAF_INCLUDE_DIR and CAF_CORE_LIBRARY (headers: '${CAF_INCLUDE_DIR}', "
      "library: '${CAF_CORE_LIBRARY}')")
  endif()
  add_library(CAF::core UNKNOWN IMPORTED)
  set_target_properties(CAF::core PROPERTIES
    IMPORTED_LOCATION "${CAF_CORE_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${CAF_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
