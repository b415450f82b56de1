// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/statistics.hpp>
#include <headroom/model/serve/load/request_load.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/measured/serving_loads.hpp>
#include <headroom/scenarios/measured/serving_place.hpp>
#include <headroom/scenarios/measured/serving_times.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace headroom {
namespace {

constexpr std::array<std::string_view, 4> shapes{"fixed", "uniform", "lognormal", "exponential"};

/// Bounds that no mean lies in where the table states none: the set is known by its name alone.
std::array<double, 2> read_bounds(ConfigTable& table, std::string_view key) {
  if (!table.has(key)) {
    return {};
  }
  const std::vector<std::int64_t> read = table.integers(key);
  if (read.size() != 2 || read[0] < 1 || read[0] > read[1]) {
    table.problem(key, "takes two mean lengths in tokens, the lower one first, as [240, 310]");
    return {1.0, 1.0};
  }
  return {static_cast<double>(read[0]), static_cast<double>(read[1])};
}

LengthLaw read_law(ConfigTable& table, const std::string& of) {
  LengthLaw law;
  law.mean = table.maybe_number(of + "_mean", {1.0, 1e6}).value_or(0.0);
  law.shape = static_cast<LengthShape>(table.choice(of + "_shape", shapes));
  const double spread = table.number(of + "_spread", {0.0, 10.0});
  law.low = std::min(spread, 1.0);
  law.cv = spread;
  law.most = table.integer(of + "_most");
  return law;
}

using CountedAnswers = std::map<std::string, std::vector<std::int64_t>>;

/// The counted answers that a set names, none longer than `most`.
std::vector<std::int32_t> cut_answers(ConfigTable& table, const CountedAnswers& counted, std::int64_t most) {
  const auto named = counted.find(table.text("output_counted"));
  if (named == counted.end()) {
    table.problem("output_counted", "names no [[counted]] of this file");
    return {};
  }
  std::vector<std::int32_t> answers;
  for (const std::int64_t tokens : named->second) {
    answers.push_back(static_cast<std::int32_t>(std::min(tokens, most)));
  }
  return answers;
}

/// The mean before the limit at which a lognormal law has `mean` with it:
/// E[min(X, L)] = m Phi((ln(L / m) - s^2 / 2) / s) + L (1 - Phi((ln(L / m) + s^2 / 2) / s)).
double mean_before_limit(const LengthLaw& law, double mean) {
  const double most = static_cast<double>(law.most);
  const double variance = std::log1p(law.cv * law.cv), s = std::sqrt(variance);
  if (s <= 0.0 || mean >= 0.98 * most) {
    return mean;
  }
  double low = mean, high = 20.0 * most;
  for (int i = 0; i < 60; ++i) {
    const double m = std::sqrt(low * high), far = std::log(most / m);
    const double limited =
        m * normal_share((far - 0.5 * variance) / s) + most * (1.0 - normal_share((far + 0.5 * variance) / s));
    (limited < mean ? low : high) = m;
  }
  return low;
}

/// The set's length law around a row's mean, which was counted with the limit; fixed lengths without a set.
LengthLaw around(const LengthLaw* law, double mean) {
  LengthLaw around = law == nullptr ? LengthLaw{} : *law;
  around.mean = law != nullptr && law->mean > 0.0 ? law->mean : mean;
  if (around.shape == LengthShape::lognormal) {
    around.mean = std::min(mean_before_limit(around, around.mean), static_cast<double>(around.most));
  }
  return around;
}

std::optional<std::int64_t> count(const ServingConfiguration& run, std::string_view key) {
  const std::optional<double> number = row_number(run, key);
  return number && *number >= 1.0 && *number <= 1e6 ? std::optional{static_cast<std::int64_t>(*number)} : std::nullopt;
}

}  // namespace

bool KnownLengths::holds(double isl, double osl) const noexcept {
  return prompt_bounds[0] <= isl && isl <= prompt_bounds[1] && output_bounds[0] <= osl && osl <= output_bounds[1];
}

PublishedLoads read_published_loads(const ConfigValue& document, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  static_cast<void>(root.text("id"));
  static_cast<void>(root.text("source"));
  PublishedLoads loads;
  loads.seed = static_cast<std::uint64_t>(root.integer("seed"));
  loads.repeats = root.integer("repeats", {1, 100});
  loads.requests = root.integer("requests");
  loads.waves = root.integer("waves", {1, 1000});
  loads.server_requests = root.integer("server_requests", {1, 1'000'000});
  loads.server_seconds = root.number("server_seconds", {0.0, 1e6});
  loads.server_most = root.integer("server_most", {1, 1'000'000});
  CountedAnswers counted;
  for (ConfigTable& table : root.tables("counted")) {
    std::vector<std::int64_t>& answers = counted[table.text("id")];
    answers = table.integers("answers");
    if (answers.empty() || *std::min_element(answers.begin(), answers.end()) < 1) {
      table.problem("answers", "takes the tokens of each answer, at least 1, as [2, 30, 512]");
    }
    static_cast<void>(table.text("source"));
    table.finish();
  }
  for (ConfigTable& table : root.tables("lengths")) {
    KnownLengths known;
    known.id = table.text("id");
    known.prompt_bounds = read_bounds(table, "prompt");
    known.output_bounds = read_bounds(table, "output");
    known.prompt = read_law(table, "prompt");
    known.output = read_law(table, "output");
    if (table.has("output_counted")) {
      known.counted = cut_answers(table, counted, known.output.most);
    }
    static_cast<void>(table.text("source"));
    table.finish();
    loads.lengths.push_back(std::move(known));
  }
  root.finish();
  return loads;
}

