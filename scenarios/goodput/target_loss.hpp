// SPDX-License-Identifier: Apache-2.0
// How many tokens a target loss takes, and what a large batch adds to them.
#pragma once

#include <headroom/core/config_value.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/quantity.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::goodput {

/// L(N, D) = E + A / N^alpha + B / D^beta, nats a token, N parameters, D tokens (Hoffmann et al. 2022, equation 2; the
/// numbers of approach 3 and of its correction by Besiroglu et al. 2024 ship as files).
struct LossLaw {
  std::string id, name, file, source, notes;
  double E = 0.0, A = 0.0, B = 0.0, alpha = 1.0, beta = 1.0;
  [[nodiscard]] double loss(double parameters, double tokens) const noexcept;
  /// What no number of tokens gets below.
  [[nodiscard]] double floor(double parameters) const noexcept;
};
[[nodiscard]] LossLaw read_loss_law(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics);
[[nodiscard]] const std::vector<LossLaw>& loss_laws();
/// ConfigError with the known ids for another.
[[nodiscard]] const LossLaw& loss_law(std::string_view id);

/// D at which the law reaches the loss. ConfigError below what the network reaches with any number of tokens, with the
/// smallest network that does.
[[nodiscard]] double tokens_to_loss(const LossLaw& law, double parameters, double loss);

/// The way to a loss at a batch. The law's tokens are those of a batch far below the critical one; at batch B it takes
/// D (1 + B / B_crit) tokens and at least D / B_crit steps (McCandlish et al. 2018, section 2.3). A critical batch that
/// is not stated is that of the target loss (Kaplan et al. 2020, equation 5.3; `critical_tokens`).
struct TargetLoss {
  double least_tokens = 0.0;  ///< at a small batch
  double tokens = 0.0;        ///< at this one
  double steps = 0.0;
  double critical = 0.0;  ///< tokens
  bool stated = false;    ///< the critical batch was
};
/// `batch` and `critical` in tokens. ConfigError as tokens_to_loss, or for a batch that is not above zero.
[[nodiscard]] TargetLoss way_to_loss(
    const LossLaw& law, double parameters, double loss, double batch, std::optional<double> critical = std::nullopt);

}  // namespace headroom::goodput
