// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/kernels/collective_problem.hpp>
#include <headroom/calibrate/overlay/overlay_collectives.hpp>
#include <headroom/calibrate/samples/collective_probes.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/statistics.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {
namespace {

constexpr int collective_folds = 5;
/// Fewest collectives for a curve: twice the parameters that a sweep over one group determines.
constexpr std::size_t fewest_collectives = 20;

/// Whether a curve file holds this collective; others follow from those that it holds (docs/collectives.md).
bool has_curve(std::string_view op) noexcept {
  return op == "all_reduce" || op == "all_gather" || op == "reduce_scatter" || op == "alltoall";
}

/// Op whose curve prices a collective.
std::string_view priced_by(Collective collective) noexcept {
  return collective == Collective::broadcast ? "all_gather"
         : collective == Collective::reduce  ? "reduce_scatter"
                                             : "alltoall";
}

const CollectiveSet* collective_set_of(const ModelData& data, const Device& base) {
  if (base.curves.empty()) {
    return nullptr;
  }
  try {
    return &find_collective_set(data, base.curves);
  } catch (const ConfigError&) {
    return nullptr;  // collectives of its generation are not measured
  }
}

template <std::size_t N>
std::array<double, N> as_curve(const std::vector<double>& values) {
  std::array<double, N> curve{};
  std::copy_n(values.begin(), std::min(N, values.size()), curve.begin());
  return curve;
}

/// The base's curves with the overlay's fitted ones in their place.
CollectiveCurves fitted_curves(const CollectiveSet& base, const Overlay& overlay) {
  CollectiveCurves curves = base.curves();
  for (const OverlayCurve& curve : overlay.curves) {
    const std::string& op = curve.fitted.group.format;
    if (curve.fitted.group.kind != KernelKind::nccl) {
      continue;
    }
    const std::vector<double> values = curve.fitted.fit.values();
    if (op == "alltoall") {
      curves.all_to_all = as_curve<pair_parameter_count>(values);
    } else {
      RingCurve& to = op == "all_reduce"   ? curves.all_reduce
                      : op == "all_gather" ? curves.all_gather
                                           : curves.reduce_scatter;
      to = as_curve<ring_parameter_count>(values);
    }
  }
  return curves;
}

Seconds price(const CollectiveCurves& curves, const Device& base, const Node* node, const KernelRow& row) {
  const GroupView view = hosts_view(base, node, static_cast<std::int64_t>(row.shape[0]));
  const GroupCollectives placed{curves, NetworkCurve{}, view, {true, is_floating(row.variant)}};
  return placed.time(nccl_collective(row.format), Bytes{row.shape[1]}).time;
}

std::vector<const KernelRow*> collective_rows(const SampleSet& set) {
  std::vector<const KernelRow*> rows;
  for (const KernelFile& file : set.kernels) {
    if (file.kind == KernelKind::nccl) {
      std::transform(file.rows.begin(), file.rows.end(), std::back_inserter(rows),
                     [](const KernelRow& r) { return &r; });
    }
  }
  return rows;
}

BytesPerSecond bus(const KernelRow& row, Seconds time) {
  const CollectiveProbe probe{nccl_collective(row.format), static_cast<std::int64_t>(row.shape[0]),
                              static_cast<std::int64_t>(row.shape[1])};
  return bus_bandwidth(probe, time);
}

/// Why the base cannot price a group of this size; empty when it can.
std::string why_no_price(const Device& base, const Node* node, std::int64_t ranks) {
  try {
    static_cast<void>(hosts_view(base, node, ranks));
    return {};
  } catch (const ConfigError& error) {
    return error.diagnostics().front().message;
  }
}

void check_enough_collectives(const SampleSet& set, const KernelGroup& group) {
  if (group.rows.size() < fewest_collectives) {
    throw ConfigError{set.folder + ": " + std::to_string(group.rows.size()) + " of " + group.format +
                      " cannot be fitted, at least " + std::to_string(fewest_collectives) + " are needed; measure " +
                      group.format + " from 512 B to 4 GiB with 'headroom calibrate -o " + set.folder +
                      " --resume --only nccl'"};
  }
}

void check_possible(const SampleSet& set, const FittedGroup& fitted, const Device& base) {
  constexpr double tolerance = 1.05;
  for (std::size_t i = 0; i < fitted.group.rows.size(); ++i) {
    if (tolerance * fitted.problem.measured[i] < fitted.problem.roofline[i]) {
      const KernelRow& row = *fitted.group.rows[i];
      throw ConfigError{set.folder + ": " + row.format + " x" + format_number(row.shape[0]) + " of " +
                        format(Bytes{row.shape[1]}) + " took " + format(fitted.problem.measured[i]) +
                        "; the links of " + base.id + " allow no less than " + format(fitted.problem.roofline[i]) +
                        ": its timer did not wait, or --base is another SKU"};
    }
  }
}

}  // namespace

