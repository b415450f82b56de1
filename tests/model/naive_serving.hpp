// SPDX-License-Identifier: Apache-2.0
// The rules of scheduler.hpp as a plain loop over iterations and sequences, for one engine and open arrivals, and for
// several that take turns: what the engine that skips must equal to the picosecond.
#pragma once

#include <headroom/model/serve/engine/scheduler.hpp>
#include <headroom/model/serve/load/request.hpp>
#include <headroom/model/serve/time/time_histogram.hpp>

#include "naive_prefixes.hpp"
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <tuple>
#include <vector>

namespace headroom::test {

class NaiveServing {
 public:
  /// `handed_on`: requests come with their prompt's cache and one token, which was out at `first_tokens`.
  NaiveServing(const IterationTables& tables,
               const EngineSettings& settings,
               const std::vector<Request>& requests,
               const std::vector<Picoseconds>& first_tokens)
      : NaiveServing{tables, settings, requests} {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      Item& item = items_[i];
      item.handed_on = true;
      item.decodes = true;
      item.kv = item.prompt;
      item.out = 1;
      item.blocks = blocks_of(item.kv);
      item.last = first_tokens[i];
      times_[i].first_token = first_tokens[i];
      times_[i].started = Picoseconds{0};
    }
  }

  NaiveServing(const IterationTables& tables, const EngineSettings& settings, const std::vector<Request>& requests)
      : tables_{tables}, settings_{settings}, times_(requests.size()) {
    free_.assign(static_cast<std::size_t>(settings.blocks), {nobody, 0});
    batches.resize(static_cast<std::size_t>(settings.max_num_seqs) + 1);
    for (const Request& request : requests) {
      Item item;
      item.prompt = request.prompt_tokens;
      item.output = request.output_tokens;
      item.prefix = request.cached_tokens;
      item.arrival = request.arrival;
      items_.push_back(item);
    }
  }

  /// Prefixes are looked up there, at arrival and at admission.
  void look_up_in(NaivePrefixes& prefixes) { prefixes_ = &prefixes; }

  std::vector<RequestTimes> run() {
    std::size_t finished = 0;
    Picoseconds now{0};
    while (finished < items_.size()) {
      arrivals(now + Picoseconds{1});
      while (!coming_.empty() && std::get<0>(*coming_.begin()) <= now) {
        waiting_.push_back(std::get<2>(*coming_.begin()));
        coming_.erase(coming_.begin());
      }
      iteration(now);
      hold_back(now);
      if (chunks_.empty() && !decodes_) {
        now = coming_.empty() ? never : std::get<0>(*coming_.begin());
        now = arrived_ < items_.size() ? std::min(now, items_[arrived_].arrival) : now;
        continue;
      }
      now += std::max(length_, Picoseconds{1});
      arrivals(now);  // while the iteration runs; what arrives when it ends sees its end
      finished += end(now);
    }
    return times_;
  }

  // One iteration at a time, for who shares a device. Requests keep their numbers: those of others never arrive here.
  void arrive(std::size_t id) {
    times_[id].arrival = items_[id].arrival;
    waiting_.push_back(id);
  }
  bool has_work() const {
    return !waiting_.empty() ||
           std::any_of(running_.begin(), running_.end(), [&](std::size_t id) { return !items_[id].ended; });
  }
  /// The time that the iteration takes, which ends with finish(); 0 when there is none.
  Picoseconds begin(Picoseconds now) {
    iteration(now);
    hold_back(now);
    return chunks_.empty() && !decodes_ ? Picoseconds{0} : std::max(length_, Picoseconds{1});
  }
  std::size_t finish(Picoseconds now) { return end(now); }
  const RequestTimes& times(std::size_t id) const { return times_[id]; }

  std::int64_t iterations = 0;
  std::int64_t preemptions = 0;
  std::int64_t peak = 0;
  TimeHistogram gaps;
  std::vector<std::int64_t> batches;
  std::vector<std::size_t> answered;  ///< in the order in which they were; of one iteration, as they were admitted

