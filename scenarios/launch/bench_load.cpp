// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/scenarios/launch/bench_load.hpp>
#include <headroom/scenarios/launch/launch_forms.hpp>
#include <headroom/scenarios/launch/traffic_words.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/traffic/admission.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace headroom::launch {
namespace {

/// Requests per request in flight, so that filling and draining are a small part of the run.
constexpr std::int64_t waves = 8;
/// Duration (s) of a load with a rate, and the fewest requests that show a tail.
constexpr double seconds = 300.0;
constexpr double fewest = 100.0;

/// Relative half-width of uniform lengths with the law's standard deviation, which for a uniform law is width /
/// sqrt(3).
double spread_of(const LengthLaw& law) {
  switch (law.shape) {
    case LengthShape::fixed: break;
    case LengthShape::uniform: return 1.0 - law.low;
    case LengthShape::lognormal: return std::sqrt(3.0) * law.cv;
    case LengthShape::exponential: return std::sqrt(3.0);
  }
  return 0.0;
}

std::string percent(double quantile) {
  std::string text = std::to_string(std::lround(1000.0 * quantile));
  text.insert(text.size() - 1, ".");
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

void set_promises(const ServingTraffic& traffic, LaunchPlan& plan) {
  std::set<double> quantiles;
  for (const RequestClass& c : traffic.classes) {
    for (const TailObjective& objective : c.objectives) {
      if (objective.quantile != TailObjective::mean) {
        quantiles.insert(objective.quantile);
      }
    }
  }
  const std::string text = joined(
      quantiles, [&](const double quantile) { return percent(quantile); }, ",");
  if (!text.empty()) {
    plan.set("launch.percentiles", word_value(text));
  }
}

template <class Names, class Enum>
ConfigValue named(const Names& names, Enum value) {
  return word_value(names[static_cast<std::size_t>(value)]);
}

void set_arrivals(const ArrivalProcess& arrivals, LaunchPlan& plan) {
  plan.set("traffic.arrivals", named(gap_shape_names, arrivals.gaps));
  if (arrivals.gaps == GapShape::gamma) {
    plan.set("traffic.cv", number_value(arrivals.cv));
  }
}

/// Sets a key unless the words are empty.
void set_words(std::string_view key, const std::string& words, LaunchPlan& plan) {
  if (!words.empty()) {
    plan.set(key, word_value(words));
  }
}

/// Sets keys for what a benchmark with one kind of random request has no flag for.
void set_shapes(const ServingTraffic& traffic, LaunchPlan& plan) {
  const TrafficClass& first = traffic.classes.front().traffic;
  if (traffic.traced) {
    return plan.set("traffic.trace", word_value(traffic.traced->file));
  }
  if (traffic.classes.size() > 1) {
    plan.set("traffic.class", count_value(static_cast<std::int64_t>(traffic.classes.size())));
  } else {
    set_arrivals(first.arrivals, plan);
    plan.set("traffic.prompt.law", named(length_shape_names, first.prompt.shape));
    plan.set("traffic.output.law", named(length_shape_names, first.output.shape));
    plan.set("launch.spread", number_value(spread_of(first.prompt)));
    plan.set("launch.output_spread", number_value(spread_of(first.output)));
  }
  set_words("traffic.prefix", prefix_words(traffic), plan);
  set_words("traffic.turns", turn_words(traffic), plan);
  set_words("traffic.cached_share", cached_words(traffic), plan);
}

void set_fleet(const ServeScenario& s, LaunchPlan& plan) {
  const FleetQuestion& fleet = *s.fleet;
  const std::int64_t replicas = fleet.replicas.value_or(std::max<std::int64_t>(1, s.work.gpus / s.work.layout.gpus()));
  const std::int64_t spare = fleet.spare_of(replicas, s.work.layout.gpus());
  plan.set("fleet.replicas", count_value(replicas));
  if (spare > 0) {
    plan.set("fleet.spare", count_value(spare));
  }
  plan.set("launch.servers", count_value(replicas + spare));
  plan.set("fleet.routing", named(request_routing_names, fleet.routing));
  if (fleet.prefill) {
    ServingLayout layout = s.work.layout;
    layout.tp = fleet.prefill->tp;
    plan.set("fleet.prefill", word_value(prefill_words(*fleet.prefill, layout.gpus())));
  }
  if (fleet.autoscaling) {
    plan.set("fleet.autoscale", word_value(scaling_words(*fleet.autoscaling)));
  }
}

/// A rate in the syntax of a scenario.
ConfigValue rate_value(double rate) {
  return word_value(value_text(number_value(rate)) + " req/s");
}

ConfigValue placed(ConfigValue value, const ConfigValue& at) {
  value.file = at.file;
  value.at = value.key_at = at.at;
  return value;
}

/// Mean and lower bound of drawn lengths.
struct DrawnLengths {
  double mean_share = 1.0;  ///< mean over the stated length
  double low = 1.0;         ///< lower bound over the mean
};
DrawnLengths drawn_by(RangeRatio ratio, double r) {
  if (ratio == RangeRatio::around) {
    return {1.0, 1.0 - r};
  }
  return {0.5 * (1.0 + r), 2.0 * r / (1.0 + r)};
}

void read_lengths(const LaunchItems& items, RangeRatio ratio, bool open, LaunchReading& reading) {
  const ConfigValue* stated = items.find("--random-range-ratio");
  const double r = stated == nullptr ? 0.0 : reading.number_of("--random-range-ratio", *stated, share).value_or(0.0);
  const DrawnLengths drawn = drawn_by(ratio, r);
  const ConfigValue* place = stated;
  std::string means;
  for (const auto& [flag, key, law] : {std::tuple{"--random-input-len", "isl", "traffic.prompt"},
                                       std::tuple{"--random-output-len", "osl", "traffic.output"}}) {
    const ConfigValue* item = items.find(flag);
    const auto count = item == nullptr ? std::nullopt : reading.count_of(flag, *item, {1, 100'000'000});
    if (!count) {
      continue;
    }
    const double mean = std::max(1.0, drawn.mean_share * static_cast<double>(*count));
    const std::int64_t taken = std::llround(mean);
    reading.state(std::string{"serving."} + key, count_value(taken), *item);
    place = place == nullptr ? item : place;
    means += (means.empty() ? "" : " and ") + std::string{key} + " " + std::to_string(taken);
    if (open && drawn.low < 1.0) {
      const std::string table{law};
      reading.state(table + ".law", word_value("uniform"), *item);
      reading.state(table + ".mean", number_value(mean), *item);
      reading.state(table + ".low", number_value(drawn.low), *item);
    }
  }
  if (!open && drawn.low < 1.0 && !means.empty()) {
    reading.remark(*place, "ignored: lengths are drawn with --random-range-ratio " + value_text(number_value(r)) +
                               (stated == nullptr ? ", for the file does not say it" : "") +
                               "; a load without a rate takes their means, " + means);
  }
}

/// Reads the request rate; false when the load has a fixed concurrency instead.
bool read_rate(const LaunchItems& items, LaunchReading& reading) {
  const ConfigValue* item = items.find("--request-rate");
  if (item == nullptr || (item->kind == ConfigValue::Kind::text && item->text == "inf")) {
    return false;
  }
  const auto rate = reading.number_of("--request-rate", *item, {1e-9, 1e12});
  if (!rate) {
    return true;
  }
  reading.plan.set("traffic.rate", placed(rate_value(*rate), *item));
  if (const ConfigValue* gaps = items.find("--burstiness")) {
    const auto shape = reading.number_of("--burstiness", *gaps, {1e-4, 1e4});
    if (shape && *shape != 1.0) {
      reading.state("traffic.arrivals", word_value("gamma"), *gaps);
      reading.state("traffic.cv", number_value(1.0 / std::sqrt(*shape)), *gaps);
    }
  }
  reading.assume("traffic.arrivals", word_value("poisson"));
  return true;
}

}  // namespace

void set_traffic(const ServeScenario& s, LaunchPlan& plan) {
  if (!s.traffic) {
    return;
  }
  const ServingTraffic peak = s.traffic->at_peak();
  plan.set("traffic.rate", number_value(peak.rate().raw()));
  set_shapes(peak, plan);
  if (s.traffic->day) {
    plan.set("traffic.over_time", word_value(curve_words(*s.traffic->day)));
  }
  if (s.traffic->retries) {
    plan.set("traffic.retries", word_value(retry_words(*s.traffic->retries)));
  }
  set_words("launch.refused", joined(refused_requests(s), "; "), plan);
  set_promises(*s.traffic, plan);
  if (s.fleet) {
    set_fleet(s, plan);
  }
}

BenchLoad bench_load(const LaunchPlan& plan, bool one_server) {
  BenchLoad load;
  load.isl = plan.count("serving.isl", 1);
  load.osl = plan.count("serving.osl", 1);
  if (!plan.has("traffic.rate")) {
    const std::int64_t all = plan.count("serving.concurrency", 1);
    const std::int64_t servers = one_server ? 1 : plan.count("launch.replicas", 1);
    load.concurrency = (all + servers - 1) / servers;
    load.prompts = product(waves, load.concurrency);
    return load;
  }
  const auto servers = static_cast<double>(one_server ? 1 : plan.count("fleet.replicas", 1));
  load.rate = plan.number("traffic.rate", 1.0) / servers;
  load.prompts = static_cast<std::int64_t>(std::ceil(std::clamp(seconds * *load.rate, fewest, 1e9)));
  // The server must admit the longest drawn request.
  const double longest = plan.number("serving.max_seq_len", 0.0) / static_cast<double>(load.isl + load.osl) - 1.0;
  const double spread = std::min({plan.number("launch.spread", 0.0), longest, 0.99});
  load.spread = std::max(0.0, std::floor(1000.0 * spread + 1e-9) / 1000.0);
  const double cv = plan.number("traffic.cv", 1.0);
  load.burstiness = 1.0 / (cv * cv);
  load.percentiles = plan.word("launch.percentiles");
  return load;
}

void note_load(LaunchWriting& writing, bool one_server, BenchGaps gaps) {
  const LaunchPlan& plan = writing.plan;
  const std::int64_t servers = plan.count("launch.servers", plan.count("launch.replicas", 1));
  const std::string each = one_server || servers == 1 ? ""
                                                      : "one server a replica: start the line on the GPUs of each; the "
                                                        "benchmark loads one";
  if (!each.empty() && !plan.has("fleet.replicas")) {
    writing.note("strategy.dp", std::to_string(servers), each);
  }
  if (!plan.has("traffic.rate")) {
    return;
  }
  each.empty() ? writing.cover("fleet.replicas") : writing.miss("fleet.replicas", each + " with its part of the rate");
  writing.miss("fleet.prefill",
               "servers of their own, configured beside the engine: this line starts those that decode, and the "
               "benchmark sends them the prompts too, which the plan computes elsewhere");
  writing.miss("fleet.spare", one_server ? "among the server's replicas: the benchmark does not take it down"
                                         : "as many servers more; the benchmark counts without them");
  if (servers == 1) {
    writing.cover("fleet.routing");
  }
  if (plan.has("launch.refused")) {
    writing.notes.push_back({"launch.refused", plan.word("launch.refused")});
  }
  writing.cover("traffic.rate");
  const std::string arrivals = plan.word("traffic.arrivals", "poisson");
  if (arrivals == "poisson" || (arrivals == "gamma" && gaps == BenchGaps::gamma)) {
    writing.cover("traffic.arrivals");
    writing.cover("traffic.cv");
  }
  const double spread = bench_load(plan, one_server).spread;
  for (const auto& [key, wide] :
       {std::pair{"traffic.prompt.law", "launch.spread"}, std::pair{"traffic.output.law", "launch.output_spread"}}) {
    const bool even = plan.word(key) == "uniform" || plan.word(key) == "fixed";
    if (even && std::abs(plan.number(wide, 0.0) - spread) < 1e-3) {
      writing.cover(key);
    }
  }
}

std::vector<std::string> load_words(const BenchLoad& load) {
  std::vector<std::string> words{"--num-prompts " + std::to_string(load.prompts)};
  if (!load.rate) {
    words.push_back("--max-concurrency " + std::to_string(load.concurrency));
    return words;
  }
  words.push_back("--request-rate " + value_text(number_value(*load.rate)));
  if (load.burstiness != 1.0) {
    words.push_back("--burstiness " + value_text(number_value(load.burstiness)));
  }
  return words;
}

std::vector<std::string> random_bench(std::vector<std::string> command, const BenchLoad& load) {
  command.insert(command.end(),
                 {"--random-input-len " + std::to_string(load.isl), "--random-output-len " + std::to_string(load.osl),
                  "--random-range-ratio " + value_text(number_value(load.spread)), "--ignore-eos"});
  for (std::string& word : load_words(load)) {
    command.push_back(std::move(word));
  }
  if (!load.percentiles.empty()) {
    command.insert(command.end(), {"--percentile-metrics ttft,tpot,e2el", "--metric-percentiles " + load.percentiles});
  }
  return command;
}

void read_benchmark(const std::vector<ShellWord>& words, RangeRatio ratio, LaunchReading& reading) {
  const LaunchItems items = items_of_words(words, reading);
  const bool open = read_rate(items, reading);
  read_lengths(items, ratio, open, reading);
  if (const ConfigValue* item = items.find("--max-concurrency")) {
    const auto count = reading.count_of("--max-concurrency", *item, {1, 100'000'000});
    if (open) {
      reading.remark(*item, "ignored: --max-concurrency: requests come at --request-rate, however many are under way");
    } else if (count) {
      reading.state("serving.concurrency", count_value(*count), *item);
    }
  }
}

}  // namespace headroom::launch
