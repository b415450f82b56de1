// SPDX-License-Identifier: Apache-2.0
// The clock of an engine: what ends, what arrives, and the stretches between. engine_schedule.cpp decides which
// sequences are in an iteration.
#include <headroom/model/serve/simulation/engine.hpp>
#include <headroom/model/serve/simulation/replica_cache.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace headroom {

void EngineCounters::add(const EngineCounters& other) {
  iterations += other.iterations;
  decode_iterations += other.decode_iterations;
  prompt_tokens += other.prompt_tokens;
  output_tokens += other.output_tokens;
  preemptions += other.preemptions;
  peak_blocks = std::max(peak_blocks, other.peak_blocks);
  busy += other.busy;
  block_seconds += other.block_seconds;
  batch.resize(std::max(batch.size(), other.batch.size()), 0);
  for (std::size_t i = 0; i < other.batch.size(); ++i) {
    batch[i] += other.batch[i];
  }
  gaps.add(other.gaps);
}

SimulatedEngine::SimulatedEngine(const IterationTables& tables,
                                 const EngineSettings& settings,
                                 EngineRole role,
                                 std::span<Sequence> sequences,
                                 std::span<RequestTimes> times)
    : tables_{&tables},
      settings_{settings},
      role_{role},
      sequences_{sequences},
      times_{times},
      free_{settings.blocks},
      decoding_{settings.max_num_seqs, settings.speculation.draft > 0 ? 0 : settings.block_tokens},
      drafts_{settings.speculation, settings.block_tokens, settings.rules.reservation != Reservation::whole} {
  const auto most = static_cast<std::size_t>(settings.max_num_seqs);
  chunks_.reserve(most);
  groups_.reserve(2 * (most + 1));
  done_.reserve(most);
  begun_.reserve(most);
  ended_.reserve(most);
  leaving_.reserve(most);
  prompts_ended_.reserve(most);
  ratio_ = settings.rules.future.first_ratio;
  if (ratio_ > 0.0 && !estimates()) {
    // One side of a disaggregated engine, drafts and swapping are simulated without an estimate, prompt by prompt.
    settings_.rules.reservation = Reservation::prompt;
    settings_.rules.overlap = Overlap::none;
    settings_.rules.remembers = false;
  }
  counters_.batch.assign(most + 1, 0);
}

std::int64_t SimulatedEngine::longest(std::int64_t prompt, std::int64_t output) const noexcept {
  if (role_ == EngineRole::prefill) {
    return prompt;
  }
  // The last token is never read, so it needs no place. TensorRT-LLM reserves one anyway; a draft needs its own.
  return prompt + output - (reserves() || speculates() ? 0 : 1) + settings_.speculation.draft;
}

bool SimulatedEngine::holds(const Request& request) const noexcept {
  const std::int64_t answer = std::min<std::int64_t>(request.output_tokens, settings_.rules.future.most_output);
  const std::int64_t counted = (blocks_of(request.prompt_tokens) * settings_.block_tokens) + answer;
  return blocks_of(longest(request.prompt_tokens, request.output_tokens)) <= settings_.blocks &&
         (!estimates() || counted < settings_.blocks * settings_.block_tokens);
}

std::int64_t SimulatedEngine::keys(const Sequence& sequence) const noexcept {
  return sequence.kv + (sequence.state == Sequence::State::decoding ? decoding_.now() - sequence.since : 0);
}

std::int64_t SimulatedEngine::held(const Sequence& sequence) const noexcept {
  const bool follows = sequence.state == Sequence::State::decoding && !reserves() && !speculates();
  return follows ? blocks_of(keys(sequence)) : sequence.held;
}

void SimulatedEngine::submit(std::uint32_t id, Picoseconds now) noexcept {
  Sequence& sequence = sequences_[id];
  sequence.state = Sequence::State::waiting;
  if (role_ == EngineRole::decode) {
    sequence.resident = true;
    sequence.kv = sequence.prompt;
    sequence.generated = 1;
  }
  // If a waiting request is blocked or all places are taken, nothing can change before the stretch ends.
  const bool ahead = settings_.formed_ahead > 0;
  const bool behind = settings_.batch_wait > 0 || settings_.balance_timeout > 0 || passing();
  if (ahead || ((waiting_count_ == 0 || behind) && running_count_ < settings_.max_num_seqs)) {
    cut(now);
  }
  const bool idle = stretch_.steps == 0 && running_count_ == 0;
  sequence.joins = ahead && !idle ? counters_.iterations + 1 + settings_.formed_ahead : 0;
  append(waiting_, id);
  ++waiting_count_;
  if (record_ != nullptr) {
    record_->waits(index_, waiting_count_, now);
  }
}

