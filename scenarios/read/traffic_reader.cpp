// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/serve/time/simulated_time.hpp>
#include <headroom/scenarios/keys/fleet_keys.hpp>
#include <headroom/scenarios/keys/keyed_table.hpp>
#include <headroom/scenarios/keys/traffic_keys.hpp>
#include <headroom/scenarios/read/beside_reader.hpp>
#include <headroom/scenarios/read/look_up.hpp>
#include <headroom/scenarios/read/slow_links.hpp>
#include <headroom/scenarios/read/traffic_reader.hpp>
#include <headroom/scenarios/traffic/beside.hpp>
#include <headroom/scenarios/traffic/trace_curve.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace headroom {
namespace {

using TrafficKeys = KeyedTable<keys::traffic, Kinds::serve>;
using ClassKeys = KeyedTable<keys::traffic_class, Kinds::serve>;
using FleetKeys = KeyedTable<keys::fleet, Kinds::serve>;

struct Quantile {
  std::string_view name;
  double value;
};
constexpr std::array quantiles{Quantile{"mean", TailObjective::mean}, Quantile{"p50", 0.5}, Quantile{"p90", 0.9},
                               Quantile{"p95", 0.95}, Quantile{"p99", 0.99}};

class TrafficReader {
 public:
  TrafficReader(ConfigTable& root, std::int64_t isl, std::int64_t osl, std::vector<std::string>& assumptions)
      : root_{root}, isl_{isl}, osl_{osl}, assumptions_{assumptions} {}

  std::optional<ServingTraffic> run() {
    auto table = TrafficKeys::maybe(root_);
    std::optional<ConfigTable> slo = root_.maybe_table("slo");
    if (!table) {
      if (slo) {
        root_.problem("slo",
                      "[slo] promises times to requests that arrive; state them in [traffic] (a rate, or a trace)");
        static_cast<void>(read_objectives(*slo));
      }
      return std::nullopt;
    }
    ServingTraffic traffic;
    traffic.seed = static_cast<std::uint64_t>(table->get<"seed">());
    const std::vector<TailObjective> common = slo ? read_objectives(*slo) : std::vector<TailObjective>{};
    if (table->has("trace")) {
      read_trace(*table, traffic);
    } else {
      read_classes(*table, traffic);
    }
    read_retries(*table, traffic);
    if (day_) {
      for (RateCurve::Point& point : day_->points) {
        point.rate *= traffic.rate().raw();
      }
      traffic.day = std::move(day_);
    }
    read_count(*table, traffic);
    for (RequestClass& c : traffic.classes) {
      c.objectives = c.objectives.empty() ? common : c.objectives;
      traffic.objectives_stated = traffic.objectives_stated || !c.objectives.empty();
    }
    table->finish();
    return traffic;
  }

 private:
  void assume(const std::string& text) { assumptions_.push_back(text); }

  void read_count(TrafficKeys& table, ServingTraffic& traffic) {
    if (const auto count = table.stated<"requests">()) {
      traffic.requests = *count;
      traffic.requests_stated = true;
    } else if (!table.has("requests")) {
      traffic.requests = ServingTraffic::usual_requests(traffic.rate());
    }
    if (!(traffic.rate() > Hertz{})) {
      return;  // missing, which is told
    }
    if (const std::string few = traffic.too_few(); !few.empty()) {
      table.problem("rate", few);
    } else if (const std::string cut = traffic.cut_short(); !cut.empty()) {
      assume(cut);
    } else if (!table.has("requests")) {
      assume("traffic.requests = " + format_count(real(traffic.requests)) + " (simulated)");
    }
  }

  static Hertz checked_rate(ConfigTable& table, Hertz rate) {
    if (rate.raw() > TrafficKeys::row<"rate">.high) {
      table.problem("rate", "'rate' is " + quoted(table.value("rate")->text) + "; a fleet is asked " +
                                format_count(ServingTraffic::most_rate.raw()) + " req/s at most");
    }
    return rate;
  }

