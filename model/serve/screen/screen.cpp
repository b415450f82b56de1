// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/serve/screen/backlog_chain.hpp>
#include <headroom/model/serve/screen/screen.hpp>
#include <headroom/model/serve/screen/screen_engine.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>

namespace headroom {
namespace {

/// A pool of equal engines, and how requests are distributed among them.
struct Pool {
  ScreenEngine engine;
  double engines = 1.0;
  RequestRouting routing = RequestRouting::least_outstanding;
  [[nodiscard]] bool balances() const noexcept {
    return routing != RequestRouting::random && routing != RequestRouting::round_robin;
  }
};

/// The state of a pool at a rate. Times are in seconds.
struct PoolState {
  double batch = 0.0;      ///< mean number of decodes
  double iteration = 0.0;  ///< time between two tokens of a decoding sequence
  double stall = 0.0;      ///< share of the time that prompts take from decodes
  double busy = 0.0;
  double own = 0.0;  ///< iteration in which a prompt ends
  double wait_share = 0.0, wait = 0.0;
  double longest = std::numeric_limits<double>::infinity();  ///< longest iteration of decodes
  double elasticity = 0.0;  ///< relative change of an iteration's length per relative change of the decodes
};

EngineSettings lane_of(const ReplicaPool& pool) noexcept {
  EngineSettings settings = pool.engine;
  settings.max_num_seqs = std::max<std::int64_t>(settings.max_num_seqs / pool.lanes, 1);
  settings.blocks /= pool.lanes;
  return settings;
}

Pool pool_of(const ReplicaPool& pool, EngineRole role, const ScreenTraffic& traffic, RequestRouting routing) noexcept {
  const EngineWork work{traffic.prompt, traffic.output, traffic.cached_share};
  return {ScreenEngine{*pool.tables, lane_of(pool), role, work}, real(pool.replicas * pool.lanes), routing};
}

/// Regularised lower incomplete gamma function, by its series (Abramowitz and Stegun 1964, 6.5.29).
double gamma_share(double a, double x) noexcept {
  double term = std::exp(a * std::log(x) - x - std::lgamma(a + 1.0));
  double sum = term;
  for (int j = 1; j < 200 && term > 1e-6 * sum; ++j) {
    term *= x / (a + j);
    sum += term;
  }
  return sum;
}

/// Variance over mean of the arrivals within a window of `mean` arrivals, for gamma gaps with squared cv `cv2`: 1 + 2
/// mean(m(u) - u), with m the renewal function (Cox 1962, section 4.5). It goes from 1 to cv^2 as the window grows.
double window_dispersion(double cv2, double mean) noexcept {
  if (std::abs(cv2 - 1.0) < 1e-6) {
    return 1.0;
  }
  const double shape = 1.0 / std::max(cv2, 0.05);
  const double end = 0.5 * (1.0 / shape - 1.0);
  constexpr std::array<double, 3> at{0.112701665, 0.5, 0.887298335};  // Gauss-Legendre nodes
  constexpr std::array<double, 3> weight{5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0};
  double sum = 0.0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double u = at[i] * mean;
    if (u > 6.0 * std::max(cv2, 0.3)) {
      sum += weight[i] * end;
      continue;
    }
    double renewals = 0.0;
    for (int n = 1; n < 64; ++n) {
      const double share = gamma_share(n * shape, shape * u);
      renewals += share;
      if (share < 1e-4) {
        break;
      }
    }
    sum += weight[i] * (renewals - u);
  }
  return std::max(1.0 + 2.0 * sum, 0.05);
}

/// Variance over mean of the arrivals at one engine within `window` seconds. Random selection turns a stream of
/// dispersion z into 1 + (z - 1) / n; selection in turn sums n gaps. Selection of the fewest requests is also in turn,
/// except for the departures that decide whose turn it is, which are as clustered as the prompts before them.
double arrival_dispersion(const Pool& pool, const ScreenTraffic& traffic, double window, double batch) noexcept {
  const double cv2 = traffic.arrival_cv * traffic.arrival_cv;
  const double n = pool.engines;
  const double arrivals = traffic.rate.raw() * window;
  switch (pool.routing) {
    case RequestRouting::random: return 1.0 + (window_dispersion(cv2, arrivals) - 1.0) / n;
    case RequestRouting::round_robin: return window_dispersion(cv2 / n, arrivals / n);
    case RequestRouting::least_outstanding:
    case RequestRouting::shared_queue:
    case RequestRouting::prefix: break;  // assumes that prefixes do not draw requests away from the idlest engine
  }
  const double cv2_out = traffic.output.cv * traffic.output.cv;
  const double turn = batch / ((1.0 + 2.0 * cv2_out) * (batch + 4.0));
  return window_dispersion(cv2, arrivals) / n + turn * (1.0 - 1.0 / n);
}

/// Variance over mean of the decoding sequences on one engine: 1 + (z - 1) g for infinitely many servers, with g the
/// integral of (1 - G)^2 over the mean (Eckberg 1983; Whitt 1984), 1 for equal and 1/2 for exponential lengths; divided
/// by 1 - e if service slows with elasticity e in the sequences (the birth and death process with those rates, normal
/// around its mode: Kelly 1979, section 3.3).
double batch_dispersion(const Pool& pool, const ScreenTraffic& traffic, double elasticity) noexcept {
  const double cv2 = traffic.output.cv * traffic.output.cv;
  const double g = 1.0 / (1.0 + cv2);
  double z = traffic.arrival_cv * traffic.arrival_cv;
  z = pool.routing == RequestRouting::random ? 1.0 + (z - 1.0) / pool.engines
                                             : (pool.routing == RequestRouting::round_robin ? z / pool.engines : z);
  const double peaked = std::max(1.0 + (z - 1.0) * g, 0.05);
  return peaked / std::max(1.0 - elasticity, 0.1) / (pool.balances() ? pool.engines : 1.0);
}

/// Probability that all m places are taken, u^(sqrt(2 (m + 1)) - 1) with u their mean share in use (Sakasegawa 1977;
/// exact for m = 1), with the exponent adjusted for the load's peakedness; and the mean wait of those who wait, (ca^2 +
/// cs^2) / 2 / (saturation - rate) (Allen and Cunneen; Kingman 1962 as the load nears 1).
void wait_for_places(const Pool& pool, const ScreenTraffic& traffic, double rate, double saturation, PoolState& s) {
  const double pooled = pool.balances() ? pool.engines : 1.0;
  const double taken = std::min(s.batch / pool.engine.most(), 1.0);
  const double peaked = std::max(batch_dispersion(pool, traffic, 0.0) * pooled, 0.1);
  const double exponent = (std::sqrt(2.0 * (pool.engine.most() * pooled + 1.0)) - 1.0) / std::sqrt(peaked);
  s.wait_share = std::pow(taken, exponent);
  const double cs2 = traffic.output.cv * traffic.output.cv;
  const double ca2 = traffic.arrival_cv * traffic.arrival_cv;
  s.wait = 0.5 * (ca2 + cs2) / ((saturation - rate) * pooled);
}

/// Fixed point batch = rate x steps x iteration, by bisection: below saturation the right side grows more slowly.
double steady_batch(const ScreenEngine& engine, double rate) noexcept {
  double low = 0.0;
  double high = engine.most();
  for (int i = 0; i < 24 && high - low > 1e-3 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (rate * engine.steps() * engine.mean_iteration(middle, rate) > middle ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

void add_elasticity(const ScreenEngine& engine, double rate, PoolState& s) noexcept {
  const double by = std::max(1.0, 0.1 * s.batch);
  const double here = engine.mean_iteration(s.batch, rate);
  s.elasticity = std::clamp(s.batch * (engine.mean_iteration(s.batch + by, rate) - here) / (by * here), 0.0, 0.95);
}

/// Prompts and decodes of one engine at `rate` requests/s; `first` receives the times from arrival to first token.
PoolState serve(const Pool& pool, const ScreenTraffic& traffic, double rate, TimeDistribution& first) noexcept {
  const ScreenEngine& engine = pool.engine;
  PoolState s;
  PromptStream stream;
  stream.rate = rate;
  stream.tokens = engine.prompt();
  stream.strata = engine.prompt_strata();
  stream.one_by_one = engine.most() < 2.0;
  if (engine.decodes()) {
    s.batch = steady_batch(engine, rate);
  }
  s.iteration = engine.decodes() ? engine.mean_iteration(s.batch, rate) : engine.prompt_time(0.0, stream.tokens.mean);
  for (int round = 0;; ++round) {
    // A burst matters during the previous iteration, the running one, and as long as its backlog lasts.
    const double alone = engine.decodes() ? engine.decode_time(s.batch) : s.iteration;
    stream.dispersion =
        arrival_dispersion(pool, traffic, 2.0 * s.iteration + s.iteration * s.iteration / alone, s.batch);
    // Number of decodes, given that there are any; with none the engine idles.
    stream.idle = std::exp(-s.batch);
    const double present = engine.decodes() ? std::max(1.0, s.batch / std::max(1.0 - stream.idle, 1e-9)) : 0.0;
    const IterationCurve curve = engine.curve(present);
    const BacklogChain chain{curve, stream};
    const double each = engine.prompts_alone() ? chain.mean_iteration() / std::max(chain.without_prompts(), 1e-9)
                                               : chain.mean_iteration();
    const double batch = rate * engine.steps() * each;
    const bool settled = std::abs(batch - s.batch) <= 0.05 * batch + 1e-3;
    if (settled || round == 2) {
      s.batch = std::min(batch, engine.most());
      s.iteration = each;
      s.busy = chain.busy();
      s.stall = std::clamp(1.0 - curve.alone() / each, 0.0, 0.99);
      s.own = chain.first_tokens(first);
      if (!engine.prompts_alone()) {
        s.longest = std::max(curve(curve.most()), curve.alone());
      }
      return s;
    }
    s.batch = std::min(batch, engine.most());
  }
}

/// A pool of decodes alone, which receives prompts from a prefill pool.
PoolState serve_decodes(const ScreenEngine& engine, double rate) noexcept {
  PoolState s;
  s.batch = steady_batch(engine, rate);
  s.busy = 1.0 - std::exp(-s.batch);
  s.iteration = engine.decode_time(std::max(1.0, s.batch / std::max(s.busy, 1e-9)));
  s.own = s.iteration;
  return s;
}

/// Squared coefficient of variation of the time that a prompt adds to decodes.
double stall_cv2(const ScreenEngine& engine, double decodes) noexcept {
  const double alone = engine.prompts_alone() ? 0.0 : engine.decode_time(decodes);
  double sum = 0.0;
  double square = 0.0;
  for (std::size_t i = 0; i < strata_count; ++i) {
    const double more = std::max(engine.prompt_time(decodes, engine.prompt_strata()[i]) - alone, 0.0);
    sum += stratum_weight(i) * more;
    square += stratum_weight(i) * more * more;
  }
  return sum > 0.0 ? std::max(square / (sum * sum) - 1.0, 0.0) : 0.0;
}

/// Mean and variance of the time from the first token to the last.
struct DecodeLaw {
  double mean = 0.0, variance = 0.0;
};

/// Decode times as a function of the number of iterations n:
/// @code
/// mean     = n T / (1 - r) + r (1 - r^n) / (1 - r) (T_own - T)   what arrived beside one's own prompt comes first
/// variance = n T rate E[s^2] z / (1 - r)^3                       a busy period that starts with work n T
///          + (dT/db)^2 n^2 var b f(n T / relaxation)             a batch that drifts: f(x) = 2 (x - 1 + e^-x) / x^2
/// @endcode
/// The busy period is interrupted by prompts of s each (Conway, Maxwell and Miller 1967, section 8-3; Kleinrock 1975,
/// section 5.8).
class DecodeTimes {
 public:
  DecodeTimes(const Pool& pool, const ScreenTraffic& traffic, double rate, const PoolState& s) noexcept {
    // If requests go to the engine with the fewest, a request's own presence keeps one prompt away.
    const double away = pool.balances() ? (1.0 - 1.0 / pool.engines) / (1.0 + s.batch) : 0.0;
    const double decode = s.iteration * (1.0 - s.stall);
    const double r = s.stall * s.busy * (1.0 - away);  // a request that comes to an idle engine stalls nobody
    iteration_ = decode / (1.0 - r);
    longest_ = s.longest;
    fades_ = pool.engine.prompts_alone() ? 0.0 : r;
    after_own_ = r / (1.0 - r) * std::max(s.own - (pool.engine.prompts_alone() ? 0.0 : decode), 0.0);
    if (r > 0.0 && pool.engine.prefills()) {
      const double each = r / rate;
      const double square = each * each * (1.0 + stall_cv2(pool.engine, s.batch));
      const double z = arrival_dispersion(pool, traffic, s.iteration * pool.engine.steps(), s.batch);
      stalls_ = decode * rate * square * z / ((1.0 - r) * (1.0 - r) * (1.0 - r));
    }
    const double slope = s.batch > 0.0 ? s.elasticity * s.iteration / s.batch : 0.0;
    drift_ = slope * slope * s.batch * batch_dispersion(pool, traffic, s.elasticity);
    relaxation_ = pool.engine.steps() / std::max(1.0 - s.elasticity, 0.1);
  }
  /// No iteration is longer than one full of prompts; if prompts run alone, any number may come between.
  [[nodiscard]] double most(double steps) const noexcept { return steps * longest_; }
  [[nodiscard]] DecodeLaw law(double steps) const noexcept {
    const double x = std::max(steps / std::max(relaxation_, 1e-9), 1e-3);
    const double f = 2.0 * (x - 1.0 + std::exp(-x)) / (x * x);
    return {steps * iteration_ + after_own_ * (1.0 - std::pow(fades_, steps)),
            steps * stalls_ + drift_ * steps * steps * f};
  }

 private:
  double iteration_ = 0.0, after_own_ = 0.0, fades_ = 0.0, longest_ = 0.0, stalls_ = 0.0, drift_ = 0.0,
         relaxation_ = 1.0;
};

/// Strata of a lognormal law with this mean and variance.
Strata strata_of(const DecodeLaw& law) noexcept {
  return lognormal_strata({law.mean, std::sqrt(std::max(law.variance, 0.0)) / law.mean});
}

/// `handed`: seconds from the first token to the first decode.
void add_decodes(const Pool& pool,
                 const ScreenTraffic& traffic,
                 const DecodeTimes& times,
                 double handed,
                 ServingScreen& out) noexcept {
  const Strata outputs = lognormal_strata(traffic.output);
  const double each = pool.engine.steps() / std::max(traffic.output.mean - 1.0, 1e-9);
  const Strata first = out.ttft.strata();
  for (std::size_t i = 0; i < strata_count; ++i) {
    const double tokens = outputs[i] - 1.0;
    const double weight = stratum_weight(i);
    if (tokens < 0.5) {
      for (std::size_t j = 0; j < strata_count; ++j) {
        out.e2e.add(first[j], weight * stratum_weight(j));
      }
      continue;
    }
    const DecodeLaw law = times.law(std::max(1.0, tokens * each));
    Strata spread = strata_of(law);
    for (double& one : spread) {
      one = std::min(one, times.most(std::max(1.0, tokens * each)));
    }
    for (std::size_t j = 0; j < strata_count; ++j) {
      out.tpot.add((spread[j] + handed) / tokens, weight * stratum_weight(j));
      for (std::size_t k = 0; k < strata_count; ++k) {
        out.e2e.add(first[k] + spread[j] + handed, weight * stratum_weight(j) * stratum_weight(k));
      }
    }
  }
}

PoolScreen report(const Pool& pool, double rate, const PoolState& s) noexcept {
  PoolScreen out;
  out.saturation = Hertz{pool.engines * pool.engine.saturation()};
  out.utilisation = rate * pool.engines / out.saturation.raw();
  out.busy = s.busy;
  out.batch = s.batch;
  out.most = pool.engine.most();
  out.iteration = Seconds{s.iteration};
  out.wait_share = s.wait_share;
  out.wait = Seconds{s.wait};
  return out;
}

/// Prompts alone in one queue for all engines, which starts on an idle engine if there is one. The share that waits is
/// Erlang C (Kleinrock 1975, equation 3.40), the wait that of Allen and Cunneen.
PoolState one_queue(const Pool& pool, const ScreenTraffic& traffic, double rate, TimeDistribution& first) noexcept {
  const ScreenEngine& engine = pool.engine;
  const IterationCurve curve = engine.curve(0.0);
  PoolState s;
  s.busy = rate / engine.saturation();
  double second = 0.0;
  for (std::size_t i = 0; i < strata_count; ++i) {
    const double tokens = engine.prompt_strata()[i];
    const double full = std::max(std::ceil(tokens / curve.most() - 1e-9) - 1.0, 0.0);
    const double time = full * curve(curve.most()) + curve(tokens - full * curve.most());
    first.add(time, stratum_weight(i));
    s.own += stratum_weight(i) * time;
    second += stratum_weight(i) * time * time;
  }
  s.iteration = s.own;
  const double load = s.busy * pool.engines;
  double blocked = 1.0;  // Erlang B, by its recursion
  for (std::int64_t k = 1; real(k) <= pool.engines; ++k) {
    blocked = load * blocked / (real(k) + load * blocked);
  }
  s.wait_share = blocked / (1.0 - s.busy * (1.0 - blocked));
  const double variation = second / (s.own * s.own) - 1.0 + traffic.arrival_cv * traffic.arrival_cv;
  s.wait = 0.5 * variation / (pool.engines * (engine.saturation() - rate));
  first.delay(s.wait_share, s.wait);
  return s;
}

/// The state of a pool of both phases, or of decodes alone, including its waits.
PoolState steady(const Pool& pool, const ScreenTraffic& traffic, double rate, TimeDistribution& first) noexcept {
  if (!pool.engine.decodes() && pool.balances() && pool.engines > 1.0) {
    // Fewest outstanding lies between one queue and separate queues: half way for two engines, near one queue for many.
    TimeDistribution together;
    TimeDistribution apart;
    PoolState s = one_queue(pool, traffic, rate, together);
    serve(pool, traffic, rate, apart);
    first.add(together, 1.0 - 1.0 / pool.engines);
    first.add(apart, 1.0 / pool.engines);
    return s;
  }
  PoolState s = pool.engine.prefills() ? serve(pool, traffic, rate, first) : serve_decodes(pool.engine, rate);
  if (pool.engine.decodes()) {
    add_elasticity(pool.engine, rate, s);
    wait_for_places(pool, traffic, rate, pool.engine.saturation(), s);
  }
  return s;
}

}  // namespace

ServingScreen screen(const ServingFleet& fleet, const ScreenTraffic& traffic) noexcept {
  ServingScreen out;
  const bool apart = fleet.prefill.has_value();
  const Pool pool = pool_of(fleet.pool, apart ? EngineRole::decode : EngineRole::both, traffic, fleet.routing);
  out.saturation = screened_saturation(fleet, traffic);
  out.utilisation = traffic.rate / out.saturation;
  out.overloaded = !(out.utilisation < 1.0);
  if (out.overloaded) {
    return out;
  }
  const double rate = traffic.rate.raw() / pool.engines;
  double handed = 0.0;
  if (apart) {
    const Pool prefill = pool_of(*fleet.prefill, EngineRole::prefill, traffic, fleet.routing);
    const double each = traffic.rate.raw() / prefill.engines;
    out.prefill = report(prefill, each, steady(prefill, traffic, each, out.ttft));
    handed = fleet.transfer.latency.raw();
    if (fleet.transfer.bytes_per_token.raw() > 0.0) {
      handed += traffic.prompt.mean * (fleet.transfer.bytes_per_token / fleet.transfer.rate).raw();
    }
  }
  const PoolState s = pool.engine.decodes() || !apart ? steady(pool, traffic, rate, out.ttft) : PoolState{};
  if (apart) {
    // Half of the running iteration, on average, passes before a received cache is used.
    handed += 0.5 * s.iteration * s.busy + s.wait_share * s.wait;
  } else if (pool.engine.decodes()) {
    out.ttft.delay(s.wait_share, s.wait);
  }
  out.ttft.shift(seconds_of(fleet.front_end));
  out.pool = report(pool, rate, s);
  add_decodes(pool, traffic, DecodeTimes{pool, traffic, rate, s}, handed, out);
  return out;
}

Hertz screened_saturation(const ServingFleet& fleet, const ScreenTraffic& traffic) noexcept {
  const bool apart = fleet.prefill.has_value();
  const Pool pool = pool_of(fleet.pool, apart ? EngineRole::decode : EngineRole::both, traffic, fleet.routing);
  double most =
      real(fleet.pool.replicas) * fleet.pool.front.most(apart ? 0.0 : traffic.prompt.mean, traffic.output.mean);
  if (!apart || pool.engine.decodes()) {
    most = std::min(most, pool.engines * pool.engine.saturation());
  }
  if (apart) {
    const Pool prefill = pool_of(*fleet.prefill, EngineRole::prefill, traffic, fleet.routing);
    most = std::min(most, prefill.engines * prefill.engine.saturation());
  }
  return Hertz{most};
}

namespace {

/// Sums of the moments of a mixture.
struct Mixture {
  double weight = 0.0, sum = 0.0, square = 0.0;
  void add(double w, const Moments& m) noexcept {
    weight += w;
    sum += w * m.mean;
    square += w * m.second();
  }
  [[nodiscard]] Moments moments() const noexcept {
    const double mean = sum / weight;
    return {mean, std::sqrt(std::max(square / weight / (mean * mean) - 1.0, 0.0))};
  }
};

Moments moments_of(const LengthLaw& law) noexcept {
  switch (law.shape) {
    case LengthShape::fixed: break;
    case LengthShape::uniform: return {law.mean, (1.0 - law.low) / std::numbers::sqrt3};
    case LengthShape::lognormal: return {law.mean, law.cv};
    case LengthShape::exponential: return {law.mean, 1.0};
  }
  return {law.mean, 0.0};
}

/// Squared coefficient of variation of the gaps.
double gap_cv2(const ArrivalProcess& process) noexcept {
  switch (process.gaps) {
    case GapShape::poisson: break;
    case GapShape::constant: return 0.0;
    case GapShape::gamma: return process.cv * process.cv;
    case GapShape::weibull: {
      const double first = std::tgamma(1.0 + 1.0 / process.shape);
      return std::tgamma(1.0 + 2.0 / process.shape) / (first * first) - 1.0;
    }
  }
  return 1.0;
}

}  // namespace

ScreenTraffic screen_traffic(std::span<const TrafficClass> classes) {
  ScreenTraffic out;
  Mixture prompts;
  Mixture outputs;
  double rate = 0.0;
  double dispersion = 0.0;
  double cached = 0.0;
  for (const TrafficClass& one : classes) {
    const double r = one.arrivals.rate.raw();
    Mixture prompt;
    Mixture output;
    double hit = one.cached_share;
    if (one.lengths.empty()) {
      prompt.add(1.0, moments_of(one.prompt));
      output.add(1.0, moments_of(one.output));
    } else {
      double found = 0.0;
      for (const Request& request : one.lengths) {
        prompt.add(1.0, {real(request.prompt_tokens), 0.0});
        output.add(1.0, {real(request.output_tokens), 0.0});
        found += real(request.cached_tokens);
      }
      hit = hit > 0.0 ? hit : found / prompt.sum;
    }
    prompts.add(r, prompt.moments());
    outputs.add(r, output.moments());
    cached += r * hit * prompt.moments().mean;
    rate += r;
    dispersion += r * gap_cv2(one.arrivals);
  }
  out.rate = Hertz{rate};
  out.prompt = prompts.moments();
  out.output = outputs.moments();
  out.cached_share = cached / prompts.sum;
  // Variances and means of the counts of independent streams add.
  out.arrival_cv = std::sqrt(dispersion / rate);
  return out;
}

}  // namespace headroom