 private:
  struct Item {
    std::int64_t prompt = 0, output = 0, prefix = 0, kv = 0, out = 0, blocks = 0;
    std::int64_t steps = 0;  ///< with drafts
    std::int64_t full = 0;   ///< blocks of its cache that were full when it was evicted
    Picoseconds arrival{}, last{};
    bool decodes = false, swapped = false, handed_on = false, ended = false;
  };
  /// A free block, and what it still holds: the block of an evicted item's cache at that place.
  struct Block {
    std::size_t of;
    std::int64_t place;
  };
  static constexpr std::size_t nobody = static_cast<std::size_t>(-1);
  struct Part {
    std::size_t id;
    std::int64_t tokens;
    bool ends;
  };

  /// First tokens that came as an iteration with prompts begins are handed out when it ends.
  void hold_back(Picoseconds now) {
    for (const auto& [id, came] : fresh_) {
      const bool stays = items_[id].decodes && !items_[id].swapped && items_[id].out < items_[id].output;
      if (settings_.late_results && !chunks_.empty() && stays && came == now) {
        times_[id].first_token = items_[id].last = now + std::max(length_, Picoseconds{1});
      }
    }
    fresh_.clear();
  }

  void arrivals(Picoseconds before) {
    for (; arrived_ < items_.size() && items_[arrived_].arrival < before; ++arrived_) {
      const Picoseconds at = items_[arrived_].arrival;
      times_[arrived_].arrival = at;
      const Picoseconds ready = prefixes_ != nullptr ? prefixes_->arrive(arrived_, at) : at;
      coming_.insert({ready, ready > at, arrived_});
    }
  }

  std::int64_t blocks_of(std::int64_t tokens) const {
    return tokens / settings_.block_tokens + (tokens % settings_.block_tokens != 0 ? 1 : 0);
  }
  std::int64_t draft() const { return settings_.speculation.draft; }
  bool whole() const { return settings_.rules.reservation == Reservation::whole; }
  std::int64_t whole_blocks(const Item& item) const { return blocks_of(item.prompt + item.output + draft()); }
  std::int64_t wants(const Item& item) const {
    return whole() ? 0 : std::max<std::int64_t>(blocks_of(item.kv + 1 + draft()) - item.blocks, 0);
  }

  void take(Item& item, std::int64_t blocks) {
    item.blocks += blocks;
    free_.erase(free_.begin(), free_.begin() + blocks);
    if (prefixes_ != nullptr) {
      prefixes_->take(blocks);
    }
  }
  /// The last block first, so that it is the first to be taken again.
  void give(std::size_t id, bool remembers) {
    if (prefixes_ != nullptr) {
      const std::int64_t blocks = prefixes_->release(id, items_[id].blocks);
      free_.insert(free_.end(), static_cast<std::size_t>(blocks), {nobody, 0});
      return;
    }
    for (std::int64_t place = items_[id].blocks - 1; place >= 0; --place) {
      free_.push_back({remembers ? id : nobody, place});
    }
  }
  std::int64_t room() const { return static_cast<std::int64_t>(free_.size()); }
  /// Full blocks from the first on that nobody has taken since the item was evicted.
  std::int64_t own_blocks(std::size_t id) const {
    std::vector<bool> there(static_cast<std::size_t>(items_[id].full), false);
    for (const Block& block : free_) {
      if (block.of == id && block.place < items_[id].full) {
        there[static_cast<std::size_t>(block.place)] = true;
      }
    }
    return std::find(there.begin(), there.end(), false) - there.begin();
  }
  void reuse(std::size_t id, std::int64_t blocks) {
    std::erase_if(free_, [&](const Block& b) { return b.of == id && b.place < blocks; });
    for (Block& block : free_) {
      block.of = block.of == id ? nobody : block.of;
    }
    items_[id].blocks += blocks;
  }

