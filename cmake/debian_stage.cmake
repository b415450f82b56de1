# Run by CPack on the staged files of a package, before it is packed: compressed documents, a copyright and a changelog
# for each package, and the folders that Debian's own packages take.
set(debian ${CPACK_HEADROOM_DEBIAN})

function(compress)
  if(ARGN)
    execute_process(COMMAND gzip --best --no-name --force ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endfunction()

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} COMPONENT)
  set(share ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr/share)
  set(documents ${share}/doc/${CPACK_DEBIAN_${COMPONENT}_PACKAGE_NAME})
  file(REMOVE ${documents}/LICENSE)
  file(COPY ${debian}/copyright DESTINATION ${documents} FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  file(COPY ${debian}/changelog DESTINATION ${documents} FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  file(GLOB pages ${share}/man/man1/*.1)
  compress(${pages} ${documents}/changelog)
  if(EXISTS ${share}/zsh/site-functions)
    file(RENAME ${share}/zsh/site-functions ${share}/zsh/vendor-completions)
  endif()
  # Folders that CPack made itself take the umask's rights.
  execute_process(COMMAND find ${CPACK_TEMPORARY_DIRECTORY}/${component} -type d -exec chmod 755 {} +
                  COMMAND_ERROR_IS_FATAL ANY)
endforeach()