  /// Attempts instead of requests: what fails comes again.
  void read_retries(ConfigTable& parent, ServingTraffic& traffic) {
    auto table = KeyedTable<keys::retries, Kinds::serve>::maybe(parent);
    if (!table) {
      return;
    }
    ClientRetries retries;
    retries.failure = table->get<"failure">();
    retries.policy.attempts = table->stated<"attempts">().value_or(0);
    retries.policy.backoff = table->get<"backoff">();
    if (!table->has("attempts")) {
      assume(table->path() + ".attempts: until one succeeds (not stated)");
    }
    if (!table->has("backoff")) {
      assume(table->path() + ".backoff = 0 s: clients send again at once (not stated)");
    }
    table->finish();
    const Hertz asked = traffic.rate();
    const Hertz unlimited{std::numeric_limits<double>::infinity()};
    const RetryLoad load = retry_load(asked, retries.failure, unlimited, retries.policy);
    retries.attempts = load.attempts;
    traffic = traffic.part(load.attempts);
    traffic.retries = retries;
    assume(table->path() + ": " + format_number(100.0 * retries.failure) + " % of the attempts fail, " +
           format_number(load.attempts, 4) + " attempts a request: the fleet is asked " +
           format_number(traffic.rate().raw(), 4) + " req/s for " + format_number(asked.raw(), 4) +
           " of the clients; they fail after the work of an answer, and dollars are those of attempts; the backoff is "
           "told and moves no arrival: attempts come as the others do");
  }

  /// Keys "ttft_p95", "tpot_mean", "e2e_p99".
  std::vector<TailObjective> read_objectives(ConfigTable& slo) {
    std::vector<TailObjective> found;
    for (std::size_t metric = 0; metric < latency_metric_names.size(); ++metric) {
      for (const Quantile& q : quantiles) {
        const std::string key = std::string{latency_metric_names[metric]} + "_" + std::string{q.name};
        if (const auto limit = slo.maybe_quantity<Seconds>(key, {shortest_span, longest_span})) {
          found.push_back({static_cast<LatencyMetric>(metric), q.value, *limit});
        }
      }
    }
    if (found.empty() && slo.keys().empty()) {
      slo.problem("", "[" + slo.path() + "] promises nothing; state ttft_p95, tpot_p99, e2e_p95 or the like");
    }
    slo.finish();
    return found;
  }

  void read_trace(TrafficKeys& table, ServingTraffic& traffic) {
    const std::string named = table.needed<"trace">();
    const bool request = is_request(table.file());
    const std::string file = request ? named : path_beside(table.file(), named);
    for (const std::string_view other :
         {"arrivals", "cv", "shape", "prompt", "output", "prefix", "turns", "think", "class", "over_time"}) {
      if (table.value(other) != nullptr) {
        table.problem(other,
                      "'" + std::string{other} + "' beside 'trace', which gives times and lengths; leave one out");
      }
    }
    const auto stated = table.stated<"rate">();
    checked_rate(table, stated.value_or(Hertz{}));
    traffic.classes.push_back({"all", {}, {}});
    static_cast<void>(table.stated<"bin">());  // known, be the trace broken or not
    if (request) {
      table.problem("trace", no_files_text(named) + "; state 'rate' or [[traffic.class]] tables");
      return;
    }
    const auto trace = look_up(table, "trace", file, [](const std::string& s) { return load_request_trace(s); });
    if (!trace) {
      return;
    }
    if (trace->requests.size() < 2) {
      table.problem("trace", "'" + file + "' has " + std::to_string(trace->requests.size()) +
                                 " requests; a load takes two at least");
      return;
    }
    auto traced = std::make_shared<TracedTraffic>();
    traced->file = file;
    traced->trace = *trace;
    const Hertz measured = rate_of(trace->requests);
    if (!stated && std::isinf(measured.raw())) {
      table.problem("trace", "'" + file + "': all requests arrive at one time, which is no rate; state 'rate'");
    }
    traced->rate = stated.value_or(measured);
    if (!stated) {
      assume("traffic.rate = " + format_number(measured.raw()) + " req/s (the trace's own)");
    }
    read_bins(table, *traced);
    std::int32_t classes = 0;
    for (const Request& r : trace->requests) {
      classes = std::max(classes, r.service_class);
    }
    for (std::int32_t i = 1; i <= classes; ++i) {
      traffic.classes.push_back({"class " + std::to_string(i), {}, {}});
    }
    if (classes > 0) {
      traffic.classes.front().name = "class 0";
    }
    traffic.traced = std::move(traced);
  }

