// SPDX-License-Identifier: Apache-2.0
// One serving engine, iteration by iteration: who runs, who waits, who is preempted, and when each token is out.
#pragma once

#include <headroom/model/serve/engine/scheduler.hpp>
#include <headroom/model/serve/load/request.hpp>
#include <headroom/model/serve/simulation/decode_set.hpp>
#include <headroom/model/serve/simulation/simulation_record.hpp>
#include <headroom/model/serve/simulation/time_histogram.hpp>
#include <headroom/model/serve/tables/iteration_tables.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace headroom {

class ReplicaCache;

/// Both phases, or one side of a disaggregated fleet: a prefill engine hands a request on at its first token, a decode
/// engine takes it with its cache.
enum class EngineRole : std::uint8_t { both, prefill, decode };

/// What an engine keeps of a request.
struct Sequence {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  enum class State : std::uint8_t { waiting, prefilling, decoding, done };

  std::int32_t prompt = 1, output = 1;
  std::int32_t prefix = 0;     ///< tokens that a prefix cache gives
  std::int32_t kv = 0;         ///< keys in the cache; of one that decodes, at tick `since`
  std::int32_t generated = 0;  ///< tokens out, likewise
  std::int64_t since = 0;
  std::int64_t order = 0;  ///< of admission
  std::int64_t held = 0;   ///< blocks; of one that decodes they follow from its keys
  std::int64_t left = 0;   ///< blocks that it gave up when it was evicted, whose cache may still be there
  std::int64_t taken = 0;  ///< blocks that the engine had taken in all when the next would be one of them
  std::int64_t full = 0;   ///< of those that it gave up
  Picoseconds last_token{};
  std::uint32_t previous = none, next = none;
  State state = State::waiting;
  bool resident = false;  ///< waits with its cache: swapped out, or sent from a prefill engine
  bool swapped = false;
};

/// What an engine did.
struct EngineCounters {
  std::int64_t iterations = 0;
  std::int64_t decode_iterations = 0;  ///< of them, without prompts
  std::int64_t prompt_tokens = 0;      ///< computed, those computed again included
  std::int64_t output_tokens = 0;
  std::int64_t preemptions = 0;
  std::int64_t peak_blocks = 0;
  Picoseconds busy{};
  double block_seconds = 0.0;       ///< blocks in use over the busy time; linear within a stretch of decodes
  std::vector<std::int64_t> batch;  ///< iterations by the sequences in them, 0 to max_num_seqs
  TimeHistogram gaps;               ///< between the tokens of a sequence
  void add(const EngineCounters& other);
};

/// Continuous batching under SchedulerRules. Between two events nothing changes but counters, so that a stretch of
/// decodes is one event however many iterations it holds: it ends where a sequence ends, where blocks run out, where
/// the tables' line ends, or where a request arrives that might be admitted. Times are those of one iteration after the
/// other, to the picosecond.
///
/// Driven by a clock outside: at each time complete() what ends, submit() what arrives, then start(). No heap after
/// construction.
class SimulatedEngine {
 public:
  /// `sequences` and `times` are those of all requests, by id; the engine writes to the ids submitted to it.
  SimulatedEngine(const IterationTables& tables,
                  const EngineSettings& settings,
                  EngineRole role,
                  std::span<Sequence> sequences,
                  std::span<RequestTimes> times);

  /// What happens from now on goes to `record` too, as that of `index`; nullptr: to none.
  void record_in(SimulationRecord* record, std::int32_t index) noexcept {
    record_ = record;
    index_ = index;
  }
  /// Prefixes are looked up in `cache`, and blocks taken from it; nullptr: `prefix` of each sequence says what is
  /// cached.
  void cache_in(ReplicaCache* cache) noexcept { cache_ = cache; }
  /// Takes the blocks of the decodes that have started before `now`, so that the cache can be looked at.
  void settle(Picoseconds now) noexcept;
  /// `more` requests are on their way to this engine: they count as outstanding.
  void expect(std::int64_t more) noexcept { expected_ += more; }
  /// Whether the pool holds the request at its longest. One that it does not hold must not be submitted.
  [[nodiscard]] bool holds(const Request& request) const noexcept;
  /// Precondition: next_event() > now, or the engine is idle.
  void submit(std::uint32_t id, Picoseconds now) noexcept;
  /// When the iterations under way end; `never` while nothing runs, and where they end beyond simulated time.
  [[nodiscard]] Picoseconds next_event() const noexcept { return stretch_.end; }
  [[nodiscard]] bool iterates() const noexcept { return stretch_.steps > 0; }
  /// Ends the iterations under way. What finished, or is to be handed on, is in done() until the next call.
  void complete() noexcept;
  /// Starts the next iteration unless one is under way.
  void start(Picoseconds now) noexcept;
  /// Another engine wants the device: the iterations under way end with the one that runs at `now`, or have ended where
  /// one ends at `now`; next_event() is `never` then. Precondition: as submit().
  void give_way(Picoseconds now) noexcept { cut(now); }
  /// Of the iterations that start() has just begun only the first runs.
  void only_one() noexcept;

