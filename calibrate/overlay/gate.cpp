// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/overlay/gate.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/statistics.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace headroom {
namespace {

/// Family of a probe's name, the words before the first that begins with a digit: "gemm bf16" of "gemm bf16 1x128x64".
std::string family_of(const std::string& name) {
  std::size_t end = name.size();
  for (std::size_t i = 1; i < name.size(); ++i) {
    if (name[i - 1] == ' ' && name[i] >= '0' && name[i] <= '9') {
      end = i - 1;
      break;
    }
  }
  return name.substr(0, end);
}

std::vector<GateRow> families_of(const std::map<std::string, std::vector<double>>& differences, const GateRule& rule) {
  std::vector<GateRow> rows;
  for (const auto& [family, logs] : differences) {
    if (logs.size() < 2) {
      continue;
    }
    const auto n = static_cast<double>(logs.size());
    const double middle = mean(logs);
    double squares = 0.0;
    for (const double value : logs) {
      squares += (value - middle) * (value - middle);
    }
    GateRow row;
    row.name = family;
    row.n_a = row.n_b = logs.size();
    judge(row, {middle, std::sqrt(squares / (n - 1.0) / n), n - 1.0}, rule);
    rows.push_back(std::move(row));
  }
  return rows;
}

GateVerdict verdict_of(const Gate& gate) {
  const auto any = [](const std::vector<GateRow>& rows, GateVerdict verdict) {
    return std::any_of(rows.begin(), rows.end(), [&](const GateRow& r) { return r.verdict == verdict; });
  };
  if (any(gate.families, GateVerdict::slower) || any(gate.probes, GateVerdict::slower)) {
    return GateVerdict::slower;
  }
  const std::vector<GateRow>& judged = gate.families.empty() ? gate.probes : gate.families;
  if (any(judged, GateVerdict::inconclusive)) {
    return GateVerdict::inconclusive;
  }
  return any(judged, GateVerdict::same) ? GateVerdict::same : GateVerdict::faster;
}

}  // namespace

Gate compare_calibrations(std::span<const ProbeTiming> a, std::span<const ProbeTiming> b, const GateRule& rule) {
  Gate gate;
  std::map<std::string_view, const ProbeTiming*> of_b;
  for (const ProbeTiming& timing : b) {
    if (timing.counted > 0) {
      of_b.emplace(timing.key, &timing);
    }
  }
  std::map<std::string, std::vector<double>> differences;
  for (const ProbeTiming& timing : a) {
    if (timing.counted == 0) {
      continue;
    }
    const auto found = of_b.find(timing.key);
    if (found == of_b.end()) {
      gate.only_a.push_back(timing.key);
      continue;
    }
    const ProbeTiming& other = *found->second;
    of_b.erase(found);
    differences[family_of(timing.key)].push_back(std::log(other.sample.latency / timing.sample.latency));
    if (timing.spans.size() > 1 && other.spans.size() > 1) {
      gate.probes.push_back(compare_times(timing.key, timing.spans, other.spans, rule));
    }
  }
  for (const auto& [key, timing] : of_b) {
    gate.only_b.emplace_back(key);
  }
  if (differences.empty()) {
    throw ConfigError{"the two hold no probe in common: nothing can be compared"};
  }
  correct_for_number(gate.probes, rule);
  gate.families = families_of(differences, rule);
  gate.verdict = verdict_of(gate);
  return gate;
}

}  // namespace headroom
