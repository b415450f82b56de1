// SPDX-License-Identifier: Apache-2.0
// Loads of clients: latencies and their tails, what was asked and reached, waits before the prefill, intervals.
#include <headroom/calibrate/diagnosis/signal_causes.hpp>
#include <headroom/calibrate/loads/load_reading.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

namespace headroom {
namespace {

constexpr double least_told_share = 0.03;  ///< below it steps and requests of one run differ as much

FindingCell cell_of(std::optional<Seconds> time) {
  return time ? FindingCell{*time} : FindingCell{};
}
FindingCell cell_of(std::optional<double> number) {
  return number ? FindingCell{*number} : FindingCell{};
}

std::string rate_text(double rate) {
  return format_number(rate, 3) + " requests/s";
}

struct LoadTables {
  FindingTable latencies{"load_latencies",
                         "Latencies of requests:",
                         {{"load", "<load"},
                          {"latency", "<time"},
                          {"mean_s", "mean"},
                          {"p50_s", "p50"},
                          {"p90_s", "p90"},
                          {"p99_s", "p99"},
                          {"tail", "p99 over p50"}},
                         {}};
  FindingTable loads{"loads",
                     "Load that was asked for and reached:",
                     {{"load", "<load"},
                      {"asked_per_s", "requests/s asked"},
                      {"requests_per_s", "reached"},
                      {"in_flight", "in flight"},
                      {"limit", "at most"},
                      {"completed", "completed"},
                      {"failed", "failed"},
                      {"prompt_tokens", "prompt tokens"},
                      {"output_tokens", "output tokens"},
                      {"output_tokens_per_s", "output tokens/s"},
                      {"state", "<state"}},
                     {}};
  FindingTable intervals{"load_intervals",
                         "Throughput by interval:",
                         {{"load", "<load"},
                          {"begin_s", "from"},
                          {"requests_per_s", "requests/s"},
                          {"output_tokens_per_s", "output tokens/s"},
                          {"ttft_s", "mean TTFT"}},
                         {}};
};

class OneLoad {
 public:
  OneLoad(const LoadRun& load, const std::string& file, RunReading& reading)
      : load_{load}, who_{file + (load.of.empty() ? "" : " " + load.of)}, reading_{reading}, state_{state_of(load)} {}

  void add(LoadTables& tables) {
    add_rows(tables);
    add_state();
    add_wait();
    add_failures();
    add_notes();
    ToldLoad served;
    served.who = who_;
    served.ttft = load_.of_kind(LatencyKind::ttft).middle();
    served.tpot = load_.of_kind(LatencyKind::tpot).middle();
    if (!served.tpot) {
      served.tpot = load_.of_kind(LatencyKind::itl).middle();
    }
    served.requests_per_s = load_.rate;
    served.output_tokens_per_s = load_.output_rate;
    served.in_flight = in_flight_of(load_);
    reading_.loads.push_back(std::move(served));
  }

 private:
  [[nodiscard]] std::string place() const { return who_ + ":" + std::to_string(load_.line) + ": "; }

  void add_rows(LoadTables& tables) {
    for (std::size_t kind = 0; kind < latency_kinds; ++kind) {
      const ToldLatency& told = load_.latencies[kind];
      if (!told.told()) {
        continue;
      }
      const auto p50 = told.at(0.5);
      const auto p99 = told.at(0.99);
      const auto tail = p50 && p99 && *p50 > Seconds{} ? std::optional{*p99 / *p50} : std::nullopt;
      tables.latencies.rows.push_back({who_, std::string{latency_names[kind]}, cell_of(told.middle()), cell_of(p50),
                                       cell_of(told.at(0.9)), cell_of(p99), cell_of(tail)});
    }
    tables.loads.rows.push_back({who_, cell_of(load_.asked_rate), cell_of(load_.rate), cell_of(in_flight_of(load_)),
                                 cell_of(load_.limit), cell_of(load_.completed), cell_of(load_.failed),
                                 cell_of(load_.prompt), cell_of(load_.output), cell_of(load_.output_rate),
                                 std::string{load_state_names[static_cast<std::size_t>(state_)]}});
    add_intervals(tables.intervals);
  }

