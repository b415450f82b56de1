// SPDX-License-Identifier: Apache-2.0
// libheadroom_onnx.so: reads ONNX files with libonnx and protobuf, and infers the shapes of all tensors. Opened at run
// time, so that no other verb waits for the two libraries.
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include "file_checks.hpp"
#include "file_functions.hpp"
#include "file_graph.hpp"
#include "file_inputs.hpp"
#include "file_types.hpp"
#include <istream>

namespace headroom::onnx_file {
namespace {

bool parse(std::istream& file, onnx::ModelProto& model, Graph& graph) {
  google::protobuf::SetLogHandler(nullptr);
  google::protobuf::io::IstreamInputStream stream{&file};
  if (!model.ParseFromZeroCopyStream(&stream)) {
    graph.problems.emplace_back(
        "is no ONNX model, or is cut off: its text ends or breaks inside a message of protobuf; load or export it "
        "again");
  } else if (!model.has_graph()) {
    graph.problems.emplace_back("holds no graph, so that it is no ONNX model; name the file that an exporter wrote");
  } else if (model.graph().node_size() == 0) {
    graph.problems.emplace_back("its graph has no nodes; name the file that holds the network");
  }
  return graph.problems.empty();
}

void take_head(onnx::ModelProto& model, Graph& graph) {
  graph.name = model.graph().name();
  graph.producer = model.producer_name() + (model.producer_version().empty() ? "" : " " + model.producer_version());
  if (model.opset_import_size() == 0) {
    model.add_opset_import()->set_version(1);
  }
  for (const auto& set : model.opset_import()) {
    if (is_own_domain(set.domain())) {
      graph.opset = set.version();
    }
  }
}

void read(std::istream& file, const Shapes& shapes, Graph& graph) {
  onnx::ModelProto model;
  if (!parse(file, model, graph)) {
    return;
  }
  take_head(model, graph);
  write_out_functions(model, graph.problems);
  check_graph(*model.mutable_graph(), graph.problems);
  if (!graph.problems.empty()) {
    return;  // what follows reads names that are there
  }
  take_shapes(model, shapes, graph);
  if (!graph.problems.empty()) {
    return;
  }
  const Types types = infer_types(model, graph.opset);
  take_graph(model, types, graph);
}

}  // namespace
}  // namespace headroom::onnx_file

extern "C" __attribute__((visibility("default"))) headroom::onnx_file::Reader headroom_onnx(std::uint32_t version,
                                                                                            std::uint32_t* own) {
  *own = headroom::onnx_file::abi_version;
  return version == headroom::onnx_file::abi_version ? headroom::onnx_file::read : nullptr;
}
