// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/kernels/collective_problem.hpp>
#include <headroom/calibrate/kernels/score_collectives.hpp>
#include <headroom/calibrate/kernels/score_rows.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace headroom {
namespace {

/// Whether two names differ in the case of letters alone, as TensorRT-LLM's "TRTLLM" and "trtllm" do.
bool same_letters(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

/// The curve fitted to a group's engine and op: of its version, else of any. Sends and receives of pairs are those of
/// which NCCL builds an all-to-all; exchanges across hosts need a curve measured across as many.
template <std::size_t N>
std::optional<ScoredCurve> look_up(const std::vector<FittedCurve<N>>& curves, const KernelGroup& group) {
  const FittedCurve<N>* found = nullptr;
  std::int64_t hosts = 1;
  for (const KernelRow* row : group.rows) {
    hosts = group.kind == KernelKind::moe_all_to_all ? std::max(hosts, static_cast<std::int64_t>(row->shape[0])) : 1;
  }
  const std::string_view op = group.format == "sendrecv" ? std::string_view{"alltoall"} : group.format;
  for (const FittedCurve<N>& curve : curves) {
    const CurveProvenance& p = curve.provenance;
    const bool serves = p.engine == group.engine && same_letters(p.format, op) && p.hosts >= hosts;
    if (serves && (found == nullptr || p.version == group.version)) {
      found = &curve;
    }
  }
  return found == nullptr ? std::nullopt : std::optional{scored_curve(*found)};
}

ScoredCurve curve_of(const KernelGroup& group, const CollectiveSet& set) {
  std::optional<ScoredCurve> found;
  if (group.kind == KernelKind::nccl) {
    found = is_pairwise(group) ? look_up(set.all_to_all, group) : look_up(set.ring, group);
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

std::string where_of(KernelKind kind, const KernelRow& row) {
  const auto number = [](double value) { return std::to_string(static_cast<std::int64_t>(value)); };
  if (kind != KernelKind::moe_all_to_all) {
    return "gpus=" + number(row.shape[0]);
  }
  return row.shape[1] > 0.0 ? "ep=" + number(row.shape[1]) : "nodes=" + number(std::max(1.0, row.shape[0]));
}

}  // namespace

Validation score_collectives(const ModelData& data,
                             std::span<const KernelFile> files,
                             const Device& device,
                             const Node* node) {
  const CollectiveSet set = at_clock_of(find_collective_set(data, device.curves), device);
  RowPredictions predictions;
  for (const KernelGroup& group : group_kernels(files)) {
    predict_rows(
        data, group, device, node, [&] { return curve_of(group, set); }, predictions);
  }
  return score_rows_of(files, predictions, [](const KernelFile& file, const KernelRow& row) {
    return std::vector<std::string>{"all",
                                    "file=" + file.path,
                                    "engine=" + row.engine,
                                    "op=" + row.format,
                                    "engine=" + row.engine + " op=" + row.format,
                                    where_of(file.kind, row)};
  });
}

}  // namespace headroom
