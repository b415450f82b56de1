// SPDX-License-Identifier: Apache-2.0
// Iterations of an engine that admits by an estimate of future tokens and runs ahead of the tokens (FutureTokens,
// Overlap::runs_ended). What it knows of a sequence is one token behind: `unseen`.
#include <headroom/model/serve/simulation/engine.hpp>
#include <headroom/model/serve/simulation/replica_cache.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace headroom {

std::int64_t SimulatedEngine::unseen(const Sequence& sequence) const noexcept {
  return decoded_ || sequence.last_token == ended_at_ ? 1 : 0;
}

std::int64_t SimulatedEngine::output_of(const Sequence& sequence) const noexcept {
  return sequence.generated + (sequence.state == Sequence::State::decoding ? keys(sequence) - sequence.kv : 0);
}

bool SimulatedEngine::form_by_estimate() noexcept {
  extra_ = 0;
  extra_keys_ = 0;
  if (cache_ != nullptr && partial_ != Sequence::none) {
    free_ += cache_->merge(partial_, sequences_[partial_].kv);
  }
  const std::int64_t of_last = joined_ + static_cast<std::int64_t>(ended_.size());
  const std::int64_t others = running_count_ - (partial_ != Sequence::none ? 1 : 0) - of_last;
  // Its mark of being full is of a batch: it is lost with a prompt that leaves the batch that ran before it is done,
  // and where the batch of prompts that ran becomes the batch of decodes because there is none.
  if (partial_ != Sequence::none || (!decoded_ && of_last > 0 && others == 0)) {
    full_ = false;
  }
  held_steps_ = prompts_held();
  if (partial_ != Sequence::none || (!full_ && held_steps_ == 0 && waiting_.head != Sequence::none)) {
    prompts_by_estimate();
    if (!chunks_.empty()) {
      return false;
    }
  }
  return decodes_by_estimate();
}

void SimulatedEngine::prompts_by_estimate() noexcept {
  if (partial_ == Sequence::none && running_count_ >= settings_.max_num_seqs) {
    full_ = true;
    return;
  }
  const FutureTokens& future = settings_.rules.future;
  const std::int64_t behind = decoded_ ? decoding_.size() : joined_;
  const std::int64_t answers = decoding_.left() + behind + static_cast<std::int64_t>(ended_.size());
  double room = static_cast<double>(free_ * settings_.block_tokens) - ratio_ * static_cast<double>(answers);
  std::int64_t budget = settings_.rules.chunked ? settings_.max_num_tokens : future.most_prompt;
  if (partial_ != Sequence::none) {
    Sequence& sequence = sequences_[partial_];
    const std::int64_t left = sequence.prompt + sequence.generated - sequence.kv;
    const std::int64_t fits = static_cast<std::int64_t>(room) / settings_.block_tokens * settings_.block_tokens;
    const std::int64_t tokens = std::min({left, budget, fits > 0 ? fits : budget});
    const std::int64_t blocks = std::max<std::int64_t>(blocks_of(sequence.kv + tokens) - sequence.held, 0);
    take(blocks);
    sequence.held += static_cast<std::int32_t>(blocks);
    add_chunk(partial_, tokens);
    partial_ = Sequence::none;
    budget -= tokens;
    const std::int64_t answer = std::min<std::int64_t>(sequence.output, future.most_output);
    room -= static_cast<double>(blocks * settings_.block_tokens + (tokens == left ? answer : 0));
  }
  while (waiting_.head != Sequence::none) {
    if (comes_too_late(waiting_.head) && (running_count_ > 0 || !chunks_.empty())) {
      return;
    }
    if (running_count_ >= settings_.max_num_seqs) {
      full_ = true;
      return;
    }
    if (!admit_by_estimate(waiting_.head, budget, room)) {
      return;
    }
  }
}

bool SimulatedEngine::admit_by_estimate(std::uint32_t id, std::int64_t& budget, double& room) noexcept {
  Sequence& sequence = sequences_[id];
  const FutureTokens& future = settings_.rules.future;
  const std::int64_t target = sequence.prompt + sequence.generated;
  const ReplicaCache::Found found = cache_ != nullptr ? cache_->find(id) : ReplicaCache::Found{cached(sequence), 0, 0};
  const std::int64_t known = std::min<std::int64_t>(found.tokens, target - 1);
  const std::int64_t left = target - known;
  const std::int64_t answer = std::min<std::int64_t>(
      sequence.output - (future.counts_done_output ? 0 : sequence.generated), future.most_output);
  // Cached tokens that nobody uses are room until they are used again.
  const auto again = static_cast<double>(known - found.in_use * settings_.block_tokens);
  const auto wanted = static_cast<double>(blocks_of(left) * settings_.block_tokens + answer);
  if (wanted >= room || wanted > room - again) {
    full_ = true;
    return false;
  }
  const bool whole = !settings_.rules.chunked;
  if (whole ? left > budget && !chunks_.empty() : budget <= 0 && left > budget) {
    return false;
  }
  const std::int64_t tokens = whole ? left : std::min(left, budget);
  const std::int64_t blocks = blocks_of(known + tokens);
  if (cache_ != nullptr) {
    cache_->admit(id, found, blocks);
  }
  begin_prompt(id, {known, tokens, blocks, found.in_use});
  budget -= tokens;
  room -= again + static_cast<double>(blocks_of(tokens) * settings_.block_tokens + (tokens == left ? answer : 0));
  if (room <= 0.0) {
    full_ = true;
    return false;
  }
  return budget > 0;
}

