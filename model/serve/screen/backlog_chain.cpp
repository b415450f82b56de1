// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/screen/backlog_chain.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace headroom {
namespace {

/// Splits a weight between the two grid points around a place, which keeps the mean; a place beyond the last point, or
/// NaN, goes to the last. Precondition: place >= 0 or NaN.
template <std::size_t n>
void spread(std::array<double, n>& row, double place, double weight) noexcept {
  if (!(place < static_cast<double>(n - 1))) {
    row[n - 1] += weight;
    return;
  }
  const auto below = static_cast<std::size_t>(place);
  const double part = place - static_cast<double>(below);
  row[below] += (1.0 - part) * weight;
  row[below + 1] += part * weight;
}

/// A count distribution of the (a, b, 0) class (Panjer 1981): p_n = (a + b / n) p_(n-1).
struct Counts {
  double a = 0.0, b = 0.0;
  double none = 1.0;  ///< probability of no token at all, including jumps of zero
};

/// Poisson for z = 1, negative binomial for variance over mean z > 1, binomial for z < 1. `beside`: the number of
/// others that one request finds (a size-biased count less one), which has one trial more or less.
Counts count_law(double mean, double z, double jump_of_none, bool beside) noexcept {
  Counts law;
  if (std::abs(z - 1.0) < 1e-6) {
    law.b = mean;
    law.none = std::exp(-mean * (1.0 - jump_of_none));
    return law;
  }
  if (z > 1.0) {
    const double a = 1.0 - 1.0 / z;
    const double r = mean / (z - 1.0) + (beside ? 1.0 : 0.0);
    law.a = a;
    law.b = (r - 1.0) * a;
    law.none = std::pow((1.0 - a) / (1.0 - a * jump_of_none), r);
    return law;
  }
  const double p = 1.0 - z;
  const double trials = std::max(mean / p - (beside ? 1.0 : 0.0), 1e-3);
  law.a = -p / (1.0 - p);
  law.b = (trials + 1.0) * p / (1.0 - p);
  law.none = std::pow(1.0 - p + p * jump_of_none, trials);
  return law;
}

}  // namespace

double IterationCurve::tokens(std::size_t i, double most) noexcept {
  const double share = static_cast<double>(i) / static_cast<double>(knots - 1);
  return std::max(1.0, most * share * share);
}

double IterationCurve::operator()(double tokens) const noexcept {
  const double place = std::sqrt(std::min(tokens / most_, 1.0)) * static_cast<double>(knots - 1);
  const auto i = std::min(static_cast<std::size_t>(place), knots - 2);
  const double low = IterationCurve::tokens(i, most_);
  const double high = IterationCurve::tokens(i + 1, most_);
  const double part = high > low ? std::clamp((tokens - low) / (high - low), 0.0, 1.0) : 1.0;
  return mixed_[i] + part * (mixed_[i + 1] - mixed_[i]);
}

BacklogChain::BacklogChain(const IterationCurve& curve, const PromptStream& stream) noexcept
    : curve_{&curve}, stream_{&stream} {
  choose_step();
  seconds_[0] = curve.alone();
  for (std::size_t i = 1; i < states; ++i) {
    seconds_[i] = curve(std::min(tokens(i), curve.most()));
  }
  for (std::size_t i = 0; i < quick_.size(); ++i) {
    quick_[i] = curve(curve.most() * std::max(static_cast<double>(i), 1e-6) / static_cast<double>(quick_.size() - 1));
  }
  fill_jumps();
  fill_arrivals();
  solve();
}

void BacklogChain::choose_step() noexcept {
  // The grid must reach the largest prompt, and mean plus deviations of the tokens of an iteration that takes alone +
  // slope x tokens: q = rate x tokens x alone / (1 - r), var q = rate T E[s^2] z / (1 - r^2).
  const Moments& prompt = stream_->tokens;
  const double full = curve_->most();
  const double at_full = (*curve_)(full);
  const double load = std::min(stream_->rate * prompt.mean * at_full / full, 0.99);
  const double one = std::min(prompt.mean, full);
  const double slope = std::max((at_full - (*curve_)(one)) / std::max(full - one, 1.0), 0.0);
  const double r = std::min(std::max(stream_->rate * prompt.mean * slope, 0.0), load);
  const double time = curve_->alone() / (1.0 - r);
  const double mean = stream_->rate * prompt.mean * time / (1.0 - r);
  const double z = std::max(stream_->dispersion, 1.0);
  const double deviation = std::sqrt(stream_->rate * time * prompt.second() * z / (1.0 - r * r));
  double reach = std::max(mean + 5.0 * deviation, stream_->strata.back() + mean);
  if (reach > full) {
    // Beyond the budget the backlog decays as for a server with that load (Kingman 1962).
    reach += 2.0 * prompt.mean * (z + prompt.cv * prompt.cv) / (1.0 - load);
  }
  // A mean prompt is a whole number of steps, so that equal prompts stay exact on the grid.
  const double parts = std::floor(prompt.mean * static_cast<double>(states - 1) / reach);
  step_ = parts >= 1.0 ? prompt.mean / parts : reach / static_cast<double>(states - 1);
}