void fit_collective(const ModelData& data,
                    const SampleSet& set,
                    KernelGroup group,
                    const Device& base,
                    const Node* node,
                    Overlay& overlay) {
  if (!has_curve(group.format)) {
    return;  // collective_facts() compares it with the curves that price it
  }
  if (!collective_set_of(data, base)) {
    overlay.remarks.push_back(group.format + ": " + base.id +
                              " names no measured collectives, whose channels a fit needs; borrow a set with "
                              "curves = \"ID\" in an overlay of it first");
    return;
  }
  for (const KernelRow* row : group.rows) {
    const std::string why = why_no_price(base, node, static_cast<std::int64_t>(row->shape[0]));
    if (!why.empty()) {
      overlay.remarks.push_back(group.format + ": " + why);
      return;
    }
  }
  check_enough_collectives(set, group);
  FittedGroup& fitted = overlay.curves.emplace_back().fitted;
  fitted.group = std::move(group);
  fitted.folds = collective_folds;
  fitted.problem = curve_problem(data, fitted.group, base, node);
  check_possible(set, fitted, base);
  fitted.fit = fit_curve(fitted.problem, collective_folds);
}

void beside_base_collective(const ModelData& data, OverlayCurve& curve, const Device& base) {
  const CollectiveSet* const set = collective_set_of(data, base);
  const std::string& op = curve.fitted.group.format;
  std::vector<double> values;
  const auto take = [&](const auto& fitted) {
    for (const auto& one : fitted) {
      if (values.empty() && one.provenance.format == op) {
        values.assign(one.values.begin(), one.values.end());
        curve.base = "NCCL " + one.provenance.version + " on " + set->id;
      }
    }
  };
  if (set) {
    take(set->ring);
    take(set->all_to_all);
  }
  if (values.empty()) {
    return;
  }
  const CurveProblem& problem = curve.fitted.problem;
  std::vector<std::size_t> all(problem.measured.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<double> ratios(all.size());
  problem.predict(values, all, ratios);
  for (std::size_t i = 0; i < all.size(); ++i) {
    ratios[i] = problem.measured[i].raw() / ratios[i];
  }
  curve.slower = median(ratios) - 1.0;
}

void collective_facts(
    const ModelData& data, const SampleSet& set, const Device& base, const Node* node, Overlay& overlay) {
  const CollectiveSet* const measured = collective_set_of(data, base);
  std::map<std::pair<Collective, std::int64_t>, const KernelRow*> largest;
  std::map<Collective, std::vector<double>> over_price;
  for (const KernelRow* row : collective_rows(set)) {
    const auto ranks = static_cast<std::int64_t>(row->shape[0]);
    const Collective collective = nccl_collective(row->format);
    const KernelRow*& at = largest[{collective, ranks}];
    at = at == nullptr || row->shape[1] > at->shape[1] ? row : at;
    if (measured && !has_curve(row->format) && why_no_price(base, node, ranks).empty()) {
      const CollectiveCurves curves = fitted_curves(*measured, overlay);
      over_price[collective].push_back(row->latency / price(curves, base, node, *row));
    }
  }
  for (const auto& [key, found] : largest) {
    const auto& [collective, ranks] = key;
    const BytesPerSecond here = bus(*found, found->latency);
    OverlayFact fact{std::string{name_of(collective)} + " among " + std::to_string(ranks) + ", bus",
                     format(here) + " at " + format(Bytes{found->shape[1]}), "", std::nullopt};
    if (measured && why_no_price(base, node, ranks).empty()) {
      const BytesPerSecond there = bus(*found, price(measured->curves(), base, node, *found));
      fact.base = format(there);
      fact.difference = here / there - 1.0;
    }
    overlay.facts.push_back(std::move(fact));
  }
  for (const auto& [collective, ratios] : over_price) {
    const double ratio = median(ratios);
    overlay.facts.push_back({"time of " + std::string{name_of(collective)} + " over its price by " +
                                 std::string{priced_by(collective)} + "'s curve",
                             format_number(ratio), "1", ratio - 1.0});
  }
}

std::string collectives_text(const ModelData& data, const SampleSet& set, const Device& base, const Overlay& overlay) {
  std::string tables;
  for (const OverlayCurve& curve : overlay.curves) {
    if (is_collective(curve.fitted.group.kind)) {
      tables += "\n" + curve_toml(curve.fitted, overlay.source, set.manifest.date.substr(0, 10));
    }
  }
  const bool hidden = !overlay.curves.empty() && overlay.id != base.curves && collective_set_of(data, base) != nullptr;
  if (tables.empty() && !hidden) {
    return {};
  }
  return "schema = 1\nid = \"" + overlay.id + "\"\nbase = \"" + base.curves + "\"\n" + tables;
}

}  // namespace headroom