bool SimulatedEngine::decodes_by_estimate() noexcept {
  bool fewer = !leaving_.empty();
  for (const std::uint32_t id : leaving_) {
    remove(running_, id);
    --running_count_;
    sequences_[id].state = Sequence::State::done;
  }
  leaving_.clear();
  const auto running = decoding_.size() + static_cast<std::int64_t>(ended_.size());
  if (running == 0) {
    full_ = false;
    return false;
  }
  std::int64_t more = 0;  // blocks of those that run once more
  for (const std::uint32_t id : ended_) {
    more += blocks_of(sequences_[id].kv + 1) - sequences_[id].held;
  }
  if (decoding_.growth(1) + more > free_) {
    put_back();
    fewer = true;
  }
  full_ = full_ && !fewer;
  promised_ = decoding_.growth(1);
  if (cache_ != nullptr) {
    take_growth(promised_);
  }
  extra_ = ended_.size();
  for (const std::uint32_t id : ended_) {
    extra_keys_ += sequences_[id].kv;
  }
  return decoding_.size() + static_cast<std::int64_t>(extra_) > 0;
}

void SimulatedEngine::put_back() noexcept {
  const FutureTokens& future = settings_.rules.future;
  const auto remain = [&] { return decoding_.size() + static_cast<std::int64_t>(ended_.size()); };
  do {
    std::uint32_t victim = Sequence::none;
    std::int64_t least = 0;
    for (std::uint32_t id = running_.head; id != Sequence::none; id = sequences_[id].next) {
      const Sequence& one = sequences_[id];
      if (one.state != Sequence::State::decoding && one.state != Sequence::State::ended) {
        continue;
      }
      const std::int64_t seen = output_of(one) - unseen(one);
      if (victim == Sequence::none || seen < least || (seen == least && one.prompt >= sequences_[victim].prompt)) {
        victim = id;
        least = seen;
      }
    }
    if (remain() == 1 || victim == Sequence::none) {
      break;
    }
    Sequence& sequence = sequences_[victim];
    if (sequence.state == Sequence::State::ended) {  // its answer is out: it only leaves
      leave(victim);
      ended_.erase(std::find(ended_.begin(), ended_.end(), victim));
      continue;
    }
    const std::int64_t kv = keys(sequence);
    const std::int64_t blocks = held(sequence);
    const std::int64_t lost = unseen(sequence);  // a token that it had not seen is thrown away
    decoding_.leave(victim, kv);
    joined_ -= !decoded_ ? lost : 0;
    sequence.generated = static_cast<std::int32_t>(least);
    if (settings_.rules.remembers && cache_ == nullptr) {
      sequence.left = static_cast<std::int32_t>(blocks);
      sequence.taken = taken_ + free_;
      sequence.full = static_cast<std::int32_t>(sequence.prompt / settings_.block_tokens);
    }
    give_back(victim, blocks, false);
    remove(running_, victim);
    --running_count_;
    sequence.state = Sequence::State::waiting;
    sequence.kv = 0;
    sequence.held = 0;
    append(waiting_, victim);
    ++waiting_count_;
    ++times_[victim].preemptions;
    ++counters_.preemptions;
    record_phase(victim, RequestPhase::preempted, now_);
  } while (free_ * settings_.block_tokens < remain() * future.put_back_for);
  preempted_ = true;
  std::int64_t outputs = 0;
  std::int64_t answered = 0;
  for (std::uint32_t id = running_.head; id != Sequence::none; id = sequences_[id].next) {
    const Sequence& one = sequences_[id];
    if (one.state == Sequence::State::decoding || one.state == Sequence::State::ended) {
      outputs += one.output;
      answered += output_of(one) - unseen(one);
    }
  }
  ratio_ = std::min(1.0, static_cast<double>(answered + future.ratio_for * remain()) / static_cast<double>(outputs));
}

/// The tokens of the last iteration come in while the next one runs: its prompts are known to the cache, and those that
/// ended give back their blocks.
void SimulatedEngine::see_tokens() noexcept {
  for (const std::uint32_t id : prompts_ended_) {
    const Sequence::State state = sequences_[id].state;
    if (state == Sequence::State::decoding || state == Sequence::State::ended) {
      free_ += cache_->merge(id, sequences_[id].prompt);
    }
  }
  prompts_ended_.clear();
  for (const std::uint32_t id : ended_) {
    Sequence& sequence = sequences_[id];
    give_back(id, sequence.held, true);
    sequence.held = 0;
    leaving_.push_back(id);
  }
  ended_.clear();
}

}  // namespace headroom
