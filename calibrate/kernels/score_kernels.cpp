// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/kernels/curve_problem.hpp>
#include <headroom/calibrate/kernels/score_kernels.hpp>
#include <headroom/model/kernels/curve_library.hpp>

#include <algorithm>
#include <map>
#include <optional>

namespace headroom {
namespace {

constexpr double micro = 1e-6;

struct CurveValues {
  std::vector<double> values;
  const CurveProvenance* provenance = nullptr;
};

template <std::size_t N>
CurveValues values_of(const ChosenCurve<N>& chosen) {
  return {{chosen.curve->values.begin(), chosen.curve->values.end()}, &chosen.curve->provenance};
}

/// Curve fitted to a group's engine, format, kernel and routing; nullptr when there is none.
template <std::size_t N>
const FittedCurve<N>* own_curve(const std::vector<FittedCurve<N>>& curves, const KernelGroup& group) {
  const auto at = std::find_if(curves.begin(), curves.end(), [&](const FittedCurve<N>& c) {
    const CurveProvenance& p = c.provenance;
    return p.engine == group.engine && p.format == group.format && p.kernel == group.kernel &&
           p.routing == group.routing;
  });
  return at == curves.end() ? nullptr : &*at;
}

template <std::size_t N>
std::optional<CurveValues> own_values(const std::vector<FittedCurve<N>>& curves, const KernelGroup& group) {
  const FittedCurve<N>* found = own_curve(curves, group);
  return found == nullptr
             ? std::nullopt
             : std::optional{CurveValues{{found->values.begin(), found->values.end()}, &found->provenance}};
}

/// Curve for a group. Throws ConfigError when the set has none.
CurveValues curve_of(const KernelGroup& group, const CurveSet& set, const Device& device) {
  const GemmFormat* format = find_gemm_format(group.format);
  if (group.kind == KernelKind::gemm && format != nullptr) {
    return values_of(choose_gemm(set, device, *format, group.engine));
  }
  const AttentionFormat* attention = find_attention_format(group.format);
  if (group.kind == KernelKind::prefill && attention != nullptr) {
    return values_of(choose_prefill(set, device, *attention, group.engine));
  }
  if (group.kind == KernelKind::decode && attention != nullptr) {
    return values_of(choose_decode(set, device, *attention, group.engine));
  }
  const AttentionImplementation* implementation = find_attention_implementation(group.engine);
  if (group.kind == KernelKind::training_attention && implementation != nullptr) {
    return values_of(choose_training_attention(set, device, *implementation));
  }
  const std::optional<CurveValues> own = group.kind == KernelKind::moe        ? own_values(set.moe, group)
                                         : group.kind == KernelKind::quantize ? own_values(set.memory, group)
                                                                              : std::nullopt;
  if (own) {
    return *own;
  }
  if (is_collective(group.kind)) {
    throw ConfigError{"collectives are scored with 'headroom collective FILE.csv --gpu " + device.id + "'"};
  }
  throw ConfigError{"kernels of kind " + std::string{kernel_kind_names[static_cast<std::size_t>(group.kind)]} +
                    " in format " + group.format + (group.kernel.empty() ? "" : " by " + group.kernel) +
                    (group.routing.empty() ? "" : " with " + group.routing + " routing") + " have no curve of " +
                    set.id};
}

/// Predicts a group's kernels, or says why there is no prediction.
void predict_group(const KernelGroup& group,
                   const CurveSet& set,
                   const Device& device,
                   std::map<const KernelRow*, RowPrediction>& predictions) {
  RowPrediction refused;
  try {
    const CurveValues curve = curve_of(group, set, device);
    const CurveProblem problem = curve_problem(group, device);
    std::vector<std::size_t> all(group.rows.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = i;
    }
    std::vector<double> seconds(all.size());
    problem.predict(curve.values, all, seconds);
    const double factor = 1.0 + curve.provenance->p90;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double us = seconds[i] / micro;
      RowPrediction p;
      p.status = RowStatus::ok;
      p.predicted = us;
      p.low = us / factor;
      p.high = us * factor;
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

}  // namespace

Validation score_kernels(std::span<const KernelFile> files, const Device& device) {
  const CurveSet set = find_curve_set(device);
  std::map<const KernelRow*, RowPrediction> predictions;
  std::map<const KernelRow*, std::string> formats;
  std::map<const KernelRow*, std::string> families;
  std::map<const KernelRow*, std::string_view> ranges;
  for (const KernelGroup& group : group_kernels(files)) {
    for (const KernelGroup& part : {group, outside_of(group)}) {
      predict_group(part, set, device, predictions);
      for (const KernelRow* row : part.rows) {
        formats[row] = group.format;
        families[row] = (group.kernel.empty() ? "" : " kernel=" + group.kernel) +
                        (group.routing.empty() ? "" : " routing=" + group.routing);
      }
    }
    if (group.kind == KernelKind::prefill || group.kind == KernelKind::decode) {
      for (const KernelRow* row : group.rows) {
        ranges[row] = "range=fitted";
      }
      for (const KernelRow* row : group.outside) {
        ranges[row] = "range=beyond";
      }
    }
  }
  std::vector<ScoredRow> rows;
  for (const KernelFile& file : files) {
    for (const KernelRow& row : file.rows) {
      const std::string& format = formats[&row];
      const std::string kind = "engine=" + row.engine + " format=" + format;
      std::vector<std::string> groups{"all", "file=" + file.path, "engine=" + row.engine, "format=" + format, kind};
      if (const std::string& family = families[&row]; !family.empty()) {
        groups.push_back(kind + family);
      }
      if (const auto range = ranges.find(&row); range != ranges.end()) {
        groups.emplace_back(range->second);
        groups.push_back(kind + " " + std::string{range->second});
      }
      rows.push_back({file.path + ":" + std::to_string(row.line), file.path, "latency_us", "us",
                      row.latency.raw() / micro, predictions[&row], std::move(groups), 1.0});
    }
  }
  return score_rows(std::move(rows));
}

std::vector<TooFast> faster_than_roofline(std::span<const KernelFile> files, const Device& device, double tolerance) {
  std::map<const KernelRow*, std::string> ids;
  for (const KernelFile& file : files) {
    for (const KernelRow& row : file.rows) {
      ids[&row] = file.path + ":" + std::to_string(row.line);
    }
  }
  std::vector<TooFast> found;
  std::vector<KernelGroup> groups;
  for (KernelGroup& group : group_kernels(files)) {
    groups.push_back(outside_of(group));
    groups.push_back(std::move(group));
  }
  for (const KernelGroup& group : groups) {
    CurveProblem problem;
    try {
      problem = curve_problem(group, device);
    } catch (const ConfigError&) {
      continue;  // score_kernels reports each of these rows as unsupported
    }
    for (std::size_t i = 0; i < group.rows.size(); ++i) {
      if (group.rows[i]->latency < problem.roofline[i] / (1.0 + tolerance)) {
        found.push_back({ids[group.rows[i]], group.engine, group.format, group.rows[i]->latency.raw() / micro,
                         problem.roofline[i].raw() / micro});
      }
    }
  }
  return found;
}

}  // namespace headroom
