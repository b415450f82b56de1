// SPDX-License-Identifier: Apache-2.0
// `headroom kernel diverge`: what a warp loses where its threads take different paths, and what sorting them brings.
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/cli/laboratory/memory_bench.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/model/laboratory/divergence.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headroom::cli {
namespace {

constexpr std::int64_t most_warp_paths = 64;

struct DivergeAsked {
  std::optional<double> probability;
  std::vector<double> lengths;
  std::optional<Seconds> time;
  std::optional<double> elements;
};

/// "1,3" as numbers.
std::vector<double> read_path_lengths(FormReader& in) {
  std::vector<double> lengths;
  const std::string text = in.text("--lengths");
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    std::string_view word = rest.substr(0, comma);
    word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
    const std::optional<double> value = whole_real(word);
    if (!value || !(*value >= 0.0) || *value > 1e9) {
      in.problem("--lengths " + quoted(text) + " has " + quoted(word) +
                 "; each length must be a number from 0 to 1e9, with commas between them, such as 1,3");
      return {};
    }
    lengths.push_back(*value);
    if (comma == std::string_view::npos) {
      break;
    }
    rest.remove_prefix(comma + 1);
  }
  if (!(std::accumulate(lengths.begin(), lengths.end(), 0.0) > 0.0)) {
    in.problem("--lengths " + quoted(text) + " must have a length above 0");
    return {};
  }
  return lengths;
}

DivergeAsked read_divergence(FormReader& in) {
  DivergeAsked q;
  const bool paths_given = in.given("--paths");
  if (in.given("--lengths")) {
    q.lengths = read_path_lengths(in);
  }
  if (in.given("--probability")) {
    q.probability = in.number("--probability", 0.0, 1.0);
    if (q.lengths.empty()) {
      q.lengths = {1.0, 1.0};
    } else if (q.lengths.size() != 2) {
      in.problem("--lengths " + quoted(in.text("--lengths")) +
                 " must have two lengths beside --probability: of the path that is taken, and of the other");
    }
  } else if (paths_given) {
    const double paths = in.size("--paths");
    if (paths > static_cast<double>(most_warp_paths)) {
      in.problem("--paths " + quoted(in.text("--paths")) + " must be at most " + std::to_string(most_warp_paths) +
                 ", the threads of the widest warp");
      q.lengths = {1.0};
    } else if (q.lengths.empty()) {
      q.lengths.assign(static_cast<std::size_t>(paths), 1.0);
    } else if (static_cast<double>(q.lengths.size()) != paths) {
      in.problem("--lengths " + quoted(in.text("--lengths")) + " must have as many lengths as --paths, " +
                 format_count(paths));
    }
  } else if (!in.given("--lengths")) {
    in.need("--paths");
  }
  q.time = in.quantity_if<Seconds>("--time");
  if (in.given("--elements")) {
    q.elements = in.number("--elements", 1.0, 1e15);
    if (!in.given("--gpu") || !q.time) {
      in.problem("--elements prices the sorting, which needs --gpu ID and the kernel's --time");
    }
  }
  return q;
}

/// Bytes that a pass that parts its elements by a key moves of each: the key read, an index read and written (Merrill
/// and Garland 2016: one pass, 2 n of data and the flags).
constexpr Bytes moved_to_part{12.0};

LabTable divergence_table(const DivergeAsked& q, double lanes) {
  if (q.probability) {
    LabTable table{"probabilities",
                   {{"a thread takes it", "probability"},
                    {"a warp has a taker", "any_taker"},
                    {"a warp parts", "diverged"},
                    {"efficiency", "warp_efficiency"},
                    {"sorted", "sorted_ratio"}},
                   {}};
    std::vector<double> values{0.001, 0.01, 0.03, 0.1, 0.3, 0.5, 0.9, *q.probability};
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    for (const double p : values) {
      const Divergence d = divergence_of_threads(p, lanes, q.lengths[0], q.lengths[1]);
      const bool defined = d.time > 0.0;
      table.rows.push_back({share(p), share(d.any_taker), share(d.mixed), when(defined, share(d.efficiency())),
                            when(defined, d.efficiency())});
      for (Value& cell : table.rows.back()) {
        cell = or_null(cell);
      }
    }
    return table;
  }
  LabTable table{
      "path_counts", {{"equal paths", "paths"}, {"efficiency", "warp_efficiency"}, {"time", "time_ratio"}}, {}};
  std::vector<std::size_t> counts{1, 2, 4, 8, 16, 32, q.lengths.size()};
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  for (const std::size_t paths : counts) {
    const Divergence d = divergence_of_paths(std::vector<double>(paths, 1.0));
    table.rows.push_back({static_cast<std::int64_t>(paths), share(d.efficiency()), 1.0 / d.efficiency()});
  }
  return table;
}

LabChart divergence_chart(const DivergeAsked& q, double lanes, double efficiency) {
  if (q.probability) {
    LabChart chart{"A branch that threads take by chance",
                   {"probability that a thread takes it", Hint::percent, true},
                   {"share", Hint::percent, false}};
    LabLine mixed{"warps that part", LineStyle::solid, {}};
    LabLine useful{"warp efficiency", LineStyle::solid, {}};
    constexpr int points = 80;
    for (int i = 0; i <= points; ++i) {
      const double p = std::pow(10.0, -4.0 + 4.0 * i / points);
      const Divergence d = divergence_of_threads(p, lanes, q.lengths[0], q.lengths[1]);
      mixed.points.push_back({p, d.mixed, {}});
      if (d.time > 0.0) {
        useful.points.push_back({p, d.efficiency(), {}});
      }
    }
    chart.lines = {
        std::move(mixed), std::move(useful), {"this branch", LineStyle::points, {{*q.probability, efficiency, "now"}}}};
    return chart;
  }
  LabChart chart{"Paths of a warp", {"distinct paths", Hint::number, false}, {"warp efficiency", Hint::percent, false}};
  LabLine law{"1 / paths", LineStyle::solid, {}};
  for (int paths = 1; paths <= static_cast<int>(lanes); ++paths) {
    law.points.push_back({static_cast<double>(paths), 1.0 / paths, {}});
  }
  chart.lines = {std::move(law),
                 {"this branch", LineStyle::points, {{static_cast<double>(q.lengths.size()), efficiency, "now"}}},
                 {"sorted", LineStyle::points, {{1.0, 1.0, "sorted"}}}};
  return chart;
}

LabAnswer answer_divergence(const DivergeAsked& q, const LabBench& bench) {
  const auto lanes = static_cast<double>(served_by(bench).unit.lanes);
  if (!q.probability && static_cast<double>(q.lengths.size()) > lanes) {
    throw ConfigError{std::to_string(q.lengths.size()) + " paths are more than the " + format_count(lanes) +
                      " threads of a warp can take; give at most as many"};
  }
  const Divergence d = q.probability ? divergence_of_threads(*q.probability, lanes, q.lengths[0], q.lengths[1])
                                     : divergence_of_paths(q.lengths);
  if (!(d.time > 0.0)) {
    throw ConfigError{"with --probability " + format_number(*q.probability) +
                      " only a path of length 0 is taken; give it a length"};
  }
  const double efficiency = d.efficiency();
  LabAnswer a;
  const std::string lengths = joined(q.lengths, [](double l) { return format_number(l); });
  a.title = (q.probability ? "a branch that a thread takes with probability " + format_number(*q.probability)
                           : counted(static_cast<std::int64_t>(q.lengths.size()), "path") + " in every warp") +
            ", lengths " + lengths + (bench.device != nullptr ? ", on " + bench.device->id : "");
  a.question = {{"warp_threads", static_cast<std::int64_t>(lanes)},
                {"paths", static_cast<std::int64_t>(q.lengths.size())}};
  if (q.probability) {
    a.question.push_back({"probability", *q.probability});
    a.verdict = percent(d.any_taker) + " of the warps have a thread that takes the branch, " + percent(d.mixed) +
                " take both ways; " + percent(efficiency) + " of the issued thread time is useful.";
  } else {
    a.verdict = q.lengths.size() == 1
                    ? "A warp takes one path: all of its thread time is useful."
                    : "A warp runs " + counted(static_cast<std::int64_t>(q.lengths.size()), "path") +
                          " one after another: " + percent(efficiency) + " of its thread time is useful.";
  }
  a.figures = {{"warp efficiency", "warp_efficiency", share(efficiency)},
               {"time over sorted", "divergence_ratio", 1.0 / efficiency, format_number(1.0 / efficiency) + "x"}};
  if (q.probability) {
    a.figures.push_back({"warps with a taker", "any_taker", share(d.any_taker)});
    a.figures.push_back({"warps that part", "diverged", share(d.mixed)});
  }
  a.figures.push_back({"mean time of a warp", "warp_length", d.time});
  a.figures.push_back({"the same, sorted", "sorted_length", d.converged});
  if (q.time) {
    a.figures.push_back({"time", "time_s", *q.time});
    a.figures.push_back({"sorted", "sorted_s", efficiency * *q.time});
  }
  a.tables.push_back(divergence_table(q, lanes));
  if (efficiency < 0.999) {
    a.cures.push_back({"sort or compact by path, so that a warp takes one", efficiency,
                       "100 % of the thread time is useful but in the one warp at each border"});
    if (q.time && q.elements) {
      const MemoryRates memory = memory_rates(bench);
      const Seconds pass = *q.elements * moved_to_part / memory.memory;
      a.figures.push_back({"a pass that parts them", "partition_s", pass});
      const double with_pass = (efficiency * *q.time + pass) / *q.time;
      a.cures.push_back({"the same, with a pass that parts the elements before each run", with_pass,
                         with_pass < 1.0
                             ? "12 B an element: key and index read, index written"
                             : "12 B an element: it costs more than it brings; part them once and keep it"});
    }
    const double shortest = *std::min_element(q.lengths.begin(), q.lengths.end());
    if (!q.probability && shortest > 0.0 && q.lengths.size() > 1) {
      a.cures.push_back({"move what all paths share before the branch", 0.0,
                         "what is shared is then run once instead of " + std::to_string(q.lengths.size()) + " times"});
    }
    if (q.probability && *q.probability < 0.5) {
      a.cures.push_back({"gather the takers in a list, and run the branch in a kernel of its own", efficiency,
                         "as sorting, for the few that take it"});
    }
    // Predicates make every warp run both ways: no cure where many warps take one.
    const double predicated = std::accumulate(q.lengths.begin(), q.lengths.end(), 0.0) / d.time;
    constexpr double least_loss = 1.05;
    if (predicated < least_loss) {
      a.cures.push_back({"predicates in place of a short branch", 0.0,
                         std::string{q.probability ? "nearly all warps run both ways" : "all ways run"} +
                             " in any case; what a jump and its reconvergence cost is saved"});
    } else {
      a.notes.push_back("Predicates in place of the branch would make every warp run both ways: " +
                        format_number(predicated) + " times the time.");
    }
  }
  a.notes.emplace_back(q.probability
                           ? "Threads are taken to choose independently; neighbours that choose alike part less."
                           : "Every warp is taken to have as many threads on each path.");
  a.notes.emplace_back(
      "Of a kernel that memory holds up part of this is hidden: it is time of the instructions that are issued.");
  a.sources = {
      "CUDA C++ Programming Guide, SIMT architecture: a warp runs each path that its threads take; P(a taker) = "
      "1-(1-p)^w, P(parts) = 1-(1-p)^w-p^w for independent threads"};
  if (q.elements) {
    a.sources.emplace_back("Merrill and Garland 2016, Single-pass parallel prefix scan with decoupled look-back");
  }
  a.chart = divergence_chart(q, lanes, efficiency);
  return a;
}

LabQuestion read_diverge(FormReader& in) {
  return [q = read_divergence(in)](const LabBench& bench) { return answer_divergence(q, bench); };
}

}  // namespace

const KernelForm diverge_form{"diverge", "paths of a warp; or --probability, or --lengths", GpuUse::optional,
                              read_diverge};

}  // namespace headroom::cli
