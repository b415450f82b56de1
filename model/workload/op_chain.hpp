// SPDX-License-Identifier: Apache-2.0
// Ops of a network one after another: who reads whom, and that each is handed what it reads.
#pragma once

#include <headroom/model/workload/op_list.hpp>
#include <headroom/model/workload/op_shapes.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// What an op may read: an op's result or an input, whole or seen in another shape.
struct OpTensor {
  std::string name;
  TensorShape shape;
  bool known = false;  ///< its shape; false where its op is broken
  std::optional<std::size_t> op, input;
  bool viewed = false;  ///< in another shape than it was written, or a part of it
};

/// At most so many ops are read: readers are searched op by op.
inline constexpr std::size_t most_ops = 10'000;

class OpChain {
 public:
  explicit OpChain(Network& network) : net_{network} {}

  /// Ops from here on belong to another stage, which reads `in` if anything.
  void start_stage(ConfigTable table, Stage stage, const std::optional<OpTensor>& in);
  void end_stage();

  /// Adds an op that reads `reads`; `known` is false where one of them is not there. Its table is read to the end.
  OpTensor add(ConfigTable& table,
               const OpWord& word,
               std::string name,
               const std::vector<OpTensor>& reads,
               bool known,
               bool shared);
  /// Adds an op of which nothing is known.
  OpTensor add_broken(ConfigTable& table, std::string name);
  /// A tensor seen in another shape.
  OpTensor view(ConfigTable& table, const OpWord& word, const std::vector<OpTensor>& reads, bool known);

  [[nodiscard]] bool full() const noexcept { return net_.ops.size() > most_ops; }
  /// A repeated block writes what the next one reads.
  void check_repeats();

 private:
  [[nodiscard]] OpInputs inputs_of(const std::vector<OpTensor>& reads, bool known) const;
  [[nodiscard]] double handed_by(const OpTensor& tensor) const;
  void check(ConfigTable& table, const std::vector<OpTensor>& reads, Op& op) const;
  void check_elementwise(ConfigTable& table,
                         const std::vector<OpTensor>& reads,
                         Op& op,
                         const std::string& place) const;

  Network& net_;
  std::vector<ConfigTable> stage_tables_;
  std::vector<std::optional<OpTensor>> entering_;  ///< what the first block of every stage reads, where it is known
  std::vector<double> passes_;                     ///< of every op's stage
  std::vector<bool> shaped_;                       ///< the op's kind and shapes are known
  double current_ = 1.0;                           ///< passes of the current stage
};

}  // namespace headroom
