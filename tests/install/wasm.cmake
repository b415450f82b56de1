# Compiles the library, the page and the npm module for wasm by their preset, links the consumer against the library and
# runs it under Node.js.
# -DSOURCE=... -DBUILD=... -DTOOL=headroom_embed of the host -DEMXX=em++ -DNODE=node
set(work ${BUILD}/wasm)
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${out}")
  endif()
endfunction()

# Without the tool that embeds the data, the way out is told.
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} --preset wasm -B ${work}-without -D HEADROOM_EMBED_TOOL=${work}/no/tool
                RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE out)
if(status EQUAL 0 OR NOT out MATCHES "--target[ \n]+headroom_embed")
  message(FATAL_ERROR "a missing HEADROOM_EMBED_TOOL was not told with its way out:\n${out}")
endif()

step(${CMAKE_COMMAND} -S ${SOURCE} --preset wasm -B ${work} -D HEADROOM_EMBED_TOOL=${TOOL})
step(${CMAKE_COMMAND} --build ${work} --target headroom_answers web)
set(archives)
foreach(floor IN ITEMS answers scenarios model hardware core)
  list(APPEND archives ${work}/${floor}/libheadroom_${floor}.a)
endforeach()
step(${EMXX} -std=c++20 -O1 -fwasm-exceptions -sALLOW_MEMORY_GROWTH=1 -I ${SOURCE}/include
     ${SOURCE}/tests/install/main.cpp ${archives} -o ${work}/consumer.js)
# Emscripten of Debian 12 takes a global fetch, which newer Node.js has, for that of a browser.
step(${NODE} --no-experimental-fetch ${work}/consumer.js)
