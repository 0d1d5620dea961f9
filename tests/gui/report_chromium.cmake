# `drasim report` in headless Chromium with the network off: no request, no error in the console, no horizontal
# scrolling, at 400 and 1600 pixels.
find_program(CHROMIUM NAMES chromium chromium-browser google-chrome)
if(NOT CHROMIUM)
  message(STATUS "skipped: Chromium is not installed, so that no browser opens the report")
  return()
endif()
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
function(drasim)
  execute_process(COMMAND ${DRASIM} ${ARGN} WORKING_DIRECTORY ${WORK} RESULT_VARIABLE code OUTPUT_VARIABLE out
                  ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "drasim ${ARGN}: ended with ${code}:\n${out}")
  endif()
endfunction()

# Two runs side by side; waiting pods; a cluster so large that its map is a canvas instead of SVG.
drasim(run --set cluster.nodes=200 --limit 1600 --policy fgd --out a --quiet)
drasim(run --set cluster.nodes=200 --limit 1600 --policy best-fit --out b --quiet)
drasim(report a b --out compared.html)
drasim(run ${SCENARIO} --out waiting --quiet)
drasim(report waiting --out waiting.html)
drasim(run --set cluster.nodes=1213 --limit 2000 --out large --quiet)
drasim(report large --out canvas.html)
file(READ ${WORK}/canvas.html page)
if(NOT page MATCHES "<canvas")
  message(FATAL_ERROR "the large cluster is no canvas")
endif()

# A browser's window has at least 500 pixels, a frame in a page has any number. Each frame tells the page around it what
# it finds. Files have different origins, so a message is the only way.
set(probe "<script>addEventListener('load', () => { const page = document.documentElement;
parent.postMessage(NAME + ' width ' + innerWidth + ' requests ' + performance.getEntriesByType('resource').length +
(page.scrollWidth > page.clientWidth ? ' scrolls' : ' fits'), '*') })</script></body>")
set(frames "")
foreach(name compared waiting canvas spoiled)
  if(name STREQUAL "spoiled")
    # Shows that the probe finds what it looks for.
    file(READ ${WORK}/compared.html page)
    set(faults "<img src='http://drasim.invalid/x.png'><script>missing()</script><p style='width:3000px'>wide</p>")
  else()
    file(READ ${WORK}/${name}.html page)
    set(faults "")
  endif()
  string(REPLACE "NAME" "'${name}'" told "${probe}")
  string(REPLACE "</body>" "${faults}${told}" page "${page}")
  file(WRITE ${WORK}/${name}_probed.html "${page}")
  foreach(width 400 1600)
    string(APPEND frames "<iframe src='${name}_probed.html' width=${width} height=900 frameborder=0></iframe>\n")
  endforeach()
endforeach()
file(WRITE ${WORK}/frames.html "<!DOCTYPE html><meta charset='utf-8'><ul></ul>
<script>addEventListener('message', (event) => {
  const told = document.createElement('li'); told.textContent = event.data; document.querySelector('ul').append(told) })
</script>
${frames}")

execute_process(
  COMMAND ${CHROMIUM} --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking
          --disable-component-update --disable-sync --proxy-server=127.0.0.1:9 --user-data-dir=${WORK}/profile
          --enable-logging=stderr --window-size=1800,1000 --virtual-time-budget=2000 --dump-dom
          file://${WORK}/frames.html
  RESULT_VARIABLE code OUTPUT_VARIABLE dom ERROR_VARIABLE log TIMEOUT 50)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${CHROMIUM} ended with ${code}:\n${log}")
endif()
function(expect line)
  string(FIND "${dom}" "<li>${line}</li>" place)
  if(place EQUAL -1)
    string(REGEX MATCHALL "<li>[^<]*</li>" told "${dom}")
    message(FATAL_ERROR "expected '${line}', found: ${told}\n${log}")
  endif()
endfunction()
foreach(width 400 1600)
  foreach(name compared waiting canvas)
    expect("${name} width ${width} requests 0 fits")
  endforeach()
  expect("spoiled width ${width} requests 1 scrolls")
endforeach()
string(REGEX MATCHALL "CONSOLE[^\n]*" console "${log}")
if(NOT console MATCHES "missing is not defined")
  message(FATAL_ERROR "the console's errors are not seen:\n${log}")
endif()
list(FILTER console EXCLUDE REGEX "spoiled_probed\\.html")
if(console)
  message(FATAL_ERROR "the console says: ${console}")
endif()
