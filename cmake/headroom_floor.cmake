# headroom_floor(NAME [TARGET name] [FOLDER folder] [BRIEF] [WITHOUT folder ...] [HOT sources ...] [COLD sources ...]
#                [APART sources ...] DEPENDS floor ...)
#
# A floor of the house is the static library headroom_NAME (or TARGET) with an include root of its own,
# build/include/NAME/headroom/NAME -> NAME/, so that an include of a higher floor does not compile.
# Its sources and headers are all *.cpp and *.hpp below its folder but those WITHOUT, which are other targets'; a new
# file is found by the next build. FOLDER: what is below that folder alone, as a TARGET of the binary beside the floor.
function(headroom_floor name)
  cmake_parse_arguments(arg "BRIEF" "TARGET;FOLDER" "WITHOUT;HOT;COLD;APART;DEPENDS" ${ARGN})
  set(target headroom_${name})
  if(arg_TARGET)
    set(target ${arg_TARGET})
  endif()
  set(below)
  if(arg_FOLDER)
    set(below ${arg_FOLDER}/)
  endif()
  set(root ${PROJECT_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${root}/headroom)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${name} ${root}/headroom/${name} SYMBOLIC)

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${below}*.cpp)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${below}*.hpp)
  foreach(folder IN LISTS arg_WITHOUT)
    list(FILTER sources EXCLUDE REGEX "^${folder}/")
    list(FILTER headers EXCLUDE REGEX "^${folder}/")
  endforeach()
  foreach(source IN LISTS arg_HOT arg_COLD)
    if(NOT source IN_LIST sources)
      message(FATAL_ERROR "headroom_floor(${name}): no source '${source}'")
    endif()
  endforeach()
  add_library(${target} STATIC ${sources})
  if(NOT arg_FOLDER)
    add_library(headroom::${name} ALIAS ${target})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
    set_property(GLOBAL APPEND PROPERTY HEADROOM_FLOORS ${target})
  endif()
  target_compile_features(${target} PUBLIC cxx_std_20)
  # explain runs the same code as evaluate and must agree bit for bit: no contraction into fma.
  target_compile_options(${target} PRIVATE -ffp-contract=off)
  list(TRANSFORM headers PREPEND ${root}/headroom/${name}/)
  # Headers of the floors are the project's own: what is installed is include/headroom/headroom.hpp alone.
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${root}>)
  foreach(floor IN LISTS arg_DEPENDS)
    target_link_libraries(${target} PUBLIC headroom_${floor})
  endforeach()
  if(arg_BRIEF)
    headroom_compile(${target} BRIEF HOT ${arg_HOT} APART ${arg_APART})
  else()
    set(hot ${sources})
    list(REMOVE_ITEM hot ${arg_COLD})
    headroom_compile(${target} HOT ${hot} COLD ${arg_COLD} APART ${arg_APART})
  endif()
  headroom_own_header_first(remaining ${root} SOURCES ${sources} HEADERS ${headers})
  headroom_header_first_of_many(remaining ${target} ${remaining})
  if(HEADROOM_TESTS AND remaining)
    headroom_headers_alone(${target} ${root} ${remaining})
  endif()
endfunction()

# headroom_include_first(SOURCE HEADER)
#
# SOURCE is compiled with HEADER before anything else that it includes (and after the precompiled standard library), so
# that a header which does not stand alone does not compile. -Wp: after the precompiled headers, which have to be first
# and which CMake puts last.
function(headroom_include_first source header)
  if(HEADROOM_PCH)
    set(option -Wp,-include,${header})
  else()
    set(option -include ${header})
  endif()
  set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS ${option})
endfunction()

# headroom_header_first_of_many(RESULT TARGET HEADERS...)
#
# Sources that are compiled together have one more header in front, a different one each, that shows so that it stands
# alone and costs nothing. RESULT: the headers for which no such file is left.
function(headroom_header_first_of_many result target)
  set(remaining ${ARGN})
  get_target_property(files ${target} HEADROOM_TOGETHER_FILES)
  if(files)
    foreach(file IN LISTS files)
      if(remaining)
        list(POP_FRONT remaining header)
        headroom_include_first(${file} ${header})
      endif()
    endforeach()
  endif()
  set(${result} ${remaining} PARENT_SCOPE)
endfunction()

# headroom_own_header_first(RESULT ROOT SOURCES ... HEADERS ...)
#
# x.cpp is compiled with x.hpp first, in every build in which it is compiled by itself. RESULT: the headers without such
# a source.
function(headroom_own_header_first result root)
  cmake_parse_arguments(arg "" "" "SOURCES;HEADERS" ${ARGN})
  set(remaining)
  foreach(header IN LISTS arg_HEADERS)
    cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${root}/headroom/${name} OUTPUT_VARIABLE source)
    string(REGEX REPLACE "\\.hpp$" ".cpp" source ${source})
    if(source IN_LIST arg_SOURCES)
      headroom_include_first(${source} ${header})
    else()
      list(APPEND remaining ${header})
    endif()
  endforeach()
  set(${result} ${remaining} PARENT_SCOPE)
endfunction()

# headroom_headers_alone(TARGET ROOT HEADERS...)
#
# The target headers_alone compiles each of these public headers as the only one of its file. CMake's own
# VERIFY_INTERFACE_HEADER_SETS does the same without the precompiled standard library, in five times the time.
function(headroom_headers_alone target root)
  set(sources)
  foreach(header IN LISTS ARGN)
    cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${root} OUTPUT_VARIABLE spelling)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/alone/${spelling}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include <${spelling}>\n")
    list(APPEND sources ${source})
  endforeach()
  add_library(${target}_alone OBJECT EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(${target}_alone PRIVATE ${target})
  headroom_compile(${target}_alone BRIEF)
  if(NOT TARGET headers_alone)
    add_custom_target(headers_alone)
  endif()
  add_dependencies(headers_alone ${target}_alone)
endfunction()
