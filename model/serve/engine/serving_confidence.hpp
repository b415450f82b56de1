// SPDX-License-Identifier: Apache-2.0
// How far measured runs of a class lay from the serving model, as `headroom fit` found it.
#pragma once

#include <headroom/core/config_reader.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// What is predicted: a first token's wait, the time between tokens, or a rate of requests or tokens; of steady loads,
/// or of queues, tails included.
enum class ServingQuantity : std::uint8_t { ttft, tpot, rate, queue_ttft, queue_tpot, queue_rate };
inline constexpr std::array<std::string_view, 6> serving_quantity_names{"ttft",       "tpot",       "rate",
                                                                        "queue-ttft", "queue-tpot", "queue-rate"};
/// The same in a queue.
[[nodiscard]] constexpr ServingQuantity in_queue(ServingQuantity quantity) noexcept {
  switch (quantity) {
    case ServingQuantity::ttft: return ServingQuantity::queue_ttft;
    case ServingQuantity::tpot: return ServingQuantity::queue_tpot;
    case ServingQuantity::rate: return ServingQuantity::queue_rate;
    default: return quantity;
  }
}

/// Errors of one class: 80 % of its runs measured between low and high times what the model says.
struct ServingErrors {
  std::string stack;  ///< "any" where a stack has too few runs of its own
  ServingQuantity quantity = ServingQuantity::tpot;
  bool experts = false;
  std::int64_t rows = 0, sources = 0;
  double low = 0.5, high = 2.0;
  double median = 0.0;                       ///< of |predicted / measured - 1|
  double left_out_median = 0;                ///< the same by fits that never saw the run's source; 0: none was made
  std::string widened;                       ///< what else made low and high wider, in words; empty: nothing
  double class_low = 0.0, class_high = 0.0;  ///< then those of the class alone
  /// "80 % of 661 measured TPOTs of experts by vllm lie within -20 to +18 % of it".
  [[nodiscard]] std::string text() const;
};

/// Published pools whose tokens meet their experts over NICs: their rates lay between low and high times what the model
/// says (model/stacks/step/serve-wide-experts.toml). Too few for a class, and no class has any.
struct WideExpertErrors {
  std::int64_t pools = 0, sources = 0;
  double low = 0.5, high = 2.0;
  std::string source;
};
[[nodiscard]] WideExpertErrors read_wide_expert_errors(const ConfigValue& document, Diagnostics& diagnostics);
/// The embedded file, user folders first; parsed once.
[[nodiscard]] const WideExpertErrors& wide_expert_errors();
/// The errors of a class, as wide as those of such pools too: a time is as much longer as a rate is lower.
[[nodiscard]] ServingErrors over_nics(ServingErrors errors, const WideExpertErrors& wide);

class ServingConfidence {
 public:
  explicit ServingConfidence(std::vector<ServingErrors> classes) : classes_{std::move(classes)} {}
  /// Of the stack, else of any.
  [[nodiscard]] const ServingErrors& of(std::string_view stack, ServingQuantity quantity, bool experts) const;
  [[nodiscard]] const std::vector<ServingErrors>& classes() const noexcept { return classes_; }

 private:
  std::vector<ServingErrors> classes_;
};

/// Every quantity, with and without experts, must have a class of stack "any"; problems go to `diagnostics`.
[[nodiscard]] ServingConfidence read_serving_confidence(const ConfigValue& document, Diagnostics& diagnostics);
/// The embedded file (model/stacks/step/serve-confidence.toml), user folders first; parsed once.
[[nodiscard]] const ServingConfidence& serving_confidence();

}  // namespace headroom
