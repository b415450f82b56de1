// SPDX-License-Identifier: Apache-2.0
// What another batch asks of the learning rate, the warm-up and the number of samples.
#pragma once

#include <headroom/model/train/memory/memory.hpp>
#include <headroom/scenarios/advice/questions.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace headroom {

/// How the learning rate follows the batch. Linear: times k (Goyal et al. 2017, section 2.1), of SGD with or without
/// momentum. Square root: times sqrt(k) (Krizhevsky 2014; for Adam Malladi et al. 2022), of
/// everything that divides by the size of past gradients or takes their sign.
enum class RateRule : std::uint8_t { linear, square_root };
inline constexpr std::array<std::string_view, 2> rate_rule_names{"linear", "square-root"};
[[nodiscard]] RateRule rate_rule(Optimizer optimizer) noexcept;

/// Tokens: B(L) = B* / L^(1 / alpha_B), B* = 2e8, alpha_B = 0.21, L in nats a token of text like WebText2 (Kaplan et
/// al. 2020, equation 5.3).
[[nodiscard]] double critical_tokens(double loss) noexcept;

/// Steps and samples to the same loss at batch B, over those at vanishing noise and at vanishing batch:
/// S = S_min (1 + B_crit / B), E = E_min (1 + B / B_crit) (McCandlish et al. 2018, section 2.3; B_crit is the noise
/// scale tr(Sigma) / |G|^2 of section 2.2).
struct BatchEfficiency {
  double steps = 1.0, samples = 1.0;
};
[[nodiscard]] BatchEfficiency efficiency(double batch, double critical) noexcept;

struct BatchAdvice {
  std::int64_t base = 1, batch = 1;  ///< sequences
  double factor = 1.0;               ///< k = batch / base
  RateRule rule = RateRule::square_root;
  bool adam = true;  ///< whose betas and epsilon follow too
  double rate_factor = 1.0;
  std::optional<double> base_rate, rate;
  bool warm_up = false;  ///< raise the rate in equal steps from the base's (Goyal et al. 2017, section 2.2)
  std::optional<double> warm_up_steps;  ///< five epochs, as there; where the scenario says what an epoch is
  std::optional<double> critical;       ///< sequences
  bool from_loss = false;               ///< by the scaling law and not as stated
  bool above = false;                   ///< the batch is beyond it
  BatchEfficiency change;  ///< steps and samples to the same loss over those at the base batch; with `critical` alone
};
/// `optimizer`: nothing stands for the software's, an Adam. `seq_len`: tokens of a sequence.
[[nodiscard]] BatchAdvice advise_batch(const BatchChange& change,
                                       std::int64_t batch,
                                       double seq_len,
                                       std::optional<Optimizer> optimizer) noexcept;

}  // namespace headroom
