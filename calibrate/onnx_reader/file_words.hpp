// SPDX-License-Identifier: Apache-2.0
// What the parts of the reader share: the messages of ONNX, and words about them.
#pragma once

#include <headroom/calibrate/onnx/onnx_graph.hpp>

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace headroom::onnx_file {

inline constexpr double most_elements = 9007199254740992.0;  // 2^53
inline constexpr int most_nodes = 200'000;                   // with functions written out
inline constexpr int deepest_function = 32;
inline constexpr std::string_view unknown_domain = "headroom.unknown";

inline std::string in_quotes(std::string_view text) {
  return "'" + std::string{text} + "'";
}

/// "1x3x224x224".
template <class Sizes>
std::string sizes_text(const Sizes& sizes) {
  std::string text;
  for (const std::int64_t size : sizes) {
    text += (text.empty() ? "" : "x") + std::to_string(size);
  }
  return text;
}

/// Bytes of an element; 0: no fixed number, or not known. By the numbers of TensorProto.DataType up to FLOAT4E2M1.
inline double element_bytes(std::int32_t type) noexcept {
  constexpr std::array<double, 24> bytes{0.0, 4.0, 1.0, 1.0,  2.0, 2.0, 4.0, 8.0, 0.0, 1.0, 2.0, 8.0,
                                         4.0, 8.0, 8.0, 16.0, 2.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.5};
  return type < 0 || type >= static_cast<std::int32_t>(bytes.size()) ? 0.0 : bytes[static_cast<std::size_t>(type)];
}

template <class Names>
inline bool is_one_of(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

inline bool is_own_domain(const std::string& domain) {
  return domain.empty() || domain == "ai.onnx";
}

inline std::string place_of(const onnx::NodeProto& node, int index) {
  return "node " + std::to_string(index + 1) + (node.name().empty() ? "" : " " + in_quotes(node.name())) + " (" +
         node.op_type() + ")";
}

inline bool is_initializer(const onnx::GraphProto& graph, const std::string& name) {
  return std::any_of(graph.initializer().begin(), graph.initializer().end(),
                     [&](const auto& tensor) { return tensor.name() == name; });
}

/// Whether every size of a tensor is known.
inline bool has_shape(const onnx::TypeProto& type) {
  return type.has_tensor_type() && type.tensor_type().has_shape() &&
         std::all_of(type.tensor_type().shape().dim().begin(), type.tensor_type().shape().dim().end(),
                     [](const auto& size) { return size.has_dim_value(); });
}

/// Says which shape an inner tensor has, where inference does not find it.
inline void state_shape(onnx::GraphProto& graph, const std::string& name, const std::vector<std::int64_t>& sizes) {
  onnx::ValueInfoProto* value = nullptr;
  for (auto* values : {graph.mutable_value_info(), graph.mutable_output()}) {
    for (onnx::ValueInfoProto& one : *values) {
      value = one.name() == name ? &one : value;
    }
  }
  if (value == nullptr) {
    value = graph.add_value_info();
    value->set_name(name);
  }
  auto& type = *value->mutable_type()->mutable_tensor_type();
  if (type.elem_type() == 0) {
    type.set_elem_type(onnx::TensorProto::FLOAT);
  }
  type.clear_shape();
  for (const std::int64_t size : sizes) {
    type.mutable_shape()->add_dim()->set_dim_value(size);
  }
}

}  // namespace headroom::onnx_file
