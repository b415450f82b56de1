// SPDX-License-Identifier: Apache-2.0
// Errors of the serving model on measured runs, by class, as `headroom fit` determined them.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/hardware/catalog/device.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class ModelData;

/// The predicted quantity: time to first token, time between tokens, or rate of requests or tokens, each under steady
/// load or in queues (including tails).
enum class ServingQuantity : std::uint8_t { ttft, tpot, rate, queue_ttft, queue_tpot, queue_rate };
inline constexpr std::array<std::string_view, 6> serving_quantity_names{"ttft",       "tpot",       "rate",
                                                                        "queue-ttft", "queue-tpot", "queue-rate"};
/// The queue variant of a quantity.
[[nodiscard]] constexpr ServingQuantity in_queue(ServingQuantity quantity) noexcept {
  switch (quantity) {
    case ServingQuantity::ttft: return ServingQuantity::queue_ttft;
    case ServingQuantity::tpot: return ServingQuantity::queue_tpot;
    case ServingQuantity::rate: return ServingQuantity::queue_rate;
    default: return quantity;
  }
}

/// Errors of one class: 80 % of its runs measured between low and high times the model's value; of queues, between what
/// these and the reach of the engine's speed are together (beside_reach).
struct ServingErrors {
  std::string stack;  ///< "any" for stacks with too few runs of their own
  ServingQuantity quantity = ServingQuantity::tpot;
  bool experts = false;
  std::int64_t rows = 0, sources = 0;
  double low = 0.5, high = 2.0;
  double level = 0.0;                        ///< s.d. of a publication's level, ln; 0: not determined
  double median = 0.0;                       ///< median of |predicted / measured - 1|
  double left_out_median = 0;                ///< `median` for fits without the run's source; 0: not determined
  std::string widened;                       ///< reason why low and high were widened; empty: they were not
  double class_low = 0.0, class_high = 0.0;  ///< low and high before they were widened
  /// "80 % of 661 measured TPOTs of experts by vllm lie within -20 to +18 % of it".
  [[nodiscard]] std::string text() const;
};

/// What a replica as fast, or as slow, as the ends of measured rates makes of an answer, over the answer: low <= 1 <=
/// high.
struct QueueReach {
  double low = 1.0, high = 1.0;
};
/// The errors of a class of queues, widened by what the engine's own speed is off by: at a knee a percent of it may be
/// half of a wait, far below it nothing. Both are independent, so that squares of the ends' logarithms add up.
[[nodiscard]] ServingErrors beside_reach(ServingErrors errors, const QueueReach& reach);

/// Published pools whose tokens reach their experts over NICs: their rates were between low and high times the model's
/// (model/stacks/step/serve-wide-experts.toml). They are too few to form a class.
struct WidePools {
  std::int64_t pools = 0, sources = 0;
  double low = 0.5, high = 2.0;
};
/// Those of questions that state neither balanced experts nor halves of a batch in turn, and of attention-DP pools as
/// they were launched, with both (`launched`).
struct WideExpertErrors : WidePools {
  WidePools launched;
  std::string source;
};
[[nodiscard]] WideExpertErrors read_wide_expert_errors(const ConfigValue& document, Diagnostics& diagnostics);
/// Of `data`. ConfigError if the file is invalid.
[[nodiscard]] const WideExpertErrors& wide_expert_errors(const ModelData& data);
/// The errors of a class, widened to include those of pools with experts over NICs. Times use the rates' inverse
/// bounds.
[[nodiscard]] ServingErrors over_nics(ServingErrors errors, const WidePools& wide);
/// The errors of a class, widened by an acceptance of drafts that nobody stated: steps may yield between `low` and
/// `high` times the tokens. A first token does not wait for drafts.
[[nodiscard]] ServingErrors of_assumed_drafts(ServingErrors errors, double low, double high);

/// Errors on SKUs whose kernels nobody measured (model/stacks/step/serve-unmeasured.toml): 80 % of the runs of measured
/// SKUs lay between low and high times what the kernels of the other generations say of them.
struct UnmeasuredErrors {
  struct Class {
    ServingQuantity quantity = ServingQuantity::rate;
    bool experts = false;
    std::int64_t rows = 0, skus = 0;
    double low = 0.5, high = 2.0;
  };
  /// Published rates of SKUs of a vendor none of whose kernels were measured.
  struct OtherVendors {
    std::int64_t rows = 0;
    std::string skus;
    double low = 0.5, high = 2.0;
    std::string source;
  };
  std::vector<std::string> own_runs;  ///< SKUs that borrow kernels, and whose runs are among those of the other classes
  std::vector<Class> classes;
  std::string vendor;  ///< of the measured SKUs
  OtherVendors others;
  std::string source;

  /// Whether a SKU has neither kernels nor runs of its own.
  [[nodiscard]] bool holds(const Device& device) const;
};
/// Each quantity without a queue must have a class with and without experts. Problems are added to `diagnostics`.
[[nodiscard]] UnmeasuredErrors read_unmeasured_errors(const ConfigValue& document, Diagnostics& diagnostics);
/// Of `data`. ConfigError if the file is invalid.
[[nodiscard]] const UnmeasuredErrors& unmeasured_errors(const ModelData& data);
/// The errors of a class, widened to include those of the runs predicted from other generations, and, for a SKU of
/// another vendor than theirs, of the published rates; times use the rates' inverse bounds.
[[nodiscard]] ServingErrors of_unmeasured(ServingErrors errors,
                                          const Device& device,
                                          const UnmeasuredErrors& unmeasured);

/// How much wider, in the logarithm, the rows of a SKU or of a format of weights lay than their classes.
struct WidthFactor {
  std::string id;
  double width = 1.0;
  std::int64_t rows = 0;
};

class ServingConfidence {
 public:
  explicit ServingConfidence(std::vector<ServingErrors> classes,
                             std::vector<WidthFactor> skus = {},
                             std::vector<WidthFactor> formats = {})
      : classes_{std::move(classes)}, skus_{std::move(skus)}, formats_{std::move(formats)} {}
  /// The errors of a stack, or of "any" if the stack has none.
  [[nodiscard]] const ServingErrors& of(std::string_view stack, ServingQuantity quantity, bool experts) const;
  /// The same, stretched by the factors of a SKU and of a format of weights; 1 where a factor is not known.
  [[nodiscard]] ServingErrors of(std::string_view stack,
                                 ServingQuantity quantity,
                                 bool experts,
                                 std::string_view sku,
                                 std::string_view weights) const;
  [[nodiscard]] const std::vector<ServingErrors>& classes() const noexcept { return classes_; }
  [[nodiscard]] const std::vector<WidthFactor>& skus() const noexcept { return skus_; }
  [[nodiscard]] const std::vector<WidthFactor>& formats() const noexcept { return formats_; }

 private:
  std::vector<ServingErrors> classes_;
  std::vector<WidthFactor> skus_, formats_;
};

/// Every quantity, with and without experts, must have a class of stack "any". Problems are added to `diagnostics`.
[[nodiscard]] ServingConfidence read_serving_confidence(const ConfigValue& document, Diagnostics& diagnostics);
/// Of `data` (model/stacks/step/serve-confidence.toml). ConfigError if the file is invalid.
[[nodiscard]] const ServingConfidence& serving_confidence(const ModelData& data);

}  // namespace headroom
