# Install rules: static libraries, headers under include/troupe, the `troupe` program, and the
# package that find_package(Troupe) reads. Targets carry the names of the build: troupe::actors,
# troupe::net_link, ...
include(CMakePackageConfigHelpers)

set(TROUPE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Troupe)
get_property(modules GLOBAL PROPERTY TROUPE_MODULES)

# Everything of the program but its main(); nobody links to it from outside.
list(REMOVE_ITEM modules troupe_runtime_cli)
foreach(module IN LISTS modules)
  get_target_property(file_sets ${module} INTERFACE_HEADER_SETS)
  set(headers "")
  if(file_sets)
    set(headers FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/troupe)
  endif()
  install(TARGETS ${module} EXPORT TroupeTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} ${headers})
endforeach()
if(TARGET troupe)
  install(TARGETS troupe RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/config/scenarios
  DESTINATION ${CMAKE_INSTALL_DATADIR}/troupe)
# Out of the way of the real one: `troupe launch --emulate` finds it there.
if(TARGET troupe_emulated_ibverbs)
  install(TARGETS troupe_emulated_ibverbs
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/troupe/emulation NAMELINK_SKIP)
  install(TARGETS troupe_nic RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

install(EXPORT TroupeTargets NAMESPACE troupe:: DESTINATION ${TROUPE_PACKAGE_DIR})
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/tests/cmake/TroupeConfig.cmake.in ${PROJECT_BINARY_DIR}/TroupeConfig.cmake
  INSTALL_DESTINATION ${TROUPE_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TroupeConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/TroupeConfig.cmake
  ${PROJECT_BINARY_DIR}/TroupeConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/tests/cmake/find_caf.cmake
  DESTINATION ${TROUPE_PACKAGE_DIR})
