// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/traffic/trace_curve.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headroom {
namespace {

/// Weighted sums over requests or classes.
struct LengthSums {
  double weight = 0.0, prompt = 0.0, output = 0.0, computed = 0.0;
  std::int64_t longest = 2, longest_prompt = 1;
  void add(double of, double in, double out, double cached, std::int64_t most_in, std::int64_t most_out) noexcept {
    weight += of;
    prompt += of * in;
    output += of * out;
    computed += of * std::max(1.0, in - cached);
    longest = std::max(longest, most_in + most_out);
    longest_prompt = std::max(longest_prompt, most_in);
  }
  [[nodiscard]] ServingTraffic::Lengths mean() const noexcept {
    return weight > 0.0
               ? ServingTraffic::Lengths{prompt / weight, output / weight, computed / weight, longest, longest_prompt}
               : ServingTraffic::Lengths{};
  }
};

/// Length exceeded by one request in ten thousand; for a fixed law the length itself.
std::int64_t long_draw(const LengthLaw& law) noexcept {
  double most = law.mean;
  switch (law.shape) {
    case LengthShape::fixed: break;
    case LengthShape::uniform: most = (2.0 - law.low) * law.mean; break;
    case LengthShape::exponential: most = -law.mean * std::log(1e-4); break;
    case LengthShape::lognormal: {
      const double sigma2 = std::log1p(law.cv * law.cv);
      most = law.mean * std::exp(3.719 * std::sqrt(sigma2) - 0.5 * sigma2);  // 3.719: the normal's 1 - 1e-4 quantile
      break;
    }
  }
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(most)), 1, law.most);
}

/// The same of the sum of so many lengths, whose deviation grows as their root.
std::int64_t long_turns(const LengthLaw& law, std::int64_t turns) noexcept {
  const double over = real(long_draw(law)) - law.mean;
  return turns == 1 ? long_draw(law)
                    : static_cast<std::int64_t>(std::ceil(real(turns) * law.mean + std::sqrt(real(turns)) * over));
}

constexpr std::int64_t fewest = 2;

/// Drops requests that arrive after 1.5 longest_load, when hardly any simulated time is left to answer them.
RequestLoad in_time(RequestLoad load) {
  const Picoseconds end = picoseconds((1.5 * ServingTraffic::longest_load).raw());
  const auto late = std::find_if(load.requests.begin(), load.requests.end(),
                                 [&](const Request& request) { return request.arrival > end; });
  const auto come = std::max<std::int64_t>(late - load.requests.begin(), fewest);
  if (come < static_cast<std::int64_t>(load.requests.size())) {
    load.keep(static_cast<std::size_t>(come));
  }
  for (Request& request : load.requests) {
    request.arrival = std::min(request.arrival, end);
  }
  return load;
}

}  // namespace

double whole_prompt(const TrafficClass& traffic) noexcept {
  return 0.5 * (real(traffic.turns) - 1.0) * (traffic.prompt.mean + traffic.output.mean) + traffic.prompt.mean;
}

double most_cached(const TrafficClass& traffic, bool answers_kept) noexcept {
  const SharedPrefixes& shared = traffic.prefixes;
  if (traffic.turns > 1) {
    TrafficClass first = traffic;
    first.turns = 1;
    // All before the turn but the last token of the answer, which is never computed, or but the whole answer where
    // prompts are computed apart; the first turn its group's.
    const double n = real(traffic.turns);
    const double missing = answers_kept ? 1.0 : traffic.output.mean;
    return whole_prompt(traffic) - traffic.prompt.mean - missing * (n - 1.0) / n + most_cached(first) / n;
  }
  if (shared.groups == 0) {
    return traffic.cached_share * traffic.prompt.mean;
  }
  // E[min(t, p)] <= min(t, E[p]).
  const std::int64_t whole = shared.tokens / SharedPrefixes::id_tokens * SharedPrefixes::id_tokens;
  return shared.share * std::min(real(whole), traffic.prompt.mean);
}