void SimulatedEngine::record_phase(std::uint32_t id, RequestPhase phase, Picoseconds time) noexcept {
  if (record_ != nullptr) {
    record_->enters(id, index_, phase, time);
    record_->waits(index_, waiting_count_, time);
  }
}

void SimulatedEngine::record_iterations(std::int64_t steps, std::int64_t used, std::int64_t after) noexcept {
  SimulationRecord::Slice slice;
  slice.begin = stretch_.begin;
  slice.last = stretch_.begin + stretch_.length(steps - 1);
  slice.end = stretch_.begin + stretch_.length(steps);
  slice.iterations = steps;
  slice.blocks_before = used;
  slice.blocks = after;
  slice.decodes = stretch_.decodes ? decoding_.size() + static_cast<std::int64_t>(extra_) : 0;
  slice.chunks = static_cast<std::int64_t>(chunks_.size());
  for (const Chunk& chunk : chunks_) {
    slice.prompt_tokens += chunk.tokens;
  }
  slice.engine = index_;
  record_->ran(slice);
}

/// The most steps of the stretch that end by `now`; not all, because the stretch ends later.
std::int64_t SimulatedEngine::ended_by(Picoseconds now) const noexcept {
  std::int64_t done = 0;
  std::int64_t beyond = stretch_.steps;
  while (beyond - done > 1) {
    const std::int64_t middle = done + (beyond - done) / 2;
    (stretch_.begin + stretch_.length(middle) <= now ? done : beyond) = middle;
  }
  return done;
}

SimulatedEngine::Progress SimulatedEngine::progress(Picoseconds now) const noexcept {
  const std::int64_t done = ended_by(now);
  return {counters_.iterations + done, counters_.output_tokens + (stretch_.decodes ? done * decoding_.size() : 0),
          done > 0 ? stretch_.begin + stretch_.length(done) : counted_to_};
}

void SimulatedEngine::cut(Picoseconds now) noexcept {
  if (stretch_.steps <= 1) {
    return;
  }
  const std::int64_t done = ended_by(now);
  if (done > 0) {
    account(done);
    advance_decodes(done);
    stretch_.begin += stretch_.length(done);
    stretch_.first += stretch_.increment * done;
    groups_.assign(1, {stretch_.begin, decoding_.size()});
  }
  if (stretch_.begin == now) {
    stretch_ = {};
    return;
  }
  stretch_.steps = 1;
  stretch_.end = stretch_.begin + stretch_.first;
}

void SimulatedEngine::only_one() noexcept {
  if (stretch_.steps > 1) {
    stretch_.steps = 1;
    stretch_.end = stretch_.begin + stretch_.first;
  }
}

void SimulatedEngine::settle(Picoseconds now) noexcept {
  if (!stretch_.decodes || speculates() || reserves()) {
    return;
  }
  // The most steps that end before now; these and the one after them have begun.
  std::int64_t ended = 0;
  std::int64_t beyond = stretch_.steps;
  while (beyond - ended > 1) {
    const std::int64_t middle = ended + (beyond - ended) / 2;
    (stretch_.begin + stretch_.length(middle) < now ? ended : beyond) = middle;
  }
  take_growth(decoding_.growth(ended + 1));
}

/// Selects the sequences of the next iteration; whether decodes are among them.
bool SimulatedEngine::form() noexcept {
  promised_ = 0;
  preempted_ = false;
  queue_changes_ = false;
  if (estimates()) {
    return form_by_estimate();
  }
  resume_resident();
  balanced_ = all_ranks_wait();
  held_steps_ = prompts_held();
  if (held_steps_ > 0 && schedule_decodes()) {
    return true;
  }
  held_steps_ = 0;
  if (settings_.rules.order == PromptOrder::before_decodes) {
    schedule_prompts(settings_.max_num_tokens);
    return chunks_.empty() && schedule_decodes();
  }
  const bool decodes = schedule_decodes();
  const std::int64_t each = 1 + settings_.speculation.draft;
  schedule_prompts(settings_.max_num_tokens - (decodes ? decoding_.size() * each : 0));
  return decodes;
}

