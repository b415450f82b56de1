// SPDX-License-Identifier: Apache-2.0
// Writes ONNX files in protobuf's wire format (varints and texts with their length), with no library: fields by their
// numbers in onnx/onnx.proto.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::test {

/// A message of protobuf under construction.
class Message {
 public:
  Message& number(unsigned field, std::int64_t value) {
    varint(field << 3U);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  Message& text(unsigned field, std::string_view value) {
    varint(field << 3U | 2U);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& message(unsigned field, const Message& value) { return text(field, value.bytes_); }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    while (value >= 128) {
      bytes_ += static_cast<char>((value & 127U) | 128U);
      value >>= 7U;
    }
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

using OnnxDims = std::vector<std::int64_t>;

/// A size with a name stands for one that is not known: {"batch", 3}.
struct OnnxSize {
  template <std::integral Number>
  OnnxSize(Number number) : value{number} {}                // NOLINT(*-explicit-*)
  OnnxSize(const char* symbol) : name{symbol}, value{0} {}  // NOLINT(*-explicit-*)
  std::string name;
  std::int64_t value;
};

enum OnnxType : int { onnx_float = 1, onnx_uint8 = 2, onnx_int8 = 3, onnx_int64 = 7, onnx_bool = 9, onnx_half = 10 };

inline Message onnx_ints(std::string_view name, const OnnxDims& values) {
  Message attribute;
  attribute.text(1, name);
  for (const std::int64_t value : values) {
    attribute.number(8, value);
  }
  return std::move(attribute.number(20, 7));
}
inline Message onnx_int(std::string_view name, std::int64_t value) {
  return std::move(Message{}.text(1, name).number(3, value).number(20, 2));
}
inline Message onnx_text(std::string_view name, std::string_view value) {
  return std::move(Message{}.text(1, name).text(4, value).number(20, 3));
}
inline Message onnx_graph(std::string_view name, const Message& graph) {
  return std::move(Message{}.text(1, name).message(6, graph).number(20, 5));
}

class OnnxGraph {
 public:
  OnnxGraph& input(std::string_view name, const std::vector<OnnxSize>& shape, int type = onnx_float) {
    graph_.message(11, value(name, shape, type));
    return *this;
  }
  OnnxGraph& output(std::string_view name) {
    graph_.message(12, Message{}.text(1, name));
    return *this;
  }
  /// Weights whose numbers lie in another file, which need not be there.
  OnnxGraph& weight(std::string_view name, const OnnxDims& dims, int type = onnx_float) {
    Message tensor = tensor_of(name, dims, type);
    tensor.message(13, Message{}.text(1, "location").text(2, "weights.bin")).number(14, 1);
    graph_.message(5, tensor);
    return *this;
  }
  OnnxGraph& integers(std::string_view name, const OnnxDims& values, bool scalar = false) {
    Message tensor =
        tensor_of(name, scalar ? OnnxDims{} : OnnxDims{static_cast<std::int64_t>(values.size())}, onnx_int64);
    for (const std::int64_t one : values) {
      tensor.number(7, one);
    }
    graph_.message(5, tensor);
    return *this;
  }
  OnnxGraph& number(std::string_view name) {
    Message tensor = tensor_of(name, {}, onnx_float);
    graph_.message(5, tensor.text(9, std::string(4, '\1')));
    return *this;
  }
  OnnxGraph& raw(std::string_view name, const OnnxDims& dims, std::size_t bytes) {
    Message tensor = tensor_of(name, dims, onnx_float);
    graph_.message(5, tensor.text(9, std::string(bytes, '\1')));
    return *this;
  }
  OnnxGraph& node(std::string_view op,
                  const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs,
                  const std::vector<Message>& attributes = {},
                  std::string_view domain = "",
                  std::string_view name = "-") {
    Message node;
    for (const std::string& one : inputs) {
      node.text(1, one);
    }
    for (const std::string& one : outputs) {
      node.text(2, one);
    }
    node.text(3, name == "-" ? outputs.front() : std::string{name}).text(4, op);
    for (const Message& attribute : attributes) {
      node.message(5, attribute);
    }
    graph_.message(1, node.text(7, domain));
    return *this;
  }
  [[nodiscard]] const Message& message() const { return graph_; }
  /// The whole file.
  [[nodiscard]] std::string file(std::int64_t opset = 17) const {
    Message graph = graph_;
    graph.text(2, "graph");
    return Message{}
        .number(1, 8)
        .text(2, "test")
        .message(7, graph)
        .message(8, Message{}.text(1, "").number(2, opset))
        .bytes();
  }

 private:
  static Message tensor_of(std::string_view name, const OnnxDims& dims, int type) {
    Message tensor;
    for (const std::int64_t size : dims) {
      tensor.number(1, size);
    }
    return std::move(tensor.number(2, type).text(8, name));
  }
  static Message value(std::string_view name, const std::vector<OnnxSize>& shape, int type) {
    Message sizes;
    for (const OnnxSize& size : shape) {
      sizes.message(1, size.name.empty() ? Message{}.number(1, size.value) : Message{}.text(2, size.name));
    }
    const Message tensor = Message{}.number(1, type).message(2, sizes);
    return std::move(Message{}.text(1, name).message(2, Message{}.message(1, tensor)));
  }
  Message graph_;
};

}  // namespace headroom::test
