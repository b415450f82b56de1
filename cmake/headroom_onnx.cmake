# HEADROOM_ONNX: libheadroom_onnx.so, which reads ONNX files.
headroom_choice(ONNX PROGRAM LABEL "ONNX" WHAT "the reader of ONNX files" WHEN "libonnx is found")
if(NOT HEADROOM_TRY_ONNX)
  return()
endif()

find_path(HEADROOM_ONNX_INCLUDE onnx/shape_inference/implementation.h)
find_path(HEADROOM_PROTOBUF_INCLUDE google/protobuf/message.h)
find_library(HEADROOM_ONNX_LIBRARY onnx)
find_library(HEADROOM_ONNX_PROTO_LIBRARY onnx_proto)
find_library(HEADROOM_PROTOBUF_LIBRARY protobuf)
mark_as_advanced(HEADROOM_ONNX_INCLUDE HEADROOM_PROTOBUF_INCLUDE HEADROOM_ONNX_LIBRARY HEADROOM_ONNX_PROTO_LIBRARY
                 HEADROOM_PROTOBUF_LIBRARY)
set(why)
if(NOT (HEADROOM_ONNX_INCLUDE AND HEADROOM_PROTOBUF_INCLUDE AND HEADROOM_ONNX_LIBRARY AND HEADROOM_ONNX_PROTO_LIBRARY
        AND HEADROOM_PROTOBUF_LIBRARY))
  set(why "libonnx was not found; install libonnx-dev and libprotobuf-dev")
endif()
headroom_decide(ONNX LABEL "ONNX" WITH "${HEADROOM_ONNX_LIBRARY}" WHY_NOT "${why}")
