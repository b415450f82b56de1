// SPDX-License-Identifier: Apache-2.0
// The nodes of an ONNX graph as ops of a network file.
#pragma once

#include <headroom/calibrate/onnx/onnx_graph.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::onnx_file {

using Sizes = std::vector<std::int64_t>;
/// Of all sizes; 1 of none.
[[nodiscard]] double elements_of(const Sizes& sizes) noexcept;
[[nodiscard]] std::int64_t product_of(const Sizes& sizes) noexcept;
/// The integer under a key, or what is usual.
[[nodiscard]] std::int64_t integer_of(const Node& node, const std::string& key, std::int64_t usual);
/// The integers under a key, or as many of what is usual.
[[nodiscard]] Sizes integers_of(const Node& node, const std::string& key, std::size_t count, std::int64_t usual);

/// What the writer has of a tensor: the op or input that writes it, and the shape that the reader of network files will
/// see it in, channels first; empty where that is not known.
struct Written {
  std::string op;
  Sizes seen;
};

/// One window of a convolution or a pool.
struct WindowKeys {
  Sizes kernel, stride, dilation, padding, in, out;
};

/// Writes ops one by one, each with its sizes stated, so that they do not hang on what the reader would infer.
class NetworkWriter {
 public:
  explicit NetworkWriter(const Graph& graph);
  void run();

  /// "input = [...]" and "op = [...]".
  [[nodiscard]] std::string text() const;
  /// Nodes that became ops, by their kind in ONNX.
  [[nodiscard]] const std::map<std::string, int>& written() const noexcept { return written_; }
  /// Ops that are priced by their bytes because nothing else is known of them.
  [[nodiscard]] const std::map<std::string, int>& unknown() const noexcept { return unknown_; }
  [[nodiscard]] const std::vector<std::string>& remarks() const noexcept { return remarks_; }
  [[nodiscard]] std::size_t ops() const noexcept { return ops_; }
  [[nodiscard]] int quantised() const noexcept { return quantised_; }

 private:
  using Map = void (NetworkWriter::*)(const Node& node);
  struct MapRow {
    std::string_view op;
    Map map;
  };
  static const std::vector<MapRow>& maps();
  [[nodiscard]] static bool takes_any_operand(Map map) noexcept;

  // What is known of tensors.
  [[nodiscard]] const Tensor& tensor(const std::string& name) const;
  [[nodiscard]] bool has_input(const Node& node, std::size_t i) const;
  [[nodiscard]] bool fixed(const std::string& name) const;
  /// Learned: fixed, of more than one element, and stored in the file.
  [[nodiscard]] bool learned(const std::string& name) const;
  [[nodiscard]] const Sizes& sizes(const std::string& name) const { return tensor(name).shape; }
  [[nodiscard]] double elements(const std::string& name) const { return elements_of(tensor(name).shape); }
  [[nodiscard]] Written value(const std::string& name) const;
  /// Names of a node's inputs that calls bring or compute, each once.
  [[nodiscard]] std::vector<std::string> computed(const Node& node) const;

  // What is written.
  [[nodiscard]] std::string new_name(const std::string& wanted);
  [[nodiscard]] std::string name_of(const Node& node);
  void line(const std::string& name, std::string_view kind, const std::vector<Written>& reads, const std::string& keys);
  /// The tensor in another shape: a view where the reader would see it otherwise.
  [[nodiscard]] Written as(const Written& tensor, const Sizes& seen);
  /// The first `count` elements of a tensor of `of` elements.
  [[nodiscard]] Written part(const Written& tensor, std::int64_t of, std::int64_t count);
  Written put(const Node& node,
              std::string_view kind,
              const std::vector<Written>& reads,
              const std::string& keys,
              const Sizes& seen = {});
  /// The node's first result is `written`; others, which are statistics or masks, are as good as fixed.
  void result(const Node& node, const Written& written);
  /// ", shared = true" where the weights of this root were counted before.
  [[nodiscard]] std::string shared(const std::string& name);

  // Products.
  void conv(const Node& node);
  void conv_transpose(const Node& node);
  void pool(const Node& node);
  void global_pool(const Node& node);
  void gemm(const Node& node);
  void matmul(const Node& node);
  void einsum(const Node& node);
  void recurrent(const Node& node);
  void attention(const Node& node);
  struct Operand {
    std::string name;
    std::int64_t groups = 1, rows = 1;  ///< rows: that the product does not sum over
  };
  void product(
      const Node& node, const Operand& a, const Operand& b, std::int64_t summed, std::int64_t groups, bool bias);
  [[nodiscard]] Written windowed(const Node& node, const WindowKeys& keys, std::int64_t channels, std::string& text);

  // Passes.
  void unary(const Node& node);
  void several(const Node& node);
  void prelu(const Node& node);
  void norm(const Node& node);
  void reduce(const Node& node);
  void softmax(const Node& node);
  void cast(const Node& node);

  // Moves.
  void same(const Node& node);
  void transpose(const Node& node);
  void concat(const Node& node);
  void split(const Node& node);
  void slice(const Node& node);
  void gather(const Node& node);
  void resize(const Node& node);
  void quantise(const Node& node);
  /// An op that is known, and whose time is that of its bytes.
  void by_bytes(const Node& node);
  /// An op of which nothing more is known than what it reads and writes.
  void by_bytes_with_warning(const Node& node);

  const Graph& graph_;
  std::map<std::string, Written> values_;
  std::set<std::string> idle_;  ///< results that hold nothing to compute with
  std::set<std::string> names_;
  std::set<std::string> read_;     ///< names of ops and inputs that an op reads
  std::set<std::string> counted_;  ///< roots whose weights were counted
  std::map<std::pair<std::string, Sizes>, Written> views_;
  std::vector<std::string> lines_;
  std::map<std::string, int> written_, unknown_;
  std::vector<std::string> remarks_;
  std::size_t ops_ = 0;
  int quantised_ = 0;
};

}  // namespace headroom::onnx_file