  void preempt() {
    const std::size_t id = running_.back();
    running_.pop_back();
    Item& item = items_[id];
    preempted_ = true;
    if (item.ended) {
      item.ended = false;
      give(id, false);
      return;
    }
    ++preemptions;
    ++times_[id].preemptions;
    const bool swaps = settings_.rules.eviction == Eviction::swap;
    give(id, settings_.rules.remembers && !swaps);
    if (swaps) {
      item.swapped = true;
      copies_ += settings_.swap_per_block * item.blocks;
    } else {
      item.full = settings_.rules.remembers && prefixes_ == nullptr ? item.kv / settings_.block_tokens : 0;
      item.kv = 0;
      item.blocks = 0;
      item.decodes = false;
    }
    waiting_.push_front(id);
  }

  bool partial() const {
    return !running_.empty() && !items_[running_.back()].decodes && !items_[running_.back()].ended;
  }

  void come_back() {
    while (!waiting_.empty() && static_cast<std::int64_t>(running_.size()) < settings_.max_num_seqs) {
      const std::size_t id = waiting_.front();
      Item& item = items_[id];
      if ((!item.swapped && !item.handed_on) || partial()) {
        return;
      }
      std::int64_t need = whole() ? whole_blocks(item) : item.blocks;
      const std::int64_t chunk = std::min(item.prompt + item.out - item.kv, settings_.max_num_tokens);
      need += item.decodes ? wants(item)
              : whole()    ? 0
                           : std::max<std::int64_t>(blocks_of(item.kv + chunk) - item.blocks, 0);
      for (const std::size_t other : running_) {
        need += items_[other].decodes ? wants(items_[other]) : 0;
      }
      if (need > room() - (running_.empty() ? 0 : settings_.watermark_blocks)) {
        return;
      }
      waiting_.pop_front();
      running_.push_back(id);
      const std::int64_t blocks = item.blocks;
      item.blocks = 0;
      take(item, whole() ? whole_blocks(item) : blocks);
      copies_ += item.swapped ? settings_.swap_per_block * blocks : Picoseconds{0};
      item.swapped = false;
      item.handed_on = false;
    }
  }

  void decode_all() {
    // All or none: blocks are taken only once every sequence that stays has its own.
    const auto need = [&] {
      std::int64_t blocks = 0;
      std::int64_t decodes = 0;
      for (const std::size_t id : running_) {
        blocks += items_[id].decodes ? wants(items_[id]) : 0;
        decodes += items_[id].decodes ? 1 : 0;
      }
      return decodes > 0 ? blocks : 0;
    };
    while (need() > room()) {
      preempt();
    }
    for (const std::size_t id : running_) {
      if (items_[id].decodes) {
        take(items_[id], wants(items_[id]));
        batch_.decodes += 1;
        batch_.context += items_[id].kv + 1;
        decodes_ = true;
      }
    }
  }

  void add(std::size_t id, std::int64_t tokens, std::int64_t& budget) {
    const Item& item = items_[id];
    const bool ends = item.kv + tokens == item.prompt + item.out;
    batch_.add(tokens, ends, tables_.chunk(tokens, item.kv + tokens));
    chunks_.push_back({id, tokens, ends});
    budget -= tokens;
    if (prefixes_ != nullptr) {
      prefixes_->name(id, item.kv + tokens);
    }
  }

  void prompts(std::int64_t budget) {
    if (partial()) {
      const std::size_t id = running_.back();
      Item& item = items_[id];
      const std::int64_t tokens = std::min(item.prompt + item.out - item.kv, budget);
      if (tokens > 0) {
        const std::int64_t more = std::max<std::int64_t>(blocks_of(item.kv + tokens) - item.blocks, 0);
        if (more > room()) {
          preempt();
        } else {
          take(item, more);
          add(id, tokens, budget);
        }
      }
    }
    std::vector<std::size_t> passed;
    admit(budget, passed);
    for (const std::size_t id : passed) {
      waiting_.push_front(id);
    }
  }

