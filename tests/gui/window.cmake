# Pictures of a real run without a display, then a real window where there is Xvfb.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
set(without_display ${CMAKE_COMMAND} -E env --unset=DISPLAY --unset=WAYLAND_DISPLAY)
function(run expected)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL expected)
    message(FATAL_ERROR "${ARGN}: ended with ${code} instead of ${expected}:\n${out}")
  endif()
endfunction()

run(0 ${DRASIM} run --set cluster.nodes=200 --limit 800 --out ${WORK}/run --quiet)

# EGL is part of `make test`; elsewhere its absence is said in a line.
execute_process(COMMAND ${without_display} ${GUI} --size 200x200 --screenshot ${WORK}/probe.png ${WORK}/run
                RESULT_VARIABLE code ERROR_VARIABLE out OUTPUT_QUIET)
if(NOT code EQUAL 0)
  if(out MATCHES "install the Debian package" AND NOT "$ENV{CI}" STREQUAL "true")
    message(STATUS "skipped: ${out}")
    return()
  endif()
  message(FATAL_ERROR "no picture:\n${out}")
endif()

# Width and height stand at byte 16 of every PNG, big-endian.
function(picture name size_hex)
  run(0 ${without_display} ${GUI} ${ARGN} --screenshot ${WORK}/${name}.png ${WORK}/run)
  file(READ ${WORK}/${name}.png head LIMIT 24 HEX)
  if(NOT head MATCHES "^89504e470d0a1a0a................${size_hex}$")
    message(FATAL_ERROR "${name}: not a PNG of the wanted size: ${head}")
  endif()
  file(SIZE ${WORK}/${name}.png size)
  if(size LESS 4000)
    message(FATAL_ERROR "${name}: a picture of ${size} bytes shows nothing")
  endif()
endfunction()

picture(dark 000003e800000258 --size 1000x600)
picture(again 000003e800000258 --size 1000x600)
picture(light 000003e800000258 --size 1000x600 --theme light)
picture(large 000007d0000004b0 --size 2000x1200 --scale 2)
foreach(name dark again light large)
  file(SHA256 ${WORK}/${name}.png sum_${name})
endforeach()
if(NOT sum_dark STREQUAL sum_again)
  message(FATAL_ERROR "the same picture twice has other bytes")
endif()
if(sum_dark STREQUAL sum_light)
  message(FATAL_ERROR "the light theme looks like the dark one")
endif()

# Messages stand on standard error, and nothing is drawn.
function(refused expected_code expected)
  execute_process(COMMAND ${without_display} ${ARGN} --screenshot ${WORK}/refused.png RESULT_VARIABLE code
                  OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT code EQUAL expected_code OR NOT err MATCHES "^drasim-gui: error: ${expected}" OR NOT out STREQUAL ""
     OR EXISTS ${WORK}/refused.png)
    message(FATAL_ERROR "${ARGN}: expected ${expected_code} and ${expected}, found ${code} and:\n${err}")
  endif()
endfunction()

file(WRITE ${WORK}/foreign "a list of pods")
refused(2 "[^\n]*/foreign: not a drasim ledger; `drasim run --out DIR` writes one\n$" ${GUI} ${WORK}/foreign)
refused(2 "--at: \"99h\" is a time, and a fill has none; write 50%[^\n]*\n$" ${GUI} --at 99h ${WORK}/run)
refused(2 "--select: no node, pod, tenant or claim is named 'node-00001' at [^\n]*did you mean 'node-[0-9]+'" ${GUI}
        --select node-00001 ${WORK}/run)
refused(1 "cannot draw without a display: OpenGL 3.3 is needed, found 2.1 Mesa [^;]*; install [^\n]*libgl1-mesa-dri\n$"
        ${CMAKE_COMMAND} -E env MESA_GL_VERSION_OVERRIDE=2.1 ${GUI} ${WORK}/run)

find_program(XVFB_RUN xvfb-run)
if(NOT XVFB_RUN)
  message(STATUS "skipped: the window, since xvfb-run is not installed")
  return()
endif()
# The code is that of the program: xvfb-run has one of its own when it cannot clean up.
function(window expected)
  execute_process(COMMAND ${XVFB_RUN} -a sh -c "\"$@\"; echo \"code=$?\"" window ${ARGN} ${WORK}/run
                  OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT out MATCHES "${expected}")
    message(FATAL_ERROR "${ARGN}: expected ${expected}, found:\n${out}")
  endif()
endfunction()

# A window stays open until somebody closes it, here `timeout`.
window("code=124" timeout 2 ${GUI} --size 1000x600)
set(ENV{MESA_GL_VERSION_OVERRIDE} 2.1)
set(remedy "OpenGL 3.3 is needed, found 2.1 Mesa [^;]*; install [^\n]*libgl1-mesa-dri[^\n]*--screenshot")
window("${remedy}.*code=1\n" ${GUI})
