// SPDX-License-Identifier: Apache-2.0
// Compares how the model and the runs rank strategies: published runs of one network on the same GPUs under several
// strategies, and the loss from choosing the predicted fastest.
#pragma once

#include <headroom/scenarios/validation/question_book.hpp>
#include <headroom/scenarios/validation/scored_row.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Runs of one source with the same network, method, SKU, GPUs, sequence, precision and global batch.
struct Sweep {
  std::string source, model, gpu, precision;
  std::int64_t gpus = 0, seq_len = 0, global_batch = 0;
  std::size_t strategies = 0;
  double regret = 0.0;       ///< measured time of the predicted fastest strategy over the least measured time, less 1
  std::size_t pairs = 0;     ///< pairs of strategies whose measured times differ by more than 5 %
  double concordance = 0.0;  ///< pairs predicted in the right order less those in the wrong order
  std::string picked{}, best{};               ///< row ids: a run of the predicted and of the measured fastest strategy
  [[nodiscard]] double tau() const noexcept;  ///< Kendall's tau over `pairs`; NaN without any
};

/// Score of a group of sweeps: "all", "all beyond 8 GPUs", a source, a size, or both.
struct SweepScore {
  std::string group;
  std::size_t sweeps = 0, strategies = 0, pairs = 0;
  double regret_median = 0.0, regret_p90 = 0.0;
  double tau = 0.0;         ///< Kendall's tau over the pairs of all sweeps; NaN without any
  double tau_median = 0.0;  ///< median over the sweeps that have pairs
};

struct Sweeps {
  std::vector<Sweep> sweeps;
  std::vector<SweepScore> groups;
};

/// Sweeps among the predicted rows of time and throughput. A sweep has at least four strategies; runs of the same
/// strategy count as their median. Of equally predicted strategies the slowest counts as picked.
class SweepBook {
 public:
  SweepBook();
  void add(const ScoredRow& row);
  [[nodiscard]] Sweeps sweeps() const;

 private:
  /// The kept part of a run. `words` points to the strategy's words followed by the row's id.
  struct Run {
    const char* words = nullptr;
    std::uint32_t strategy_size = 0, id_size = 0;
    double measured = 0.0, predicted = 0.0;
    [[nodiscard]] std::string_view strategy() const noexcept { return {words, strategy_size}; }
    [[nodiscard]] std::string_view id() const noexcept { return {words + strategy_size, id_size}; }
  };
  /// What all runs of a sweep share; the views point into names_.
  struct Job {
    std::string_view source, model, gpu, precision;
    std::int64_t gpus = 0, seq_len = 0, global_batch = 0;
  };
  [[nodiscard]] std::string_view name(const std::string& text) { return *names_.insert(text).first; }

  QuestionBook<Run, Job> questions_;
  KeptTexts words_;
  std::set<std::string, std::less<>> names_;
};

/// Ranges of GPU counts by which rows and sweeps are grouped, ascending.
inline constexpr std::array<std::string_view, 5> size_buckets{"<=8", "9-64", "65-512", "513-2048", ">2048"};
[[nodiscard]] std::string_view size_bucket(std::int64_t gpus) noexcept;
/// Position of the size in a group's name ("source=S size=9-64"); 0 for names without one.
[[nodiscard]] std::size_t size_order(std::string_view group) noexcept;

}  // namespace headroom
