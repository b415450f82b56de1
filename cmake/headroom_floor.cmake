# headroom_floor(NAME SOURCES ... DEPENDS floor ...)
#
# A floor of the house is the static library headroom_NAME (or TARGET) with an include root of its own,
# build/include/NAME/headroom/NAME -> NAME/, so that an include of a higher floor does not compile.
# Public headers are the floor's *.hpp, listed by folder; the spelling <headroom/NAME/x.hpp> is the installed one.
function(headroom_floor name)
  cmake_parse_arguments(arg "" "TARGET" "SOURCES;HEADERS;DEPENDS" ${ARGN})
  set(target headroom_${name})
  if(arg_TARGET)
    set(target ${arg_TARGET})
  endif()
  set(root ${PROJECT_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${root}/headroom)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${name} ${root}/headroom/${name} SYMBOLIC)

  add_library(${target} STATIC ${arg_SOURCES})
  add_library(headroom::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} VERIFY_INTERFACE_HEADER_SETS ON)
  target_compile_features(${target} PUBLIC cxx_std_20)
  # explain runs the same code as evaluate and must agree bit for bit: no contraction into fma.
  target_compile_options(${target} PRIVATE -ffp-contract=off)
  list(TRANSFORM arg_HEADERS PREPEND ${root}/headroom/${name}/)
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${root} FILES ${arg_HEADERS})
  foreach(floor IN LISTS arg_DEPENDS)
    target_link_libraries(${target} PUBLIC headroom_${floor})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY HEADROOM_FLOORS ${target})
endfunction()
