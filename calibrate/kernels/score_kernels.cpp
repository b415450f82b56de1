// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/kernels/curve_problem.hpp>
#include <headroom/calibrate/kernels/score_kernels.hpp>
#include <headroom/calibrate/kernels/score_rows.hpp>
#include <headroom/calibrate/samples/csv_lines.hpp>
#include <headroom/model/kernels/curve_library.hpp>

#include <algorithm>
#include <map>
#include <optional>

namespace headroom {
namespace {

/// The curve fitted to the very kernels of a group: engine, format, kernel and routing; nullptr: nobody fitted it.
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
std::optional<ScoredCurve> own_values(const std::vector<FittedCurve<N>>& curves, const KernelGroup& group) {
  const FittedCurve<N>* found = own_curve(curves, group);
  return found == nullptr ? std::nullopt : std::optional{scored_curve(*found)};
}

/// ConfigError when the set has no curve for the group.
ScoredCurve curve_of(const KernelGroup& group, const CurveSet& set, const Device& device) {
  const GemmFormat* format = find_gemm_format(group.format);
  if (group.kind == KernelKind::gemm && format != nullptr) {
    return scored_curve(*choose_gemm(set, device, *format, group.engine).curve);
  }
  const AttentionFormat* attention = find_attention_format(group.format);
  if (group.kind == KernelKind::prefill && attention != nullptr) {
    return scored_curve(*choose_prefill(set, device, *attention, group.engine).curve);
  }
  if (group.kind == KernelKind::decode && attention != nullptr) {
    return scored_curve(*choose_decode(set, device, *attention, group.engine).curve);
  }
  const AttentionImplementation* implementation = find_attention_implementation(group.engine);
  if (group.kind == KernelKind::training_attention && implementation != nullptr) {
    return scored_curve(*choose_training_attention(set, device, *implementation).curve);
  }
  const std::optional<ScoredCurve> own = group.kind == KernelKind::moe        ? own_values(set.moe, group)
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

}  // namespace

Validation score_kernels(const ModelData& data, std::span<const KernelFile> files, const Device& device) {
  const CurveSet& set = find_curve_set(data, device);
  RowPredictions predictions;
  std::map<const KernelRow*, std::string> formats;
  std::map<const KernelRow*, std::string> families;
  std::map<const KernelRow*, std::string_view> ranges;
  for (const KernelGroup& group : group_kernels(files)) {
    for (const KernelGroup& part : {group, outside_of(group)}) {
      predict_rows(
          data, part, device, nullptr, [&] { return curve_of(part, set, device); }, predictions);
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
  return score_rows_of(files, predictions, [&](const KernelFile& file, const KernelRow& row) {
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
    return groups;
  });
}

std::vector<TooFast> faster_than_roofline(const ModelData& data,
                                          std::span<const KernelFile> files,
                                          const Device& device,
                                          double tolerance) {
  std::map<const KernelRow*, std::string> ids;
  for (const KernelFile& file : files) {
    for (const KernelRow& row : file.rows) {
      ids[&row] = row_id(file, row);
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
      problem = curve_problem(data, group, device);
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