void BacklogChain::fill_jumps() noexcept {
  jumps_.fill(0.0);
  for (std::size_t i = 0; i < strata_count; ++i) {
    spread(jumps_, stream_->strata[i] / step_, stratum_weight(i));
  }
  for (std::size_t j = 1; j < states; ++j) {
    graded_jumps_[j] = static_cast<double>(j) * jumps_[j];
    largest_jump_ = jumps_[j] > 0.0 ? j : largest_jump_;
  }
}

BacklogChain::Row BacklogChain::arrivals(double seconds, bool beside) const noexcept {
  const double mean = stream_->rate * seconds;
  const Counts law = count_law(mean, stream_->dispersion, jumps_[0], beside);
  const double scale = 1.0 / (1.0 - law.a * jumps_[0]);
  Row p{};
  p[0] = law.none;
  double sum = p[0];
  for (std::size_t n = 1; n < states; ++n) {
    double plain = 0.0;
    double graded = 0.0;
    for (std::size_t j = 1; j <= std::min(n, largest_jump_); ++j) {
      plain += jumps_[j] * p[n - j];
      graded += graded_jumps_[j] * p[n - j];
    }
    p[n] = std::max((law.a * plain + law.b / static_cast<double>(n) * graded) * scale, 0.0);
    sum += p[n];
  }
  if (sum < 1.0) {
    p[states - 1] += 1.0 - sum;  // mass beyond the grid
  } else {
    for (double& one : p) {
      one /= sum;
    }
  }
  return p;
}

void BacklogChain::fill_arrivals() noexcept {
  double longest = curve_->alone();
  for (std::size_t i = 1; i < states; ++i) {
    longest = std::max(longest, seconds_[i]);
  }
  shortest_ = std::min(curve_->alone(), seconds_[1]);
  row_step_ = std::max((longest - shortest_) / static_cast<double>(rows - 1), 1e-15);
  for (std::size_t i = 0; i < rows; ++i) {
    const double time = shortest_ + row_step_ * static_cast<double>(i);
    all_[i] = arrivals(time, false);
    others_[i] = arrivals(time, true);
  }
}

BacklogChain::Row BacklogChain::between(const std::array<Row, rows>& knots, double seconds) const noexcept {
  const double place = std::clamp((seconds - shortest_) / row_step_, 0.0, static_cast<double>(rows - 1));
  const std::size_t below = std::min(static_cast<std::size_t>(place), rows - 2);
  const double part = place - static_cast<double>(below);
  Row row{};
  for (std::size_t i = 0; i < states; ++i) {
    row[i] = knots[below][i] + part * (knots[below + 1][i] - knots[below][i]);
  }
  return row;
}

void BacklogChain::add_transitions(std::size_t from, std::array<Row, states>& matrix) const noexcept {
  const double left = std::max(tokens(from) - curve_->most(), 0.0) / step_;
  const Row come = between(all_, seconds_[from]);
  Row& row = matrix[from];
  const double usual = from == 0 ? 1.0 - idle_chance_ : 1.0;
  for (std::size_t i = 0; i < states; ++i) {
    spread(row, left + static_cast<double>(i), usual * come[i]);
  }
  if (from == 0) {
    for (std::size_t i = 0; i < states; ++i) {
      row[i] += idle_chance_ * jumps_[i];  // an idle engine starts with the next prompt
    }
  }
}

