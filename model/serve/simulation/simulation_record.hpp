// SPDX-License-Identifier: Apache-2.0
// A detailed record of a simulated fleet, for a limited number of iterations and requests.
#pragma once

#include <headroom/model/serve/load/request.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headroom {

/// The phases of a request from arrival to last token: waiting for its first iteration; prompt computation (repeated
/// after a preemption that discarded the cache); cache transfer to a decode replica; waiting there; decoding;
/// preempted.
enum class RequestPhase : std::uint8_t { queue, prefill, transfer, decode_queue, decode, preempted };

/// Limits of what is kept; everything beyond is only counted.
struct RecordLimits {
  std::int64_t first_request = 0;  ///< first recorded id; iterations are kept from its arrival on
  std::int64_t requests = 2'000;
  std::int64_t slices = 20'000;  ///< slices of all engines together
};

/// Filled by simulate(). All memory is allocated before the simulation starts.
class SimulationRecord {
 public:
  /// Iterations of an engine without a change between them: a single one, or a stretch of decodes.
  struct Slice {
    Picoseconds begin{}, last{}, end{};  ///< `last`: start of the last of its iterations
    std::int64_t iterations = 1;
    std::int64_t blocks_before = 0;  ///< KV blocks in use at the start, including those of running chunks
    std::int64_t blocks = 0;         ///< KV blocks in use in the last iteration
    std::int64_t decodes = 0;        ///< sequences that decode
    std::int64_t chunks = 0;         ///< prompts or parts of prompts
    std::int64_t prompt_tokens = 0;
    std::int32_t engine = 0;
  };
  /// A phase of a request. `engine` is where it ran or waited; `nowhere` before it was routed.
  struct Span {
    Picoseconds begin{}, end{};
    std::uint32_t request = 0;
    std::int32_t engine = 0;
    RequestPhase phase = RequestPhase::queue;
    bool open = false;  ///< not finished when the simulation ended
  };
  /// Number of requests that wait, from `time` on, at an engine or in the queue that a pool's replicas share.
  struct Waiting {
    Picoseconds time{};
    std::int64_t count = 0;
    std::int32_t engine = 0;
  };
  struct Engine {
    bool prefill = false;  ///< belongs to the prefill pool
    std::int64_t replica = 0, lane = 0;
    bool models = false;  ///< lanes are models that take turns on the replica, not pipeline stages
  };
  static constexpr std::int32_t nowhere = -1;
  /// Values of Waiting::engine for queues that all replicas of a pool share.
  static constexpr std::int32_t shared_queue = -1, shared_prefill_queue = -2;

  explicit SimulationRecord(const RecordLimits& limits = {});

  [[nodiscard]] std::span<const Engine> engines() const noexcept { return engines_; }
  /// In order of their ends; slices of one engine do not overlap.
  [[nodiscard]] std::span<const Slice> slices() const noexcept { return slices_; }
  /// In order of their ends; spans of one request follow each other without a gap from arrival to last token.
  [[nodiscard]] std::span<const Span> spans() const noexcept { return spans_; }
  [[nodiscard]] std::span<const Waiting> waiting() const noexcept { return waiting_; }
  [[nodiscard]] std::int64_t recorded_requests() const noexcept { return recorded_; }
  [[nodiscard]] std::int64_t iterations() const noexcept { return iterations_; }
  /// Iterations, spans and waiting counts that were not recorded for lack of space.
  [[nodiscard]] std::int64_t iterations_left_out() const noexcept { return iterations_left_out_; }
  [[nodiscard]] std::int64_t spans_left_out() const noexcept { return spans_left_out_; }
  [[nodiscard]] std::int64_t waiting_left_out() const noexcept { return waiting_left_out_; }

  /// Hooks of the simulation. A record holds one simulation: begin() clears it.
  void begin(std::vector<Engine> engines, std::size_t requests);
  void arrived(std::uint32_t id, Picoseconds time) noexcept;
  void placed(std::uint32_t id, std::int32_t engine) noexcept;
  void enters(std::uint32_t id, std::int32_t engine, RequestPhase phase, Picoseconds time) noexcept;
  void finished(std::uint32_t id, Picoseconds time) noexcept;
  void ran(const Slice& slice) noexcept;
  void waits(std::int32_t engine, std::int64_t count, Picoseconds time) noexcept;
  void end(Picoseconds time) noexcept;

 private:
  struct Open {
    Picoseconds begin = never;  ///< never: no phase is open
    std::int32_t engine = nowhere;
    RequestPhase phase = RequestPhase::queue;
  };
  [[nodiscard]] Open* open_of(std::uint32_t id) noexcept;
  void close(std::uint32_t id, Open& open, Picoseconds time, bool still_open) noexcept;

  RecordLimits limits_;
  std::vector<Engine> engines_;
  std::vector<Slice> slices_;
  std::vector<Span> spans_;
  std::vector<Waiting> waiting_;
  std::vector<std::size_t> newest_;  ///< by queue: index + 1 of its last count in waiting_
  std::vector<Open> open_;           ///< open phase by request, from the first recorded one
  std::size_t most_slices_ = 0, most_spans_ = 0, most_waiting_ = 0;
  bool started_ = false;
  std::int64_t recorded_ = 0, iterations_ = 0, iterations_left_out_ = 0, spans_left_out_ = 0, waiting_left_out_ = 0;
};

}  // namespace headroom
