// SPDX-License-Identifier: Apache-2.0
// From a measured training row's configuration to a prediction in the row's own unit.
#pragma once

#include <headroom/model/train/errors/confidence.hpp>
#include <headroom/model/train/evaluate/training.hpp>
#include <headroom/model/train/software/rough_stack.hpp>
#include <headroom/scenarios/measured/row_cells.hpp>
#include <headroom/scenarios/measured/run_row.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace headroom {

/// The cells a scorable row must have (design section 6) that are empty.
[[nodiscard]] std::vector<std::string_view> missing_training_cells(const RunConfiguration& run);

/// A measured time or throughput as against memory.
[[nodiscard]] constexpr bool is_step_metric(std::string_view metric) noexcept {
  return metric != "memory_gib_per_gpu";
}
/// ln(predicted/measured) of the step behind a time or a throughput.
[[nodiscard]] double step_error(std::string_view metric, double predicted, double measured) noexcept;

/// What a row is about, looked up.
struct RowJob {
  const Device* device = nullptr;
  const MemoryStack* software = nullptr;  ///< nullptr: no stack knows the framework
  RunClass run_class = RunClass::dense;
  Architecture architecture;
  Precision precision = Precision::bf16;
};

/// Keeps what several rows share: devices, software and groups looked up once.
class TrainingRowModel {
 public:
  explicit TrainingRowModel(const Sources& sources, TermSet without = {});
  /// In the rough form, with a stack of the caller's, as fitting its shares needs.
  TrainingRowModel(const Sources& sources, RoughStack stack);
  /// Shares of that form; without effect in the other one, which has none.
  void set_share(const std::string& generation_and_family, double share) {
    if (stack_) {
      stack_->sustained[generation_and_family] = {share, "being fitted"};
    }
  }
  void clear_share(const std::string& generation_and_family) {
    if (stack_) {
      stack_->sustained.erase(generation_and_family);
    }
  }
  /// Other parameters of the step than the files', as fitting them needs. Both stay whole until they are set again.
  void set_parameters(StepParameters parameters, MemoryStacks software);
  /// The row's software: by the column `framework`; without one that is known, by the ZeRO stage.
  [[nodiscard]] const MemoryStack& software_of(const RunConfiguration& run) const;
  /// The row's SKU; nullptr when the catalog has none of that name.
  [[nodiscard]] const Device* device_of(const RunConfiguration& run) { return devices_.find(run.gpu).device; }
  /// "hopper/8-bit" of a row; empty when its SKU or recipe is unknown.
  [[nodiscard]] std::string share_key(const RunConfiguration& run);
  /// `metric` and `unit` name what is asked; the configuration is all the model sees.
  [[nodiscard]] RowPrediction predict(const RunConfiguration& run, std::string_view metric, std::string_view unit);
  /// nullopt where `predict` refuses the configuration whatever the metric.
  [[nodiscard]] std::optional<RowJob> job_of(const RunConfiguration& run);
  /// How many things are kept for later rows: a caller with rows without end begins anew when they are many.
  [[nodiscard]] std::size_t kept() const noexcept { return devices_.kept() + groups_.size() + presets_.size(); }
  /// Every name that a stack's `frameworks` holds.
  [[nodiscard]] std::vector<std::string_view> frameworks() const;

 private:
  /// Why the row cannot be predicted; nullopt when it can.
  std::optional<RowPrediction> refusal(const RunConfiguration& run);
  /// The row's question, compiled. ConfigError when the SKU or the stack lacks a number that it needs.
  CompiledTraining compiled(const RunConfiguration& run, Precision precision, bool timed);
  /// The preset a row's model name means, a layer slice of it included; nullptr when there is none.
  const Architecture* preset_of(const std::string& model);
  [[nodiscard]] Architecture architecture_of_row(const RunConfiguration& run, const MemoryStack& software);
  /// By the column `framework`; nullptr when no stack knows it.
  [[nodiscard]] const MemoryStack* known_software(const RunConfiguration& run) const;
  /// Its job's groups on the reference node's hosts, or on as many GPUs a host and with the NICs that it states.
  std::shared_ptr<const JobGroups> groups_of(const RunConfiguration& run, const Device& sku);

  const Sources& sources_;
  std::optional<RoughStack> stack_;  ///< of the rough form
  TermSet without_;
  std::optional<StepParameters> parameters_;  ///< in place of the files'
  RowDevices devices_;
  MemoryStacks software_;
  using JobKey = std::tuple<std::string, std::int64_t, std::int64_t, double>;  ///< SKU, GPUs, per host, NIC
  std::map<JobKey, std::shared_ptr<const JobGroups>> groups_;
  std::map<std::string, std::optional<Architecture>, std::less<>> presets_;
};

}  // namespace headroom
