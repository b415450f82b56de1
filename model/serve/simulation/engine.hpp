// SPDX-License-Identifier: Apache-2.0
// One serving engine, iteration by iteration: which sequences run, wait or are preempted, and when each token is out.
#pragma once

#include <headroom/model/serve/engine/drafted_steps.hpp>
#include <headroom/model/serve/engine/scheduler.hpp>
#include <headroom/model/serve/load/request.hpp>
#include <headroom/model/serve/simulation/decode_set.hpp>
#include <headroom/model/serve/simulation/simulation_record.hpp>
#include <headroom/model/serve/tables/iteration_tables.hpp>
#include <headroom/model/serve/time/time_histogram.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace headroom {

class ReplicaCache;

/// Both phases, or one side of a disaggregated fleet: a prefill engine hands a request on at its first token, a decode
/// engine receives it with its cache.
enum class EngineRole : std::uint8_t { both, prefill, decode };

/// The state of a request in an engine.
struct Sequence {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  /// `ended`: answered, but the engine does not know it yet and keeps its place and blocks.
  enum class State : std::uint8_t { waiting, prefilling, decoding, ended, done };

  std::int32_t prompt = 1, output = 1;
  std::int32_t prefix = 0;     ///< prompt tokens found in a prefix cache
  std::int32_t kv = 0;         ///< keys in the cache; while decoding as of tick `since`
  std::int32_t generated = 0;  ///< output tokens; while decoding as of tick `since`
  std::int32_t held = 0;   ///< blocks held; while decoding they follow from the keys, with drafts as of tick `since`
  std::int32_t steps = 0;  ///< decodes with drafts so far; while decoding as of tick `since`
  /// With drafts: `generated` and `held` behind the ticks that they are drawn for.
  std::int32_t drawn_generated = 0, drawn_held = 0;
  std::int32_t left = 0;  ///< blocks freed at eviction, whose contents may still be cached
  std::int32_t full = 0;  ///< freed blocks that were completely filled
  std::int64_t since = 0;
  std::int64_t order = 0;  ///< order of admission
  std::int64_t taken = 0;  ///< value of `taken_` up to which none of the freed blocks is overwritten
  std::int64_t joins = 0;  ///< iterations of the engine before the first one that may take it
  Picoseconds last_token{};
  std::uint32_t previous = none, next = none;
  State state = State::waiting;
  bool resident = false;  ///< waits with its cache: swapped out, or sent from a prefill engine
  bool swapped = false;
};

/// A sequence in an iteration, and the tokens that it computes there.
struct ScheduledTokens {
  std::uint32_t id = 0;
  std::int64_t tokens = 0;
};

struct EngineCounters {
  std::int64_t iterations = 0;
  std::int64_t decode_iterations = 0;  ///< iterations without prompts
  std::int64_t prompt_tokens = 0;      ///< computed prompt tokens, including recomputed ones
  std::int64_t output_tokens = 0;
  std::int64_t preemptions = 0;
  std::int64_t peak_blocks = 0;
  Picoseconds busy{};
  double block_seconds = 0.0;  ///< integral of the blocks in use over the busy time; linear within a stretch of decodes
  std::vector<std::int64_t> batch;  ///< iterations by their number of sequences, 0 to max_num_seqs
  TimeHistogram gaps;               ///< times between two tokens of a sequence
  void add(const EngineCounters& other);
};

/// Continuous batching under SchedulerRules. Between two events only counters change, so that a stretch of decodes is
/// one event, however many iterations it has. It ends where a sequence ends, blocks run out, the tables' line ends, or
/// a request arrives that might be admitted. Times equal those of single iterations to the picosecond.
///
/// The caller drives the clock: at each time it calls complete() for what ends, submit() for what arrives, then
/// start(). No heap after construction.
class SimulatedEngine {
 public:
  /// `sequences` and `times` hold all requests by id; the engine writes to the ids submitted to it.
  SimulatedEngine(const IterationTables& tables,
                  const EngineSettings& settings,
                  EngineRole role,
                  std::span<Sequence> sequences,
                  std::span<RequestTimes> times);