const PublishedLoads& published_loads(const ModelData& data) {
  return step_numbers(data, "serve-loads", read_published_loads);
}

bool ClientLoad::random() const noexcept {
  return kind == ClientKind::open || prompt.shape != LengthShape::fixed || output.shape != LengthShape::fixed;
}

std::int64_t ClientLoad::repeats(const PublishedLoads& loads) const noexcept {
  return random() ? std::clamp<std::int64_t>(loads.requests / requests, 1, loads.repeats) : 1;
}

std::optional<double> fresh_prompts(const ServingConfiguration& run) {
  const std::optional<double> distinct = row_number(run, "distinct_prompts");
  if (!distinct || !run.concurrency) {
    return distinct;
  }
  return std::max(0.0, *distinct - row_number(run, "warmups_per_client").value_or(0.0) * *run.concurrency);
}

std::optional<ClientLoad> client_load(
    const ServingConfiguration& run, double isl, double osl, const PublishedLoads& loads, std::string& why) {
  ClientLoad load;
  const std::string scenario = scenario_of(run);
  std::optional<std::int64_t> requests = count(run, "requests");
  if (keeps_limits(run)) {
    // What was sent is no part of the question: the rate is the answer, and a run is as long as it needs.
    load.kind = ClientKind::open;
    requests = loads.server_requests;
  } else if (scenario == "online") {
    load.kind = ClientKind::open;
    if (!run.request_rate || !std::isfinite(*run.request_rate) || *run.request_rate <= 0.0) {
      why = "not published: request_rate";
      return std::nullopt;
    }
    load.rate = *run.request_rate;
  } else if (scenario == "burst" || scenario == "offline") {
    load.kind = ClientKind::burst;
  } else {
    load.kind = ClientKind::closed;
    if (!run.concurrency && (scenario != "interactive" || run.request_rate)) {
      why = "not published: concurrency";
      return std::nullopt;
    }
    load.clients = std::max<std::int64_t>(1, std::llround(run.concurrency.value_or(1.0)));
  }
  if (!requests && load.kind != ClientKind::closed) {
    why = "not published: options.requests, how many were sent";
    return std::nullopt;
  }
  load.requests = requests.value_or(load.clients * loads.waves);
  const std::string named = row_option(run, "lengths");
  const auto known = std::find_if(loads.lengths.begin(), loads.lengths.end(), [&](const KnownLengths& k) {
    return named.empty() ? k.holds(isl, osl) : k.id == named;
  });
  load.known = known == loads.lengths.end() ? nullptr : &*known;
  load.prompt = around(load.known == nullptr ? nullptr : &load.known->prompt, isl);
  load.output = around(load.known == nullptr ? nullptr : &load.known->output, osl);
  if (const std::optional<double> ratio = row_number(run, "range_ratio"); ratio && *ratio < 1.0) {
    for (LengthLaw* law : {&load.prompt, &load.output}) {
      law->shape = LengthShape::uniform;
      law->low = *ratio / mean_of_nominal(run);
    }
  }
  if (const std::optional<double> fresh = fresh_prompts(run); fresh && load.kind == ClientKind::closed) {
    load.fresh = std::llround(*fresh);
  }
  for (const std::string& problem : problems(load.prompt, "prompt")) {
    why = problem;
    return std::nullopt;
  }
  for (const std::string& problem : problems(load.output, "output")) {
    why = problem;
    return std::nullopt;
  }
  return load;
}

std::optional<LengthLaw> named_outputs(const ServingConfiguration& run, double osl, const PublishedLoads& loads) {
  const std::string named = row_option(run, "lengths");
  const auto known = std::find_if(loads.lengths.begin(), loads.lengths.end(),
                                  [&](const KnownLengths& k) { return !named.empty() && k.id == named; });
  return known == loads.lengths.end() ? std::nullopt : std::optional{around(&known->output, osl)};
}

namespace {

/// Answers as they were counted, in place of those that a law gave.
void draw_counted(const ClientLoad& load, std::uint64_t seed, RequestLoad& drawn) {
  if (load.known == nullptr || load.known->counted.empty()) {
    return;
  }
  const std::vector<std::int32_t>& counted = load.known->counted;
  constexpr std::uint64_t own_stream = 1U << 20U;  // beyond those of a load's classes
  RandomStream random{seed, own_stream};
  for (Request& request : drawn.requests) {
    request.output_tokens = counted[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(counted.size())))];
  }
}

}  // namespace

RequestLoad requests_of(const ClientLoad& load, std::uint64_t seed) {
  TrafficClass traffic;
  traffic.prompt = load.prompt;
  traffic.output = load.output;
  if (load.kind == ClientKind::closed) {
    RequestLoad closed = closed_load(traffic, load.clients, load.requests, seed);
    draw_counted(load, seed, closed);
    for (std::size_t i = static_cast<std::size_t>(load.fresh); load.fresh >= 0 && i < closed.requests.size(); ++i) {
      closed.requests[i].cached_tokens = closed.requests[i].prompt_tokens - 1;
    }
    return closed;
  }
  traffic.arrivals.rate = Hertz{load.kind == ClientKind::open ? load.rate : std::numeric_limits<double>::infinity()};
  RequestLoad open = open_load({&traffic, 1}, load.requests, seed);
  draw_counted(load, seed, open);
  return open;
}

}  // namespace headroom
