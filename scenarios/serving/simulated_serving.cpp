// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/estimate/spread.hpp>
#include <headroom/model/serve/engine/serving_confidence.hpp>
#include <headroom/model/serve/simulation/saturation.hpp>
#include <headroom/scenarios/serving/session_pace.hpp>
#include <headroom/scenarios/serving/simulated_serving.hpp>
#include <headroom/scenarios/serving/slow_end.hpp>
#include <headroom/scenarios/traffic/admission.hpp>
#include <headroom/scenarios/traffic/beside.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace headroom {
namespace {

/// Requests per place of the fleet in the run that finds the saturation rate, and the bounds of such a run.
constexpr std::int64_t saturating_requests_of_a_place = 20;
constexpr std::int64_t most_saturating_requests = 400'000;
constexpr std::int64_t most_sharing_requests = 60'000;  ///< bound when prefixes are looked up on every replica
constexpr std::int64_t sessions_of_a_client = 6;
/// Requests that wait or run at once per place, for several models.
constexpr std::int64_t saturating_clients_of_a_place = 2;

/// Of the slow end of an 80 % interval.
constexpr double end_probability = 0.9;

/// Members of a summary, for loops over all of them.
constexpr std::array summary_members{&TimeSummary::mean, &TimeSummary::p50, &TimeSummary::p90,
                                     &TimeSummary::p95,  &TimeSummary::p99, &TimeSummary::max};

TimeSummary times(double factor, TimeSummary summary) {
  for (const auto member : summary_members) {
    summary.*member = factor * summary.*member;
  }
  return summary;
}

/// Each number between what errors of queues, of `low` and `high`, and a faster and a slower fleet make of it together.
IntervalSummary between(
    const TimeSummary& mid, const TimeSummary& fast, const TimeSummary& slow, double low, double high) {
  IntervalSummary interval{mid, mid, mid};
  for (const auto member : summary_members) {
    interval.low.*member = beside_speed(mid.*member, fast.*member, low);
    interval.high.*member = beside_speed(mid.*member, slow.*member, high);
  }
  return interval;
}

/// Requests of mean length that all replicas of a pool have room for at once.
std::int64_t places_of(const ReplicaPool& pool, const ServingTraffic::Lengths& lengths) {
  const double room = real(pool.engine.blocks * pool.engine.block_tokens) / (lengths.prompt + lengths.output);
  return pool.replicas * std::clamp<std::int64_t>(static_cast<std::int64_t>(room), 1, pool.engine.max_num_seqs);
}

/// With as many clients as requests of mean length have room, and with fewer while the rate rises. Of two pools the
/// larger one's: one prefill replica may feed many that decode, which fewer clients would not fill.
Hertz session_saturation(const ServingTraffic& traffic, const ServingFleet& fleet) {
  const ServingTraffic::Lengths lengths = traffic.lengths();
  std::int64_t turns = 1;
  for (const RequestClass& c : traffic.classes) {
    turns = std::max(turns, c.traffic.turns);
  }
  Hertz most{};
  std::int64_t clients = places_of(fleet.pool, lengths);
  clients = fleet.prefill ? std::max(clients, places_of(*fleet.prefill, lengths)) : clients;
  for (int fell = 0; clients >= 1 && fell < 2; clients = 7 * clients / 10) {
    const std::int64_t count =
        std::clamp<std::int64_t>(sessions_of_a_client * turns * clients, 1'000, most_sharing_requests);
    RequestLoad load = traffic.closed(count, clients);
    load.concurrency = clients;
    const Hertz rate = finish_rate(simulate(fleet, load));
    fell = rate > most ? 0 : fell + 1;
    most = std::max(most, rate);
  }
  return most;
}

void check(const ServingTraffic& traffic) {
  Diagnostics diagnostics;
  if (!traffic.traced) {
    std::vector<TrafficClass> classes;
    for (const RequestClass& one : traffic.classes) {
      classes.push_back(one.traffic);
    }
    for (const std::string& problem : problems(classes)) {
      diagnostics.add("", {}, problem);
    }
  }
  diagnostics.throw_if_any();
}

QueueLength queue_length(const ServingSimulation& s) {
  std::vector<std::pair<Picoseconds, std::int64_t>> changes;
  for (const RequestTimes& one : s.result.requests) {
    if (one.arrival != never && !one.refused) {
      changes.emplace_back(one.arrival, 1);
      changes.emplace_back(one.started, -1);
    }
  }
  std::sort(changes.begin(), changes.end());
  const Picoseconds first = s.load.requests[static_cast<std::size_t>(s.warm_up)].arrival;
  const Picoseconds last = s.load.requests.back().arrival;
  std::vector<double> at;    // seconds spent at each number of waiting requests
  std::int64_t waiting = 0;  // negative for an instant when a request is admitted at its arrival
  Picoseconds since = first;
  const auto until = [&](Picoseconds time) {
    if (time > since) {
      const auto n = static_cast<std::size_t>(std::max<std::int64_t>(waiting, 0));
      at.resize(std::max(at.size(), n + 1), 0.0);
      at[n] += seconds_of(time - since);
      since = time;
    }
  };
  for (const auto& [time, change] : changes) {
    until(std::min(time, last));
    waiting += change;
  }
  until(last);
  QueueLength queue;
  const double all = seconds_of(last - first);
  double sum = 0.0;
  for (std::size_t n = 0; n < at.size() && all > 0.0; ++n) {
    const auto count = static_cast<std::int64_t>(n);
    queue.p50 = sum < 0.50 * all ? count : queue.p50;
    queue.p95 = sum < 0.95 * all ? count : queue.p95;
    queue.p99 = sum < 0.99 * all ? count : queue.p99;
    queue.max = at[n] > 0.0 ? count : queue.max;
    sum += at[n];
    queue.mean += real(count) * at[n] / all;
  }
  return queue;
}

class Simulator {
 public:
  Simulator(const ServeScenario& scenario, const Money& money, double factor) : s_{scenario}, money_{money} {
    if (!scenario.traffic) {
      throw ConfigError{
          "a simulation needs [traffic], what is asked of the fleet: rate = \"12 req/s\" and lengths, or a "
          "trace; a fixed load of 'concurrency' is for 'headroom plan'"};
    }
    check(*scenario.traffic);
    if (const std::string few = scenario.traffic->too_few(factor); !few.empty()) {
      throw ConfigError{few};
    }
    out_.replica = served_replica(scenario);
    count_replicas();
    out_.offered = factor * scenario.traffic->rate();
    out_.load = scenario.traffic->load(factor, session_pace(scenario, out_.replica, out_.replicas, factor));
    out_.warm_up = warm_up_of(out_.load);
    objectives_ = request_objectives(*scenario.traffic);
    for (const RequestClass& one : scenario.traffic->classes) {
      out_.classes.push_back(one.name);
    }
  }

  ServingSimulation run(SimulationRecord* record) {
    const ServingFleet fleet = serving_fleet(s_, out_.replica, out_.replicas, out_.prefill_replicas);
    Diagnostics diagnostics;
    for (const std::string& problem : problems(fleet, out_.load)) {
      diagnostics.add("", {}, problem);
    }
    diagnostics.throw_if_any();
    out_.result = simulate(fleet, out_.load, record);
    out_.metrics = serving_metrics(out_.load, out_.result, objectives_, out_.warm_up);
    out_.queue = queue_length(out_);
    add_intervals(fleet);
    add_rates(fleet);
    if (s_.traffic->retries) {
      out_.retries = s_.traffic->retried(out_.saturation.mid, out_.offered / s_.traffic->rate());
    }
    add_promises();
    add_costs();
    add_notes();
    out_.prefixes = found_prefixes(s_, out_.replica, fleet, out_.load, out_.result, out_.warm_up);
    if (out_.prefixes) {
      out_.notes.insert(out_.notes.end(), out_.prefixes->notes.begin(), out_.prefixes->notes.end());
    }
    add_sessions();
    compare_without_draft();
    return std::move(out_);
  }

 private:
  [[nodiscard]] ServingErrors errors(ServingQuantity quantity) const { return serving_errors(s_, quantity); }

  void count_replicas() {
    const std::int64_t each = s_.work.layout.gpus();
    const FleetQuestion& fleet = *s_.fleet;
    std::int64_t for_prompts = 0;
    if (fleet.prefill) {
      out_.prefill_replicas = fleet.prefill->replicas.value_or(1);
      for_prompts = out_.prefill_replicas * out_.replica.prefill->gpus;
      if (!fleet.prefill->replicas) {
        out_.notes.emplace_back("fleet.prefill.replicas = 1 (not stated)");
      }
    }
    out_.replicas = fleet.replicas.value_or(std::max<std::int64_t>(1, (s_.work.gpus - for_prompts) / each));
    if (!fleet.replicas) {
      out_.notes.push_back("fleet.replicas = " + std::to_string(out_.replicas) +
                           (s_.work.gpus > each ? " (as many as hardware.gpus hold)" : " (not stated)"));
    }
    out_.gpus = out_.replicas * each + for_prompts;
  }

  /// Simulates the fleet with every iteration `slower` times as long, in its own time.
  [[nodiscard]] ServingMetrics slower_fleet(ServingFleet fleet, double slower) const {
    RequestLoad load = out_.load;
    slow_down(fleet, load, slower);
    return serving_metrics(load, simulate(fleet, load), objectives_, out_.warm_up);
  }

  void add_intervals(const ServingFleet& fleet) {
    const ServingErrors& rate = errors(ServingQuantity::rate);
    const double slower = 1.0 / rate.low;
    const double faster = 1.0 / rate.high;
    slow_ = slower_fleet(fleet, slower);
    fast_ = slower_fleet(fleet, faster);
    const auto interval = [&](LatencyMetric metric, TimeSummary RequestMetrics::*time) {
      const double first = first_share(out_.metrics.all);
      return between(out_.metrics.all.*time, times(faster, fast_.all.*time), times(slower, slow_.all.*time),
                     longest_in_queue(s_, metric, first, 1.0 - end_probability),
                     longest_in_queue(s_, metric, first, end_probability));
    };
    out_.ttft = interval(LatencyMetric::ttft, &RequestMetrics::ttft);
    out_.tpot = interval(LatencyMetric::tpot, &RequestMetrics::tpot);
    out_.e2e = interval(LatencyMetric::e2e, &RequestMetrics::e2e);
    // What is promised is judged with another probability than that of an interval's end.
    const bool at_end = s_.confidence == end_probability || judge(*s_.traffic, out_.metrics).empty();
    asked_ = at_end ? slow_ : slower_fleet(fleet, slowest_iteration(s_));
    if (slow_.overloaded && !out_.overloaded()) {
      out_.notes.emplace_back(
          "at the slow end of the intervals the fleet is overloaded: times there grow with the length "
          "of the simulation");
    }
    out_.times_source = errors(ServingQuantity::queue_ttft).text() + "; " + errors(ServingQuantity::queue_tpot).text() +
                        ", beside what a fleet makes of them that is as much slower or faster as " + rate.text();
  }

  void add_rates(const ServingFleet& fleet) {
    const ServingErrors& rate = errors(ServingQuantity::rate);
    // A fleet with empty queues may answer faster than one whose queues never empty; what it answered counts.
    const Hertz never_empty = fleet_saturation(*s_.traffic, fleet);
    const Hertz most = out_.metrics.overloaded ? never_empty : std::max(never_empty, out_.offered);
    out_.saturation = {rate.low * most, most, rate.high * most};
    // Below saturation every request is answered; the time in which the simulation drains is not the fleet's.
    if (!out_.overloaded()) {
      discount_end();
    }
    const Hertz mid{out_.metrics.all.finished_per_s};
    // Below saturation the load decides how much is served, but a slower fleet than the model's may not reach it.
    out_.served = {std::min(mid, out_.saturation.low), mid,
                   out_.overloaded() ? std::max(mid, std::min(out_.offered, out_.saturation.high)) : mid};
  }

  /// Corrects the rates of all requests and of each class as if more requests followed the last.
  void discount_end() {
    const RequestMetrics& all = out_.metrics.all;
    if (all.finished_per_s <= 0.0 || all.requests == 0) {
      return;
    }
    const double more = real(all.finished) / real(all.requests) * out_.offered.raw() / all.finished_per_s;
    const auto scale = [&](RequestMetrics& m) {
      for (double* rate : {&m.finished_per_s, &m.good_per_s, &m.output_tokens_per_s, &m.input_tokens_per_s}) {
        *rate *= more;
      }
    };
    scale(out_.metrics.all);
    for (RequestMetrics& of : out_.metrics.classes) {
      scale(of);
    }
  }

  void add_promises() {
    const std::vector<KeptPromise> at_end = judge_slow_end(s_, out_.metrics, slow_, end_probability);
    const std::vector<KeptPromise> as_asked = judge_slow_end(s_, out_.metrics, asked_);
    const double fastest = 1.0 / errors(ServingQuantity::rate).high;
    for (const KeptPromise& one : judge(*s_.traffic, out_.metrics)) {
      const std::size_t i = out_.promises.size();
      const Seconds fast = fastest * reached_time(fast_.classes.at(one.service_class), one.promise);
      const double first = first_share(out_.metrics.classes.at(one.service_class));
      const double least = longest_in_queue(s_, one.promise.metric, first, 1.0 - end_probability);
      const Interval<Seconds> reached{beside_speed(one.reached, fast, least), one.reached, at_end[i].reached};
      out_.promises.push_back({one, reached, as_asked[i].kept, chance_of(one, reached, as_asked[i].kept)});
    }
  }

  /// The chance by the interval, whose quantiles are no simulations, on the side of what was simulated.
  [[nodiscard]] double chance_of(const KeptPromise& one, const Interval<Seconds>& reached, bool as_asked) const {
    const bool untimed = one.refuses() || one.unanswered > 0.0 || std::isnan(one.reached.raw());
    const double chance = untimed ? (one.kept ? 1.0 : 0.0) : chance_of_at_most(reached, one.promise.limit);
    return as_asked ? std::max(chance, s_.confidence) : std::min(chance, s_.confidence);
  }

  void add_costs() {
    const RequestMetrics& all = out_.metrics.all;
    if (!money_.price || all.finished_per_s <= 0.0) {
      return;
    }
    const DollarsPerSecond price = real(out_.gpus) * *money_.price;
    const double out_each = all.output_tokens_per_s / all.finished_per_s;
    const double in_each = all.input_tokens_per_s / all.finished_per_s;
    const auto each = [&](double items) {
      return Interval<Dollars>{cost_per_million(price, items * out_.served.high),
                               cost_per_million(price, items * out_.served.mid),
                               cost_per_million(price, items * out_.served.low)};
    };
    out_.costs = ServedCosts{each(out_each), each(out_each + in_each), each(1.0),
                             cost_per_million(price, out_each * out_.saturation.mid)};
  }

  void add_notes() {
    if (!s_.beside.empty()) {
      out_.notes.emplace_back(
          "several models on a replica: one iteration at a time, the model that has waited longest is next; changing "
          "from one to the other takes no time, weights of all stay loaded");
      for (std::size_t i = 0; i < model_count(s_); ++i) {
        if (i == 0 || !s_.beside[i - 1].kv_share) {
          out_.notes.push_back("KV cache of " + model_of(s_, i).name + ": " +
                               format_number(100.0 * out_.replica.of(i).kv_share) +
                               " % of what is left (by requests/s x output tokens x bytes of a sequence)");
        }
      }
    }
    if (!s_.traffic->objectives_stated) {
      out_.notes.emplace_back(
          "[slo] not stated: nothing is promised, so that no time is judged and every answer is good");
    }
    add_counts();
    add_front_end();
    const std::vector<std::string> refused = refused_requests(s_);
    out_.notes.insert(out_.notes.end(), refused.begin(), refused.end());
    if (s_.fleet->spare > 0) {
      out_.notes.push_back("fleet.spare = " + std::to_string(s_.fleet->spare) +
                           ": all replicas serve here; simulate with fewer to see the day when they are down");
    }
    if (s_.fleet->autoscaling) {
      out_.notes.emplace_back(
          "[fleet.autoscale]: replicas are held as they are here; 'headroom plan' follows the load");
    }
    const Seconds arrivals{seconds_of(out_.load.requests.back().arrival)};
    if (const auto& day = s_.traffic->day; day && arrivals < day->period) {
      out_.notes.push_back(std::string{day->repeats ? "traffic.over_time" : "traffic.trace"} + ": the " +
                           format(arrivals) + " that were simulated are the begin of a period of " +
                           format(day->period) + "; all of it takes " +
                           format_count(std::ceil(out_.offered * day->period)) + " requests (--requests)");
    }
    if (out_.metrics.all.refused > 0) {
      out_.notes.push_back(std::to_string(out_.metrics.all.refused) +
                           " requests are longer than the KV cache of a replica: refused, and counted as not answered");
    }
  }

  /// What the processes that write pieces have to do, where it is much, and keys of theirs that move nothing.
  void add_front_end() {
    const FrontWork& front = out_.replica.simulated.front;
    const ClientFacts& client = s_.work.client;
    if (!front.any()) {
      for (const auto& [key, stated] : {std::pair{"stream_interval", client.stream_interval > 1.0},
                                        std::pair{"front_end_processes", client.front_ends > 1.0}}) {
        if (stated) {
          add_finding("serving." + std::string{key} + " has no effect: the rate at which " +
                      std::string{engine_titles[static_cast<std::size_t>(s_.engine.engine)]} +
                      "'s front end writes pieces was never measured");
        }
      }
      return;
    }
    const ServingTraffic::Lengths lengths = s_.traffic->lengths();
    const double most = real(out_.replicas) * front.most(lengths.prompt, lengths.output);
    if (const double busy = out_.offered.raw() / most; busy > 0.5) {
      add_finding("each replica's front end, one event loop that reads prompts and streams answers, is busy for " +
                  percent(std::min(busy, 1.0), 2) + " of the time, and passes at most " +
                  format_count(most / real(out_.replicas) * lengths.output) +
                  " tokens/s of answers; serving.front_end_processes and serving.stream_interval raise that");
    }
  }

  void add_finding(const std::string& text) {
    out_.notes.push_back(text);
    out_.findings.push_back(text);
  }

  /// Notes when fewer requests than asked for were simulated, or a class has hardly any.
  void add_counts() {
    const double factor = out_.offered / s_.traffic->rate();
    if (const std::string cut = s_.traffic->cut_short(factor); !cut.empty() && cut != s_.traffic->cut_short()) {
      out_.notes.push_back(cut);
    }
    for (std::size_t i = 0; i < out_.classes.size() && out_.classes.size() > 1; ++i) {
      const std::int64_t counted = out_.metrics.classes.at(i).requests;
      if (counted < ServingTraffic::least_requests) {
        add_finding("traffic.class " + quoted(out_.classes[i]) + ": " + std::to_string(counted) +
                    " of its requests are counted, fewer than the " + std::to_string(ServingTraffic::least_requests) +
                    " that it takes to speak of tails; raise traffic.requests");
      }
    }
  }

  void add_sessions() {
    if (!s_.traffic->has_turns()) {
      return;
    }
    const bool apart = out_.result.prefill.engines > 0;
    out_.sessions =
        session_facts(*s_.traffic, out_.offered, out_.metrics, apart ? out_.result.prefill : out_.result.pool,
                      s_.engine.memory.block_tokens, !apart);
    for (const SessionFacts& one : out_.sessions) {
      out_.notes.push_back(one.text());
    }
    if (out_.load.filling == most_filling) {
      add_finding("traffic.turns: sessions last so long that " + format_count(real(most_filling)) +
                  " requests come before as many end as begin, and no more are left out here: fewer sessions are open "
                  "than would be; lower traffic.think or traffic.turns, or ask for a part of the rate");
    }
  }

  /// Simulates the same requests on replicas without speculation, which have the draft's memory for their cache.
  void compare_without_draft() {
    if (!s_.work.draft) {
      return;
    }
    ServeScenario plain = s_;
    plain.work.draft.reset();
    const ServedReplica without = served_replica(plain);
    const ServingFleet fleet = serving_fleet(plain, without, out_.replicas, out_.prefill_replicas);
    if (!problems(fleet, out_.load).empty()) {
      return;
    }
    const ServingMetrics metrics = serving_metrics(out_.load, simulate(fleet, out_.load), objectives_, out_.warm_up);
    const Seconds with = out_.metrics.all.tpot.p50;
    const Seconds alone = metrics.all.tpot.p50;
    const Hertz most = fleet_saturation(*s_.traffic, fleet);
    std::string text;
    if (alone.raw() > 0.0 && with.raw() > 0.0) {
      text = "without the draft TPOT is " + format(alone) + " at p50, with it " + format(with) + ", " +
             format_number(alone >= with ? alone / with : with / alone) +
             (alone >= with ? " times as fast; " : " times as slow; ");
    }
    add_finding("serving.speculative: " + text + "the fleet saturates at " + format_number(most.raw()) +
                " req/s without the draft, " + format_number(out_.saturation.mid.raw()) + " with it");
  }

  const ServeScenario& s_;
  const Money& money_;
  std::vector<ServiceObjective> objectives_;
  ServingMetrics slow_, fast_;  ///< fleets at the ends of measured rates, in their own time
  ServingMetrics asked_;        ///< as slow as with the probability that is asked for
  ServingSimulation out_;
};

}  // namespace

std::int64_t warm_up_of(const RequestLoad& load) noexcept {
  return std::max(warm_up_of(static_cast<std::int64_t>(load.requests.size())),
                  std::min(load.filling, static_cast<std::int64_t>(load.requests.size()) / 2));
}

bool replicas_alike(const ServingTraffic& traffic, const ServingFleet& fleet) noexcept {
  const bool at_home = fleet.routing != RequestRouting::prefix && fleet.routing != RequestRouting::shared_queue &&
                       std::none_of(fleet.tiers.begin(), fleet.tiers.end(),
                                    [](const OffloadTier& tier) { return tier.blocks > 0 && tier.all_replicas; });
  return !fleet.prefill && (!traffic.shares_prefixes() || (traffic.shares_in_sessions() && at_home));
}

Hertz fleet_saturation(const ServingTraffic& asked, const ServingFleet& fleet) {
  ServingFleet one = fleet;
  double times = 1.0;
  const bool share = asked.shares_prefixes();
  if (replicas_alike(asked, fleet)) {
    one.pool.replicas = 1;
    times = real(fleet.pool.replicas);
  }
  if (share && asked.has_turns()) {
    return times * session_saturation(asked, one);
  }
  ServingTraffic traffic = asked;
  std::int64_t places = one.pool.engine.max_num_seqs;
  for (const BesideModel& other : one.beside) {
    places += other.engine.max_num_seqs;
  }
  places *= one.pool.replicas;
  const std::int64_t most = share ? most_sharing_requests : most_saturating_requests;
  traffic.requests = std::clamp<std::int64_t>(saturating_requests_of_a_place * places, 1'000, most);
  RequestLoad load = traffic.closed(traffic.requests);
  load.turns = {};
  if (share) {  // one load for the whole fleet, because each request is looked up on all replicas
    load.concurrency = places + places / 4 + 1;
  }
  for (Request& request : load.requests) {
    request.arrival = Picoseconds{0};
  }
  if (!one.beside.empty()) {
    // In a mix of models one may finish long before the others. A window over the requests in their order keeps the
    // mix, so the slowest model never runs out of requests.
    load.concurrency = saturating_clients_of_a_place * places;
  }
  return times * finish_rate(simulate(one, load));
}

bool ServingSimulation::good() const noexcept {
  return !overloaded() &&
         std::all_of(promises.begin(), promises.end(), [](const JudgedPromise& one) { return one.kept; });
}

std::string key_of(const TailObjective& promise) {
  const std::string metric{latency_metric_names[static_cast<std::size_t>(promise.metric)]};
  return promise.quantile == TailObjective::mean
             ? metric + "_mean"
             : metric + "_p" + std::to_string(std::lround(100.0 * promise.quantile));
}

ServingSimulation simulate_serving(const ServeScenario& scenario,
                                   const Money& money,
                                   double factor,
                                   SimulationRecord* record) {
  return Simulator{scenario, money, factor}.run(record);
}

}  // namespace headroom
