// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/kernels/chosen_curve.hpp>
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

constexpr auto memory_launch = static_cast<std::size_t>(MemoryParameter::launch);

/// Curves of attention include the kernel that writes the cache, of which a profile has rows of its own.
void without_cache_write(const KernelGroup& group, Seconds launch, RowPredictions& predictions) {
  for (const KernelRow* row : group.rows) {
    RowPrediction& p = predictions[row];
    if (p.status != RowStatus::ok) {
      continue;
    }
    const double share = std::max(0.5, 1.0 - launch.raw() / micro / p.predicted);
    p.predicted *= share;
    p.low *= share;
    p.high *= share;
  }
}

/// Curves of attention are of FlashAttention and TensorRT-LLM. What FlashInfer's prefill does beyond a launch takes so
/// much longer at equal shapes: the median of 4,350 kernels of H800 (Frontier @ a4b22df), none of another SKU.
void by_flashinfer(const KernelGroup& group, Seconds launch, RowPredictions& predictions) {
  constexpr double over_curve = 1.23;
  for (const KernelRow* row : group.rows) {
    RowPrediction& p = predictions[row];
    if (p.status == RowStatus::ok && row->variant == "flashinfer") {
      const double floor = std::min(launch.raw() / micro, p.predicted);
      const double longer = (floor + over_curve * (p.predicted - floor)) / p.predicted;
      p.predicted *= longer;
      p.low *= longer;
      p.high *= longer;
    }
  }
}

}  // namespace

Validation score_kernels(const ModelData& data, std::span<const KernelFile> files, const Device& device) {
  const CurveSet& set = find_curve_set(data, device);
  RowPredictions predictions;
  std::map<const KernelRow*, std::string> formats;
  std::map<const KernelRow*, std::string> families;
  std::map<const KernelRow*, std::string_view> ranges;
  for (const KernelGroup& group : group_kernels(files)) {
    for (KernelGroup part : {group, outside_of(group)}) {
      part.op.clear();  // the kernel alone, without the host's time of a call
      predict_rows(
          data, part, device, nullptr, [&] { return curve_of(part, set, device); }, predictions);
      if (part.profiled && (part.kind == KernelKind::prefill || part.kind == KernelKind::decode)) {
        without_cache_write(part, Seconds{choose_memory(set, device).values[memory_launch]}, predictions);
      }
      const bool priced = std::any_of(part.rows.begin(), part.rows.end(),
                                      [&](const KernelRow* row) { return predictions[row].status == RowStatus::ok; });
      if (priced && part.kind == KernelKind::prefill) {
        constexpr auto launch = static_cast<std::size_t>(PrefillParameter::launch);
        by_flashinfer(part, Seconds{curve_of(part, set, device).values[launch]}, predictions);
      }
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
    if (!row.op.empty()) {
      const std::string timed = row.eager ? " timed=call" : " timed=kernel";
      groups.push_back(timed.substr(1));
      groups.push_back("op=" + row.op + timed);
    }
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