void SimulatedEngine::start(Picoseconds now) noexcept {
  if (stretch_.steps > 0) {
    return;
  }
  chunks_.clear();
  batch_ = {};
  now_ = now;
  swapping_ = Picoseconds{0};
  bool decodes = form();
  released_ = !ended_.empty();
  if (released_ || estimates()) {
    estimates() ? see_tokens() : release_ended();
    // With nothing to run the engine waits for the tokens, sees who has ended, and looks again.
    decodes = decodes || !chunks_.empty() ? decodes : form();
  }
  if (!decodes && chunks_.empty()) {
    ratio_ = settings_.rules.future.first_ratio;
  }
  if (!decodes) {
    extra_ = 0;
  }
  plan(decodes);
  if (settings_.late_results && now == ended_at_ && !chunks_.empty()) {
    std::int64_t late = 0;
    for (const std::uint32_t id : begun_) {
      if (sequences_[id].state == Sequence::State::decoding) {
        times_[id].first_token = std::max(times_[id].first_token, stretch_.end);
        ++late;
      }
    }
    if (late > 0) {
      groups_.back().count -= late;
      if (groups_.back().count == 0) {
        groups_.pop_back();
      }
      groups_.push_back({stretch_.end, late});
    }
  }
}

void SimulatedEngine::plan(bool decodes) noexcept {
  stretch_ = {};
  if (!decodes && chunks_.empty()) {
    return;
  }
  stretch_.begin = now_;
  stretch_.decodes = decodes;
  stretch_.steps = 1;
  if (decodes) {
    batch_.decodes = decoding_.size() + static_cast<std::int64_t>(extra_);
    batch_.context = decoding_.cached() + extra_keys_ + batch_.decodes;
  }
  if (chunks_.empty() && swapping_ == Picoseconds{0} && extra_ == 0) {
    stretch_.first = time_of_decodes();
    plan_decodes();
  } else {
    stretch_.first = tables_->time(batch_) + swapping_;
  }
  stretch_.first = std::max(stretch_.first, Picoseconds{1});
  stretch_.end = now_ + stretch_.length(stretch_.steps);
}

Picoseconds SimulatedEngine::time_of_decodes() noexcept {
  const std::int64_t n = batch_.decodes;
  if (line_of_ != n || batch_.context < line_.first || batch_.context >= line_.end) {
    line_ = tables_->decode_line(n, batch_.context);
    line_of_ = n;
  }
  return line_.at(batch_.context);
}

void SimulatedEngine::plan_decodes() noexcept {
  if (speculates()) {
    return;  // steps of drafts gain unlike numbers of tokens, so that their times are not evenly spaced
  }
  const std::int64_t n = batch_.decodes;
  // After this step a preempted sequence may be admitted, or one that waits for what those that ended left.
  if (preempted_ || ((released_ || (estimates() && !full_ && held_steps_ == 0)) && waiting_.head != Sequence::none)) {
    return;
  }
  std::int64_t steps = std::min(decoding_.until_end(), (line_.end - batch_.context - 1) / n + 1);
  if (!reserves()) {
    steps = decoding_.ticks_within(free_, steps);
    const bool waits = waiting_.head != Sequence::none && running_count_ < settings_.max_num_seqs;
    // The remembered blocks of the first waiting sequence shrink with every block taken, as does its need.
    if (waits && remembered(sequences_[waiting_.head]) > 0) {
      steps = 1;
    }
    // Forgotten ids may be those that the waiting sequence counts on, which changes the space that it needs.
    if (waits && cache_ != nullptr) {
      steps = std::max<std::int64_t>(1, decoding_.ticks_within(cache_->before_ids() + ahead_, steps));
    }
  }
  steps = held_steps_ > 0 ? std::min(steps, held_steps_) : queue_changes_ ? 1 : steps;
  const Picoseconds increment = line_.per_key * n;
  const Picoseconds last = stretch_.first + increment * (steps - 1);
  if (stretch_.first >= Picoseconds{1} && last >= Picoseconds{1}) {
    const Picoseconds longest = std::max(stretch_.first, last);
    if (now_ + longest * steps == never) {
      steps = std::max<std::int64_t>(1, (never - Picoseconds{1} - now_) / longest);
    }
    stretch_.increment = increment;
    stretch_.steps = steps;
  }
}