std::string backoff_text(const RetryLoad& load) {
  return std::isinf(load.backoff.raw()) ? "ever longer"
         : load.backoff > common_year   ? "over a year"
                                        : format(load.backoff);
}

bool ServingTraffic::shares_prefixes() const noexcept {
  const bool classes_share =
      std::any_of(classes.begin(), classes.end(), [](const RequestClass& c) { return c.traffic.prefixes.groups > 0; });
  return prefix_caching && (traced ? !traced->trace.prefixes.empty() : classes_share || has_turns());
}

bool ServingTraffic::has_turns() const noexcept {
  return !traced &&
         std::any_of(classes.begin(), classes.end(), [](const RequestClass& c) { return c.traffic.turns > 1; });
}

bool ServingTraffic::shares_in_sessions() const noexcept {
  return has_turns() && std::none_of(classes.begin(), classes.end(),
                                     [](const RequestClass& c) { return c.traffic.prefixes.groups > 0; });
}

Hertz ServingTraffic::rate() const noexcept {
  if (traced) {
    return traced->rate;
  }
  Hertz all{0.0};
  for (const RequestClass& c : classes) {
    all = all + c.traffic.arrivals.rate;
  }
  return all;
}

std::int64_t ServingTraffic::usual_requests(Hertz rate) noexcept {
  constexpr double minutes = 300.0;
  return std::clamp<std::int64_t>(std::llround(std::min(1e9, minutes * rate.raw())), 20'000, 200'000);
}

ServingTraffic ServingTraffic::part(double share) const {
  ServingTraffic less = *this;
  for (RequestClass& c : less.classes) {
    c.traffic.arrivals.rate = share * c.traffic.arrivals.rate;
  }
  if (traced) {
    auto scaled = std::make_shared<TracedTraffic>(*traced);
    scaled->rate = share * scaled->rate;
    less.traced = std::move(scaled);
  }
  less.requests = requests_stated ? requests : usual_requests(less.rate());
  return less;
}

RetryLoad ServingTraffic::retried(Hertz capacity, double factor) const noexcept {
  return retry_load(factor / retries->attempts * rate(), retries->failure, capacity, retries->policy);
}

ServingTraffic ServingTraffic::of_model(std::size_t model) const {
  ServingTraffic one = *this;
  std::erase_if(one.classes, [&](const RequestClass& c) { return c.model != model; });
  for (RequestClass& c : one.classes) {
    c.model = 0;
  }
  if (one.day) {
    for (RateCurve::Point& point : one.day->points) {
      point.rate *= one.rate() / rate();
    }
  }
  one.requests = requests_stated ? requests : usual_requests(one.rate());
  return one;
}

ServingTraffic ServingTraffic::at_peak() const {
  ServingTraffic peak = *this;
  for (RequestClass& c : peak.classes) {
    ArrivalProcess& arrivals = c.traffic.arrivals;
    arrivals.rate = arrivals.curve.peak() * arrivals.rate;
    arrivals.curve = RateCurve{};
  }
  if (traced && traced->bins > 0 && day) {
    auto level = std::make_shared<TracedTraffic>(*traced);
    level->trace.requests = at_one_rate(std::move(level->trace.requests), traced->bins);
    level->rate = day->peak();
    level->bins = 0;
    peak.traced = std::move(level);
  }
  peak.requests = requests_stated ? requests : usual_requests(peak.rate());
  return peak;
}

