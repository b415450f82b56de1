# HEADROOM_DATA_DATE (2026-09-20, or 2026-09 where a price list tells no day): the newest date that a price list or
# another file of the catalog states as its `date`, and the newest day that a source in it was read on. `headroom
# --version` tells it, so that a reader of an answer knows how old its prices may be.
file(GLOB_RECURSE catalog CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/hardware/catalog/*.toml)
set(HEADROOM_DATA_DATE)
foreach(file IN LISTS catalog)
  file(STRINGS ${file} lines REGEX "^date *= *\"|as read on 20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]")
  string(REGEX MATCHALL "(date *= *\"|as read on )20[0-9][0-9]-[0-9][0-9](-[0-9][0-9])?" dates "${lines}")
  if(dates)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endif()
  foreach(date IN LISTS dates)
    string(REGEX MATCH "20[0-9-]+$" date "${date}")
    # "2026-11" is after "2026-09-20", and before "2026-11-05".
    if(date STRGREATER "${HEADROOM_DATA_DATE}")
      set(HEADROOM_DATA_DATE ${date})
    endif()
  endforeach()
endforeach()
if(NOT HEADROOM_DATA_DATE)
  message(FATAL_ERROR "no file of hardware/catalog states a date")
endif()
