# headroom_embed(TARGET NAMESPACE kind=folder/*.ext ...)
#
# Puts data files into TARGET as constant text, with an index of ids and aliases made at build time by the tool
# headroom_embed (cmake/embed.cpp). Folders are relative to the caller's, or absolute. Readers include nothing generated:
# they call headroom::embedded_files().
function(headroom_embed target symbol)
  set(inputs)
  set(arguments)
  foreach(spec IN LISTS ARGN)
    string(REGEX MATCH "^([^=]+)=(.*)$" _ ${spec})
    set(kind ${CMAKE_MATCH_1})
    cmake_path(ABSOLUTE_PATH CMAKE_MATCH_2 BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE pattern)
    file(GLOB files CONFIGURE_DEPENDS ${pattern})
    list(SORT files)
    list(APPEND inputs ${files})
    list(APPEND arguments --kind ${kind} ${files})
  endforeach()
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cpp)
  set(list_file ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.inputs)
  list(JOIN arguments "\n" lines)
  file(GENERATE OUTPUT ${list_file} CONTENT "${lines}\n")
  add_custom_command(
    OUTPUT ${output}
    COMMAND headroom_embed ${symbol} ${output} ${list_file}
    DEPENDS headroom_embed ${inputs} ${list_file}
    COMMENT "Embedding ${symbol}"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
