# What keeps a build from nothing short. Two things cost most of it: the standard library's headers, parsed again for
# every file, and the optimiser at -O3 on text that runs once.
#
# HEADROOM_PCH: the standard headers below are parsed once for all targets. Standard ones alone: no header of the
# project or of a third party reaches a file that does not include it, and no edit rebuilds more than it did. That every
# file includes the standard headers it uses is the test house.standard_includes. Off with a compiler launcher (ccache
# keeps nothing compiled so) and with clang (which wants the very same options in every file).
set(pch_default OFF)
if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(pch_default ON)
endif()
option(HEADROOM_PCH "Parse the standard library's headers once for all files" ${pch_default})

if(HEADROOM_PCH)
  file(WRITE ${PROJECT_BINARY_DIR}/standard_headers.cpp "// Nothing: the headers are the point.\n")
  add_library(headroom_standard_headers OBJECT ${PROJECT_BINARY_DIR}/standard_headers.cpp)
  target_compile_features(headroom_standard_headers PRIVATE cxx_std_20)
  set(HEADROOM_STANDARD_HEADERS
    <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <cstdint> <cstdio> <cstdlib> <filesystem> <fstream>
    <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span> <sstream> <string> <string_view>
    <tuple> <utility> <variant> <vector>)
  target_precompile_headers(headroom_standard_headers PRIVATE ${HEADROOM_STANDARD_HEADERS})
endif()

# headroom_compile(TARGET [BRIEF [HOT sources ...] | PLAIN] [COLD sources ...] [HEADERS_OF OTHER])
#
# HEADERS_OF: takes the precompiled headers of that target instead of the standard ones alone.
#
# BRIEF: a Release build takes -O1 for all but the HOT sources: readers, writers and tests run once an answer and cost
# half as much to compile as with -O3. What is priced or simulated many times is hot, and so is all of model/ but its
# COLD sources, which read files and write words.
#
# PLAIN: a Release build and those of the presets dev, asan and tsan take -O0: tests, whose own text is run once a build. Their precompiled headers must be PLAIN too.
function(headroom_compile target)
  cmake_parse_arguments(arg "BRIEF;PLAIN" "HEADERS_OF" "HOT;COLD" ${ARGN})
  if(HEADROOM_PCH)
    if(NOT arg_HEADERS_OF)
      set(arg_HEADERS_OF headroom_standard_headers)
    endif()
    target_precompile_headers(${target} REUSE_FROM ${arg_HEADERS_OF})
    # No collection of garbage below half a gibibyte: what the headers left is looked through each time, for nothing.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=524288>)
    # Of std::string's operator+ in g++ 12 at -O3: false, and silent where the headers are not precompiled.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overflow>)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE")
      # -fPIE, which executables get, and -fPIC do not share precompiled headers.
      set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${target} PRIVATE -fPIC)
    endif()
  endif()
  if(arg_BRIEF)
    target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
    # A source's options come after its target's, and the last -O counts.
    set_property(SOURCE ${arg_HOT} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O3>)
  elseif(arg_PLAIN)
    target_compile_options(${target} PRIVATE $<$<AND:$<OR:$<CONFIG:Release>,$<CONFIG:None>>,$<COMPILE_LANGUAGE:CXX>>:-O0>)
  endif()
  if(arg_COLD)
    set_property(SOURCE ${arg_COLD} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O1>)
  endif()
endfunction()
