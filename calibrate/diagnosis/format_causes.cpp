// SPDX-License-Identifier: Apache-2.0
// Numbers that leave the range of their format.
#include <headroom/calibrate/diagnosis/signal_causes.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/hardware/catalog/catalog.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace headroom {
namespace {

const std::optional<Sourced<FlopsPerSecond>>& rate_of(const Device& device, Rate rate) {
  return device.peak[static_cast<std::size_t>(rate)];
}

/// What to compute in in place of FP16, and the time of products with it over now.
struct FormatCure {
  std::string says;
  std::optional<double> ratio;
};

constexpr std::string_view scaled =
    "keep FP16 with dynamic loss scaling (GradScaler), clip the gradients' norm, and keep norms, softmax and losses in "
    "FP32";

FormatCure cure_of_fp16(const Device* device) {
  if (device == nullptr) {
    return {
        "On GPUs with a BF16 path (A100 and later) train in BF16, whose range is FP32's, at the same speed; on others "
        "(V100, T4) " +
            std::string{scaled} + ".",
        std::nullopt};
  }
  const auto& half = rate_of(*device, Rate::fp16);
  const auto& brain = rate_of(*device, Rate::bf16);
  if (half && brain) {
    return {"Train in BF16, whose range is FP32's: " + device->name + " does " + format(brain->value) +
                " in BF16 and " + format(half->value) + " in FP16.",
            half->value / brain->value};
  }
  return {device->name + " has no tensor cores for BF16: " + std::string{scaled} + ".", std::nullopt};
}

/// The least positive and the largest numbers, for messages (IEEE 754-2019, table 3.5; Kalamkar et al. 2019, table 1).
constexpr std::string_view range_of_fp16 = "FP16 ends at 65 504 above and 6e-8 below";

void add_log(const TrainingLog& log, const Device* device, RunReading& reading) {
  // Dynamic scaling finds its scale by overflows, and tries a higher one now and then: those are no cause.
  const std::int64_t later = std::max<std::int64_t>(0, log.overflows - log.first_overflows);
  const double steps = real(std::max<std::int64_t>(1, log.losses + log.not_numbers + later));
  const double skipped = real(later) / steps;
  const double broken = real(log.not_numbers) / steps;
  const bool diverges = log.not_numbers > 0;
  const bool half = log.format == "fp16" || (log.format.empty() && (log.overflows > 0 || log.least_scale.has_value()));
  const double lost = std::clamp(diverges ? std::max(broken, skipped) : skipped, 0.0, 1.0);
  std::vector<std::string> evidence;
  if (diverges) {
    evidence.push_back(log.file + ":" + std::to_string(log.first_not_number) +
                       ": the first loss that is no number, of " +
                       counted(log.not_numbers, "such loss", "such losses"));
  }
  if (log.last_overflow > 0) {
    evidence.push_back(log.file + ":" + std::to_string(log.last_overflow) + ": the last of " +
                       counted(log.overflows, "skipped step") +
                       (log.least_scale ? ", loss scale down to " + format_number(*log.least_scale) : std::string{}));
  }
  if (!log.format.empty()) {
    evidence.push_back(log.file + ":" + std::to_string(log.format_line) + ": computes in " + log.format);
  }
  if (diverges || skipped >= least_signal_share) {
    if (!half) {
      reading.causes.push_back(
          {CauseKind::format_range, lost, std::nullopt,
           "The loss is no number from line " + std::to_string(log.first_not_number) + " on" +
               (log.format.empty() ? std::string{} : ", in " + log.format + ", whose range does not explain it") + ".",
           "Look at the data of that step, the learning rate and its warm-up; clip the gradients' norm; "
           "torch.autograd.set_detect_anomaly names the op.",
           std::move(evidence)});
      return;
    }
    FormatCure cure = cure_of_fp16(device);
    const std::string says = diverges ? "The loss is no number from line " + std::to_string(log.first_not_number) +
                                            " on: numbers leave the "
                                            "range of FP16 (" +
                                            std::string{range_of_fp16} + ")."
                                      : percent(skipped) +
                                            " of the steps are skipped because gradients leave the range of FP16 (" +
                                            std::string{range_of_fp16} + ").";
    // Skipped steps are computed and thrown away; those after the loss broke are all lost.
    const std::optional<double> ratio =
        cure.ratio && !diverges ? std::optional{std::clamp(*cure.ratio * (1.0 - lost), 0.0, 1.0)} : std::nullopt;
    if (cure.ratio && diverges) {
      cure.says += " A step then takes " + percent(*cure.ratio) + " of its time now.";
    }
    reading.causes.push_back({CauseKind::format_range, lost, ratio, says, std::move(cure.says), std::move(evidence)});
  }
}

/// A format without tensor cores on this SKU.
void add_missing_path(const TrainingLog& log, const Device& device, RunReading& reading) {
  const std::optional<Rate> rate = log.format == "bf16"   ? std::optional{Rate::bf16}
                                   : log.format == "fp8"  ? std::optional{Rate::fp8}
                                   : log.format == "fp16" ? std::optional{Rate::fp16}
                                                          : std::nullopt;
  if (!rate || rate_of(device, *rate)) {
    return;
  }
  std::string has;
  for (const Rate other : {Rate::fp16, Rate::bf16, Rate::fp8, Rate::tf32, Rate::int8}) {
    has += rate_of(device, other) ? (has.empty() ? "" : ", ") + std::string{name_of(other)} : std::string{};
  }
  const auto& vector = rate_of(device, Rate::fp32_vector);
  const auto& half = rate_of(device, Rate::fp16);
  const std::optional<double> ratio =
      vector && half ? std::optional{std::min(1.0, vector->value / half->value)} : std::nullopt;
  reading.causes.push_back(
      {CauseKind::no_tensor_cores,
       ratio ? 1.0 - *ratio : 1.0,
       ratio,
       "The run computes in " + log.format + ", for which " + device.name +
           " has no tensor cores: products run on the "
           "ordinary units or not at all.",
       "Compute in one of its tensor formats: " + (has.empty() ? std::string{"it has none"} : has) + ".",
       {log.file + ":" + std::to_string(log.format_line) + ": computes in " + log.format}});
}

}  // namespace

void add_formats(const Signals& signals, std::span<const GpuSummary> gpus, RunReading& reading) {
  for (const TrainingLog& log : signals.logs) {
    const Device* device = device_of_name(log.gpu);
    for (const GpuSummary& gpu : gpus) {
      device = device == nullptr ? device_of_name(gpu.name) : device;
    }
    device = device == nullptr ? device_of_name(reading.gpu) : device;
    add_log(log, device, reading);
    if (device != nullptr) {
      add_missing_path(log, *device, reading);
    }
  }
}

}  // namespace headroom
