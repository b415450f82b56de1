// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/scenarios/inference/batch_parts.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace headroom {
namespace {

/// Windows that are tried where the scenario leaves it open: none, and what serving systems use.
constexpr std::array<double, 8> tried_windows{0.0, 0.001, 0.002, 0.005, 0.010, 0.020, 0.050, 0.100};
constexpr std::int64_t most_gpus = 1'000'000;
/// Simulated while candidates are told apart; the one taken is simulated with what the scenario asks.
constexpr std::int64_t sketched_requests = 40'000;
constexpr std::uint64_t tried_phases = 20;

/// Whether anything has to hold.
[[nodiscard]] bool promises(const BatchScenario& s) {
  return !s.promises.empty() || std::any_of(s.requests->classes.begin(), s.requests->classes.end(),
                                            [](const BatchClass& each) { return each.deadline > Seconds{}; });
}
/// The latest that some request may be answered within a promise or a deadline; infinite without any.
[[nodiscard]] Seconds latest_promised(const BatchScenario& s) {
  Seconds latest{std::numeric_limits<double>::infinity()};
  for (const BatchPromise& promise : s.promises) {
    latest = std::min(latest, promise.latency);
  }
  for (const BatchClass& each : s.requests->classes) {
    if (each.deadline > Seconds{}) {
      latest = std::min(latest, each.deadline);
    }
  }
  return latest;
}

/// Times of the curve at a point of its distribution: `factor` times all of them.
[[nodiscard]] CallCurve scaled(const CallCurve& curve, std::int64_t largest, double factor) {
  std::vector<Seconds> times;
  times.reserve(static_cast<std::size_t>(largest));
  for (std::int64_t b = 1; b <= largest; ++b) {
    times.push_back(factor * curve.of(b));
  }
  return CallCurve{std::move(times)};
}

[[nodiscard]] Seconds seconds(Picoseconds time) noexcept {
  return Seconds{static_cast<double>(time.count()) * 1e-12};
}

struct Setting {
  std::int64_t max_batch = 1;
  Seconds window{};
};

/// One GPU's share of the load under a setting.
class GpuLoad {
 public:
  GpuLoad(const BatchScenario& s, const CallBook& book, const Surroundings& around)
      : s_{s}, book_{book}, around_{around} {}

  /// Requests a second of a GPU that calls nothing but full batches, or of what feeds it.
  [[nodiscard]] double capacity(std::int64_t batch, double factor) const noexcept {
    return std::min(around_.fed, real(batch) / (factor * book_.curve.of(batch).raw()));
  }