  /// Writes subsequent events to `record` as engine `index`; nullptr stops recording.
  void record_in(SimulationRecord* record, std::int32_t index) noexcept {
    record_ = record;
    index_ = index;
  }
  /// Looks up prefixes in `cache` and takes blocks from it; nullptr: each sequence's `prefix` states what is cached.
  void cache_in(ReplicaCache* cache) noexcept { cache_ = cache; }
  /// Takes the blocks of decodes that started before `now` from the cache, so that the cache can be inspected.
  void settle(Picoseconds now) noexcept;
  /// Counts `more` requests as outstanding that are on their way to this engine.
  void expect(std::int64_t more) noexcept { expected_ += more; }
  /// Whether the pool can hold the request at its longest. Others must not be submitted.
  [[nodiscard]] bool holds(const Request& request) const noexcept;
  /// Precondition: next_event() > now, or the engine is idle.
  void submit(std::uint32_t id, Picoseconds now) noexcept;
  /// The end of the current iterations; `never` if nothing runs or they end beyond simulated time.
  [[nodiscard]] Picoseconds next_event() const noexcept { return stretch_.end; }
  [[nodiscard]] bool iterates() const noexcept { return stretch_.steps > 0; }
  /// Ends the current iterations. Requests that finished or are to be handed on are in done() until the next call.
  void complete() noexcept;
  /// Starts the next iteration unless one is running.
  void start(Picoseconds now) noexcept;
  /// Another engine needs the device: the current iterations end with the one that runs at `now`, or have ended if one
  /// ends at `now`; next_event() is `never` then. Precondition: as for submit().
  void give_way(Picoseconds now) noexcept { cut(now); }
  /// Limits the iterations that start() has just begun to the first one.
  void only_one() noexcept;

  /// Iterations that have ended by a time, their output tokens, and the end of the last of them.
  struct Progress {
    std::int64_t iterations = 0, tokens = 0;
    Picoseconds end{};
  };
  /// Precondition: next_event() >= now, or nothing runs.
  [[nodiscard]] Progress progress(Picoseconds now) const noexcept;

  /// Writes the sequences of the iteration that runs, decodes first, each in order of admission.
  void scheduled(std::vector<ScheduledTokens>& out) const;
  [[nodiscard]] std::span<const std::uint32_t> done() const noexcept { return done_; }
  /// Requests whose first token came with the iteration that complete() ended, behind the tokens of its decodes.
  [[nodiscard]] std::span<const std::uint32_t> begun() const noexcept { return begun_; }
  /// Requests that run or wait here or are on their way.
  [[nodiscard]] std::int64_t outstanding() const noexcept {
    return running_count_ - static_cast<std::int64_t>(ended_.size() + leaving_.size()) + waiting_count_ + expected_;
  }
  [[nodiscard]] std::int64_t waiting() const noexcept { return waiting_count_; }
  [[nodiscard]] const EngineSettings& settings() const noexcept { return settings_; }
  [[nodiscard]] const EngineCounters& counters() const noexcept { return counters_; }

 private:
  struct List {
    std::uint32_t head = Sequence::none, tail = Sequence::none;
  };
  /// Tokens of a prompt that are cached and that it computes now, the blocks that it gets, and how many of these others
  /// use already.
  struct Beginning {
    std::int64_t known = 0, tokens = 0, blocks = 0, in_use = 0;
  };
  struct Chunk {
    std::uint32_t id;
    std::int32_t tokens;
    bool ends;
  };
  /// The current iterations, with durations first, first + increment, ... If there are several, they end within
  /// simulated time, so that partial sums do not saturate.
  struct Stretch {
    Picoseconds begin{}, end = never, first{}, increment{};
    std::int64_t steps = 0;
    bool decodes = false;
    [[nodiscard]] Picoseconds length(std::int64_t n) const noexcept {
      return first * n + increment * (n * (n - 1) / 2);
    }
  };
  /// Number of sequences whose last token was out at one time.
  struct Group {
    Picoseconds since;
    std::int64_t count;
  };

