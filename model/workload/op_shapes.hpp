// SPDX-License-Identifier: Apache-2.0
// The shapes of one op: what its table states, the rest from what it reads.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/model/workload/op_list.hpp>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// A tensor of one sample and pass: channels (features) at every place of a plane of up to three directions (pixels,
/// voxels, tokens, frames); no direction: one place.
struct TensorShape {
  std::int64_t channels = 1;
  std::vector<std::int64_t> plane;
  [[nodiscard]] double places() const noexcept;
  [[nodiscard]] double elements() const noexcept;
  [[nodiscard]] std::vector<std::int64_t> sizes() const;  ///< channels, then the plane
  [[nodiscard]] bool operator==(const TensorShape&) const = default;
};
/// "[64, 240, 320]".
[[nodiscard]] std::string shape_text(const std::vector<std::int64_t>& shape);

/// What an op reads.
struct OpInputs {
  std::vector<TensorShape> shapes;
  /// False where something before is broken: then nothing is inferred, nor is it a problem of this op.
  bool known = true;
  bool ids = false;             ///< the last of them is an input of ids
  mutable bool missed = false;  ///< a size would have been inferred, but nothing is known
  [[nodiscard]] const TensorShape* first() const noexcept { return known && !shapes.empty() ? &shapes[0] : nullptr; }
};

/// What `kind` may say: a kind, or a word that stands for a kind and its function.
struct OpWord {
  enum class Form : std::uint8_t { plain, depthwise, global, embedding, view, slice, flatten };
  std::string_view word;
  OpKind kind = OpKind::gemm;
  std::string_view function;  ///< empty: the table has it, if the kind has any
  Form form = Form::plain;    ///< view, slice and flatten are no ops: a tensor seen in another shape, or a part of it
};
/// The word that `kind` of a table says; a problem of the table and nullptr where it says none.
[[nodiscard]] const OpWord* read_op_word(ConfigTable& table);

/// Derives an op's numbers from its table and from what it reads, and returns the shape of its result.
TensorShape read_op_shapes(ConfigTable& table, const OpWord& word, const OpInputs& inputs, Op& op);
/// The shape of a view, a slice or something flattened.
TensorShape read_view(ConfigTable& table, const OpWord& word, const OpInputs& inputs);

// What the readers of shapes share.
inline constexpr double index_bytes = 8.0;      ///< int64 indices
inline constexpr double statistic_bytes = 4.0;  ///< fp32
inline constexpr Range<std::int64_t> op_size{1, largest_size};
/// A size that is stated, or else inferred; missing without either. 1 where it is not known.
std::int64_t stated_or(ConfigTable& table,
                       std::string_view key,
                       std::optional<std::int64_t> inferred,
                       const OpInputs& inputs);
/// The product of sizes; beyond what a double counts exactly it is a problem of `table`.
double product(ConfigTable& table, std::string_view key, std::string_view what, std::initializer_list<double> factors);
/// A problem where `value` does not divide by `parts`.
void divides(ConfigTable& table, std::string_view key, std::string_view name, std::int64_t value, std::int64_t parts);
/// Directions of the plane: one integer for all, or one each.
std::array<std::int64_t, 3> read_directions(ConfigTable& table,
                                            std::string_view key,
                                            std::int64_t low,
                                            std::size_t rank,
                                            std::optional<std::array<std::int64_t, 3>> usual);
/// The function that the word has or the table states.
std::size_t function_of(ConfigTable& table, const OpWord& word, std::span<const std::string_view> names);

// One of them for every kind.
TensorShape read_conv(ConfigTable& table, const OpWord& word, const OpInputs& inputs, Op& op);
TensorShape read_conv_transpose(ConfigTable& table, const OpWord& word, const OpInputs& inputs, Op& op);
TensorShape read_pool(ConfigTable& table, const OpWord& word, const OpInputs& inputs, Op& op);
TensorShape read_gemm(ConfigTable& table, const OpWord& word, const OpInputs& inputs, Op& op);
TensorShape read_attention(ConfigTable& table, const OpWord& word, const OpInputs& inputs, Op& op);
TensorShape read_product(ConfigTable& table, const OpWord& word, const OpInputs& inputs, Op& op);
TensorShape read_recurrent(ConfigTable& table, const OpWord& word, const OpInputs& inputs, Op& op);
TensorShape read_embedding_bag(ConfigTable& table, const OpWord& word, const OpInputs& inputs, Op& op);
TensorShape read_elementwise(ConfigTable& table, const OpWord& word, const OpInputs& inputs, Op& op);
TensorShape read_norm(ConfigTable& table, const OpWord& word, const OpInputs& inputs, Op& op);
TensorShape read_gather(ConfigTable& table, const OpWord& word, const OpInputs& inputs, Op& op);
TensorShape read_reduce(ConfigTable& table, const OpWord& word, const OpInputs& inputs, Op& op);
TensorShape read_move(ConfigTable& table, const OpWord& word, const OpInputs& inputs, Op& op);

}  // namespace headroom
