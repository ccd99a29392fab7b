# cmake -DPLANT=<none|layering|link|header> -DROOT=... -DBUILD=... -P planted_module.cmake
# Configures and builds tests/lint/planted_module and fails unless what is planted is caught, at the
# step and with the message that a contributor would see.
set(configure_fails_with_layering "runtime may not use collectives: TROUPE_MAY_USE_runtime allows")
set(build_fails_with_link "undefined reference to `answer")
set(build_fails_with_header "above_needs_help.hpp.*size_t")

file(REMOVE_RECURSE ${BUILD})
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${ROOT}/tests/lint/planted_module -B ${BUILD} -G Ninja
    -DTROUPE_ROOT=${ROOT} -DPLANT=${PLANT}
  RESULT_VARIABLE configured OUTPUT_VARIABLE configure_output ERROR_VARIABLE configure_output)
string(REGEX REPLACE "[ \n]+" " " configure_text "${configure_output}")
if(DEFINED configure_fails_with_${PLANT})
  if(configured EQUAL 0 OR NOT configure_text MATCHES "${configure_fails_with_${PLANT}}")
    message(FATAL_ERROR "configure did not refuse the planted ${PLANT}: ${configure_output}")
  endif()
  return()
endif()
if(NOT configured EQUAL 0)
  message(FATAL_ERROR "configure failed: ${configure_output}")
endif()

execute_process(
  COMMAND ${CMAKE_COMMAND} --build ${BUILD} --target all all_verify_interface_header_sets
  RESULT_VARIABLE built OUTPUT_VARIABLE build_output ERROR_VARIABLE build_output)
if(DEFINED build_fails_with_${PLANT})
  if(built EQUAL 0 OR NOT build_output MATCHES "${build_fails_with_${PLANT}}")
    message(FATAL_ERROR "the build did not refuse the planted ${PLANT}: ${build_output}")
  endif()
elseif(NOT built EQUAL 0)
  message(FATAL_ERROR "the build failed: ${build_output}")
endif()