ServingTraffic::Lengths ServingTraffic::lengths() const noexcept {
  LengthSums sums;
  if (traced) {
    for (const Request& r : traced->trace.requests) {
      sums.add(1.0, r.prompt_tokens, r.output_tokens, prefix_caching ? r.cached_tokens : 0, r.prompt_tokens,
               r.output_tokens);
    }
    return sums.mean();
  }
  for (const RequestClass& c : classes) {
    const std::int64_t long_answer = long_turns(c.traffic.output, c.traffic.turns);
    const std::int64_t before = c.traffic.turns > 1 ? long_turns(c.traffic.output, c.traffic.turns - 1) : 0;
    sums.add(c.traffic.arrivals.rate.raw(), whole_prompt(c.traffic), c.traffic.output.mean,
             prefix_caching ? most_cached(c.traffic) : 0.0, long_turns(c.traffic.prompt, c.traffic.turns) + before,
             long_answer - before);
  }
  return sums.mean();
}

std::int64_t ServingTraffic::count(double factor) const noexcept {
  const double come = longest_load * (factor * rate());
  return come < real(requests) ? static_cast<std::int64_t>(come) : requests;
}

std::string ServingTraffic::too_few(double factor) const {
  // With this many, enough arrive in time; there is no need to draw them.
  constexpr std::int64_t plenty = 100 * least_requests;
  std::int64_t come = count(factor);
  if (come < plenty) {
    come = std::min(come, static_cast<std::int64_t>(load(factor).requests.size()));
  }
  if (come >= least_requests) {
    return {};
  }
  return "a rate of " + format_number((factor * rate()).raw()) + " req/s brings " + std::to_string(come) +
         " requests in 60 days, fewer than the " + std::to_string(least_requests) +
         " that it takes to speak of tails; raise the rate, or ask what a request alone takes: a fixed load of "
         "serving.concurrency = 1 instead of [traffic]";
}

std::string ServingTraffic::cut_short(double factor) const {
  const std::int64_t come = count(factor);
  return come < requests ? "traffic.requests: " + format_count(real(come)) + " instead of " +
                               format_count(real(requests)) + ", all that come in 60 days at " +
                               format_number((factor * rate()).raw()) + " req/s; no more are simulated"
                         : std::string{};
}

RequestLoad ServingTraffic::load(double factor, std::span<const Seconds> paces) const {
  const std::int64_t count = std::max(fewest, this->count(factor));
  if (traced) {
    const auto size = static_cast<std::int64_t>(traced->trace.requests.size());
    const std::int64_t times = std::max<std::int64_t>(1, (count + size - 1) / size);
    RequestLoad load = trace_load(traced->trace.requests, factor * traced->rate, times);
    load.requests.resize(std::min(load.requests.size(), static_cast<std::size_t>(count)));
    if (shares_prefixes()) {
      load.prefixes = traced->trace.prefixes.repeated(times, load.requests.size());
    }
    if (shares_prefixes() || !prefix_caching) {
      for (Request& request : load.requests) {
        request.cached_tokens = 0;
      }
    }
    return in_time(std::move(load));
  }
  return in_time(as_cached(open_load(asked(factor, paces), count, seed)));
}

RequestLoad ServingTraffic::closed(std::int64_t count, std::int64_t clients) const {
  if (has_turns()) {
    return as_cached(whole_sessions(asked(1.0), count, seed, clients));
  }
  ServingTraffic some = *this;
  some.requests = count;
  return some.load();
}

std::vector<TrafficClass> ServingTraffic::asked(double factor, std::span<const Seconds> paces) const {
  std::vector<TrafficClass> traffic;
  traffic.reserve(classes.size());
  for (const RequestClass& c : classes) {
    traffic.push_back(c.traffic);
    traffic.back().arrivals.rate = factor * traffic.back().arrivals.rate;
    traffic.back().token = c.model < paces.size() ? paces[c.model] : usual_token;
    if (!prefix_caching) {
      traffic.back().cached_share = 0.0;
      traffic.back().prefixes = {};
    }
  }
  return traffic;
}

RequestLoad ServingTraffic::as_cached(RequestLoad load) const {
  if (!prefix_caching) {
    load.prefixes = {};
  }
  return load;
}

}  // namespace headroom
