// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/core/real.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/scenarios/goodput/failures.hpp>
#include <headroom/scenarios/goodput/published_files.hpp>

#include <algorithm>
#include <cmath>

namespace headroom::goodput {
namespace {

constexpr Range<double> any_count{0.0, 1e9};

/// Failures per second and GPU from a count in `exposure` GPU-seconds.
Interval<Hertz> per_gpu(const Interval<double>& events, Seconds exposure) {
  return {events.low / exposure, events.mid / exposure, events.high / exposure};
}

Interval<double> read_events(ConfigTable& table) {
  if (const std::optional<std::int64_t> counted = table.maybe_integer("failures")) {
    return count_interval(real(*counted));
  }
  const double least = table.number("failures_at_least", any_count);
  const double most = table.number("failures_at_most", any_count);
  if (most <= 0.0 || least > most) {
    table.problem("failures_at_most", "'failures_at_most' is " + format_number(most) + ", 'failures_at_least' " +
                                          format_number(least) + "; state the smaller one as the least");
  }
  return {least, (least + most) / 2.0, most};
}

void read_rate(ConfigTable& table, FailureRate& rate) {
  constexpr double days = 1000.0;
  if (table.has("failures_per_1000_node_days")) {
    const double events = table.number("failures_per_1000_node_days", {1e-9, 1e6});
    const double node = real(table.integer("gpus_per_node"));
    rate.per_gpu = per_gpu({events, events, events}, days * node * day);
    return;
  }
  if (!table.has("failures") && !table.has("failures_at_least")) {
    table.problem("failures",
                  "how often? state 'failures' and 'duration', or 'failures_at_least', 'failures_at_most' and "
                  "'duration', or 'failures_per_1000_node_days' and 'gpus_per_node'");
    return;
  }
  const Interval<double> events = read_events(table);
  rate.per_gpu = per_gpu(events, real(rate.gpus) * table.quantity<Seconds>("duration"));
}

}  // namespace

FailureRate read_failure_rate(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics) {
  ConfigTable table{document, "", diagnostics};
  require_schema(table);
  FailureRate rate;
  rate.file = file;
  rate.id = table.text("id");
  rate.name = table.text("name");
  rate.gpu = table.text("gpu");
  rate.gpus = std::max<std::int64_t>(table.integer("gpus"), 1);
  rate.scope = static_cast<FailureScope>(table.choice("scope", failure_scope_names));
  rate.source = table.text("source");
  rate.notes = table.maybe_text("notes").value_or("");
  read_rate(table, rate);
  table.finish();
  return rate;
}

const std::vector<FailureRate>& failure_rates() {
  static const std::vector<FailureRate> rates = read_published("failure-rates", read_failure_rate);
  return rates;
}

const FailureRate& failure_rate(std::string_view id) {
  return published(failure_rates(), id, "failure rate");
}

Interval<double> count_interval(double events) noexcept {
  constexpr double z = 1.2815515655446004;  // 0.9 quantile of the normal distribution
  const auto limit = [](double n, double side) {
    return n * std::pow(1.0 - 1.0 / (9.0 * n) + side * z / (3.0 * std::sqrt(n)), 3.0);
  };
  return {events > 0.0 ? std::max(0.0, limit(events, -1.0)) : 0.0, events, limit(events + 1.0, 1.0)};
}

Interval<Hertz> failure_range(std::span<const FailureRate> rates, FailureScope scope) {
  std::vector<double> seen;
  for (const FailureRate& rate : rates) {
    if (rate.scope == scope) {
      seen.push_back(rate.per_gpu.mid.raw());
    }
  }
  if (seen.empty()) {
    throw ConfigError{"no failure rate of scope '" + std::string{failure_scope_names[static_cast<std::size_t>(scope)]} +
                      "': state one of your own"};
  }
  const auto [low, high] = std::minmax_element(seen.begin(), seen.end());
  return {Hertz{*low}, Hertz{median(seen)}, Hertz{*high}};
}

Seconds job_mtbf(Hertz per_gpu, double gpus, Hertz per_job) {
  Diagnostics problems;
  if (!(gpus >= 1.0)) {
    problems.add("", {}, "a job of " + format_number(gpus) + " GPUs: state at least 1");
  }
  if (!(per_gpu >= Hertz{}) || !(per_job >= Hertz{})) {
    problems.add("", {}, "a failure rate is negative: state failures in a time, both above zero");
  }
  const Hertz rate = gpus * per_gpu + per_job;
  if (problems.empty() && !(rate > Hertz{})) {
    problems.add("", {}, "no failures at all: a mean time between failures needs a rate above zero");
  }
  problems.throw_if_any();
  return 1.0 / rate;
}

}  // namespace headroom::goodput
