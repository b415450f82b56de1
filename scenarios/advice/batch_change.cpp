// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/scenarios/advice/batch_change.hpp>

#include <cmath>

namespace headroom {

RateRule rate_rule(Optimizer optimizer) noexcept {
  return optimizer == Optimizer::sgd || optimizer == Optimizer::momentum ? RateRule::linear : RateRule::square_root;
}

double critical_tokens(double loss) noexcept {
  constexpr double scale = 2e8;
  constexpr double exponent = 0.21;
  return scale / std::pow(loss, 1.0 / exponent);
}

BatchEfficiency efficiency(double batch, double critical) noexcept {
  return {1.0 + critical / batch, 1.0 + batch / critical};
}

BatchAdvice advise_batch(const BatchChange& change,
                         std::int64_t batch,
                         double seq_len,
                         std::optional<Optimizer> optimizer) noexcept {
  const Optimizer taken = optimizer.value_or(Optimizer::adamw);
  BatchAdvice advice;
  advice.base = change.base;
  advice.batch = batch;
  advice.factor = real(batch) / real(change.base);
  advice.rule = rate_rule(taken);
  advice.adam =
      taken == Optimizer::adamw || taken == Optimizer::adamw_bf16 || taken == Optimizer::adamw_8bit || is_paged(taken);
  advice.rate_factor = advice.rule == RateRule::linear ? advice.factor : std::sqrt(advice.factor);
  advice.base_rate = change.rate;
  if (change.rate) {
    advice.rate = advice.rate_factor * *change.rate;
  }
  advice.warm_up = batch > change.base;
  if (advice.warm_up && change.epoch_samples) {
    constexpr double epochs = 5.0;
    advice.warm_up_steps = std::ceil(epochs * *change.epoch_samples / real(batch));
  }
  advice.from_loss = change.loss.has_value();
  advice.critical = change.loss ? std::optional{critical_tokens(*change.loss) / seq_len} : change.critical;
  if (advice.critical) {
    advice.above = real(batch) > *advice.critical;
    const BatchEfficiency now = efficiency(real(batch), *advice.critical);
    const BatchEfficiency then = efficiency(real(change.base), *advice.critical);
    advice.change = {now.steps / then.steps, now.samples / then.samples};
  }
  return advice;
}

}  // namespace headroom