void SimulatedEngine::account(std::int64_t steps) noexcept {
  const Picoseconds length = stretch_.length(steps);
  counters_.iterations += steps;
  counters_.busy += length;
  counted_to_ = stretch_.begin + length;
  count_held(steps);
  if (stretch_.decodes && !preempted_) {
    const FutureTokens& future = settings_.rules.future;
    ratio_ = std::max(ratio_ - future.decay * static_cast<double>(steps), future.least_ratio);
  }
  const std::int64_t used = settings_.blocks - free_;
  std::int64_t after = used;
  if (stretch_.decodes) {
    counters_.decode_iterations += chunks_.empty() ? steps : 0;
    after += reserves() || speculates() ? 0 : decoding_.growth(steps);
    const Picoseconds first_end = stretch_.begin + stretch_.first;
    for (const Group& group : groups_) {
      counters_.gaps.add(first_end - group.since, group.count);
    }
    if (steps > 1) {
      counters_.gaps.add_line(stretch_.first + stretch_.increment, stretch_.increment, steps - 1, decoding_.size());
    }
  }
  counters_.peak_blocks = std::max(counters_.peak_blocks, after);
  counters_.block_seconds += 0.5 * static_cast<double>(used + after) * seconds_of(length);
  const std::int64_t batch =
      static_cast<std::int64_t>(chunks_.size() + extra_) + (stretch_.decodes ? decoding_.size() : 0);
  counters_.batch[static_cast<std::size_t>(batch)] += steps;
  if (record_ != nullptr) {
    record_iterations(steps, used, after);
  }
}

void SimulatedEngine::advance_decodes(std::int64_t steps) noexcept {
  if (speculates()) {
    const std::int64_t tokens = drafts_.at(decoding_.now()).tokens();
    drafts_.forget(decoding_.now());
    counters_.output_tokens += tokens;
    decoding_.tick_with(tokens);
    return;
  }
  counters_.output_tokens += steps * decoding_.size();
  if (!reserves()) {
    const std::int64_t blocks = decoding_.growth(steps);
    free_ -= blocks;
    taken_ += blocks;
    if (cache_ != nullptr) {
      take_growth(blocks);
      ahead_ -= blocks;
    }
  }
  decoding_.tick(steps);
}

std::int64_t SimulatedEngine::begin_drafting(Sequence& sequence, std::uint32_t id) noexcept {
  DraftedMember member{sequence.kv, sequence.generated, sequence.held, sequence.steps};
  const std::int64_t ticks = drafts_.join(id, member, sequence.output, sequence.since);
  sequence.drawn_generated = member.generated;
  sequence.drawn_held = member.held;
  return ticks;
}

std::int64_t SimulatedEngine::end_drafting(Sequence& sequence) noexcept {
  sequence.kv += sequence.drawn_generated - sequence.generated;
  sequence.generated = sequence.drawn_generated;
  sequence.held = sequence.drawn_held;
  sequence.steps += static_cast<std::int32_t>(decoding_.now() - sequence.since);
  sequence.since = decoding_.now();
  return sequence.kv;
}

void SimulatedEngine::stop_drafting(Sequence& sequence, std::uint32_t id) noexcept {
  DraftedMember member{sequence.kv, sequence.generated, sequence.held, sequence.steps};
  drafts_.leave(id, member, sequence.output, sequence.since, decoding_.now());
  sequence.drawn_generated = member.generated;
  sequence.drawn_held = member.held;
  static_cast<void>(end_drafting(sequence));
}

