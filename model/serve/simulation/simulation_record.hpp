// SPDX-License-Identifier: Apache-2.0
// What happened in a simulated fleet, piece by piece, of as many iterations and requests as were asked for.
#pragma once

#include <headroom/model/serve/load/request.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headroom {

/// What a request is doing, one after the other from its arrival at the client to its last token: waits for its first
/// iteration; its prompt is computed, again after a preemption that threw its cache away; its cache goes to a decode
/// replica; it waits there for a place; its output is decoded; it was preempted and waits.
enum class RequestPhase : std::uint8_t { queue, prefill, transfer, decode_queue, decode, preempted };

/// What is kept; all beyond it is counted, not kept.
struct RecordLimits {
  std::int64_t first_request = 0;  ///< by id; iterations are kept from its arrival on
  std::int64_t requests = 2'000;
  std::int64_t slices = 20'000;  ///< of all engines together
};

/// Filled by simulate(). All memory is asked for before the simulation starts.
class SimulationRecord {
 public:
  /// Iterations of an engine without a change between them: one, or a stretch of decodes alone.
  struct Slice {
    Picoseconds begin{}, last{}, end{};  ///< `last`: when the last of its iterations began
    std::int64_t iterations = 1;
    std::int64_t blocks_before = 0;  ///< of the KV pool in use, blocks of chunks that run included
    std::int64_t blocks = 0;         ///< in use in the last iteration
    std::int64_t decodes = 0;        ///< sequences that decode
    std::int64_t chunks = 0;         ///< prompts, or parts of them
    std::int64_t prompt_tokens = 0;
    std::int32_t engine = 0;
  };
  /// A part of a request's life. `engine` is where it ran or waited; `nowhere` before it was sent to one.
  struct Span {
    Picoseconds begin{}, end{};
    std::uint32_t request = 0;
    std::int32_t engine = 0;
    RequestPhase phase = RequestPhase::queue;
    bool open = false;  ///< was not over when the simulation ended
  };
  /// Requests that wait at an engine, or in the queue that the replicas of a pool share, from this time on.
  struct Waiting {
    Picoseconds time{};
    std::int64_t count = 0;
    std::int32_t engine = 0;
  };
  struct Engine {
    bool prefill = false;  ///< of the pool that computes prompts alone
    std::int64_t replica = 0, lane = 0;
    bool models = false;  ///< lanes are models that take turns on the replica, not stages of a pipeline
  };
  static constexpr std::int32_t nowhere = -1;
  /// Queues that all replicas of a pool share, in Waiting::engine.
  static constexpr std::int32_t shared_queue = -1, shared_prefill_queue = -2;

  explicit SimulationRecord(const RecordLimits& limits = {});

  [[nodiscard]] std::span<const Engine> engines() const noexcept { return engines_; }
  /// In order of their ends; those of one engine follow each other without overlap.
  [[nodiscard]] std::span<const Slice> slices() const noexcept { return slices_; }
  /// In order of their ends; those of one request follow each other without a gap, from its arrival to its last token.
  /// None is of length 0.
  [[nodiscard]] std::span<const Span> spans() const noexcept { return spans_; }
  [[nodiscard]] std::span<const Waiting> waiting() const noexcept { return waiting_; }
  [[nodiscard]] std::int64_t recorded_requests() const noexcept { return recorded_; }
  [[nodiscard]] std::int64_t iterations() const noexcept { return iterations_; }
  /// Iterations that ran and are in no slice, spans and counts of waiting requests that found no room.
  [[nodiscard]] std::int64_t iterations_left_out() const noexcept { return iterations_left_out_; }
  [[nodiscard]] std::int64_t spans_left_out() const noexcept { return spans_left_out_; }
  [[nodiscard]] std::int64_t waiting_left_out() const noexcept { return waiting_left_out_; }

  /// Hooks of the simulation. A record is of one simulation: begin() forgets what it held.
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
    Picoseconds begin = never;  ///< never: nothing is open
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
  std::vector<std::size_t> newest_;  ///< of each queue: its last count in waiting_, plus 1
  std::vector<Open> open_;           ///< by request, from the first that is kept
  std::size_t most_slices_ = 0, most_spans_ = 0, most_waiting_ = 0;
  bool started_ = false;
  std::int64_t recorded_ = 0, iterations_ = 0, iterations_left_out_ = 0, spans_left_out_ = 0, waiting_left_out_ = 0;
};

}  // namespace headroom