  void admit(std::int64_t& budget, std::vector<std::size_t>& passed) {
    while (!preempted_ && budget > 0 && !waiting_.empty() &&
           static_cast<std::int64_t>(running_.size()) < settings_.max_num_seqs) {
      const std::size_t id = waiting_.front();
      Item& item = items_[id];
      if (item.swapped || item.handed_on) {
        return;
      }
      const std::int64_t all = item.prompt + item.out;
      const std::int64_t own = own_blocks(id);
      const NaivePrefixes::Found found =
          prefixes_ != nullptr ? prefixes_->find(id)
                               : NaivePrefixes::Found{std::max(item.prefix, own * settings_.block_tokens), 0, 0};
      const std::int64_t cached = std::min(found.tokens, all - 1);
      std::int64_t tokens = all - cached;
      if (settings_.rules.chunked) {
        tokens = std::min(tokens, budget);
      } else if (tokens > budget && (tokens <= settings_.max_num_tokens || !chunks_.empty())) {
        if (settings_.rules.passes_over) {
          waiting_.pop_front();
          passed.push_back(id);
          continue;
        }
        return;
      }
      const std::int64_t need = whole()                                              ? whole_blocks(item)
                                : settings_.rules.reservation == Reservation::prompt ? blocks_of(all)
                                                                                     : blocks_of(cached + tokens);
      const std::int64_t wanted = settings_.rules.whole_prompt_fits ? std::max(need, blocks_of(all)) : need;
      if (wanted - found.in_use > room() - (running_.empty() ? 0 : settings_.watermark_blocks)) {
        return;
      }
      waiting_.pop_front();
      running_.push_back(id);
      if (prefixes_ != nullptr) {
        item.blocks = need;
        free_.erase(free_.begin(), free_.begin() + (need - found.in_use));
        prefixes_->admit(id, found, need);
      } else {
        const std::int64_t again = std::min(own, blocks_of(cached));
        reuse(id, again);
        take(item, need - again);
      }
      item.kv = cached;
      add(id, tokens, budget);
      if (times_[id].started == never) {
        times_[id].started = now_;
      }
    }
  }

  void form() {
    preempted_ = false;
    come_back();
    if (settings_.rules.order == PromptOrder::before_decodes) {
      prompts(settings_.max_num_tokens);
      if (chunks_.empty()) {
        decode_all();
      }
    } else {
      decode_all();
      prompts(settings_.max_num_tokens - batch_.decodes * (1 + draft()));
    }
  }

  void iteration(Picoseconds now) {
    now_ = now;
    chunks_.clear();
    batch_ = {};
    copies_ = Picoseconds{0};
    decodes_ = false;
    form();
    bool released = false;
    for (const std::size_t id : ended_) {
      if (items_[id].ended) {
        items_[id].ended = false;
        give(id, false);
        running_.erase(std::find(running_.begin(), running_.end(), id));
        released = true;
      }
    }
    ended_.clear();
    if (released && chunks_.empty() && !decodes_) {
      form();
    }
    length_ = tables_.time(batch_) + copies_;
    iterations += chunks_.empty() && !decodes_ ? 0 : 1;
  }

