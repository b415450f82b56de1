// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/statistics.hpp>
#include <headroom/scenarios/validation/sweeps.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

namespace headroom {
namespace {

/// Measured times closer than this share have no order, since repeated runs differ as much.
constexpr double least_difference = 0.05;
constexpr std::uint32_t least_strategies = 4;
/// Most GPUs of a single host. Layouts of one host differ little in what they send, so larger jobs are also scored
/// separately.
constexpr std::int64_t one_host = 8;
constexpr double no_figure = std::numeric_limits<double>::quiet_NaN();

/// Options that belong to the strategy; others name the software, its release or what was logged.
constexpr std::array<std::string_view, 8> strategy_options{"fsdp",    "hsdp",           "zero_group",       "schedule",
                                                           "offload", "recompute_kind", "recompute_layers", "overlap"};

class Key {
 public:
  Key& operator<<(const std::string& text) {
    key_ += text + '\x1f';
    return *this;
  }
  Key& operator<<(const std::optional<std::int64_t>& value) {
    return *this << (value ? std::to_string(*value) : std::string{});
  }
  Key& option(const RunConfiguration& run, std::string_view name) {
    const auto found = run.options.find(name);
    return *this << (found == run.options.end() ? std::string{} : found->second);
  }
  [[nodiscard]] const std::string& text() const noexcept { return key_; }

 private:
  std::string key_;
};

/// Key of a sweep: everything its runs share.
std::string sweep_of(const ScoredRow& row) {
  const RunConfiguration& r = *row.run;
  Key key;
  key << row.source << r.gpu << r.precision << r.gpus << r.seq_len << r.global_batch;
  key << r.model << r.arch << r.layers << r.hidden << r.heads << r.kv_heads << r.head_dim << r.ffn_hidden << r.vocab;
  key << r.gated_mlp << r.tied_embeddings << r.experts << r.top_k << r.moe_ffn << r.shared_experts << r.dense_layers;
  return key.option(r, "method").text();
}

/// Key of a strategy within a sweep.
std::string strategy_of(const RunConfiguration& r) {
  Key key;
  key << r.dp << r.tp << r.pp << r.vpp << r.cp << r.ep << r.seq_parallel << r.zero << r.micro_batch << r.flash_attn;
  key << r.recompute;
  for (const std::string_view name : strategy_options) {
    key.option(r, name);
  }
  return key.text();
}

/// All runs of one strategy.
struct Point {
  std::string_view id;
  double measured = 0.0, predicted = 0.0;
};

void rank(Sweep& sweep, const std::vector<Point>& points) {
  const auto best = std::min_element(points.begin(), points.end(),
                                     [](const Point& a, const Point& b) { return a.measured < b.measured; });
  const auto picked = std::min_element(points.begin(), points.end(), [](const Point& a, const Point& b) {
    return a.predicted < b.predicted || (a.predicted == b.predicted && a.measured > b.measured);
  });
  sweep.strategies = points.size();
  sweep.regret = picked->measured / best->measured - 1.0;
  sweep.picked = picked->id;
  sweep.best = best->id;
  for (std::size_t i = 1; i < points.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const auto [fast, slow] = std::minmax(points[i].measured, points[j].measured);
      if (slow > (1.0 + least_difference) * fast) {
        ++sweep.pairs;
        const double order = (points[i].measured - points[j].measured) * (points[i].predicted - points[j].predicted);
        sweep.concordance += order > 0.0 ? 1.0 : order < 0.0 ? -1.0 : 0.0;
      }
    }
  }
}

SweepScore score(const std::string& group, const std::vector<const Sweep*>& members) {
  SweepScore result{group, members.size(), 0, 0, 0.0, 0.0, no_figure, no_figure};
  std::vector<double> regrets;
  std::vector<double> taus;
  double concordance = 0.0;
  for (const Sweep* sweep : members) {
    result.strategies += sweep->strategies;
    result.pairs += sweep->pairs;
    concordance += sweep->concordance;
    regrets.push_back(sweep->regret);
    if (sweep->pairs > 0) {
      taus.push_back(sweep->tau());
    }
  }
  result.regret_median = median(regrets);
  result.regret_p90 = quantile(regrets, 0.9);
  result.tau_median = median(taus);
  result.tau = result.pairs > 0 ? concordance / static_cast<double>(result.pairs) : no_figure;
  return result;
}

std::vector<SweepScore> score_groups(const std::vector<Sweep>& sweeps) {
  std::map<std::string, std::vector<const Sweep*>> members;
  for (const Sweep& sweep : sweeps) {
    const std::string size = "size=" + std::string{size_bucket(sweep.gpus)};
    std::vector<std::string> groups{"all", "source=" + sweep.source, size, "source=" + sweep.source + " " + size};
    if (sweep.gpus > one_host) {
      groups.emplace_back("all beyond 8 GPUs");
    }
    for (const std::string& group : groups) {
      members[group].push_back(&sweep);
    }
  }
  std::vector<SweepScore> scores;
  scores.reserve(members.size());
  for (const auto& [group, list] : members) {
    scores.push_back(score(group, list));
  }
  std::stable_sort(scores.begin(), scores.end(), [](const SweepScore& a, const SweepScore& b) {
    const auto place = [](const SweepScore& s) {
      const std::string whose = s.group.substr(0, s.group.rfind("size="));
      return std::pair{whose.empty() ? std::string{"size"} : whose, size_order(s.group)};
    };
    return place(a) < place(b);
  });
  return scores;
}

}  // namespace