  /// Tokens of a request come evenly from its first to its last; without that, when it ends.
  void add_intervals(FindingTable& table) const {
    constexpr std::size_t count = 10;
    constexpr std::size_t least = 4 * count;
    double begin = 0.0;
    double end = 0.0;
    std::size_t told = 0;
    for (const LoadRequest& request : load_.requests) {
      if (request.begin && request.lasts && !request.failed) {
        const double last = (*request.begin + *request.lasts).raw();
        begin = told == 0 ? request.begin->raw() : std::min(begin, request.begin->raw());
        end = told == 0 ? last : std::max(end, last);
        ++told;
      }
    }
    if (told < least || !(end > begin)) {
      return;
    }
    const double each = (end - begin) / real(static_cast<std::int64_t>(count));
    std::array<double, count> done{}, tokens{}, firsts{}, started{};
    const auto at = [&](double time) {
      return std::min(count - 1, static_cast<std::size_t>(std::max(0.0, (time - begin) / each)));
    };
    for (const LoadRequest& request : load_.requests) {
      if (!request.begin || !request.lasts || request.failed) {
        continue;
      }
      const double last = (*request.begin + *request.lasts).raw();
      const double first = request.begin->raw() + (request.first ? request.first->raw() : request.lasts->raw());
      done[at(last)] += 1.0;
      for (std::size_t i = at(first); i <= at(last); ++i) {
        const double low = std::max(first, begin + each * real(static_cast<std::int64_t>(i)));
        const double high = std::min(last, begin + each * real(static_cast<std::int64_t>(i + 1)));
        const double share = last > first ? std::max(0.0, high - low) / (last - first) : 1.0;
        tokens[i] += share * request.output.value_or(0.0);
      }
      if (request.first) {
        started[at(request.begin->raw())] += 1.0;
        firsts[at(request.begin->raw())] += request.first->raw();
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      const bool any = tokens[i] > 0.0;
      table.rows.push_back({who_, Seconds{each * real(static_cast<std::int64_t>(i))}, done[i] / each,
                            any ? FindingCell{tokens[i] / each} : FindingCell{},
                            started[i] > 0.0 ? FindingCell{Seconds{firsts[i] / started[i]}} : FindingCell{}});
    }
  }

  void add_state() {
    if (!load_.asked_rate || !load_.rate || *load_.rate >= *load_.asked_rate) {
      if (state_ != LoadState::saturated) {
        return;
      }
    }
    const double reached = std::min(1.0, *load_.rate / *load_.asked_rate);
    const std::string rates = rate_text(*load_.rate) + " of the " + format_number(*load_.asked_rate, 3) + " asked";
    const std::optional<double> flying = in_flight_of(load_);
    const std::vector<std::string> evidence{place() + "asked " + rate_text(*load_.asked_rate) + ", ended " +
                                            rate_text(*load_.rate)};
    if (state_ == LoadState::client_bound) {
      const bool held = load_.limit && flying && *flying >= 0.9 * *load_.limit;
      reading_.causes.push_back(
          {CauseKind::client_bound, 1.0 - reached, reached,
           "The client sends " + rates +
               (held ? ": it may have " + general_text(*load_.limit, 6) + " requests in flight, and has " +
                           format_number(*flying, 3) + "."
                     : ", whatever the server does."),
           held ? "Raise the client's limit (--max-concurrency), or take the reached rate for the load that was "
                  "measured."
                : "Give the client more processes or another host; what is measured is the load that it sends.",
           evidence});
    } else if (state_ == LoadState::saturated) {
      const ToldLatency& first = load_.of_kind(LatencyKind::ttft);
      const auto tail = first.at(0.99);
      reading_.causes.push_back(
          {CauseKind::saturated, std::max(least_told_share, 1.0 - reached), reached,
           "The server ends " + rates + ": requests wait for one another" +
               (tail ? ", up to " + format(*tail) + " for their first token (p99)." : "."),
           "Send at most what it ends, or plan more: headroom plan of the scenario says what a replica sustains.",
           evidence});
    }
  }

  void add_wait() {
    const std::optional<Seconds> first = load_.of_kind(LatencyKind::ttft).middle();
    const std::optional<Seconds> wait = wait_before_prefill(load_);
    if (!first || first->raw() <= 0.0) {
      return;
    }
    if (!wait) {
      const std::optional<Seconds> least = load_.of_kind(LatencyKind::ttft).least;
      if (least && *least > Seconds{}) {
        reading_.notes.push_back(who_ + ": the fastest first token took " + format(*least) + ", the mean " +
                                 format(*first) + "; what of it is prefill and what a wait is not told.");
      }
      return;
    }
    const Seconds waited = std::min(*wait, *first);
    const double share = waited / *first;
    reading_.notes.push_back(who_ + ": of the mean TTFT of " + format(*first) + " at least " + percent(share, 2) +
                             " is a wait, the rest prefill and what runs beside it.");
    const std::optional<Seconds> whole = load_.of_kind(LatencyKind::request).middle();
    const double of_request = waited / (whole && *whole > *first ? *whole : *first);
    constexpr double half = 0.5;
    // A server that does not keep up is why they wait; a client that sends all at once wants them to.
    if (share < half || of_request < least_told_share || state_ == LoadState::all_at_once ||
        state_ == LoadState::saturated) {
      return;
    }
    reading_.causes.push_back(
        {CauseKind::queued,
         of_request,
         1.0 - of_request,
         "Requests wait " + format(waited) + " before their prefill, " + percent(share, 2) + " of the mean TTFT of " +
             format(*first) + ".",
         "Let the engine take more sequences or tokens a step, put prefill on servers of its own, add replicas, or "
         "send "
         "less.",
         {place() + (load_.of_kind(LatencyKind::queue).told()
                         ? "queue times of requests"
                         : "first tokens beside the fastest of requests with prompts of like length")}});
  }

  void add_failures() {
    const double failed = load_.failed.value_or(0.0);
    const double all = failed + load_.completed.value_or(0.0);
    if (failed <= 0.0 || all <= 0.0) {
      return;
    }
    constexpr std::size_t longest = 160;
    std::vector<std::string> evidence{place() + general_text(failed, 9) + " of " + general_text(all, 9) +
                                      " requests failed"};
    if (!load_.first_error.empty()) {
      evidence.push_back(place() + load_.first_error.substr(0, longest));
    }
    reading_.causes.push_back(
        {CauseKind::failed_requests, failed / all, std::nullopt,
         general_text(failed, 9) + " of " + general_text(all, 9) + " requests failed, " + percent(failed / all, 2) +
             ": rates and latencies are those of the others.",
         "Look at the server's log of that time; an error that comes fast makes a server look fast.",
         std::move(evidence)});
  }

  void add_notes() {
    for (const std::string& rule : load_.invalid) {
      reading_.notes.push_back(place() + rule + ": by the benchmark's own rules this run measures nothing.");
    }
    if (load_.asked_output && load_.output && *load_.output < 0.95 * *load_.asked_output) {
      reading_.notes.push_back(who_ + ": answers have " + general_text(*load_.output, 6) + " tokens of the " +
                               general_text(*load_.asked_output, 6) +
                               " asked: they end by themselves (ignore_eos), so that tokens/s of runs differ by more "
                               "than speed.");
    }
    if (load_.cut) {
      reading_.notes.push_back(who_ + ": " + percent(*load_.cut, 3) + " of the answers end at their limit of tokens.");
    }
    for (const LatencyKind kind : {LatencyKind::ttft, LatencyKind::tpot, LatencyKind::request}) {
      const ToldLatency& told = load_.of_kind(kind);
      const auto p50 = told.at(0.5);
      const auto p99 = told.at(0.99);
      constexpr double long_tail = 3.0;
      if (p50 && p99 && *p50 > Seconds{} && *p99 / *p50 > long_tail) {
        reading_.notes.push_back(who_ + ": p99 of " + std::string{latency_names[static_cast<std::size_t>(kind)]} +
                                 " is " + format_number(*p99 / *p50, 3) + " times the median (" + format(*p99) +
                                 " to " + format(*p50) + ").");
      }
    }
    if (state_ == LoadState::all_at_once) {
      reading_.notes.push_back(who_ +
                               ": all requests are sent at once: the rate is what the server can do, first tokens wait "
                               "for one another by design.");
    }
    if (state_ == LoadState::closed_loop && load_.limit && load_.rate) {
      reading_.notes.push_back(who_ + ": " + general_text(*load_.limit, 6) +
                               " clients send when they have an answer: the rate follows the server.");
    }
  }

  const LoadRun& load_;
  std::string who_;
  RunReading& reading_;
  LoadState state_;
};

/// Loads that were asked alike are repetitions: how far they lie apart.
void add_repetitions(std::span<const BenchmarkResult> results, RunReading& reading) {
  using Asked = std::pair<std::string, std::pair<double, double>>;
  struct Runs {
    std::vector<double> rates, tokens, firsts, tpots;
  };
  std::map<Asked, Runs> alike;
  for (const BenchmarkResult& result : results) {
    for (const LoadRun& load : result.loads) {
      Runs& runs = alike[{load.client, {load.asked_rate.value_or(0.0), load.limit.value_or(0.0)}}];
      const auto take = [](std::vector<double>& into, std::optional<double> value) {
        if (value && *value > 0.0) {
          into.push_back(*value);
        }
      };
      const auto time = [&](LatencyKind kind) {
        const auto middle = load.of_kind(kind).middle();
        return middle ? std::optional{middle->raw()} : std::nullopt;
      };
      take(runs.rates, load.rate);
      take(runs.tokens, load.output_rate);
      take(runs.firsts, time(LatencyKind::ttft));
      take(runs.tpots, time(LatencyKind::tpot));
    }
  }
  FindingTable table{"repetitions",
                     "Runs that were asked alike:",
                     {{"metric", "<metric"}, {"runs", "runs"}, {"spread", "deviation over mean"}},
                     {}};
  for (const auto& [asked, runs] : alike) {
    const std::array<std::pair<std::string_view, const std::vector<double>*>, 4> metrics{
        {{"requests/s", &runs.rates},
         {"output tokens/s", &runs.tokens},
         {"TTFT", &runs.firsts},
         {"TPOT", &runs.tpots}}};
    for (const auto& [name, values] : metrics) {
      if (const std::optional<double> spread = relative_deviation(*values)) {
        table.rows.push_back(
            {asked.first + " " + std::string{name}, static_cast<std::int64_t>(values->size()), *spread});
      }
    }
  }
  keep_table(std::move(table), reading);
}

}  // namespace

void add_results(std::span<const BenchmarkResult> results, RunReading& reading) {
  LoadTables tables;
  for (const BenchmarkResult& result : results) {
    for (const LoadRun& load : result.loads) {
      OneLoad{load, result.file, reading}.add(tables);
    }
  }
  for (FindingTable* table : {&tables.loads, &tables.latencies, &tables.intervals}) {
    keep_table(std::move(*table), reading);
  }
  add_repetitions(results, reading);
  add_trainings(results, reading);
}

}  // namespace headroom
