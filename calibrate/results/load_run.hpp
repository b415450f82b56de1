// SPDX-License-Identifier: Apache-2.0
// What results of benchmarks say of one run: of a server under a client's load, or of a training.
#pragma once

#include <headroom/core/diagnostic.hpp>
#include <headroom/core/quantity.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {

/// Times of a request that clients tell.
enum class LatencyKind : std::uint8_t {
  ttft,     ///< from the request to its first token
  tpot,     ///< between tokens, a mean of each request
  itl,      ///< between two tokens
  request,  ///< from the request to its last token
  queue,    ///< before its prefill
  count
};
inline constexpr std::size_t latency_kinds = static_cast<std::size_t>(LatencyKind::count);
inline constexpr std::array<std::string_view, latency_kinds> latency_names{"TTFT", "TPOT", "ITL", "request", "queue"};

/// One kind of time over the requests of a run, as far as a file tells it.
struct ToldLatency {
  std::optional<Seconds> mean, least, most;
  std::vector<std::pair<double, Seconds>> quantiles;  ///< shares of 1, rising; stated by the file
  std::vector<double> each;                           ///< s, of the requests; empty: the file lists none

  [[nodiscard]] bool told() const noexcept { return mean || !quantiles.empty() || !each.empty(); }
  /// The stated quantile, else that of `each`; nullopt: neither.
  [[nodiscard]] std::optional<Seconds> at(double share) const;
  /// The stated mean, else that of `each`, else the median.
  [[nodiscard]] std::optional<Seconds> middle() const;
};

/// One request, as far as a file tells it.
struct LoadRequest {
  std::optional<Seconds> begin, first, lasts;  ///< begin on the client's clock; the others from it
  std::optional<double> prompt, output;        ///< tokens
  bool failed = false;
};

/// A number of a file that is none: NaN, below zero, a word.
struct ToldFault {
  Position at;
  std::string text;  ///< "'mean_ttft_ms' is -3; it must be a number, 0 or more"
};

/// A run of a client against a server.
struct LoadRun {
  std::string client;                       ///< "vllm bench serve", "MLPerf loadgen"
  std::string model;                        ///< as the client calls it; empty: it does not say
  std::string server;                       ///< its word for the engine or its protocol: "vllm", "openai"
  std::string scenario;                     ///< of MLPerf's loadgen: "Server"
  std::string of;                           ///< which of the file's runs; empty: it has one
  int line = 1;                             ///< where it begins
  std::optional<double> asked_rate;         ///< requests a second that the client was to send
  bool at_once = false;                     ///< the client sent all requests at its start
  std::optional<double> limit;              ///< requests that it has in flight at most
  std::optional<double> rate;               ///< requests a second that ended
  std::optional<double> output_rate;        ///< tokens a second
  std::optional<double> total_rate;         ///< tokens of prompts and answers a second
  std::optional<double> in_flight;          ///< mean, where the file tells it
  std::optional<double> completed, failed;  ///< requests
  std::optional<double> asked;              ///< requests that were to be sent
  std::optional<Seconds> lasts;
  std::optional<double> prompt, output, asked_output;  ///< tokens of a request, means
  std::optional<double> cut;                           ///< share of the answers that a limit of tokens ended
  std::array<ToldLatency, latency_kinds> latencies{};
  std::vector<LoadRequest> requests;
  std::string first_error;           ///< of a request that failed
  std::vector<std::string> invalid;  ///< rules of the benchmark that the run does not keep, in the client's words
  std::vector<ToldFault> faults;     ///< numbers that are none, which are left out

  [[nodiscard]] const ToldLatency& of_kind(LatencyKind kind) const noexcept {
    return latencies[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] ToldLatency& of_kind(LatencyKind kind) noexcept { return latencies[static_cast<std::size_t>(kind)]; }
};

/// A run of MLPerf training as its log tells it.
struct TrainingRun {
  std::optional<Seconds> init, run;                  ///< before the clock of the benchmark starts; while it runs
  std::vector<Seconds> evaluations;                  ///< each
  std::vector<Seconds> blocks;                       ///< of training between evaluations
  std::vector<std::optional<double>> block_samples;  ///< of each block
  std::vector<Seconds> steps;                        ///< each that the log tells
  std::vector<double> rates;                         ///< samples a second
  std::optional<double> batch;                       ///< samples of a step
  std::optional<double> sequence;                    ///< tokens of a sample
  std::string benchmark;                             ///< its name in the suite
  std::string status;                                ///< "success", "aborted"; empty: the run did not end
  int line = 1;
};

}  // namespace headroom
