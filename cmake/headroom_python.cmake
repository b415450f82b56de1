# HEADROOM_PYTHON: the Python package and its wheel (docs/python.md). Sets what the interpreter says of itself. OFF by
# default: `./run test long` and the presets python and deb turn it on.
headroom_choice(PYTHON PROGRAM DEFAULT OFF LABEL "Python" WHAT "the Python package" WHEN "pybind11 is found")
if(NOT HEADROOM_TRY_PYTHON)
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
headroom_decide(PYTHON LABEL "Python" WITH "${HEADROOM_PYTHON_EXECUTABLE}, ${HEADROOM_PYTHON_TAG}" WHY_NOT "${why}")