  [[nodiscard]] std::int64_t blocks_of(std::int64_t tokens) const noexcept {
    return (tokens + settings_.block_tokens - 1) / settings_.block_tokens;
  }
  [[nodiscard]] bool speculates() const noexcept { return settings_.speculation.draft > 0; }
  [[nodiscard]] bool reserves() const noexcept { return settings_.rules.reservation == Reservation::whole; }
  /// Most tokens that a request's cache may grow to.
  [[nodiscard]] std::int64_t longest(std::int64_t prompt, std::int64_t output) const noexcept;
  [[nodiscard]] std::int64_t keys(const Sequence& sequence) const noexcept;
  [[nodiscard]] std::int64_t held(const Sequence& sequence) const noexcept;
  [[nodiscard]] std::int64_t free_for_admission() const noexcept;
  /// Full blocks of an evicted sequence, from the first on, that nobody has taken yet.
  [[nodiscard]] std::int64_t remembered(const Sequence& sequence) const noexcept;
  /// Tokens that need not be computed: from a prefix cache, or computed before an eviction.
  [[nodiscard]] std::int64_t cached(const Sequence& sequence) const noexcept;
  [[nodiscard]] std::int64_t growth() const noexcept;

  void take(std::int64_t blocks) noexcept;
  void take_growth(std::int64_t blocks) noexcept;
  void give_back(std::uint32_t id, std::int64_t blocks, bool answered) noexcept;

  void append(List& list, std::uint32_t id) noexcept;
  void prepend(List& list, std::uint32_t id) noexcept;
  void remove(List& list, std::uint32_t id) noexcept;
  void wait_first(std::uint32_t id) noexcept;
  void run(std::uint32_t id) noexcept;

  /// Iterations of decodes for which no prompt may join yet; 0: prompts may join the next one.
  [[nodiscard]] bool all_ranks_wait() const noexcept;
  [[nodiscard]] bool decodes_alone() const noexcept;
  /// Whether iterations that were formed before it came go first (EngineSettings::formed_ahead).
  [[nodiscard]] bool comes_too_late(std::uint32_t id) const noexcept {
    return sequences_[id].joins > counters_.iterations;
  }
  [[nodiscard]] std::int64_t prompts_held() const noexcept;
  void count_held(std::int64_t steps) noexcept;
  void resume_resident() noexcept;
  [[nodiscard]] bool form() noexcept;
  [[nodiscard]] bool schedule_decodes() noexcept;
  void schedule_prompts(std::int64_t budget) noexcept;
  [[nodiscard]] bool admit(std::uint32_t id, std::int64_t& budget) noexcept;
  /// Whole prompts that the budget does not hold let those behind them pass. An iteration then looks at all that wait
  /// until its budget is spent, as the engine does: any of them may be the one that fits.
  [[nodiscard]] bool passing() const noexcept { return settings_.rules.passes_over && !settings_.rules.chunked; }
  [[nodiscard]] bool passes_over(std::uint32_t id, std::int64_t budget) const noexcept;
  /// Runs a waiting prompt, whose blocks the cache has given.
  void begin_prompt(std::uint32_t id, const Beginning& begin) noexcept;
  void continue_prompt(std::int64_t& budget) noexcept;
  void add_chunk(std::uint32_t id, std::int64_t tokens) noexcept;
  void preempt_newest() noexcept;

  void plan(bool decodes) noexcept;
  /// Of the iteration of decodes alone that batch_ is.
  [[nodiscard]] Picoseconds time_of_decodes() noexcept;
  /// How many such iterations follow each other before anything changes.
  void plan_decodes() noexcept;
  [[nodiscard]] std::int64_t ended_by(Picoseconds now) const noexcept;
  void cut(Picoseconds now) noexcept;
  void account(std::int64_t steps) noexcept;
  void record_iterations(std::int64_t steps, std::int64_t used, std::int64_t after) noexcept;
  void record_phase(std::uint32_t id, RequestPhase phase, Picoseconds time) noexcept;
  void advance_decodes(std::int64_t steps) noexcept;
  /// Draws what a sequence gains with drafts from this tick on; returns the ticks.
  std::int64_t begin_drafting(Sequence& sequence, std::uint32_t id) noexcept;
  /// The tick is over for which the drafts of a sequence are drawn. Returns its keys.
  std::int64_t end_drafting(Sequence& sequence) noexcept;
  /// A sequence leaves before: it is as it is now, and out of the sums of those that go on.
  void stop_drafting(Sequence& sequence, std::uint32_t id) noexcept;
  [[nodiscard]] std::int64_t complete_chunks(Picoseconds end) noexcept;
  void begin_decoding(std::uint32_t id) noexcept;
  void finish(std::uint32_t id, Picoseconds end) noexcept;
  void leave(std::uint32_t id) noexcept;
  void release_ended() noexcept;
  // Admission by an estimate of future tokens (engine_estimate.cpp).
  [[nodiscard]] bool estimates() const noexcept {
    return settings_.rules.future.first_ratio > 0.0 && role_ == EngineRole::both && !speculates() &&
           settings_.rules.eviction == Eviction::recompute;
  }
  [[nodiscard]] bool form_by_estimate() noexcept;
  void prompts_by_estimate() noexcept;
  [[nodiscard]] bool admit_by_estimate(std::uint32_t id, std::int64_t& budget, double& room) noexcept;
  [[nodiscard]] bool decodes_by_estimate() noexcept;
  void put_back() noexcept;
  /// Tokens of output of the last iteration that the engine has not seen yet.
  [[nodiscard]] std::int64_t unseen(const Sequence& sequence) const noexcept;
  [[nodiscard]] std::int64_t output_of(const Sequence& sequence) const noexcept;
  void see_tokens() noexcept;

