// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/diagnosis/trace_difference.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace headroom {
namespace {

/// Time and number of the works of a name in a step.
struct StepTotal {
  double time = 0.0, count = 0.0;  // nanoseconds
};
using ByName = std::map<std::string, StepTotal>;

ByName kernels_of(std::span<const TracedRank> ranks) {
  ByName all;
  for (const TracedRank& rank : ranks) {
    std::vector<std::string> plain;
    for (const std::string& name : rank.graph.names) {
      plain.push_back(plain_kernel_name(name));
    }
    const double each = 1.0 / (real(static_cast<std::int64_t>(rank.graph.steps.size())) *
                               real(static_cast<std::int64_t>(ranks.size())));
    for (const GraphWork& work : rank.graph.work) {
      StepTotal& total = all[plain[static_cast<std::size_t>(work.name)]];
      total.time += each * real(work.lasts());
      total.count += each;
    }
  }
  return all;
}

Seconds part_of(const RunReading& reading, std::string_view key) {
  for (const TimePart& part : reading.parts) {
    if (part.key == key) {
      return part.time;
    }
  }
  return {};
}

}  // namespace

std::string plain_kernel_name(std::string_view name) {
  std::string plain;
  int depth = 0;  // of < >
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    depth += c == '<' ? 1 : c == '>' ? -1 : 0;
    // Parameters begin at a bracket outside of the template; "(anonymous namespace)" and a lambda's stay.
    if (c == '(' && depth == 0 && !name.substr(i).starts_with("(anonymous")) {
      break;
    }
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 && depth > 0) {
      if (plain.empty() || plain.back() != '#') {
        plain += '#';
      }
    } else {
      plain += c;
    }
  }
  return plain;
}

void add_difference(RunReading& reading, std::span<const TracedRank> before, std::span<const TracedRank> after) {
  const RunReading was = reading_of(before);
  FindingTable parts{"part_changes",
                     "What changed in a step; the changes sum to its difference:",
                     {{"part", "<part"}, {"before_s", "before"}, {"after_s", "after"}, {"change_s", "change"}},
                     {}};
  for (const TimePart& part : reading.parts) {
    const Seconds old = part_of(was, part.key);
    if (old > Seconds{} || part.time > Seconds{}) {
      std::string words{part.key};
      std::replace(words.begin(), words.end(), '_', ' ');
      parts.rows.push_back({words, old, part.time, part.time - old});
    }
  }
  if (was.step && reading.step) {
    parts.rows.push_back({std::string{"all"}, *was.step, *reading.step, *reading.step - *was.step});
    const double ratio = *reading.step / *was.step;
    reading.notes.push_back("A step takes " + format(*reading.step) + ", before " + format(*was.step) + ": " +
                            format_number(100.0 * std::abs(ratio - 1.0), 3) + " % " +
                            (ratio < 1.0 ? "less." : "more."));
  }
  reading.tables.push_back(std::move(parts));

  const ByName old = kernels_of(before);
  const ByName now = kernels_of(after);
  struct Change {
    std::string name;
    StepTotal before, after;
    [[nodiscard]] double change() const { return after.time - before.time; }
  };
  std::vector<Change> changes;
  double all = 0.0;
  for (const auto& [name, total] : now) {
    const auto found = old.find(name);
    changes.push_back({name, found == old.end() ? StepTotal{} : found->second, total});
  }
  for (const auto& [name, total] : old) {
    if (!now.contains(name)) {
      changes.push_back({name, total, {}});
    }
  }
  for (const Change& change : changes) {
    all += change.change();
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return std::abs(a.change()) > std::abs(b.change()); });
  FindingTable kernels{"kernel_changes",
                       "Kernels that changed, of a step; the changes sum to the difference of the GPU's work:",
                       {{"what", "<what"},
                        {"count_before", "count before"},
                        {"count_after", "after"},
                        {"before_s", "before"},
                        {"after_s", "after"},
                        {"change_s", "change"},
                        {"name", "<name"}},
                       {}};
  constexpr std::size_t most = 16;
  constexpr double much = 0.05;  // below, a kernel is as fast as it was
  StepTotal others_before, others_after;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Change& c = changes[i];
    if (i >= most) {
      others_before = {others_before.time + c.before.time, others_before.count + c.before.count};
      others_after = {others_after.time + c.after.time, others_after.count + c.after.count};
      continue;
    }
    const double each_before = c.before.count > 0.0 ? c.before.time / c.before.count : 0.0;
    const double each_after = c.after.count > 0.0 ? c.after.time / c.after.count : 0.0;
    const std::string what = c.before.count <= 0.0                     ? "added"
                             : c.after.count <= 0.0                    ? "gone"
                             : each_after > (1.0 + much) * each_before ? "slower"
                             : each_after < (1.0 - much) * each_before ? "faster"
                             : c.after.count > c.before.count          ? "more"
                             : c.after.count < c.before.count          ? "fewer"
                                                                       : "alike";
    kernels.rows.push_back({what, c.before.count, c.after.count, Seconds{1e-9 * c.before.time},
                            Seconds{1e-9 * c.after.time}, Seconds{1e-9 * c.change()}, c.name});
  }
  if (changes.size() > most) {
    kernels.rows.push_back({std::string{"others"}, others_before.count, others_after.count,
                            Seconds{1e-9 * others_before.time}, Seconds{1e-9 * others_after.time},
                            Seconds{1e-9 * (others_after.time - others_before.time)},
                            std::to_string(changes.size() - most) + " more names"});
  }
  kernels.rows.push_back({std::string{"all"}, FindingCell{}, FindingCell{}, FindingCell{}, FindingCell{},
                          Seconds{1e-9 * all}, std::string{}});
  reading.tables.push_back(std::move(kernels));
}

}  // namespace headroom