  /// Whether replicas are to follow the load, which read_fleet() reads.
  bool is_followed() {
    const ConfigValue* fleet = root_.value("fleet");
    return fleet != nullptr && fleet->find("autoscale") != nullptr;
  }

  /// The rate of a trace over its time, where it is asked for.
  void read_bins(TrafficKeys& table, TracedTraffic& traced) {
    const auto bin = table.stated<"bin">();
    if (!bin && (table.has("bin") || !is_followed())) {
      return;
    }
    const std::vector<Request>& requests = traced.trace.requests;
    if (std::isinf(rate_of(requests).raw())) {
      table.problem("trace", "'" + traced.file +
                                 "': all requests arrive at one time, and have no rate that changes "
                                 "over time; leave 'bin' and [fleet.autoscale] out, or take a longer trace");
      return;
    }
    const auto count = static_cast<std::int64_t>(requests.size());
    const Seconds span = (real(count) - 1.0) / traced.rate;
    if (bin && (*bin > span || span / *bin > real(most_bins))) {
      table.problem("bin", "'bin' is " + quoted(table.value("bin")->text) + "; of this trace of " + format(span) +
                               " it must be " + format(span / real(most_bins)) + " to " + format(span));
      return;
    }
    traced.bins = bins_of(count, span, bin);
    day_ = curve_of(requests, span, traced.bins);
    const std::vector<std::int64_t> counts = counts_of(requests, traced.bins);
    assume("traffic.bin = " + format(span / real(traced.bins)) + ": the rate over time is that of " +
           counted(traced.bins, "equal part") + " of the trace, of " + counted(count, "request") + " over " +
           format(span) + " (" + std::to_string(*std::min_element(counts.begin(), counts.end())) + " to " +
           std::to_string(*std::max_element(counts.begin(), counts.end())) +
           " in one); a trace comes once: what was before and comes after it is not known");
  }

  void read_classes(TrafficKeys& table, ServingTraffic& traffic) {
    if (table.stated<"bin">()) {
      table.problem("bin", "'bin' without 'trace', whose parts it measures; leave it out, or state a trace");
    }
    const RateCurve curve = read_curve(table);
    if (!table.has("class")) {
      traffic.classes.push_back({"all", read_class(table, curve), {}});
      return;
    }
    for (const std::string_view other :
         {"rate", "arrivals", "cv", "shape", "prompt", "output", "prefix", "cached_share", "turns", "think"}) {
      if (table.value(other) != nullptr) {
        table.problem(other, "'" + std::string{other} + "' beside [[traffic.class]]; state it in each class");
      }
    }
    for (ConfigTable& of_class : table.tables("class")) {
      ClassKeys each{std::move(of_class)};
      RequestClass c;
      c.name = each.get<"name">();
      c.traffic = read_class(each, curve);
      if (std::optional<ConfigTable> slo = each.maybe_table("slo")) {
        c.objectives = read_objectives(*slo);
      }
      for (const std::string_view of_a_model : beside_keys) {
        static_cast<void>(each.value(of_a_model));  // read by read_beside(), which knows the models
      }
      each.finish();
      traffic.classes.push_back(std::move(c));
    }
  }

  /// Of [traffic], or of one of its classes.
  template <const KeyTable& rows>
  TrafficClass read_class(KeyedTable<rows, Kinds::serve>& table, const RateCurve& curve) {
    TrafficClass c;
    c.arrivals.rate = checked_rate(table, table.template needed<"rate">());
    c.arrivals.curve = curve;
    c.arrivals.gaps = table.template get<"arrivals", GapShape>();
    if (!table.has("arrivals")) {
      assume(table.path() + ".arrivals = poisson (not stated)");
    }
    if (c.arrivals.gaps == GapShape::gamma) {
      c.arrivals.cv = table.template needed<"cv">();
    }
    if (c.arrivals.gaps == GapShape::weibull) {
      c.arrivals.shape = table.template needed<"shape">();
    }
    c.cached_share = table.template get<"cached_share">();
    c.prompt = read_length(table, "prompt", isl_, "serving.isl");
    c.output = read_length(table, "output", osl_, "serving.osl");
    read_prefixes(table, c);
    c.turns = table.template get<"turns">();
    c.think = table.template get<"think">();
    check_turns(table, c);
    return c;
  }