  [[nodiscard]] std::span<const std::uint32_t> done() const noexcept { return done_; }
  /// Requests that run or wait here, or are on their way.
  [[nodiscard]] std::int64_t outstanding() const noexcept { return running_count_ + waiting_count_ + expected_; }
  [[nodiscard]] std::int64_t waiting() const noexcept { return waiting_count_; }
  [[nodiscard]] const EngineSettings& settings() const noexcept { return settings_; }
  [[nodiscard]] const EngineCounters& counters() const noexcept { return counters_; }

 private:
  struct List {
    std::uint32_t head = Sequence::none, tail = Sequence::none;
  };
  struct Chunk {
    std::uint32_t id;
    std::int32_t tokens;
    bool ends;
  };
  /// Iterations that are under way: durations first, first + increment, ... Several end within simulated time, so that
  /// no sum over some of them saturates.
  struct Stretch {
    Picoseconds begin{}, end = never, first{}, increment{};
    std::int64_t steps = 0;
    bool decodes = false;
    [[nodiscard]] Picoseconds length(std::int64_t n) const noexcept {
      return first * n + increment * (n * (n - 1) / 2);
    }
  };
  /// Sequences whose last token was out at one time.
  struct Group {
    Picoseconds since;
    std::int64_t count;
  };

  [[nodiscard]] std::int64_t blocks_of(std::int64_t tokens) const noexcept {
    return (tokens + settings_.block_tokens - 1) / settings_.block_tokens;
  }
  [[nodiscard]] bool speculates() const noexcept { return settings_.speculation.draft > 0; }
  [[nodiscard]] bool reserves() const noexcept { return settings_.rules.reservation == Reservation::whole; }
  /// Tokens that a request's cache may grow to.
  [[nodiscard]] std::int64_t longest(std::int64_t prompt, std::int64_t output) const noexcept;
  [[nodiscard]] std::int64_t keys(const Sequence& sequence) const noexcept;
  [[nodiscard]] std::int64_t held(const Sequence& sequence) const noexcept;
  [[nodiscard]] std::int64_t free_for_admission() const noexcept;
  /// Full blocks of an evicted sequence, from the first on, that nobody has taken yet.
  [[nodiscard]] std::int64_t remembered(const Sequence& sequence) const noexcept;
  /// Tokens that need not be computed: of a prefix cache, or its own of before it was evicted.
  [[nodiscard]] std::int64_t cached(const Sequence& sequence) const noexcept;
  [[nodiscard]] std::int64_t growth() const noexcept;

  void take(std::int64_t blocks) noexcept;
  void take_growth(std::int64_t blocks) noexcept;
  void give_back(std::uint32_t id, std::int64_t blocks) noexcept;

  void append(List& list, std::uint32_t id) noexcept;
  void remove(List& list, std::uint32_t id) noexcept;
  void wait_first(std::uint32_t id) noexcept;
  void run(std::uint32_t id) noexcept;

  void resume_resident() noexcept;
  [[nodiscard]] bool schedule_decodes() noexcept;
  void schedule_prompts(std::int64_t budget) noexcept;
  [[nodiscard]] bool admit(std::uint32_t id, std::int64_t& budget) noexcept;
  void continue_prompt(std::int64_t& budget) noexcept;
  void add_chunk(std::uint32_t id, std::int64_t tokens) noexcept;
  void preempt_newest() noexcept;

  void plan(bool decodes) noexcept;
  void plan_decodes() noexcept;
  void cut(Picoseconds now) noexcept;
  void account(std::int64_t steps) noexcept;
  void record_iterations(std::int64_t steps, std::int64_t used, std::int64_t after) noexcept;
  void record_phase(std::uint32_t id, RequestPhase phase, Picoseconds time) noexcept;
  void advance_decodes(std::int64_t steps) noexcept;
  void speculate() noexcept;
  [[nodiscard]] std::int64_t complete_chunks(Picoseconds end) noexcept;
  void begin_decoding(std::uint32_t id) noexcept;
  void finish(std::uint32_t id, Picoseconds end) noexcept;

  const IterationTables* tables_;
  EngineSettings settings_;
  EngineRole role_;
  std::span<Sequence> sequences_;
  std::span<RequestTimes> times_;

  List waiting_, running_;  ///< running_ by admission: the newest is its tail
  std::int64_t waiting_count_ = 0, running_count_ = 0, admitted_ = 0;
  std::int64_t expected_ = 0;
  std::int64_t free_ = 0;
  std::int64_t taken_ = 0;                  ///< blocks, since the start
  std::uint32_t partial_ = Sequence::none;  ///< the one prompt that is partly computed: always the newest
  DecodeSet decoding_;
  DecodeLine line_;
  std::int64_t line_of_ = 0;  ///< sequences that line_ is of

  Stretch stretch_;
  std::vector<Chunk> chunks_;
  IterationBatch batch_;
  Picoseconds now_{};
  Picoseconds swapping_{};     ///< that the iteration spends on copies
  std::int64_t promised_ = 0;  ///< blocks that its decodes will fill
  bool preempted_ = false;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> done_;
  EngineCounters counters_;
  ReplicaCache* cache_ = nullptr;
  std::int64_t ahead_ = 0;  ///< blocks of decodes under way that are out of the cache, and not yet of free_
  SimulationRecord* record_ = nullptr;
  std::int32_t index_ = 0;
};

}  // namespace headroom
