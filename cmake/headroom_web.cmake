# HEADROOM_WEB: libheadroom_web.so, which speaks HTTP for `headroom web`.
headroom_choice(WEB PROGRAM LABEL "Web server" WHAT "the server" WHEN "cpp-httplib is found")
if(NOT HEADROOM_TRY_WEB)
  return()
endif()

find_path(HEADROOM_HTTPLIB_INCLUDE httplib.h)
find_library(HEADROOM_HTTPLIB_LIBRARY cpp-httplib)
mark_as_advanced(HEADROOM_HTTPLIB_INCLUDE HEADROOM_HTTPLIB_LIBRARY)
set(why)
if(NOT HEADROOM_HTTPLIB_INCLUDE OR NOT HEADROOM_HTTPLIB_LIBRARY)
  set(why "cpp-httplib was not found; install libcpp-httplib-dev")
endif()
headroom_decide(WEB LABEL "Web server" WITH "${HEADROOM_HTTPLIB_LIBRARY}" WHY_NOT "${why}")
