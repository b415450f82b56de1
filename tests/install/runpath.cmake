# No program and no library asks the loader to look into the folder that it is called from: every entry of a RUNPATH
# begins at the root or at the file's own folder. -DREADELF=... -DFILES=a;b
foreach(file IN LISTS FILES)
  execute_process(COMMAND ${READELF} --dynamic --wide ${file} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${file}: ${err}")
  endif()
  string(REGEX MATCHALL "\\((RPATH|RUNPATH)\\)[^\n]*\\[[^\n]*\\]" lines "${out}")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^[^[]*\\[(.*)\\]$" "\\1" path "${line}")
    string(REPLACE ":" ";:" entries "${path}")  # an empty entry stays one: a list would drop it
    foreach(entry IN LISTS entries)
      string(REGEX REPLACE "^:" "" entry "${entry}")
      if(NOT entry MATCHES "^(/|[$]ORIGIN(/|$))")
        message(FATAL_ERROR "${file}: RUNPATH '${path}' holds '${entry}', which the loader looks for in the current folder")
      endif()
    endforeach()
  endforeach()
endforeach()
