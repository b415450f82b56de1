# Fails when a file uses a name of the standard library whose header neither it nor a header of the project that it
# includes includes: a build without precompiled standard headers, or with another standard library, would.
cmake_policy(VERSION 3.25)
set(uses  # what is used | where it is
  "string[^_a-z]|string" "to_string[^_a-z]|string" "string_view[^_a-z]|string_view" "vector[^_a-z]|vector"
  "map[^_a-z]|map" "set[^_a-z]|set" "optional[^_a-z]|optional" "nullopt[^_a-z]|optional" "span[^_a-z]|span"
  "array[^_a-z]|array" "variant[^_a-z]|variant" "visit[^_a-z]|variant" "function[^_a-z]|functional"
  "(unique|shared)_ptr[^_a-z]|memory" "make_(unique|shared)[^_a-z]|memory" "tuple[^_a-z]|tuple" "tie[^_a-z]|tuple"
  "(max|min|clamp|sort|find|find_if|count_if|copy|any_of|all_of|none_of|lower_bound|upper_bound|transform)[^_a-z]|algorithm"
  "(sqrt|pow|log|exp|ceil|floor|isfinite|isnan|round|log2|hypot)[^_a-z0-9]|cmath" "u?int(8|16|32|64)_t|cstdint"
  "numeric_limits|limits" "filesystem::|filesystem" "(accumulate|gcd|lcm|iota)[^_a-z]|numeric"
  "o?stringstream[^_a-z]|sstream" "(from|to)_chars[^_a-z]|charconv")

# The standard headers that FILE reaches through headers of the project, itself included.
function(reach file result)
  get_property(known GLOBAL PROPERTY "REACH ${file}")
  if(NOT known)
    set(known "-")
    file(STRINGS ${file} lines REGEX "^#include ")
    get_filename_component(folder ${file} DIRECTORY)
    foreach(line IN LISTS lines)
      set(own)
      if(line MATCHES "<headroom/([^>]+)>")
        set(own ${ROOT}/${CMAKE_MATCH_1})
      elseif(line MATCHES "\"([^\"]+)\"")
        set(own ${folder}/${CMAKE_MATCH_1})
      elseif(line MATCHES "<([^>]+)>")
        list(APPEND known ${CMAKE_MATCH_1})
      endif()
      if(own AND EXISTS ${own})
        reach(${own} further)
        list(APPEND known ${further})
      endif()
    endforeach()
    list(REMOVE_DUPLICATES known)
    set_property(GLOBAL PROPERTY "REACH ${file}" "${known}")
  endif()
  set(${result} "${known}" PARENT_SCOPE)
endfunction()

set(problems)
foreach(floor IN ITEMS core hardware model scenarios answers calibrate cli python tests)
  file(GLOB_RECURSE files ${ROOT}/${floor}/*.hpp ${ROOT}/${floor}/*.cpp)
  foreach(file IN LISTS files)
    if(file MATCHES "/(must_not_compile|calibrate/probes)/")
      continue()
    endif()
    reach(${file} reached)
    file(READ ${file} text)
    string(REGEX REPLACE "//[^\n]*" "" text "${text}")
    foreach(use IN LISTS uses)
      string(REGEX MATCH "^(.*)\\|([a-z_]+)$" _ "${use}")
      set(name "${CMAKE_MATCH_1}")
      set(header "${CMAKE_MATCH_2}")
      if(NOT header IN_LIST reached AND text MATCHES "std::${name}")
        list(APPEND problems "${file}: uses '${CMAKE_MATCH_0}' without <${header}>")
      endif()
    endforeach()
  endforeach()
endforeach()
if(problems)
  list(JOIN problems "\n" text)
  message(FATAL_ERROR "${text}")
endif()