  std::size_t end(Picoseconds now) {
    std::size_t of_chunks = 0;
    std::vector<std::size_t> gone;  // prompts of one token first, then decodes by admission
    ++batches[static_cast<std::size_t>(batch_.decodes + batch_.chunks)];
    peak = std::max(peak, settings_.blocks - room());
    if (decodes_) {
      for (const std::size_t id : running_) {
        Item& item = items_[id];
        if (!item.decodes) {
          continue;
        }
        const Speculation& drafts = settings_.speculation;
        const std::int64_t tokens =
            draft() == 0 ? 1 : std::min(drafts.tokens(drafts.stream(id), item.steps++), item.output - item.out);
        item.kv += tokens;
        item.out += tokens;
        gaps.add(now - item.last, 1);
        item.last = now;
        if (item.out == item.output) {
          gone.push_back(id);
        }
      }
    }
    for (const Part& part : chunks_) {
      Item& item = items_[part.id];
      item.kv += part.tokens;
      if (!part.ends) {
        continue;
      }
      if (item.out == 0) {
        times_[part.id].first_token = now;
        fresh_.emplace_back(part.id, now);
        if (prefixes_ != nullptr) {
          prefixes_->computed(part.id);
        }
      } else {
        gaps.add(now - item.last, 1);
      }
      item.last = now;
      ++item.out;
      item.decodes = true;
      if (item.out == item.output) {
        gone.insert(gone.begin() + static_cast<std::ptrdiff_t>(of_chunks++), part.id);
      }
    }
    answered.insert(answered.end(), gone.begin(), gone.end());
    for (const std::size_t id : gone) {
      times_[id].finished = now;
      if (settings_.rules.overlap == Overlap::holds_ended) {
        items_[id].ended = true;
        items_[id].decodes = false;
        ended_.push_back(id);
        continue;
      }
      give(id, false);
      running_.erase(std::find(running_.begin(), running_.end(), id));
    }
    return gone.size();
  }

  const IterationTables& tables_;
  EngineSettings settings_;
  std::deque<Block> free_;  ///< the first is taken first
  std::vector<RequestTimes> times_;
  std::vector<Item> items_;
  std::size_t arrived_ = 0;
  std::set<std::tuple<Picoseconds, bool, std::size_t>> coming_;  ///< when, whether after a load, who
  NaivePrefixes* prefixes_ = nullptr;
  std::deque<std::size_t> waiting_;
  std::vector<std::size_t> running_;
  std::vector<std::pair<std::size_t, Picoseconds>> fresh_;  ///< with their first tokens in the last iteration
  std::vector<std::size_t> ended_;  ///< answered in the last iteration, still running to the engine
  std::vector<Part> chunks_;
  IterationBatch batch_;
  Picoseconds copies_{}, length_{}, now_{};
  bool decodes_ = false, preempted_ = false;
};

/// Engines that take turns on one device: whoever has waited for it longest runs one iteration.
class NaiveTurns {
 public:
  /// `of[i]`: the engine that request i goes to.
  NaiveTurns(std::vector<NaiveServing>& engines,
             const std::vector<Request>& requests,
             const std::vector<std::size_t>& of)
      : engines_{engines}, requests_{requests}, of_{of}, asked_(engines.size()) {}

  void run() {
    Picoseconds now{0};
    std::size_t finished = 0;
    while (finished < requests_.size()) {
      take_arrivals(now);
      bool ran = false;
      for (const std::size_t engine : by_waiting()) {
        const Picoseconds length = engines_[engine].begin(now);
        if (length > Picoseconds{0}) {
          take_arrivals(now + length - Picoseconds{1});
          now += length;
          finished += engines_[engine].finish(now);
          asked_[engine] = now;
          ran = true;
          break;
        }
      }
      now = ran ? now : requests_.at(arrived_).arrival;
    }
  }

 private:
  void take_arrivals(Picoseconds until) {
    for (; arrived_ < requests_.size() && requests_[arrived_].arrival <= until; ++arrived_) {
      const std::size_t engine = of_[arrived_];
      asked_[engine] = engines_[engine].has_work() ? asked_[engine] : requests_[arrived_].arrival;
      engines_[engine].arrive(arrived_);
    }
  }
  /// Those with work, the longest wait first.
  std::vector<std::size_t> by_waiting() const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < engines_.size(); ++i) {
      if (engines_[i].has_work()) {
        order.push_back(i);
      }
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return asked_[a] < asked_[b]; });
    return order;
  }

  std::vector<NaiveServing>& engines_;
  const std::vector<Request>& requests_;
  const std::vector<std::size_t>& of_;
  std::vector<Picoseconds> asked_;
  std::size_t arrived_ = 0;
};

}  // namespace headroom::test