  [[nodiscard]] BatchingOutcome run(const Setting& set, double rate, double factor, std::int64_t requests) const {
    std::vector<QueuedClass> classes;
    const BatchRequests& asked = *s_.requests;
    for (const BatchClass& each : asked.classes) {
      const double part = asked.rate > 0.0 ? each.rate / asked.rate : 1.0;
      classes.push_back({rate * part, asked.periodic, deadline_of(each), each.rejects});
    }
    const CallCurve curve = scaled(book_.curve, set.max_batch, factor);
    BatchingRule rule{set.max_batch, {}, set.window, s_.instances, true};
    for (const std::int64_t preferred : s_.preferred) {
      if (preferred <= set.max_batch) {
        rule.preferred.push_back(preferred);
      }
    }
    if (!asked.periodic || classes.size() == 1) {
      return simulate_batching(curve, rule, classes, requests, asked.seed, s_.spread);
    }
    // Clocks that nobody sets stand in any phase to each other: many of them together.
    BatchingOutcome all;
    for (std::uint64_t phase = 0; phase < tried_phases; ++phase) {
      const BatchingOutcome one =
          simulate_batching(curve, rule, classes, requests / tried_phases, asked.seed + 7'919 * phase, s_.spread);
      if (phase == 0) {
        all = one;
      } else {
        all.add(one);
      }
    }
    return all;
  }

  /// Whether the simulated tails keep every promise and no class with a deadline of its own misses more than one in a
  /// hundred.
  [[nodiscard]] bool keeps(const BatchingOutcome& outcome) const {
    FineTimeHistogram all;
    std::int64_t requests = 0, dropped = 0;
    for (const ClassOutcome& each : outcome.classes) {
      all.add(each.latency);
      requests += each.requests;
      dropped += each.dropped;
    }
    for (const BatchPromise& promise : s_.promises) {
      // Requests that were dropped are answered never.
      const double share = promise.share * real(requests) / std::max(real(requests - dropped), 1.0);
      if (share > 1.0 || around_.beside + seconds(all.quantile(share)) > promise.latency) {
        return false;
      }
    }
    for (std::size_t c = 0; c < outcome.classes.size(); ++c) {
      const ClassOutcome& each = outcome.classes[c];
      if (s_.requests->classes[c].deadline > Seconds{} && real(each.late) > most_late * real(each.requests)) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool holds(const Setting& set, double rate, double factor, std::int64_t requests) const {
    // A queue that only grows keeps no promise, whatever its first minutes do.
    return rate < capacity(set.max_batch, factor) && keeps(run(set, rate, factor, requests));
  }

  [[nodiscard]] BatchTail tail(const Setting& set, double rate, std::int64_t requests) const {
    const BatchingOutcome outcome = run(set, rate, 1.0, requests);
    BatchTail tail;
    tail.max_batch = set.max_batch;
    tail.window = set.window;
    tail.mean_batch = outcome.mean_batch();
    tail.utilisation = std::min(outcome.utilisation(1), 1.0);
    tail.batches = outcome.batches;
    FineTimeHistogram all;
    double asked = 0.0, late = 0.0, dropped = 0.0, total = 0.0;
    for (std::size_t c = 0; c < outcome.classes.size(); ++c) {
      const ClassOutcome& each = outcome.classes[c];
      all.add(each.latency);
      ClassTail told;
      told.name = s_.requests->classes[c].name;
      const double requests_seen = std::max(real(each.requests), 1.0);
      told.late = real(each.late) / requests_seen;
      told.dropped = real(each.dropped) / requests_seen;
      for (std::size_t i = 0; i < told_shares.size(); ++i) {
        told.latency[i] = around_.beside + seconds(each.latency.quantile(told_shares[i]));
      }
      asked += real(each.requests);
      total += each.seconds;
      late += real(each.late);
      dropped += real(each.dropped);
      tail.classes.push_back(std::move(told));
    }
    for (std::size_t i = 0; i < told_shares.size(); ++i) {
      tail.latency[i] = around_.beside + seconds(all.quantile(told_shares[i]));
    }
    tail.mean = around_.beside + Seconds{total / std::max(asked - dropped, 1.0)};
    tail.late = late / std::max(asked, 1.0);
    tail.dropped = dropped / std::max(asked, 1.0);
    return tail;
  }

 private:
  /// What is left of a deadline for wait and call; the least that counts as one where nothing is left.
  [[nodiscard]] Seconds deadline_of(const BatchClass& each) const noexcept {
    return each.deadline > Seconds{} ? std::max(each.deadline - around_.beside, Seconds{1e-9}) : Seconds{};
  }

  const BatchScenario& s_;
  const CallBook& book_;
  const Surroundings& around_;
};

/// Probability that the promise holds: that the calls take at most the largest factor under which it does.
[[nodiscard]] double probability_of(const GpuLoad& load, const Setting& set, double rate, double width) {
  const double sigma = lognormal_sigma(width);
  double low = -4.0, high = 4.0;  // standard deviations of the calls' time
  if (sigma <= 0.0 || load.holds(set, rate, std::exp(high * sigma), sketched_requests)) {
    return load.holds(set, rate, 1.0, sketched_requests) ? 1.0 : 0.0;
  }
  if (!load.holds(set, rate, std::exp(low * sigma), sketched_requests)) {
    return 0.0;
  }
  for (int i = 0; i < 12; ++i) {
    const double middle = 0.5 * (low + high);
    (load.holds(set, rate, std::exp(middle * sigma), sketched_requests) ? low : high) = middle;
  }
  return normal_share(low);
}

/// The fewest GPUs under which a setting holds; nothing where no number does.
[[nodiscard]] std::optional<std::int64_t> fewest_gpus(const GpuLoad& load,
                                                      const BatchScenario& s,
                                                      const Setting& set,
                                                      double factor) {
  const double peak = s.requests->rate * s.requests->peak;
  const double capacity = load.capacity(set.max_batch, factor);
  const auto holds = [&](std::int64_t gpus) { return load.holds(set, peak / real(gpus), factor, sketched_requests); };
  auto enough = static_cast<std::int64_t>(std::ceil(peak / capacity));
  enough = std::clamp<std::int64_t>(enough, 1, most_gpus);
  std::int64_t less = enough - 1;
  while (!holds(enough)) {
    if (enough >= most_gpus) {
      return std::nullopt;
    }
    // Beyond the point where each GPU idles nothing changes: the latency is that of a call and its window.
    if (peak / real(enough) < 0.01 * capacity) {
      return std::nullopt;
    }
    less = enough;
    enough = std::min(most_gpus, enough + std::max<std::int64_t>(1, enough / 4));
  }
  while (enough - less > 1) {
    const std::int64_t middle = less + (enough - less) / 2;
    (holds(middle) ? enough : less) = middle;
  }
  return enough;
}

/// The highest rate of one GPU under which a setting holds, of streams a whole number of them; 0 where none does.
[[nodiscard]] double highest_rate(const GpuLoad& load, const BatchScenario& s, const Setting& set, double factor) {
  if (s.requests->stream) {
    const double stream = *s.requests->stream;
    std::int64_t low = 0;
    auto high = static_cast<std::int64_t>(std::min(load.capacity(set.max_batch, factor) / stream, 1e6)) + 1;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (load.holds(set, stream * real(middle), factor, sketched_requests) ? low : high) = middle;
    }
    return stream * real(low);
  }
  double low = 0.0, high = load.capacity(set.max_batch, factor);
  for (int i = 0; i < 12; ++i) {
    const double middle = 0.5 * (low + high);
    (load.holds(set, middle, factor, sketched_requests) ? low : high) = middle;
  }
  return low;
}

[[nodiscard]] std::vector<std::int64_t> open_batches(const BatchScenario& s, const CallBook& book, Seconds beside) {
  if (s.max_batch) {
    return {std::min(*s.max_batch, book.curve.largest())};
  }
  std::set<std::int64_t> batches;
  const std::int64_t enough = book.curve.best(book.curve.largest());
  for (const CallPoint& point : book.points) {
    // A call alone must stay within what is promised.
    const bool slow = beside + book.curve.of(std::min(point.batch, book.curve.largest())) > latest_promised(s);
    if (point.fits && point.batch < 2 * enough && point.batch <= book.curve.largest() && (!slow || point.batch == 1)) {
      batches.insert(point.batch);
    }
  }
  return {batches.begin(), batches.end()};
}

[[nodiscard]] std::vector<Seconds> open_windows(const BatchScenario& s, Seconds beside) {
  if (s.window) {
    return {*s.window};
  }
  std::vector<Seconds> windows;
  for (const double window : tried_windows) {
    // Where nothing is promised nobody says how long a wait is worth fuller calls.
    if (window == 0.0 || (promises(s) && beside + Seconds{window} < latest_promised(s))) {
      windows.push_back(Seconds{window});
    }
  }
  return windows;
}

}  // namespace

OnlinePlan plan_requests(BatchScenario& s, const CallBook& book, const Surroundings& around) {
  const GpuLoad load{s, book, around};
  const double slow = std::exp(normal_quantile(s.confidence) * lognormal_sigma(book.width));
  bool rate_asked = false, found = true;
  if (s.requests->rate <= 0.0) {
    rate_asked = true;
    double highest = 0.0;
    for (const std::int64_t batch : open_batches(s, book, around.beside)) {
      for (const Seconds window : open_windows(s, around.beside)) {
        highest = std::max(highest, highest_rate(load, s, {batch, window}, slow));
      }
    }
    // A load that is all but none shows why nothing holds.
    s.requests->rate = std::max(highest, 1e-3) * real(*s.gpus) / s.requests->peak;
    s.requests->classes.front().rate = s.requests->rate;
    found = highest > 0.0;
  }
  const double peak = s.requests->rate * s.requests->peak;
  const std::vector<std::int64_t> batches = open_batches(s, book, around.beside);
  const std::vector<Seconds> windows = open_windows(s, around.beside);

  OnlinePlan plan;
  plan.rate_asked = rate_asked;
  plan.beside = around.beside;
  plan.peak_rate = peak;
  Setting taken{batches.back(), windows.front()};
  if (s.gpus) {
    plan.gpus = *s.gpus;
    plan.gpus_at_middle = *s.gpus;
    // The least p95 at the slow end of the interval.
    double least = std::numeric_limits<double>::infinity();
    for (const std::int64_t batch : batches) {
      const Setting set{batch, windows.front()};
      const double p95 =
          window_load(scaled(book.curve, batch, slow), {batch, {}, set.window, 1}, peak / real(plan.gpus)).p95.raw();
      if (p95 < least) {
        least = p95;
        taken = set;
      }
    }
  } else {
    std::optional<std::int64_t> fewest, middle;
    for (const std::int64_t batch : batches) {
      const Setting set{batch, windows.front()};
      const std::optional<std::int64_t> gpus = fewest_gpus(load, s, set, slow);
      // Of batches that need as few GPUs the largest: bursts find room.
      if (gpus && (!fewest || *gpus <= *fewest)) {
        fewest = gpus;
        taken = set;
      }
      const std::optional<std::int64_t> at_middle = fewest_gpus(load, s, set, 1.0);
      if (at_middle && (!middle || *at_middle < *middle)) {
        middle = at_middle;
      }
    }
    plan.holds = fewest.has_value();
    plan.gpus = fewest.value_or(std::max<std::int64_t>(
        1, static_cast<std::int64_t>(std::ceil(peak / (real(batches.back()) / book.curve.of(batches.back()).raw())))));
    plan.gpus_at_middle = middle.value_or(plan.gpus);
  }
  const double rate = peak / real(plan.gpus);
  // Of the windows that keep the promise the longest whose GPU is least busy: fewer and fuller calls draw less.
  if (!s.window) {
    double least = std::numeric_limits<double>::infinity();
    for (const Seconds window : windows) {
      const Setting set{taken.max_batch, window};
      if (!load.holds(set, rate, slow, sketched_requests)) {
        continue;
      }
      const double busy = load.tail(set, rate, sketched_requests).utilisation;
      if (busy < 0.98 * least) {
        least = busy;
        taken.window = window;
      }
    }
  }
  plan.taken = load.tail(taken, rate, s.requests->simulated);
  plan.capacity = real(plan.gpus) * load.capacity(taken.max_batch, 1.0);
  plan.holds = plan.holds && found && peak < plan.capacity;
  if (promises(s)) {
    plan.probability = probability_of(load, taken, rate, book.width);
    // Of the bisection's last step, 0.002 standard deviations.
    plan.holds = plan.holds && *plan.probability >= s.confidence - 1e-3;
  }
  for (const Seconds window : s.window ? std::vector<Seconds>{} : windows) {
    plan.windows.push_back(load.tail({taken.max_batch, window}, rate, sketched_requests));
  }
  for (const std::int64_t batch : batches) {
    plan.batches.push_back(load.tail({batch, taken.window}, rate, sketched_requests));
  }
  plan.mean_utilisation = std::min(1.0, load.tail(taken, rate / s.requests->peak, sketched_requests).utilisation);
  if (!plan.holds) {
    const Seconds alone = book.curve.of(1);
    const auto broken = std::find_if(s.promises.begin(), s.promises.end(), [&](const BatchPromise& promise) {
      return around.beside + slow * alone > promise.latency;
    });
    if (broken != s.promises.end()) {
      plan.why =
          "more GPUs will not help: a call of one sample alone takes " + format(alone) + " (up to " +
          format(slow * alone) + ")" +
          (around.beside > Seconds{} ? " beside " + format(around.beside) + " of stages, copies and network" : "") +
          ", and " + format(broken->latency) + " is promised";
    } else if (plan.capacity <= peak) {
      const bool starved = around.fed < real(taken.max_batch) / book.curve.of(taken.max_batch).raw();
      plan.why = std::to_string(plan.gpus) + (starved ? " GPUs are fed " : " GPUs call ") +
                 format_number(plan.capacity) + (starved ? " samples/s" : " samples/s in full batches") + ", and " +
                 format_number(peak) + " requests/s come at the peak";
    } else {
      for (const ClassTail& each : plan.taken.classes) {
        if (each.late > most_late) {
          plan.why += (plan.why.empty() ? "" : "; ") + std::string{"of class '"} + each.name + "' " +
                      format_number(100.0 * each.late) + " % come beyond their deadline, and " +
                      format_number(100.0 * most_late) + " % may";
        }
      }
      if (plan.why.empty()) {
        plan.why = "what is asked holds with probability " + format_number(100.0 * plan.probability.value_or(0.0)) +
                   " %, and " + format_number(100.0 * s.confidence) + " % is asked";
      }
    }
  }
  if (rate_asked && s.network && s.engine->served < 1.0) {
    plan.served = s.engine->served * peak;
  }
  if (s.requests->stream) {
    plan.streams = peak / *s.requests->stream;
  }
  if (s.money.price && found) {
    plan.price = real(plan.gpus) * *s.money.price;
    plan.per_million = cost_per_million(*plan.price, Hertz{s.requests->rate});
  }
  return plan;
}

}  // namespace headroom
