// SPDX-License-Identifier: Apache-2.0
// Does the model rank strategies as the runs do? Published runs of one network on the same GPUs under several
// strategies, and what is lost by taking the one that is predicted fastest.
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
  double regret = 0.0;           ///< measured time of the strategy predicted fastest, over the measured least, less 1
  std::size_t pairs = 0;         ///< whose measured times differ by more than 5 %
  double concordance = 0.0;      ///< pairs in the predicted order less those against it
  std::string picked{}, best{};  ///< ids of a row of each
  [[nodiscard]] double tau() const noexcept;  ///< Kendall's, over `pairs`; NaN without any
};

/// Sweeps of "all", of "all beyond 8 GPUs", of a source, of a size, and of a size of a source.
struct SweepScore {
  std::string group;
  std::size_t sweeps = 0, strategies = 0, pairs = 0;
  double regret_median = 0.0, regret_p90 = 0.0;
  double tau = 0.0;         ///< over the pairs of all sweeps; NaN without any
  double tau_median = 0.0;  ///< over the sweeps that have pairs
};

struct Sweeps {
  std::vector<Sweep> sweeps;
  std::vector<SweepScore> groups;
};

/// Among the rows that were predicted, those of time and throughput. A sweep has four strategies or more; runs of one
/// strategy count as their median. Of strategies that are predicted alike the slowest is taken as picked.
[[nodiscard]] Sweeps find_sweeps(std::span<const ScoredRow> rows);

/// The same of rows that come one by one and are let go.
class SweepBook {
 public:
  SweepBook();
  void add(const ScoredRow& row);
  [[nodiscard]] Sweeps sweeps() const;

 private:
  /// What is kept of a run. Its words stand behind one another: the strategy's, then the row's id.
  struct Run {
    const char* words = nullptr;
    std::uint32_t strategy_size = 0, id_size = 0;
    double measured = 0.0, predicted = 0.0;
    [[nodiscard]] std::string_view strategy() const noexcept { return {words, strategy_size}; }
    [[nodiscard]] std::string_view id() const noexcept { return {words + strategy_size, id_size}; }
  };
  /// What the runs of a sweep have in common.
  struct Job {
    std::string_view source, model, gpu, precision;  ///< of names_
    std::int64_t gpus = 0, seq_len = 0, global_batch = 0;
  };
  [[nodiscard]] std::string_view name(const std::string& text) { return *names_.insert(text).first; }

  QuestionBook<Run, Job> questions_;
  KeptTexts words_;
  std::set<std::string, std::less<>> names_;
};

/// By which rows and sweeps are grouped, smallest first.
inline constexpr std::array<std::string_view, 5> size_buckets{"<=8", "9-64", "65-512", "513-2048", ">2048"};
[[nodiscard]] std::string_view size_bucket(std::int64_t gpus) noexcept;
/// Position of a group's name that ends in one ("source=S size=9-64"); 0 for other names.
[[nodiscard]] std::size_t size_order(std::string_view group) noexcept;

}  // namespace headroom
