// SPDX-License-Identifier: Apache-2.0
// From a measured training row's configuration to a prediction in the row's own unit.
#pragma once

#include <headroom/model/train/errors/confidence.hpp>
#include <headroom/model/train/errors/posterior.hpp>
#include <headroom/model/train/evaluate/training.hpp>
#include <headroom/model/train/software/rough_stack.hpp>
#include <headroom/scenarios/measured/row_cells.hpp>
#include <headroom/scenarios/measured/run_row.hpp>
#include <headroom/scenarios/measured/training_cells.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace headroom {

/// Whether a metric is a time or a throughput, and not memory.
[[nodiscard]] constexpr bool is_step_metric(std::string_view metric) noexcept {
  return metric != "memory_gib_per_gpu";
}
/// ln(predicted / measured) of the step time behind a time or a throughput.
[[nodiscard]] double step_error(std::string_view metric, double predicted, double measured) noexcept;

/// SKU, software and network of a row, looked up.
struct RowJob {
  const Device* device = nullptr;
  const MemoryStack* software = nullptr;  ///< nullptr: no stack knows the framework
  RunClass run_class = RunClass::dense;
  Architecture architecture;
  Precision precision = Precision::bf16;
};

/// Predicts rows and caches what they share: devices, software, groups.
class TrainingRowModel {
 public:
  explicit TrainingRowModel(const Sources& sources, TermSet without = {});
  /// Predicts by the rough form with the caller's stack, for fitting its shares.
  TrainingRowModel(const Sources& sources, RoughStack stack);
  /// Sets a share of the rough form, 0 to 1; without effect when the model does not use that form.
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
  /// Replaces the files' parameters of the step, for fitting; they hold until they are set again.
  void set_parameters(StepParameters parameters, MemoryStacks software);
  /// Software of a row: by the column `framework`; when no stack knows it, by the ZeRO stage.
  [[nodiscard]] const MemoryStack& software_of(const RunConfiguration& run);
  /// Axes of a row that its prediction closes: those that it leaves blank and its software does not fix.
  [[nodiscard]] BlankAxes closed_axes(const RunConfiguration& run);
  /// SKU of a row; nullptr when the catalog has none of that name.
  [[nodiscard]] const Device* device_of(const RunConfiguration& run) { return devices_.find(run.gpu).device; }
  /// Key of a row's share, e.g. "hopper/8-bit"; empty when its SKU or recipe is unknown.
  [[nodiscard]] std::string share_key(const RunConfiguration& run);
  /// Predicts `metric` in `unit`; the model sees nothing but the configuration.
  [[nodiscard]] RowPrediction predict(const RunConfiguration& run, std::string_view metric, std::string_view unit);
  /// Looked-up row; nullopt when `predict` refuses the configuration for any metric.
  [[nodiscard]] std::optional<RowJob> job_of(const RunConfiguration& run);
  /// Number of cached objects; a caller with an unlimited stream of rows starts a new model when it grows large.
  [[nodiscard]] std::size_t kept() const noexcept { return devices_.kept() + groups_.size() + presets_.size(); }
  /// All names in the `frameworks` lists of the stacks.
  [[nodiscard]] std::vector<std::string_view> frameworks() const;

 private:
  /// Why the row cannot be predicted; nullopt when it can.
  std::optional<RowPrediction> refusal(const RunConfiguration& run);
  /// The row's question, compiled. Throws ConfigError when the SKU or the stack lacks a number that it needs.
  CompiledTraining compiled(const RunConfiguration& run, Precision precision, bool timed);
  /// Preset that a row's model name refers to, also as a slice of its layers; nullptr when there is none.
  const Architecture* preset_of(const std::string& model);
  /// The preset of a row that names one and states no size of its network; nullptr: it states some.
  const Architecture* preset_of_blank(const RunConfiguration& run);
  /// Recipes of layers of experts of the row's software; of the population's where nobody shall know them.
  [[nodiscard]] const std::vector<ExpertRule>& expert_rules_of(const RunConfiguration& run);
  /// How the recipe for a row runs layers of experts.
  [[nodiscard]] ExpertHabits recipe_of(const RunConfiguration& run);
  [[nodiscard]] Architecture architecture_of_row(const RunConfiguration& run, const MemoryStack& software);
  /// Software by the column `framework`; nullptr when no stack knows it.
  [[nodiscard]] const MemoryStack* known_software(const RunConfiguration& run);
  /// Groups of the row's job on reference nodes, or on nodes with the stated GPUs per host and NIC rate.
  std::shared_ptr<const JobGroups> groups_of(const RunConfiguration& run, const Device& sku);

  /// The SKU's reference node; nullptr: the catalog has none.
  const Node* node_of(const Device& sku);

  const Sources& sources_;
  std::map<const Device*, const Node*> nodes_;
  std::optional<RoughStack> stack_;  ///< set: predict by the rough form
  TermSet without_;
  std::optional<StepParameters> parameters_;  ///< parameters in place of the files'
  RowDevices devices_;
  MemoryStacks software_;
  /// SKU, GPUs, GPUs per host, NIC rate, whether PCIe alone joins the cards.
  using JobKey = std::tuple<std::string, std::int64_t, std::int64_t, double, bool>;
  std::map<JobKey, std::shared_ptr<const JobGroups>> groups_;
  std::map<std::string, std::optional<Architecture>, std::less<>> presets_;
  /// Relative half-width that holds 80 % of past errors of the row's question, blank axes among them.
  double width_of(const RunConfiguration& run, const CompiledTraining& compiled);
  std::map<std::string, double, std::less<>> widths_;  ///< by software, SKU, kind, hosts and blank axes
};

}  // namespace headroom