void SimulatedEngine::complete() noexcept {
  const Picoseconds end = stretch_.end;
  done_.clear();
  begun_.clear();
  account(stretch_.steps);
  if (stretch_.decodes) {
    advance_decodes(stretch_.steps);
  }
  const bool decoded = stretch_.decodes;
  const std::int64_t joined = complete_chunks(end);
  std::uint32_t id = Sequence::none;
  const auto keys_of = [this](std::uint32_t one) {
    return speculates() ? end_drafting(sequences_[one]) : keys(sequences_[one]);
  };
  while (decoding_.pop_ended(id, keys_of)) {
    if (speculates() && sequences_[id].generated < sequences_[id].output) {
      begin_decoding(id);  // its drafts were drawn as far as this
    } else {
      finish(id, end);
    }
  }
  // With nobody left to run or to admit the engine waits for the tokens, and sees who has ended.
  if (!estimates() && running_count_ == static_cast<std::int64_t>(ended_.size()) && waiting_.head == Sequence::none) {
    release_ended();
  }
  decoded_ = decoded;
  joined_ = joined;
  ended_at_ = end;
  extra_ = 0;
  extra_keys_ = 0;
  if (decoded) {
    groups_.clear();
  }
  if (const std::int64_t fresh = decoded ? decoding_.size() : joined; fresh > 0) {
    groups_.push_back({end, fresh});
  }
  stretch_ = {};
}

std::int64_t SimulatedEngine::complete_chunks(Picoseconds end) noexcept {
  const std::int64_t before = decoding_.size();
  for (const Chunk& chunk : chunks_) {
    Sequence& sequence = sequences_[chunk.id];
    sequence.kv += chunk.tokens;
    counters_.prompt_tokens += chunk.tokens;
    if (!chunk.ends) {
      partial_ = chunk.id;
      continue;
    }
    if (sequence.generated == 0) {
      times_[chunk.id].first_token = end;
      begun_.push_back(chunk.id);
    } else {
      counters_.gaps.add(end - sequence.last_token, 1);
    }
    if (cache_ != nullptr && sequence.generated == 0) {
      cache_->computed(chunk.id);
    }
    if (cache_ != nullptr && estimates()) {
      prompts_ended_.push_back(chunk.id);
    }
    sequence.last_token = end;
    ++sequence.generated;
    ++counters_.output_tokens;
    if (role_ == EngineRole::prefill || sequence.generated == sequence.output) {
      finish(chunk.id, end);
    } else {
      begin_decoding(chunk.id);
      record_phase(chunk.id, RequestPhase::decode, end);
    }
  }
  chunks_.clear();
  return decoding_.size() - before;
}

void SimulatedEngine::begin_decoding(std::uint32_t id) noexcept {
  Sequence& sequence = sequences_[id];
  sequence.state = Sequence::State::decoding;
  sequence.since = decoding_.now();
  const std::int64_t ticks = speculates() ? begin_drafting(sequence, id) : sequence.output - sequence.generated;
  decoding_.join(id, sequence.kv, ticks, sequence.order);
}

void SimulatedEngine::finish(std::uint32_t id, Picoseconds end) noexcept {
  Sequence& sequence = sequences_[id];
  if (role_ != EngineRole::prefill || sequence.generated == sequence.output) {
    times_[id].finished = end;
    if (record_ != nullptr) {
      record_->finished(id, end);
    }
  }
  done_.push_back(id);
  if (settings_.rules.overlap == Overlap::none || role_ == EngineRole::prefill) {
    leave(id);
    return;
  }
  sequence.held = static_cast<std::int32_t>(held(sequence));
  sequence.kv = static_cast<std::int32_t>(keys(sequence));
  sequence.generated = sequence.output;
  sequence.state = Sequence::State::ended;
  ended_.push_back(id);
}

/// Gives back the place and the blocks of an answered sequence.
void SimulatedEngine::leave(std::uint32_t id) noexcept {
  Sequence& sequence = sequences_[id];
  give_back(id, held(sequence), role_ == EngineRole::both || sequence.generated == sequence.output);
  sequence.held = 0;
  sequence.state = Sequence::State::done;
  remove(running_, id);
  --running_count_;
}

void SimulatedEngine::release_ended() noexcept {
  for (const std::uint32_t id : ended_) {
    leave(id);
  }
  ended_.clear();
}

void SimulatedEngine::scheduled(std::vector<ScheduledTokens>& out) const {
  out.clear();
  for (std::uint32_t id = running_.head; stretch_.decodes && id != Sequence::none; id = sequences_[id].next) {
    if (sequences_[id].state == Sequence::State::decoding) {
      out.push_back({id, 1 + settings_.speculation.draft});
    }
  }
  for (std::size_t i = leaving_.size() - extra_; i < leaving_.size(); ++i) {
    out.push_back({leaving_[i], 1});
  }
  for (const Chunk& chunk : chunks_) {
    out.push_back({chunk.id, chunk.tokens});
  }
}

}  // namespace headroom