void BacklogChain::solve() noexcept {
  const double e = stream_->idle;
  const double gap = 1.0 / stream_->rate;
  // The share e of the time without prompts is idle: p gap = e ((1 - p) alone + p gap).
  idle_chance_ = e >= 1.0 ? 1.0 : e * curve_->alone() / ((1.0 - e) * gap + e * curve_->alone());
  std::array<Row, states> matrix{};
  for (std::size_t i = 0; i < states; ++i) {
    add_transitions(i, matrix);
  }
  // Grassmann, Taksar and Heyman 1985: states are censored from the last one on, without subtractions.
  for (std::size_t n = states - 1; n > 0; --n) {
    double out = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      out += matrix[n][j];
    }
    if (!(out > 0.0)) {
      continue;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double into = matrix[i][n] / out;
      matrix[i][n] = into;
      if (into > 0.0) {
        for (std::size_t j = 0; j < n; ++j) {
          matrix[i][j] += into * matrix[n][j];
        }
      }
    }
  }
  stationary_.fill(0.0);
  stationary_[0] = 1.0;
  double total = 1.0;
  for (std::size_t n = 1; n < states; ++n) {
    for (std::size_t i = 0; i < n; ++i) {
      stationary_[n] += stationary_[i] * matrix[i][n];
    }
    total += stationary_[n];
  }
  double time = 0.0;
  for (std::size_t n = 0; n < states; ++n) {
    stationary_[n] /= total;
    time += stationary_[n] * seconds_[n] * (n == 0 ? 1.0 - idle_chance_ : 1.0);
  }
  const double iterations = 1.0 - stationary_[0] * idle_chance_;
  const double idle = stationary_[0] * idle_chance_ * gap;
  cycle_ = time + idle;
  mean_ = time / iterations;
  share_without_ = stationary_[0] * (1.0 - idle_chance_) / iterations;
  busy_ = time / cycle_;
}

/// A moment at which requests arrive: tokens of others and the rest of the running iteration.
struct BacklogChain::Moment {
  double running = 0.0;  ///< seconds left of the running iteration
  double before = 0.0;   ///< tokens ahead of the request
  double after = 0.0;    ///< tokens that arrive later, for the same iteration
  double weight = 0.0;
};

double BacklogChain::end_prompts(const Moment& moment, TimeDistribution& times) const noexcept {
  const double full = curve_->most();
  const double at_full = quick_.back();
  const double scale = static_cast<double>(quick_.size() - 1) / full;
  double own = 0.0;
  for (std::size_t i = 0; i < strata_count; ++i) {
    double rest = moment.before + stream_->strata[i];
    double time = moment.running;
    if (rest > full) {
      const double iterations = std::max(std::ceil(rest / full - 1e-9) - 1.0, 0.0);
      rest += iterations * ((stream_->one_by_one ? 0.0 : at_full * stream_->rate * stream_->tokens.mean) - full);
      time += iterations * at_full;
    }
    const double place = std::min((rest + moment.after) * scale, static_cast<double>(quick_.size() - 1) - 1e-6);
    const auto below = static_cast<std::size_t>(place);
    const double last = quick_[below] + (place - static_cast<double>(below)) * (quick_[below + 1] - quick_[below]);
    const double weight = moment.weight * stratum_weight(i);
    times.add(time + last, weight);
    own += weight * last;
  }
  return own;
}

double BacklogChain::arrive_during(
    double running, double left, const Row& others, double weight, TimeDistribution& times) const noexcept {
  constexpr std::array<double, 3> phases{1.0 / 6.0, 0.5, 5.0 / 6.0};  // share left of the running iteration
  constexpr double enough = 5e-4;                                     // smaller weights are combined
  const double joins = stream_->one_by_one ? 0.0 : 1.0;
  double own = 0.0;
  double gathered = 0.0;
  double sum = 0.0;
  for (std::size_t a = 0; a < states; ++a) {
    gathered += weight * others[a];
    sum += weight * others[a] * tokens(a);
    if (gathered < enough && a + 1 < states) {
      continue;
    }
    if (gathered > 0.0) {
      const double come = sum / gathered;
      for (const double phase : phases) {
        own += end_prompts({phase * running, left + (1.0 - phase) * come, joins * phase * come, gathered / 3.0}, times);
      }
    }
    gathered = sum = 0.0;
  }
  return own;
}

double BacklogChain::first_tokens(TimeDistribution& times) const noexcept {
  // States that leave nothing behind differ only in length, so they are combined at the lengths of the rows.
  std::array<double, rows> lengths{};
  double own = 0.0;
  double weight = 0.0;
  for (std::size_t n = 0; n < states; ++n) {
    const double share = stationary_[n] * seconds_[n] * (n == 0 ? 1.0 - idle_chance_ : 1.0) / cycle_;
    weight += share;
    const double left = std::max(tokens(n) - curve_->most(), 0.0);
    if (left > 0.0 && share > 1e-4) {
      own += arrive_during(seconds_[n], left, between(others_, seconds_[n]), share, times);
    } else if (left <= 0.0) {
      spread(lengths, std::max((seconds_[n] - shortest_) / row_step_, 0.0), share);
    }
  }
  for (std::size_t i = 0; i < rows; ++i) {
    own += arrive_during(shortest_ + row_step_ * static_cast<double>(i), 0.0, others_[i], lengths[i], times);
  }
  if (busy_ < 1.0) {
    Row nobody{};
    nobody[0] = 1.0;
    own += arrive_during(0.0, 0.0, nobody, 1.0 - busy_, times);
  }
  return own / (weight + 1.0 - busy_);
}

}  // namespace headroom
