# Installs BUILD into a scratch prefix, builds the consumer project against it and runs it.
set(prefix ${WORK}/prefix)
file(REMOVE_RECURSE ${WORK})
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}:\n${out}")
  endif()
  message(STATUS "${out}")
endfunction()
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
step(${prefix}/bin/drasim --version)
step(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G Ninja -DCMAKE_PREFIX_PATH=${prefix}
     -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=Release)
step(${CMAKE_COMMAND} --build ${WORK}/build)
step(${WORK}/build/consumer)

# A policy from outside takes part like any other: by name, in help, in comparisons.
step(${WORK}/build/my_drasim --version)
function(expect pattern)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0 OR NOT out MATCHES "${pattern}")
    message(FATAL_ERROR "${ARGN}: found no '${pattern}' in\n${out}")
  endif()
endfunction()
file(WRITE ${WORK}/two.yaml "mode: fill
order: trace
cluster: {nodes: 3, node: {cpu: '4', memory: 8Gi}}
workload: {jobs: [{name: a, cpu: '1', memory: 1Gi}]}
scheduler: {policy: last-node}
")
expect("last-node" ${WORK}/build/my_drasim run --help)
expect("pods scheduled +1" ${WORK}/build/my_drasim run ${WORK}/two.yaml --out ${WORK}/run --quiet)
file(STRINGS ${WORK}/run/pods.csv pods)
list(GET pods 1 placed)
if(NOT placed MATCHES ",node-000002,")
  message(FATAL_ERROR "expected the last node, found ${placed}")
endif()
expect("last-node" ${WORK}/build/my_drasim compare --policies best-fit,last-node ${WORK}/two.yaml --quiet)
execute_process(COMMAND ${prefix}/bin/drasim validate ${WORK}/two.yaml RESULT_VARIABLE code OUTPUT_QUIET ERROR_QUIET)
if(code EQUAL 0)
  message(FATAL_ERROR "drasim itself knows the policy last-node")
endif()
