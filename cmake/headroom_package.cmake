# Debian packages by CPack, one a component: headroom (runtime), headroom-probes, headroom-mpi, headroom-onnx and
# headroom-web and python3-headroom (probes, mpi, onnx, web and python, where they are built) and libheadroom-dev
# (development). Build them with:
# cmake --workflow --preset deb
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME headroom)
set(CPACK_PACKAGE_VENDOR "Headroom")
set(CPACK_PACKAGE_CONTACT "Headroom maintainers <maintainers@headroom.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL runtime development)
if(TARGET headroom_probes)
  list(APPEND CPACK_COMPONENTS_ALL probes)
endif()
if(TARGET headroom_mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
endif()
if(TARGET headroom_onnx)
  list(APPEND CPACK_COMPONENTS_ALL onnx)
endif()
if(TARGET headroom_python)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
if(TARGET headroom_web)
  list(APPEND CPACK_COMPONENTS_ALL web)
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# The release's date for every file; what Debian asks of documents and paths.
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_BINARY_DIR}/package_time.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian_stage.cmake)
set(CPACK_HEADROOM_DEBIAN ${PROJECT_SOURCE_DIR}/debian)
execute_process(COMMAND date --utc --date=${HEADROOM_RELEASE_TIME} +%s
                OUTPUT_VARIABLE release_seconds OUTPUT_STRIP_TRAILING_WHITESPACE)
file(WRITE ${PROJECT_BINARY_DIR}/package_time.cmake
     "if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})\n  set(ENV{SOURCE_DATE_EPOCH} ${release_seconds})\nendif()\n")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME headroom)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "plan GPU workloads before any GPU is rented
Headroom tells, before any hardware is rented, what training or serving a
model will need and do: memory, step time, tokens per second, days, GPU-hours
and money, each with the interval that past errors have earned, and where
every number comes from.

Hardware, price lists and models are built in; no GPU and no network are
needed.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "headroom-onnx, headroom-probes, headroom-web")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libheadroom-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "plan GPU workloads: static libraries, headers and CMake package
What the program headroom is made of: quantities with units, the catalog of
hardware and prices, the model of training and serving, plans and searches.

find_package(headroom) gives the target headroom::headroom.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libc6-dev, libpugixml-dev, libstdc++-12-dev | libstdc++-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS headroom)

# cuBLASLt is in no archive of Debian: the package names the C and C++ libraries alone, and the loader says what is
# missing when a probe is run.
set(CPACK_DEBIAN_PROBES_PACKAGE_NAME headroom-probes)
set(CPACK_DEBIAN_PROBES_DESCRIPTION "plan GPU workloads: measure the GPU at hand
The library that 'headroom probe' opens to measure the matrix multiplies, the
memory and the launches of an NVIDIA GPU.

It needs NVIDIA's driver and cuBLASLt of the CUDA toolkit it was built with,
which Debian does not have.")
set(CPACK_DEBIAN_PROBES_PACKAGE_DEPENDS "headroom (= ${PROJECT_VERSION}), libc6, libgcc-s1, libstdc++6")

set(CPACK_DEBIAN_MPI_PACKAGE_NAME headroom-mpi)
set(CPACK_DEBIAN_MPI_DESCRIPTION "plan GPU workloads: the search on several machines
 The program headroom as ranks of an MPI job: sweeps over models, clusters and
 prices are handed out rank by rank and give what one machine gives.")
set(CPACK_DEBIAN_MPI_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_MPI_PACKAGE_RECOMMENDS openmpi-bin)

set(CPACK_DEBIAN_ONNX_PACKAGE_NAME headroom-onnx)
set(CPACK_DEBIAN_ONNX_DESCRIPTION "plan GPU workloads: networks from ONNX files
 The library that 'headroom import NET.onnx' opens to read a network.")
set(CPACK_DEBIAN_ONNX_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_ONNX_PACKAGE_DEPENDS "headroom (= ${PROJECT_VERSION})")

# The module is for one version of the interpreter: 3.11, not 3.12.
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-headroom)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_DESCRIPTION "plan GPU workloads: the Python package
 The module headroom, for notebooks and scripts: plans, searches, simulations
 and diagnoses in the interpreter's own process.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
if(HEADROOM_PYTHON_TAG MATCHES "^cp3([0-9]+)$")
  math(EXPR next "${CMAKE_MATCH_1} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.${CMAKE_MATCH_1}~), python3 (<< 3.${next}~)")
endif()
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/debian/python3-headroom/postinst
                                              ${PROJECT_SOURCE_DIR}/debian/python3-headroom/prerm)
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "headroom, python3-pandas")

set(CPACK_DEBIAN_WEB_PACKAGE_NAME headroom-web)
set(CPACK_DEBIAN_WEB_DESCRIPTION "plan GPU workloads: the page and its server
 The library that 'headroom web' opens to answer a page in a browser, and
 programs that ask over HTTP.")
set(CPACK_DEBIAN_WEB_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_WEB_PACKAGE_DEPENDS "headroom (= ${PROJECT_VERSION})")

include(CPack)
