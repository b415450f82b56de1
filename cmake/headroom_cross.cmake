# What a build for another machine than its own takes of its own: header-only third parties, and the tool that embeds data.

# headroom_headers(VARIABLE FOLDER HEADER)
#
# The include path of a header-only third party, looked for at FOLDER/HEADER. A toolchain's own headers must come before
# those of the host, so that a crossing build sees the third party's folder alone, by a link in its build folder.
function(headroom_headers variable folder header)
  if(NOT CMAKE_CROSSCOMPILING)
    find_path(${variable} ${folder}/${header} REQUIRED)
    return()
  endif()
  find_path(${variable}_OF_HOST ${folder}/${header} PATHS /usr/include /usr/local/include NO_DEFAULT_PATH
            NO_CMAKE_FIND_ROOT_PATH)
  mark_as_advanced(${variable}_OF_HOST)
  if(NOT ${variable}_OF_HOST)
    message(FATAL_ERROR "${folder}/${header} was not found; set ${variable}_OF_HOST to the folder that holds ${folder}")
  endif()
  set(root ${PROJECT_BINARY_DIR}/third_party/${folder})
  file(MAKE_DIRECTORY ${root})
  file(CREATE_LINK ${${variable}_OF_HOST}/${folder} ${root}/${folder} SYMBOLIC)
  set(${variable} ${root} CACHE PATH "Include path of ${folder}" FORCE)
endfunction()

# headroom_embed_of_host()
#
# The target headroom_embed of a crossing build: HEADROOM_EMBED_TOOL, which a build of this source for the host made.
function(headroom_embed_of_host)
  set(HEADROOM_EMBED_TOOL "" CACHE FILEPATH "The tool headroom_embed of a build for this host (core/headroom_embed)")
  if(NOT EXISTS "${HEADROOM_EMBED_TOOL}")
    message(FATAL_ERROR
            "HEADROOM_EMBED_TOOL is '${HEADROOM_EMBED_TOOL}', which is no file. A build for another machine cannot run the "
            "tool that embeds the data: build it for this one first ('cmake --preset release && cmake --build --preset "
            "release --target headroom_embed') and name it, -D HEADROOM_EMBED_TOOL=build/release/core/headroom_embed")
  endif()
  add_executable(headroom_embed IMPORTED GLOBAL)
  set_target_properties(headroom_embed PROPERTIES IMPORTED_LOCATION "${HEADROOM_EMBED_TOOL}")
endfunction()
