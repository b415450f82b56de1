# HEADROOM_ONNX = AUTO | ON | OFF: libheadroom_onnx.so, which reads ONNX files. Sets HEADROOM_HAVE_ONNX; one status line
# says why or why not.
set(onnx_default OFF)
if(PROJECT_IS_TOP_LEVEL)
  set(onnx_default AUTO)
endif()
set(HEADROOM_ONNX ${onnx_default} CACHE STRING "Build the reader of ONNX files: AUTO (when libonnx is found), ON or OFF")
set_property(CACHE HEADROOM_ONNX PROPERTY STRINGS AUTO ON OFF)
set(HEADROOM_HAVE_ONNX OFF)

if(HEADROOM_ONNX STREQUAL "OFF" OR NOT HEADROOM_PROGRAM)
  message(STATUS "ONNX: OFF (HEADROOM_ONNX or HEADROOM_PROGRAM is OFF)")
  return()
endif()

find_path(HEADROOM_ONNX_INCLUDE onnx/shape_inference/implementation.h)
find_path(HEADROOM_PROTOBUF_INCLUDE google/protobuf/message.h)
find_library(HEADROOM_ONNX_LIBRARY onnx)
find_library(HEADROOM_ONNX_PROTO_LIBRARY onnx_proto)
find_library(HEADROOM_PROTOBUF_LIBRARY protobuf)
mark_as_advanced(HEADROOM_ONNX_INCLUDE HEADROOM_PROTOBUF_INCLUDE HEADROOM_ONNX_LIBRARY HEADROOM_ONNX_PROTO_LIBRARY
                 HEADROOM_PROTOBUF_LIBRARY)
if(HEADROOM_ONNX_INCLUDE AND HEADROOM_PROTOBUF_INCLUDE AND HEADROOM_ONNX_LIBRARY AND HEADROOM_ONNX_PROTO_LIBRARY
   AND HEADROOM_PROTOBUF_LIBRARY)
  set(HEADROOM_HAVE_ONNX ON)
  message(STATUS "ONNX: ON (${HEADROOM_ONNX_LIBRARY})")
elseif(HEADROOM_ONNX STREQUAL "ON")
  message(FATAL_ERROR "HEADROOM_ONNX is ON, but libonnx was not found; install libonnx-dev and libprotobuf-dev")
else()
  message(STATUS "ONNX: OFF (libonnx-dev or libprotobuf-dev was not found)")
endif()
