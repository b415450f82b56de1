# What keeps a build from nothing short. Three things cost most of it: the standard library's headers, parsed again for
# every file, its templates, instantiated again for every file, and the optimiser at -O3 on text that runs once.
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

# HEADROOM_TOGETHER: sources of one folder are compiled several at a time, a third of the work. A Release build alone
# does: the presets for work on the sources compile each by itself, so that a file that leans on its neighbours does not
# compile there, and an edit rebuilds one file.
set(together_default OFF)
if(HEADROOM_PCH AND CMAKE_BUILD_TYPE STREQUAL "Release")
  set(together_default ON)
endif()
option(HEADROOM_TOGETHER "Compile sources of one folder several at a time" ${together_default})

# headroom_together(TARGET KIND sources ...)
#
# Replaces these sources of the target by files that include up to sixteen of one folder each. KIND cold and hot: sources of
# the product, compiled with -O1 and -O3, whose unnamed namespaces become one: names in them differ within a folder. KIND
# tests: each test file is put into a namespace of its own behind the includes of all of them, since tests name their helpers alike;
# one that opens a namespace of a name, specialises a template of another's or defines a macro is compiled by itself.
function(headroom_together target kind)
  set(limit 16)
  set(folders)
  foreach(source IN LISTS ARGN)
    if(kind STREQUAL "tests")
      file(STRINGS ${source} own REGEX "^(namespace [a-z0-9_:]+ {|template <>|#define|#if|extern)")
      if(own)
        continue()
      endif()
    endif()
    cmake_path(GET source PARENT_PATH folder)
    string(MD5 digest "${folder}")
    list(APPEND folders "${folder}")
    list(APPEND of_${digest} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    string(MD5 digest "${folder}")
    set(here ${of_${digest}})
    list(LENGTH here count)
    if(count EQUAL 1)
      continue()
    endif()
    math(EXPR files "(${count} + ${limit} - 1) / ${limit}")
    math(EXPR each "(${count} + ${files} - 1) / ${files}")
    string(SUBSTRING ${digest} 0 6 digest)
    cmake_path(GET folder FILENAME name)
    set(number 0)
    while(here)
      math(EXPR number "${number} + 1")
      list(SUBLIST here 0 ${each} some)
      list(REMOVE_ITEM here ${some})
      set(file ${PROJECT_BINARY_DIR}/together/${target}/${kind}_${name}_${digest}_${number}.cpp)
      set(includes)
      set(text)
      foreach(source IN LISTS some)
        cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE path)
        if(kind STREQUAL "tests")
          file(STRINGS ${path} lines REGEX "^#include ")
          cmake_path(GET path PARENT_PATH from)
          list(TRANSFORM lines REPLACE "^#include \"" "#include \"${from}/")
          list(APPEND includes ${lines})
          cmake_path(GET path STEM stem)
          string(APPEND text "namespace in_${stem} {\n#include \"${path}\"\n}\n")
          set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
        else()
          string(APPEND text "#include \"${path}\"\n")
        endif()
      endforeach()
      if(includes)
        list(REMOVE_DUPLICATES includes)
        list(JOIN includes "\n" includes)
        string(PREPEND text "${includes}\n")
      endif()
      file(CONFIGURE OUTPUT ${file} CONTENT "// Compiled together.\n${text}" @ONLY)
      set_source_files_properties(${some} PROPERTIES HEADER_FILE_ONLY ON)
      # A class of a source, which is no main file here, with a member of its unnamed namespace.
      set_property(SOURCE ${file} APPEND PROPERTY COMPILE_OPTIONS -Wno-subobject-linkage)
      if(kind STREQUAL "cold")
        set_property(SOURCE ${file} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O1>)
      elseif(kind STREQUAL "hot")
        set_property(SOURCE ${file} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O3>)
      endif()
      target_sources(${target} PRIVATE ${file})
      if(NOT kind STREQUAL "tests")
        set_property(TARGET ${target} APPEND PROPERTY HEADROOM_TOGETHER_FILES ${file})
      endif()
    endwhile()
  endforeach()
endfunction()

# headroom_compile(TARGET [BRIEF [HOT sources ...] | PLAIN] [COLD sources ...] [APART sources ...]
#                  [HEADERS_OF OTHER])
#
# HEADERS_OF: takes the precompiled headers of that target instead of the standard ones alone.
#
# BRIEF: a Release build takes -O1 for all but the HOT sources: readers, writers and tests run once an answer and cost
# half as much to compile as with -O3. What is priced or simulated many times is hot, and so is all of model/ but its
# COLD sources, which read files and write words.
#
# APART: compiled alone also where others are compiled together, for their properties or the names in them are their
# own.
#
# PLAIN: a Release build and those of the presets dev, asan and tsan take -O0: tests, whose own text is run once a build.
# Their precompiled headers must be PLAIN too.
function(headroom_compile target)
  cmake_parse_arguments(arg "BRIEF;PLAIN" "HEADERS_OF" "HOT;COLD;APART" ${ARGN})
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
  if(HEADROOM_TOGETHER AND arg_PLAIN)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "_test\\.cpp$")
    headroom_together(${target} tests ${sources})
  elseif(HEADROOM_TOGETHER)
    set(cold ${arg_COLD})
    set(hot ${arg_HOT})
    if(arg_BRIEF)
      get_target_property(cold ${target} SOURCES)
      list(FILTER cold INCLUDE REGEX "^[^/$].*\\.cpp$")
      list(REMOVE_ITEM cold ${arg_HOT} ${arg_APART})
    endif()
    list(REMOVE_ITEM hot ${arg_APART})
    headroom_together(${target} cold ${cold})
    headroom_together(${target} hot ${hot})
  endif()
endfunction()