  void check_turns(ConfigTable& table, TrafficClass& c) {
    if (c.turns == 1) {
      if (table.value("think") != nullptr && table.value("turns") == nullptr) {
        table.problem("think",
                      "'think' is the pause between the turns of a session, and there is one turn; state "
                      "'turns', or leave 'think' out");
      }
      return;
    }
    if (table.value("cached_share") != nullptr) {
      table.problem("cached_share",
                    "'cached_share' beside 'turns', from which it follows what is cached; leave one out");
      c.cached_share = 0.0;
    }
    if (!table.has("think")) {
      assume(table.path() +
             ".think = 0 s: the next turn comes with the answer (not stated); the longer the pause, the "
             "less is found of a session");
    }
    assume(table.path() + ".turns = " + std::to_string(c.turns) +
           ": the lengths of prompts are what a turn brings, on "
           "top of all that its session asked and was answered before; the rate is that of turns, pauses "
           "are exponential, and a session keeps to its replica");
  }

  /// [traffic.prefix]: groups of prompts that begin alike.
  void read_prefixes(ConfigTable& parent, TrafficClass& c) {
    auto table = KeyedTable<keys::prefix, Kinds::serve>::maybe(parent);
    if (!table) {
      return;
    }
    if (parent.value("cached_share") != nullptr) {
      parent.problem("cached_share", "'cached_share' beside [" + parent.path() +
                                         ".prefix], from which it follows what is cached; leave one out");
    }
    SharedPrefixes& shared = c.prefixes;
    shared.groups = table->get<"groups">();
    shared.tokens = table->get<"tokens">();
    shared.share = table->get<"share">();
    shared.zipf = table->get<"zipf">();
    if (!table->has("share")) {
      assume(table->path() + ".share = 1: every request belongs to a group (not stated)");
    }
    if (!table->has("zipf")) {
      assume(table->path() + ".zipf = 0: all groups are asked alike (not stated); one that is asked more is kept more");
    }
    constexpr std::int64_t most = 50'000'000;
    if (shared.tokens > most / shared.groups) {
      table->problem("groups", std::to_string(shared.groups) + " groups of " + std::to_string(shared.tokens) +
                                   " tokens are more than 5e7 tokens; of so many groups none is asked twice while a "
                                   "cache holds it: lower 'share' instead");
      shared.groups = 1;
    }
    table->finish();
  }

  LengthLaw read_length(ConfigTable& parent, std::string_view key, std::int64_t usual, const std::string& from) {
    LengthLaw law;
    std::optional<ConfigTable> found = parent.maybe_table(key);
    if (!found) {
      if (!parent.has(key)) {
        if (usual > 0) {
          law.mean = static_cast<double>(usual);
          assume(parent.path() + "." + std::string{key} + ": every request " + std::to_string(usual) + " tokens (" +
                 from + "); lengths that spread lengthen the tail");
        } else {
          parent.problem(key, "missing [" + parent.path() + "." + std::string{key} + "], the lengths of the " +
                                  std::string{key == "prompt" ? "prompts" : "answers"} + ", or " + from);
        }
      }
      return law;
    }
    KeyedTable<keys::prompt, Kinds::serve> table{*std::move(found)};  // those of an answer are the same
    law.mean = table.get<"mean">();
    law.shape = table.get<"law", LengthShape>();
    if (law.shape == LengthShape::lognormal) {
      law.cv = table.needed<"cv">();
    }
    if (law.shape == LengthShape::uniform) {
      law.low = table.needed<"low">();
    }
    law.most = table.stated<"most">().value_or(law.most);
    if (law.mean > static_cast<double>(law.most)) {
      table.problem("most", "'most' is " + std::to_string(law.most) + ", below the mean of " + format_number(law.mean));
    }
    table.finish();
    return law;
  }

