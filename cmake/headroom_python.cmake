# HEADROOM_PYTHON = OFF | AUTO | ON: the Python package and its wheel (docs/python.md). Sets HEADROOM_HAVE_PYTHON and what
# the interpreter says of itself; one status line says why or why not. OFF by default: `./run test long` and the presets
# python and deb turn it on.
set(HEADROOM_PYTHON OFF CACHE STRING "Build the Python package: AUTO (when pybind11 is found), ON or OFF")
set_property(CACHE HEADROOM_PYTHON PROPERTY STRINGS AUTO ON OFF)
set(HEADROOM_HAVE_PYTHON OFF)

if(HEADROOM_PYTHON STREQUAL "OFF" OR NOT HEADROOM_PROGRAM)
  message(STATUS "Python: OFF (HEADROOM_PYTHON or HEADROOM_PROGRAM is OFF)")
  return()
endif()

# The system's interpreter, whose headers are its package's, before another one of the path.
find_program(HEADROOM_PYTHON_EXECUTABLE python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(HEADROOM_PYTHON_EXECUTABLE python3)
find_path(HEADROOM_PYBIND11_INCLUDE pybind11/pybind11.h)
mark_as_advanced(HEADROOM_PYTHON_EXECUTABLE HEADROOM_PYBIND11_INCLUDE)
set(why)
if(NOT HEADROOM_PYTHON_EXECUTABLE)
  set(why "no python3 was found")
elseif(NOT HEADROOM_PYBIND11_INCLUDE)
  set(why "pybind11 was not found; install pybind11-dev")
else()
  execute_process(
    COMMAND ${HEADROOM_PYTHON_EXECUTABLE} -c "import sys, sysconfig
print(sysconfig.get_path('include'), sysconfig.get_config_var('EXT_SUFFIX'),
      'cp%d%d' % sys.version_info[:2], sysconfig.get_platform().replace('-', '_').replace('.', '_'), sep=';')"
    OUTPUT_VARIABLE says OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  list(LENGTH says count)
  if(count EQUAL 4)
    list(GET says 0 HEADROOM_PYTHON_INCLUDE)
    list(GET says 1 HEADROOM_PYTHON_SUFFIX)
    list(GET says 2 HEADROOM_PYTHON_TAG)
    list(GET says 3 HEADROOM_PYTHON_PLATFORM)
  endif()
  if(NOT HEADROOM_PYTHON_INCLUDE OR NOT EXISTS ${HEADROOM_PYTHON_INCLUDE}/Python.h)
    set(why "${HEADROOM_PYTHON_EXECUTABLE} has no headers; install python3-dev")
  endif()
endif()
if(NOT why)
  set(HEADROOM_HAVE_PYTHON ON)
  message(STATUS "Python: ON (${HEADROOM_PYTHON_EXECUTABLE}, ${HEADROOM_PYTHON_TAG})")
elseif(HEADROOM_PYTHON STREQUAL "ON")
  message(FATAL_ERROR "HEADROOM_PYTHON is ON, but ${why}")
else()
  message(STATUS "Python: OFF (${why})")
endif()
