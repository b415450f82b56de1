// SPDX-License-Identifier: Apache-2.0
// The graph of an ONNX file as plain data: what the library that reads such files hands to the program.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace headroom::onnx_file {

/// Both sides are built together: containers of the standard library cross the border. A change of this header, or of
/// what a member means, raises it.
inline constexpr std::uint32_t abi_version = 1;
inline constexpr const char* entry_name = "headroom_onnx";

/// Numbers of TensorProto.DataType (onnx/onnx.proto) that are told apart.
enum ElementType : std::int32_t {
  fp32 = 1,
  uint8 = 2,
  int8 = 3,
  int32 = 6,
  int64 = 7,
  text = 8,
  boolean = 9,
  fp16 = 10,
  fp64 = 11,
  bf16 = 16
};

/// Whether a type holds what is learned: formats of floating point, and integers of eight bits or less, which hold
/// quantised weights.
[[nodiscard]] constexpr bool holds_weights(std::int32_t type) noexcept {
  return type == fp32 || type == fp16 || type == bf16 || type == fp64 || type == int8 || type == uint8 || type >= 17;
}

struct Tensor {
  std::vector<std::int64_t> shape;  ///< every size at least 1, their product at most 2^53
  std::int32_t type = 0;            ///< TensorProto.DataType; 0: not known
  bool fixed = false;               ///< the same in every call: stored, or made of stored tensors alone
  std::string root;                 ///< of a fixed one: the largest stored tensor that it is made of, if any
};

/// What a file stores: an initializer, or the value of a Constant.
struct Stored {
  double elements = 0.0, bytes = 0.0;
  std::int32_t type = 0;
};

struct Attribute {
  std::vector<std::int64_t> integers;  ///< of one, or of a list
  double number = 0.0;
  std::string text;
};

struct Node {
  std::string name;                          ///< may be empty
  std::string place;                         ///< for messages: "node 12 'conv1' (Conv)"
  std::string op;                            ///< "Conv"
  std::string domain;                        ///< empty: ONNX's own
  std::vector<std::string> inputs, outputs;  ///< an empty name: left out
  std::map<std::string, Attribute> attributes;
};

/// Graphs inside nodes (If, Loop, Scan) and functions stand in it once, in their nodes' places.
struct Graph {
  std::string name, producer;
  std::int64_t opset = 0;
  std::vector<std::string> inputs, outputs;
  std::map<std::string, Tensor> tensors;  ///< by name; fixed ones whose shape is not known have none
  std::map<std::string, Stored> stored;   ///< by name
  /// Each behind those that it reads; without those that no output hangs on and those whose results are fixed.
  std::vector<Node> nodes;
  std::vector<std::string> problems;  ///< with place and remedy; the graph is not complete where there are any
  std::vector<std::string> remarks;   ///< what was taken so, and is worth to be known
};

/// Leaves out the nodes that no output hangs on.
inline void leave_out_unread(Graph& graph) {
  std::set<std::string> read{graph.outputs.begin(), graph.outputs.end()};
  std::vector<Node> kept;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const auto is_read = [&](const std::string& name) { return read.contains(name); };
    if (std::any_of(node->outputs.begin(), node->outputs.end(), is_read)) {
      read.insert(node->inputs.begin(), node->inputs.end());
      kept.push_back(std::move(*node));
    }
  }
  std::reverse(kept.begin(), kept.end());
  graph.nodes = std::move(kept);
}

/// Values of --shape by name: one number for a named size, or the sizes of a tensor.
using Shapes = std::map<std::string, std::vector<std::int64_t>>;

/// Reads a graph and infers its shapes. nullptr where `version` is another than the library's, which it then tells.
using Reader = void (*)(std::istream& file, const Shapes& shapes, Graph& graph);
using Entry = Reader (*)(std::uint32_t version, std::uint32_t* own);

}  // namespace headroom::onnx_file
