// SPDX-License-Identifier: Apache-2.0
// Tokens that a target loss takes, and the additional tokens that a large batch costs.
#pragma once

#include <headroom/core/config_value.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/quantity.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::goodput {

/// L(N, D) = E + A / N^alpha + B / D^beta in nats per token, with N parameters and D tokens (Hoffmann et al. 2022,
/// equation 2). The constants of their approach 3 and of its correction by Besiroglu et al. 2024 ship as files.
struct LossLaw {
  std::string id, name, file, source, notes;
  double E = 0.0, A = 0.0, B = 0.0, alpha = 1.0, beta = 1.0;
  [[nodiscard]] double loss(double parameters, double tokens) const noexcept;
  /// Limit of the loss (nats per token) for infinitely many tokens.
  [[nodiscard]] double floor(double parameters) const noexcept;
};
[[nodiscard]] LossLaw read_loss_law(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics);
[[nodiscard]] const std::vector<LossLaw>& loss_laws();
/// Throws ConfigError with the known ids for an unknown id.
[[nodiscard]] const LossLaw& loss_law(std::string_view id);

/// Tokens D at which the law reaches `loss`. Throws ConfigError when `loss` is not above floor(parameters), and names
/// the smallest network that can reach it.
[[nodiscard]] double tokens_to_loss(const LossLaw& law, double parameters, double loss);

/// The way to a loss at a batch. The law's tokens are those of a batch far below the critical one; at batch B it takes
/// D (1 + B / B_crit) tokens and at least D / B_crit steps (McCandlish et al. 2018, section 2.3). A critical batch that
/// is not stated is that of the target loss (Kaplan et al. 2020, equation 5.3; `critical_tokens`).
struct TargetLoss {
  double least_tokens = 0.0;  ///< tokens at a small batch
  double tokens = 0.0;        ///< tokens at this batch
  double steps = 0.0;
  double critical = 0.0;  ///< critical batch, tokens
  bool stated = false;    ///< whether the critical batch was stated
};
/// `batch` and `critical` in tokens. Throws ConfigError as tokens_to_loss does, or for a batch that is not above zero.
[[nodiscard]] TargetLoss way_to_loss(
    const LossLaw& law, double parameters, double loss, double batch, std::optional<double> critical = std::nullopt);

}  // namespace headroom::goodput
