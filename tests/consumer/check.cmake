# cmake -DTROUPE_BUILD=... -DCONSUMER=... -DWORK=... -DCONFIG=... -P check.cmake
# Installs the build into WORK/installed, builds the consumer against it with nothing else, runs it.
function(run_step name)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output
    ERROR_VARIABLE output TIMEOUT 240)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${name} failed (${status}): ${output}")
  endif()
  set(step_output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run_step("install" ${CMAKE_COMMAND} --install ${TROUPE_BUILD} --prefix ${WORK}/installed)
run_step("configure" ${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK}/build -G Ninja
  -DCMAKE_PREFIX_PATH=${WORK}/installed -DCMAKE_BUILD_TYPE=${CONFIG})
run_step("build" ${CMAKE_COMMAND} --build ${WORK}/build)
run_step("run" ${WORK}/build/consumer)
if(NOT step_output MATCHES "one rank, sum 42")
  message(FATAL_ERROR "the consumer printed: ${step_output}")
endif()
run_step("troupe --help" ${WORK}/installed/bin/troupe --help)