  RateCurve read_curve(ConfigTable& parent) {
    auto table = KeyedTable<keys::over_time, Kinds::serve>::maybe(parent);
    if (!table) {
      if (!parent.has("over_time")) {
        assume("traffic.over_time = constant: the rate is the peak's, or the day has none (not stated)");
      }
      return {};
    }
    const std::size_t shape = table->get<"shape">();
    RateCurve curve;
    if (shape == 1) {
      const double peak = table->needed<"peak_over_mean">();
      const Seconds period = table->get<"period">();
      curve = RateCurve::sinusoid(period, peak - 1.0);
      day_ = LoadCurve{period, {}};
      constexpr int points = 96;  // straight between them: within 0.06 % of the amplitude
      for (int i = 0; i <= points; ++i) {
        const double share = static_cast<double>(i) / points;
        day_->points.push_back({share * period, 1.0 + (peak - 1.0) * std::sin(2.0 * std::numbers::pi * share)});
      }
    } else if (shape == 2) {
      const std::size_t problems = table->diagnostics().size();
      const double factor = table->needed<"factor">();
      const Seconds period = table->needed<"period">();
      const Seconds length = table->needed<"length">();
      // What stands for a value that is refused is held against nothing.
      const bool read = table->diagnostics().size() == problems;
      if (read && length >= period) {
        table->problem("length", "'length' of a burst, " + format(length) + ", leaves nothing of its period, " +
                                     format(period) + "; shorten it, or leave [" + table->path() + "] out");
      } else if (read) {
        curve = RateCurve::bursts(period, length, factor);
        const double rest = period / (period + (factor - 1.0) * length);  // so that the mean is 1
        day_ = LoadCurve{period, {{Seconds{}, factor * rest}, {length, factor * rest}, {length, rest}, {period, rest}}};
      }
    }
    table->finish();
    return curve;
  }

  ConfigTable& root_;
  std::int64_t isl_, osl_;
  std::vector<std::string>& assumptions_;
  std::optional<LoadCurve> day_;  ///< of mean 1
};

}  // namespace

std::optional<ServingTraffic> read_traffic(ConfigTable& root,
                                           std::int64_t isl,
                                           std::int64_t osl,
                                           std::vector<std::string>& assumptions) {
  return TrafficReader{root, isl, osl, assumptions}.run();
}