double Sweep::tau() const noexcept {
  return pairs > 0 ? concordance / static_cast<double>(pairs) : no_figure;
}

SweepBook::SweepBook() : questions_{least_strategies} {}

void SweepBook::add(const ScoredRow& row) {
  if (!row.run || row.prediction.status != RowStatus::ok) {
    return;
  }
  const std::optional<Seconds> measured = step_time_of(row, row.measured);
  const std::optional<Seconds> predicted = step_time_of(row, row.prediction.predicted);
  if (!measured || !predicted) {
    return;
  }
  const RunConfiguration& run = *row.run;
  const std::string strategy = strategy_of(run);
  questions_.add(sweep_of(row),
                 {words_.keep(strategy + row.id).data(), static_cast<std::uint32_t>(strategy.size()),
                  static_cast<std::uint32_t>(row.id.size()), measured->raw(), predicted->raw()},
                 [&] {
                   return Job{name(row.source),
                              name(run.model),
                              name(run.gpu),
                              name(run.precision),
                              run.gpus.value_or(0),
                              run.seq_len.value_or(0),
                              run.global_batch.value_or(0)};
                 });
}

Sweeps SweepBook::sweeps() const {
  Sweeps result;
  questions_.visit([&](const Job& job, std::vector<const Run*>& runs) {
    // Ties are broken by the strategy's words, then by the order of arrival.
    std::stable_sort(runs.begin(), runs.end(),
                     [](const Run* a, const Run* b) { return a->strategy() < b->strategy(); });
    std::vector<Point> points;
    std::vector<double> measured, predicted;
    for (auto run = runs.begin(); run != runs.end();) {
      const std::string_view strategy = (*run)->strategy();
      std::string_view id;
      measured.clear();
      predicted.clear();
      for (; run != runs.end() && (*run)->strategy() == strategy; ++run) {
        id = id.empty() ? (*run)->id() : id;
        measured.push_back((*run)->measured);
        predicted.push_back((*run)->predicted);
      }
      points.push_back({id, median(measured), median(predicted)});
    }
    if (points.size() < least_strategies) {
      return;
    }
    Sweep& sweep =
        result.sweeps.emplace_back(Sweep{std::string{job.source}, std::string{job.model}, std::string{job.gpu},
                                         std::string{job.precision}, job.gpus, job.seq_len, job.global_batch});
    rank(sweep, points);
  });
  result.groups = score_groups(result.sweeps);
  return result;
}

std::string_view size_bucket(std::int64_t gpus) noexcept {
  constexpr std::array<std::int64_t, size_buckets.size() - 1> largest{8, 64, 512, 2048};
  const auto bucket = std::lower_bound(largest.begin(), largest.end(), gpus) - largest.begin();
  return size_buckets[static_cast<std::size_t>(bucket)];
}

std::size_t size_order(std::string_view group) noexcept {
  const std::size_t at = group.rfind("size=");
  if (at == std::string_view::npos) {
    return 0;
  }
  const std::string_view size = group.substr(at + std::string_view{"size="}.size());
  return static_cast<std::size_t>(std::find(size_buckets.begin(), size_buckets.end(), size) - size_buckets.begin());
}

}  // namespace headroom
