// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/kernels/collective_problem.hpp>
#include <headroom/calibrate/kernels/score_collectives.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

namespace headroom {
namespace {

constexpr double micro = 1e-6;

struct Found {
  std::vector<double> values;
  double p90 = 0.0;
};

/// Curve of a group's engine and op, for its version if there is one, else for any.
template <std::size_t N>
std::optional<Found> look_up(const std::vector<FittedCurve<N>>& curves, const KernelGroup& group) {
  const FittedCurve<N>* found = nullptr;
  for (const FittedCurve<N>& curve : curves) {
    const CurveProvenance& p = curve.provenance;
    if (p.engine == group.engine && p.format == group.format && (found == nullptr || p.version == group.version)) {
      found = &curve;
    }
  }
  return found == nullptr ? std::nullopt
                          : std::optional{Found{{found->values.begin(), found->values.end()}, found->provenance.p90}};
}

Found curve_of(const KernelGroup& group, const CollectiveSet& set) {
  std::optional<Found> found;
  if (group.kind == KernelKind::nccl) {
    found = group.format == "alltoall" ? look_up(set.all_to_all, group) : look_up(set.ring, group);
  } else if (group.kind == KernelKind::custom_all_reduce) {
    found = look_up(set.custom, group);
  } else if (group.kind == KernelKind::moe_all_to_all) {
    found = look_up(set.moe, group);
  } else {
    throw ConfigError{"kernels of kind " + std::string{kernel_kind_names[static_cast<std::size_t>(group.kind)]} +
                      " are no collectives; score them with 'headroom op'"};
  }
  if (!found) {
    throw ConfigError{group.format + " of " + group.engine + " has no curve among the collectives of " + set.id};
  }
  return *found;
}

void predict_group(const KernelGroup& group,
                   const CollectiveSet& set,
                   const Device& device,
                   const Node* node,
                   std::map<const KernelRow*, RowPrediction>& predictions) {
  RowPrediction refused;
  try {
    const Found curve = curve_of(group, set);
    const CurveProblem problem = curve_problem(group, device, node);
    std::vector<std::size_t> all(group.rows.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::vector<double> seconds(all.size());
    problem.predict(curve.values, all, seconds);
    for (std::size_t i = 0; i < all.size(); ++i) {
      RowPrediction p;
      p.status = RowStatus::ok;
      p.predicted = seconds[i] / micro;
      p.low = p.predicted / (1.0 + curve.p90);
      p.high = p.predicted * (1.0 + curve.p90);
      p.roofline = problem.roofline[i].raw() / micro;
      predictions[group.rows[i]] = p;
    }
    return;
  } catch (const ConfigError& error) {
    refused.why = error.diagnostics().front().message;
  }
  for (const KernelRow* row : group.rows) {
    predictions[row] = refused;
  }
}

std::string where_of(KernelKind kind, const KernelRow& row) {
  const auto number = [](double value) { return std::to_string(static_cast<std::int64_t>(value)); };
  if (kind != KernelKind::moe_all_to_all) {
    return "gpus=" + number(row.shape[0]);
  }
  return row.shape[1] > 0.0 ? "ep=" + number(row.shape[1]) : "nodes=" + number(std::max(1.0, row.shape[0]));
}

}  // namespace

Validation score_collectives(std::span<const KernelFile> files, const Device& device, const Node* node) {
  const CollectiveSet set = load_collective_set(device.curves);
  std::map<const KernelRow*, RowPrediction> predictions;
  for (const KernelGroup& group : group_kernels(files)) {
    predict_group(group, set, device, node, predictions);
  }
  std::vector<ScoredRow> rows;
  for (const KernelFile& file : files) {
    for (const KernelRow& row : file.rows) {
      std::vector<std::string> groups{"all",
                                      "file=" + file.path,
                                      "engine=" + row.engine,
                                      "op=" + row.format,
                                      "engine=" + row.engine + " op=" + row.format,
                                      where_of(file.kind, row)};
      rows.push_back({file.path + ":" + std::to_string(row.line), file.path, "latency_us", "us",
                      row.latency.raw() / micro, predictions[&row], std::move(groups), 1.0});
    }
  }
  return score_rows(std::move(rows));
}

}  // namespace headroom