namespace {

/// [fleet.autoscale]: a cold start as a whole, or all of its parts.
AutoscaleQuestion read_autoscale(KeyedTable<keys::autoscale, Kinds::serve>& table) {
  AutoscaleQuestion asked;
  const auto whole = table.stated<"cold_start">();
  StartParts parts;
  parts.storage = table.stated<"storage">();
  const std::array<std::optional<Seconds>, start_part_count> stated{
      table.stated<"node">(), table.stated<"image">(), table.stated<"weights">(), table.stated<"compile">(),
      table.stated<"graphs">()};
  std::string there;
  std::string lacking;
  const auto name_in = [](std::string& names, std::string_view name) {
    names += (names.empty() ? "" : ", ") + std::string{name};
  };
  for (std::size_t i = 0; i < start_part_count; ++i) {
    const std::string_view name = start_part_names[i];
    const bool from_storage = i == static_cast<std::size_t>(StartPart::weights) && table.has("storage");
    if (from_storage) {
      name_in(there, "storage");
    } else {
      name_in(table.has(name) ? there : lacking, name);
    }
    parts.each[i] = stated[i].value_or(Seconds{});
  }
  if (table.has("cold_start") && !there.empty()) {
    table.problem("cold_start", "'cold_start' beside " + there + ", whose sum it is; leave one out");
  } else if (table.has("weights") && table.has("storage")) {
    table.problem("weights", "'weights' beside 'storage', from which their time follows; leave one out");
  } else if (there.empty()) {
    if (!table.has("cold_start")) {
      table.missing(
          "cold_start",
          ", the time from the decision to a replica that serves, such as \"5 min\"; or state its parts: node, "
          "image, weights (or storage), compile and graphs");
    }
  } else if (!lacking.empty()) {
    table.problem("", "[fleet.autoscale] states " + there + " of a cold start, but not " + lacking +
                          "; state all of them (\"0 s\" where there is nothing to wait for), or cold_start as a whole");
  } else {
    asked.parts = parts;
  }
  asked.cold_start = whole.value_or(Seconds{});
  asked.target = table.get<"target">();
  asked.least = table.get<"least">();
  return asked;
}

std::optional<FleetFailures> read_failures(FleetKeys& fleet, std::int64_t gpus) {
  auto table = KeyedTable<keys::fleet_failures, Kinds::serve>::maybe(fleet);
  if (!table) {
    return std::nullopt;
  }
  FleetFailures failures;
  failures.mtbf_per_gpu = table->stated<"mtbf_per_gpu">();
  failures.preemptions_every = table->stated<"preemptions_every">();
  failures.back = table->get<"back">();
  failures.availability = table->get<"availability">();
  if (!table->has("mtbf_per_gpu") && !table->has("preemptions_every")) {
    table->problem("mtbf_per_gpu",
                   "[fleet.failures] says of nothing how often it happens; state mtbf_per_gpu, "
                   "preemptions_every of a replica, or both");
  }
  if (fleet.has("spare")) {
    fleet.problem("spare", "'spare' beside [fleet.failures], from which the spare replicas follow; leave one out");
  }
  // A replica that is down more than half of the time is no replica.
  if (const double up = failures.up(gpus); up < 0.5) {
    table->problem("back", "replicas would be up for " + format_number(100.0 * up, 2) +
                               " % of the time: 'back' is longer than the time between failures of a replica's " +
                               std::to_string(gpus) + " GPU(s); shorten it, or state a longer one");
  }
  table->finish();
  return failures;
}

}  // namespace

FleetQuestion read_fleet(ConfigTable& root, std::int64_t gpus, std::vector<std::string>& assumptions) {
  FleetQuestion fleet;
  auto table = FleetKeys::maybe(root);
  if (!table) {
    assumptions.push_back("fleet.spare = 0: no replica more than the promises need (not stated)");
    return fleet;
  }
  fleet.replicas = table->stated<"replicas">();
  fleet.spare = table->get<"spare">();
  fleet.routing = table->get<"routing", RequestRouting>();
  using RoutingKeys = KeyedTable<keys::prefix_routing, Kinds::serve>;
  if (auto routing = RoutingKeys::maybe(*table)) {
    PrefixRouting& r = fleet.prefix_routing;
    r.cache_threshold = routing->get<"cache_threshold">();
    r.balance_abs = routing->get<"balance_abs_threshold">();
    r.balance_rel = routing->get<"balance_rel_threshold">();
    routing->finish();
    if (fleet.routing != RequestRouting::prefix) {
      table->problem("prefix_routing", "[fleet.prefix_routing] beside another routing; state routing = \"prefix\"");
    }
  } else if (fleet.routing == RequestRouting::prefix && !table->has("prefix_routing")) {
    std::string all;
    for (const Key& key : keys::prefix_routing.rows) {
      all += (all.empty() ? "" : ", ") + std::string{key.path} + " " + blank_text(key);
    }
    assumptions.push_back("fleet.prefix_routing: " + all + " (the defaults of SGLang's router)");
  }
  fleet.failures = read_failures(*table, gpus);
  if (auto prefill = KeyedTable<keys::prefill, Kinds::serve>::maybe(*table)) {
    DisaggregatedPrefill& p = fleet.prefill.emplace();
    p.replicas = prefill->stated<"replicas">();
    p.tp = prefill->get<"tp">();
    p.link = prefill->get<"link">();
    p.latency = prefill->get<"latency">();
    prefill->finish();
  }
  if (auto scaling = KeyedTable<keys::autoscale, Kinds::serve>::maybe(*table)) {
    fleet.autoscaling = read_autoscale(*scaling);
    scaling->finish();
  }
  table->finish();
  return fleet;
}

}  // namespace headroom
