// SPDX-License-Identifier: Apache-2.0
// Closed forms. Each is the longest of a few chains of passes and sends that wait for one another; which chain is
// longest depends on the costs. A chain is counted in passes of each kind, found by counting those of simulated
// critical paths.
#include <headroom/core/real.hpp>
#include <headroom/model/train/schedules/schedule.hpp>

#include <algorithm>
#include <cassert>

namespace headroom {
namespace {

/// Raw seconds of one virtual stage.
struct Lengths {
  explicit Lengths(const StageCosts& c) noexcept
      : f{c.forward.raw()},
        b{c.backward_input.raw()},
        w{c.backward_weight.raw()},
        there{c.send_forward.raw()},
        back{c.send_backward.raw()},
        pair{c.forward_with_backward.raw()} {}
  double f, b, w, there, back, pair;

  /// A send that keeps the sender busy lengthens its pass.
  void keep_sends_inside() noexcept {
    pair += there + back;
    f += there;
    b += back;
    there = back = 0.0;
  }
  [[nodiscard]] double both() const noexcept { return f + b + w; }
  [[nodiscard]] double sends() const noexcept { return there + back; }
};

/// Passes of a chain; `trips` are sends there and back.
struct Chain {
  double f = 0.0, b = 0.0, w = 0.0, trips = 0.0;
  [[nodiscard]] double length(const Lengths& x) const noexcept {
    return f * x.f + b * x.b + w * x.w + trips * x.sends();
  }
};

double at_least(double value, double floor) noexcept {
  return std::max(value, floor);
}

/// How far `steps` micro-batches outrun the round trips between the last stage and others: every return over d stages
/// moves on by d micro-batches and adds d - 1 trips, and the longest has p stages.
double round_trips(std::int32_t steps, std::int32_t stages) noexcept {
  return real(steps - (steps + stages - 1) / stages);
}

/// Every stage waits for the first forward pass and the last backward pass: (m + p - 1)(F + B) + 2 (p - 1) c (Huang et
/// al. 2019, section 2.3).
double gpipe(const PipelineShape& s, const Lengths& x) noexcept {
  return real(s.micro_batches + s.stages - 1) * x.both() + real(s.stages - 1) * x.sends();
}

/// As GPipe (Narayanan et al. 2021, section 2.2.1), and a stage that has p - i micro-batches in flight waits for them
/// to return: m - 1 - ceil((m - 1)/p) more trips.
double one_f_one_b(const PipelineShape& s, const Lengths& x) noexcept {
  return gpipe(s, x) + round_trips(s.micro_batches - 1, s.stages) * x.sends();
}

/// Chunks of f + b: (m v + p - 1)(f + b) (Narayanan et al. 2021, section 2.2.2), and the first micro-batch's way there
/// and the last one's way back over all p v virtual stages. A last group of r < p micro-batches waits p - r backward
/// passes for each further chunk; fewer micro-batches than stages wait for both.
double interleaved(const PipelineShape& s, const Lengths& x) noexcept {
  const double p = s.stages;
  const double v = s.chunks;
  const double m = s.micro_batches;
  const double empty = real((s.stages - s.micro_batches % s.stages) % s.stages);
  const double waits = empty * (v - 1.0);
  // Of the sends in those waits a third to a half of a trip each shows, by costs; no chain is longest for all of them.
  const double trips = p * v - 1.0 + (m > p ? 0.35 * waits : 0.0);
  const double forwards = m * v + p - 1.0 + (m < p ? waits : 0.0);
  const double backwards = m * v + p - 1.0 + waits;
  // Sends longer than a pass: a return over all stages moves on by 2p - 1 chunks and takes 2 (p - 1) sends.
  const double steps = std::max(0.0, m * v - 1.0 - (v - 1.0) * p);
  const double beyond = std::max(0.0, (p - 1.0) * (x.sends() - x.both())) / (2.0 * p - 1.0);
  return Chain{forwards, backwards, backwards, trips}.length(x) + steps * beyond;
}

/// Qi et al. 2023, section 2.3, with B of the input alone: the bubble (p - 1)(F + B - W) while W is the shorter, else
/// the fill or the drain. The last chain is the steady rate when sends outlast half a W.
double zb_h1(const PipelineShape& s, const Lengths& x) noexcept {
  const double p = s.stages;
  const double m = s.micro_batches;
  const double few = at_least(p - m, 0.0);
  const double delayed = std::min(m, p) - 1.0;
  const double ramp = round_trips(std::min(s.micro_batches, s.stages + 1) - 1, s.stages);
  const double steady = round_trips(s.micro_batches - 1, s.stages);
  const double steady_weights = s.micro_batches > s.stages ? m - steady : 1.0;
  const double filled = m > p ? p - 1.0 : at_least(p - 2.0, 0.0);
  return std::max({Chain{m + p - 1.0, m + p - 1.0, m - delayed, p - 1.0 + ramp}.length(x),
                   Chain{m + p - 1.0, m + few, m, filled}.length(x) + (std::min(m, p) - 1.0) * x.there,
                   Chain{m + few, m + p - 1.0, m, p - 1.0}.length(x),
                   Chain{m + p - 1.0, m + p - 1.0, steady_weights, p - 1.0 + steady}.length(x)});
}

/// Qi et al. 2023, section 2.3: the bubble (p - 1)(F + B - 2W), else the fill. Below 2p - 1 micro-batches the drain
/// waits, a stage for every second one that is missing.
double zb_h2(const PipelineShape& s, const Lengths& x) noexcept {
  const double p = s.stages;
  const double m = s.micro_batches;
  const std::int32_t missing = std::max(0, 2 * s.stages - 1 - s.micro_batches);
  const double waits = real(missing / 2);  // whole stages
  const double odd = real(missing % 2);
  const double trips = (p - 1.0 + waits + odd) / 2.0;
  const double delayed = std::min(m, 2.0 * p - 1.0) - 1.0;
  return std::max({Chain{m + p - 1.0, m + p - 1.0, m - delayed, p - 1.0}.length(x),
                   Chain{m + p - 1.0, m + waits, m, (p - 1.0 + waits) / 2.0}.length(x),
                   Chain{m + p - 1.0, m + waits + odd, m - odd, trips}.length(x),
                   Chain{m + p - 1.0 - odd, m + waits + odd, m, trips}.length(x)});
}

/// ZB-V with fewer than 2p - 1 micro-batches: its order has holes.
double zb_v_few(const PipelineShape& s, const Lengths& x, double drain) noexcept {
  const double p = s.stages;
  const double m = s.micro_batches;
  if (m <= p) {
    return std::max(drain, Chain{2.0 * p + m - 1.0, 2.0 * p + m - 1.0, 2.0 * m, 2.0 * p - 1.0 - m}.length(x));
  }
  const double beyond = m - p;
  const double missing = 2.0 * p - 1.0 - m;
  if (beyond <= missing) {
    drain = std::max({drain, Chain{3.0 * (p + beyond) - 1.0, 3.0 * p - 1.0, 2.0 * p + beyond, p - 1.0}.length(x),
                      Chain{2.0 * m, 4.0 * p - 2.0, 2.0 * m, 1.5 * (p - 1.0)}.length(x)});
  }
  const double forwards = 6.0 * p - 5.0 - 3.0 * missing;
  const double weights = 4.0 * p - 2.0 - 3.0 * missing;
  return std::max({drain, Chain{2.0 * m, 5.0 * p - 3.0 - missing, weights, 2.5 * p - 3.5 - 0.5 * missing}.length(x),
                   Chain{forwards, 3.0 * p - missing, 2.0 * m, at_least(1.5 * p - 2.5 - missing, 0.0)}.length(x),
                   Chain{2.0 * m, 4.0 * p - 1.0 - missing, 5.0 * p - 4.0 - 3.0 * missing, 1.5 * (p - 1.0)}.length(x),
                   Chain{forwards, 3.0 * p, weights, 1.5 * p - 2.5 - 0.5 * missing}.length(x)});
}

/// Qi et al. 2023, section 6: no bubble but the fill when passes are equal. Passes of half a stage.
double zb_v(const PipelineShape& s, const Lengths& x) noexcept {
  const double p = s.stages;
  const double m = s.micro_batches;
  const double beyond = std::clamp(m - p, 0.0, p - 1.0);
  const double delayed = std::clamp(m - p - 1.0, 0.0, at_least(p - 2.0, 0.0));
  const double drain =
      Chain{2.0 * std::max(m, p), 2.0 * (m + p - 1.0), 2.0 * (m - beyond), 2.0 * (p - 1.0) + delayed}.length(x);
  if (m < 2.0 * p - 1.0) {
    return zb_v_few(s, x, drain);
  }
  return std::max({drain, Chain{2.0 * m, 2.0 * m + p - 1.0, 2.0 * m, 2.5 * p - 3.5}.length(x),
                   Chain{2.0 * m + p - 2.0, 2.0 * m + 1.0, 2.0 * m, 2.5 * p - 3.5}.length(x),
                   Chain{2.0 * m + 2.0 * p - 3.0, 2.0 * m - p + 2.0, 2.0 * m, 1.5 * p - 2.5}.length(x)});
}

/// DeepSeek-AI 2024 (DeepSeek-V3), table 2: all but the ramps runs as overlapped pairs, m - p/2 - 2 of them in a chain.
double dualpipe(const PipelineShape& s, const Lengths& x) noexcept {
  const double p = s.stages;
  const double m = s.micro_batches;
  const double h = p / 2.0;
  // Pairs pass on in either direction alone, along the slower sends.
  const double alone = m - real(s.micro_batches / s.stages) - std::min(2.0, h);
  const double pairs = (m - h - 2.0) * x.pair + alone * std::max(x.there, x.back);
  return pairs +
         std::max({Chain{3.0 * h, h + 2.0, h + 2.0, h}.length(x), Chain{3.0 * h, p + 1.0, 3.0, 1.5 * h - 0.5}.length(x),
                   Chain{p, 3.0 * h, 3.0, 2.0 * h - 1.0}.length(x)});
}

double closed_form(const PipelineShape& s, const Lengths& x) noexcept {
  if (s.stages == 1) {
    return real(s.micro_batches) * s.chunks * x.both();
  }
  switch (s.schedule) {
    case Schedule::gpipe: return gpipe(s, x);
    case Schedule::zb_h1: return zb_h1(s, x);
    case Schedule::zb_h2: return zb_h2(s, x);
    case Schedule::zb_v: return zb_v(s, x);
    case Schedule::dualpipe: return dualpipe(s, x);
    case Schedule::one_f_one_b: break;
  }
  return s.chunks > 1 ? interleaved(s, x) : one_f_one_b(s, x);
}

}  // namespace

ScheduleRule broken_rule(const PipelineShape& s) noexcept {
  if (s.stages < 1 || s.chunks < 1 || s.micro_batches < 1) {
    return ScheduleRule::counts_positive;
  }
  if (s.schedule != Schedule::one_f_one_b && s.chunks != (s.schedule == Schedule::zb_v ? 2 : 1)) {
    return ScheduleRule::chunks_fixed;
  }
  if (s.schedule != Schedule::dualpipe) {
    return ScheduleRule::none;
  }
  if (s.stages % 2 != 0) {
    return ScheduleRule::stages_even;
  }
  if (s.micro_batches % 2 != 0) {
    return ScheduleRule::micro_batches_even;
  }
  return s.micro_batches < 2 * s.stages ? ScheduleRule::micro_batches_twice_stages : ScheduleRule::none;
}

Seconds pipeline_time(const PipelineShape& s, const StageCosts& stage) noexcept {
  assert(broken_rule(s) == ScheduleRule::none);
  Lengths lengths{stage};
  if (!s.blocking_sends || s.stages == 1) {
    return Seconds{closed_form(s, lengths)};
  }
  const double ends = lengths.sends();  // the ends of the pipeline send one way
  lengths.keep_sends_inside();
  return Seconds{closed_form(s, lengths) - ends};
}

}  // namespace headroom