  const IterationTables* tables_;
  EngineSettings settings_;
  EngineRole role_;
  std::span<Sequence> sequences_;
  std::span<RequestTimes> times_;

  List waiting_, running_;  ///< running_ is in order of admission: the newest is its tail
  std::int64_t waiting_count_ = 0, running_count_ = 0, admitted_ = 0;
  std::int64_t expected_ = 0;
  std::int64_t free_ = 0;
  std::int64_t taken_ = 0;                  ///< blocks taken since the start
  std::uint32_t partial_ = Sequence::none;  ///< the one partly computed prompt, always the newest sequence
  DecodeSet decoding_;
  DraftedSteps drafts_;
  DecodeLine line_;
  std::int64_t line_of_ = 0;  ///< number of sequences that line_ is for

  Stretch stretch_;
  std::vector<Chunk> chunks_;
  IterationBatch batch_;
  Picoseconds now_{};
  Picoseconds swapping_{};     ///< copy time of the iteration
  std::int64_t promised_ = 0;  ///< blocks that the iteration's decodes will fill
  bool preempted_ = false;
  bool queue_changes_ = false;          ///< the next iteration may find other prompts first, or pass others over
  std::vector<std::uint32_t> ended_;    ///< sequences in state `ended`
  std::vector<std::uint32_t> leaving_;  ///< answered, without blocks, with a place until the engine looks
  std::size_t extra_ = 0;               ///< of leaving_, the last ones, that run in this iteration
  std::int64_t extra_keys_ = 0;         ///< their keys
  std::vector<std::uint32_t>
      prompts_ended_;  ///< whose prompt ended in the last iteration, which the cache has to learn
  double ratio_ = 0.0;
  bool full_ = false;         ///< a request was refused, and nobody has left since
  bool decoded_ = false;      ///< the last iteration was one of decodes
  std::int64_t joined_ = 0;   ///< sequences whose prompt ended in the last iteration, without those that it answered
  Picoseconds ended_at_{};    ///< end of the last iteration that complete() ended
  Picoseconds counted_to_{};  ///< end of the last iteration that is counted
  bool released_ = false;     ///< ended sequences left after this iteration was formed
  std::int64_t decode_step_ = 0;  ///< place of the next iteration in its cycle of decode_steps + 1; 0: may take prompts
  std::int64_t looked_ = 0;       ///< iterations of decodes since the last look for new requests
  bool balanced_ = false;         ///< whether every rank of balanced attention-DP has a prompt
  std::int64_t batched_ = 0;      ///< iterations for which it was so
  std::int64_t unbalanced_ = 0;   ///< iterations since then, or since prompts ran
  std::int64_t wait_ = 0;         ///< iterations that waiting prompts have waited for more of them
  std::int64_t held_steps_ = 0;   ///< most iterations of the stretch, as prompts are held; 0: any
  std::vector<Group> groups_;
  std::vector<std::uint32_t> done_, begun_;
  EngineCounters counters_;
  ReplicaCache* cache_ = nullptr;
  std::int64_t ahead_ = 0;  ///< blocks of current decodes already taken from the cache but not from free_
  SimulationRecord* record_ = nullptr;
  std::int32_t index_ = 0;
};

}  // namespace headroom
