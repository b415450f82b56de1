// SPDX-License-Identifier: Apache-2.0
// Selects the sequences of an engine's next iteration by the rules of scheduler.hpp.
#include <headroom/model/serve/simulation/engine.hpp>
#include <headroom/model/serve/simulation/replica_cache.hpp>

#include <algorithm>
#include <cstdint>

namespace headroom {

void SimulatedEngine::take(std::int64_t blocks) noexcept {
  free_ -= blocks;
  taken_ += blocks;
  if (cache_ != nullptr) {
    cache_->take(blocks);
  }
}

/// `blocks`: growth of all steps of the stretch so far. Takes from the cache what was not taken yet.
void SimulatedEngine::take_growth(std::int64_t blocks) noexcept {
  if (blocks > ahead_) {
    cache_->take(blocks - ahead_);
    ahead_ = blocks;
  }
}

void SimulatedEngine::give_back(std::uint32_t id, std::int64_t blocks, bool answered) noexcept {
  free_ += cache_ != nullptr ? cache_->release(id, blocks, answered) : blocks;
}

void SimulatedEngine::append(List& list, std::uint32_t id) noexcept {
  Sequence& sequence = sequences_[id];
  sequence.previous = list.tail;
  sequence.next = Sequence::none;
  (list.tail == Sequence::none ? list.head : sequences_[list.tail].next) = id;
  list.tail = id;
}

void SimulatedEngine::remove(List& list, std::uint32_t id) noexcept {
  const Sequence& sequence = sequences_[id];
  (sequence.previous == Sequence::none ? list.head : sequences_[sequence.previous].next) = sequence.next;
  (sequence.next == Sequence::none ? list.tail : sequences_[sequence.next].previous) = sequence.previous;
}

void SimulatedEngine::prepend(List& list, std::uint32_t id) noexcept {
  Sequence& sequence = sequences_[id];
  sequence.previous = Sequence::none;
  sequence.next = list.head;
  (list.head == Sequence::none ? list.tail : sequences_[list.head].previous) = id;
  list.head = id;
}

void SimulatedEngine::wait_first(std::uint32_t id) noexcept {
  prepend(waiting_, id);
  ++waiting_count_;
}

void SimulatedEngine::run(std::uint32_t id) noexcept {
  remove(waiting_, id);
  --waiting_count_;
  append(running_, id);
  ++running_count_;
  sequences_[id].order = admitted_++;
}

std::int64_t SimulatedEngine::free_for_admission() const noexcept {
  return free_ - promised_ - (running_count_ > 0 ? settings_.watermark_blocks : 0);
}

std::int64_t SimulatedEngine::remembered(const Sequence& sequence) const noexcept {
  const std::int64_t lost = std::max<std::int64_t>(taken_ + promised_ - sequence.taken, 0);
  return std::clamp<std::int64_t>(sequence.left - lost, 0, sequence.full);
}

std::int64_t SimulatedEngine::cached(const Sequence& sequence) const noexcept {
  const std::int64_t own = remembered(sequence) * settings_.block_tokens;
  return std::min<std::int64_t>(std::max<std::int64_t>(sequence.prefix, own), sequence.prompt + sequence.generated - 1);
}

std::int64_t SimulatedEngine::growth() const noexcept {
  if (reserves()) {
    return 0;
  }
  return speculates() ? drafts_.at(decoding_.now()).blocks() : decoding_.growth(1);
}

/// Whether every rank of balanced attention-DP has a prompt and a place for it.
bool SimulatedEngine::all_ranks_wait() const noexcept {
  return std::min(waiting_count_, settings_.max_num_seqs - running_count_) >= settings_.ranks;
}

/// Whether this iteration is one of decodes alone (EngineSettings::decode_steps).
bool SimulatedEngine::decodes_alone() const noexcept {
  return decode_step_ > 0 && decoding_.size() > 0 && running_count_ >= settings_.decode_steps_from;
}

std::int64_t SimulatedEngine::prompts_held() const noexcept {
  const bool new_ones = partial_ == Sequence::none && waiting_.head != Sequence::none && decoding_.size() > 0 &&
                        !sequences_[waiting_.head].resident;
  if (!new_ones) {
    return 0;
  }
  if (comes_too_late(waiting_.head)) {
    return sequences_[waiting_.head].joins - counters_.iterations;
  }
  if (settings_.recv_interval > 1 && looked_ > 0) {
    return settings_.recv_interval - looked_;
  }
  if (decodes_alone()) {
    return settings_.decode_steps + 1 - decode_step_;
  }
  if (settings_.balance_timeout > 0 && decoding_.size() >= settings_.ranks && running_count_ < settings_.max_num_seqs) {
    return balanced_ ? std::max<std::int64_t>(settings_.balance_batching - batched_, 0)
                     : settings_.balance_timeout - 1 - unbalanced_;
  }
  if (settings_.batch_wait <= wait_) {
    return 0;
  }
  const auto enough =
      static_cast<std::int64_t>(settings_.batch_wait_share * static_cast<double>(settings_.max_num_tokens));
  std::int64_t tokens = decoding_.size();
  for (std::uint32_t id = waiting_.head; id != Sequence::none && tokens < enough; id = sequences_[id].next) {
    tokens += sequences_[id].prompt;
  }
  return tokens < enough ? settings_.batch_wait - wait_ : 0;
}

/// Counts iterations that end: after one with prompts the engine looks for requests, and waits anew.
void SimulatedEngine::count_held(std::int64_t steps) noexcept {
  const bool prompts = !chunks_.empty();
  looked_ = prompts ? 0 : (looked_ + steps) % settings_.recv_interval;
  decode_step_ = (decode_step_ + steps) % (settings_.decode_steps + 1);
  const bool fetched =
      waiting_.head == Sequence::none || sequences_[waiting_.head].joins <= counters_.iterations - steps;
  wait_ = prompts ? 0 : (held_steps_ > 0 && fetched ? wait_ + steps : 0);
  if (settings_.balance_timeout > 0) {
    // The engine counts iterations without a prompt on every rank also while none waits.
    batched_ = prompts || !balanced_ ? 0 : batched_ + steps;
    unbalanced_ = prompts || balanced_ ? 0 : (unbalanced_ + steps) % settings_.balance_timeout;
  }
}

void SimulatedEngine::resume_resident() noexcept {
  while (partial_ == Sequence::none && waiting_.head != Sequence::none && running_count_ < settings_.max_num_seqs) {
    const std::uint32_t id = waiting_.head;
    Sequence& sequence = sequences_[id];
    if (!sequence.resident) {
      return;
    }
    const bool decodes = sequence.generated > 0 && sequence.kv == sequence.prompt + sequence.generated - 1;
    std::int64_t blocks = sequence.swapped ? sequence.held : blocks_of(sequence.kv);
    if (reserves()) {
      blocks = blocks_of(longest(sequence.prompt, sequence.output));
    }
    // The next step must not preempt what returns now: leave blocks for its next token, or its longest next chunk.
    const std::int64_t chunk =
        std::min<std::int64_t>(sequence.prompt + sequence.generated - sequence.kv, settings_.max_num_tokens);
    const std::int64_t grown = sequence.kv + (decodes ? 1 + settings_.speculation.draft : chunk);
    const std::int64_t next = reserves() ? 0 : blocks_of(grown) - blocks;
    if (blocks + std::max<std::int64_t>(next, 0) + growth() > free_for_admission()) {
      return;
    }
    take(blocks);
    run(id);
    if (sequence.swapped) {
      swapping_ += settings_.swap_per_block * blocks;
    }
    sequence.resident = false;
    sequence.swapped = false;
    sequence.held = static_cast<std::int32_t>(blocks);
    if (times_[id].started == never) {
      times_[id].started = now_;
    }
    if (decodes) {
      begin_decoding(id);
      groups_.push_back({sequence.last_token, 1});
    } else {
      sequence.state = Sequence::State::prefilling;
      partial_ = id;
    }
    record_phase(id, decodes ? RequestPhase::decode : RequestPhase::prefill, now_);
  }
}

bool SimulatedEngine::schedule_decodes() noexcept {
  std::int64_t blocks = growth();
  while (decoding_.size() > 0 && blocks > free_) {
    preempt_newest();
    blocks = growth();
  }
  if (speculates()) {
    take(blocks);  // a step's drafts are in the cache before it tells how many stay
    blocks = 0;
  }
  promised_ = blocks;
  if (cache_ != nullptr) {
    take_growth(blocks);  // before a prompt of this iteration looks up the cache
  }
  return decoding_.size() > 0;
}

void SimulatedEngine::schedule_prompts(std::int64_t budget) noexcept {
  if (partial_ != Sequence::none) {
    continue_prompt(budget);
  }
  if (decodes_alone()) {
    return;
  }
  // Who is looked at is admitted, and leaves the list, or is passed over: these are its first ones in the end.
  std::int64_t passed = 0;
  std::uint32_t id = waiting_.head;
  while (!preempted_ && budget > 0 && id != Sequence::none && running_count_ < settings_.max_num_seqs) {
    if (comes_too_late(id) && (decoding_.size() > 0 || !chunks_.empty())) {
      break;
    }
    const std::uint32_t behind = sequences_[id].next;
    const bool passes = passes_over(id, budget);
    queue_changes_ = queue_changes_ || (passing() && remembered(sequences_[id]) > 0);
    if (passes) {
      ++passed;
    } else if (!admit(id, budget)) {
      break;
    }
    id = behind;
  }
  queue_changes_ = queue_changes_ || passed > 1;
  for (const std::uint32_t first = waiting_.head; passed > 1; --passed) {
    const std::uint32_t next = sequences_[first].next;
    remove(waiting_, next);
    prepend(waiting_, next);
  }
}

bool SimulatedEngine::passes_over(std::uint32_t id, std::int64_t budget) const noexcept {
  const Sequence& sequence = sequences_[id];
  if (!passing() || sequence.resident) {
    return false;
  }
  const std::int64_t target = sequence.prompt + sequence.generated;
  const std::int64_t known = cache_ != nullptr ? cache_->find(id).tokens : cached(sequence);
  const std::int64_t tokens = target - std::min(known, target - 1);
  const bool runs_alone = tokens > settings_.max_num_tokens && chunks_.empty();  // see admit()
  return tokens > budget && !runs_alone;
}

void SimulatedEngine::continue_prompt(std::int64_t& budget) noexcept {
  Sequence& sequence = sequences_[partial_];
  const std::int64_t target = sequence.prompt + sequence.generated;
  const std::int64_t tokens = std::min(target - sequence.kv, budget);
  if (tokens <= 0) {
    return;
  }
  const std::int64_t blocks = std::max<std::int64_t>(blocks_of(sequence.kv + tokens) - sequence.held, 0);
  if (blocks > free_ - promised_) {
    preempt_newest();
    return;
  }
  take(blocks);
  sequence.held += static_cast<std::int32_t>(blocks);
  add_chunk(partial_, tokens);
  partial_ = Sequence::none;
  budget -= tokens;
}

void SimulatedEngine::begin_prompt(std::uint32_t id, const Beginning& begin) noexcept {
  Sequence& sequence = sequences_[id];
  free_ -= begin.blocks - begin.in_use;
  taken_ += begin.blocks - std::min(remembered(sequence), blocks_of(begin.known));
  run(id);
  sequence.held = static_cast<std::int32_t>(begin.blocks);
  sequence.left = 0;
  sequence.full = 0;
  sequence.kv = static_cast<std::int32_t>(begin.known);
  sequence.state = Sequence::State::prefilling;
  if (times_[id].started == never) {
    times_[id].started = now_;
  }
  record_phase(id, RequestPhase::prefill, now_);
  add_chunk(id, begin.tokens);
}

bool SimulatedEngine::admit(std::uint32_t id, std::int64_t& budget) noexcept {
  Sequence& sequence = sequences_[id];
  if (sequence.resident) {
    return false;
  }
  const std::int64_t target = sequence.prompt + sequence.generated;
  const ReplicaCache::Found found = cache_ != nullptr ? cache_->find(id) : ReplicaCache::Found{cached(sequence), 0, 0};
  const std::int64_t known = std::min<std::int64_t>(found.tokens, target - 1);
  std::int64_t tokens = target - known;
  if (settings_.rules.chunked) {
    tokens = std::min(tokens, budget);
  } else if (tokens > budget && !(tokens > settings_.max_num_tokens && chunks_.empty())) {
    return false;  // a prompt longer than any iteration runs as the only one
  }
  std::int64_t kept = known + tokens;
  if (settings_.rules.reservation == Reservation::prompt) {
    kept = target;
  } else if (reserves()) {
    kept = longest(sequence.prompt, sequence.output);
  }
  const std::int64_t blocks = blocks_of(kept);
  const std::int64_t wanted = settings_.rules.whole_prompt_fits ? std::max(blocks, blocks_of(target)) : blocks;
  if (wanted - found.in_use > free_for_admission()) {
    return false;
  }
  if (cache_ != nullptr) {
    cache_->admit(id, found, blocks);
  }
  begin_prompt(id, {known, tokens, blocks, found.in_use});
  budget -= tokens;
  return true;
}

void SimulatedEngine::add_chunk(std::uint32_t id, std::int64_t tokens) noexcept {
  const Sequence& sequence = sequences_[id];
  const std::int64_t last = sequence.kv + tokens;
  const bool ends = last == sequence.prompt + sequence.generated;
  batch_.add(tokens, ends, tables_->chunk(tokens, last));
  chunks_.push_back({id, static_cast<std::int32_t>(tokens), ends});
  if (cache_ != nullptr && !estimates()) {
    cache_->name(id, last);
  }
}

void SimulatedEngine::preempt_newest() noexcept {
  const std::uint32_t id = running_.tail;
  Sequence& sequence = sequences_[id];
  preempted_ = true;
  if (sequence.state == Sequence::State::ended) {
    leave(id);  // its answer is complete
    ended_.erase(std::find(ended_.begin(), ended_.end(), id));
    return;
  }
  const bool decodes = sequence.state == Sequence::State::decoding;
  if (decodes && speculates()) {
    stop_drafting(sequence, id);
  }
  const std::int64_t blocks = held(sequence);
  if (decodes) {
    const std::int64_t kv = keys(sequence);
    decoding_.leave(id, kv);
    sequence.generated += static_cast<std::int32_t>(kv - sequence.kv);
    sequence.kv = static_cast<std::int32_t>(kv);
    Group& newest = groups_.back();
    sequence.last_token = newest.since;
    if (--newest.count == 0) {
      groups_.pop_back();
    }
  } else {
    partial_ = Sequence::none;
  }
  // With ids the cache knows what is left.
  if (settings_.rules.remembers && settings_.rules.eviction == Eviction::recompute && cache_ == nullptr) {
    sequence.left = static_cast<std::int32_t>(blocks);
    sequence.taken = taken_ + free_;
    sequence.full = static_cast<std::int32_t>(sequence.kv / settings_.block_tokens);
  }
  give_back(id, blocks, false);
  remove(running_, id);
  --running_count_;
  sequence.state = Sequence::State::waiting;
  if (settings_.rules.eviction == Eviction::swap) {
    sequence.resident = true;
    sequence.swapped = true;
    sequence.held = static_cast<std::int32_t>(blocks);
    swapping_ += settings_.swap_per_block * blocks;
  } else {
    sequence.kv = 0;
    sequence.held = 0;
  }
  wait_first(id);
  ++times_[id].preemptions;
  ++counters_.preemptions;
  record_phase(id, RequestPhase::preempted, now_);
}

}  // namespace headroom
