// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace headroom {
namespace {

void require(std::vector<std::string>& problems, bool good, std::string problem) {
  if (!good) {
    problems.push_back(std::move(problem));
  }
}

/// Requires a span that is neither negative nor longer than any part of an answer may take.
void require_span(std::vector<std::string>& found, Picoseconds span, const std::string& what, const std::string& way) {
  const Seconds seconds{seconds_of(span)};
  require(found, span >= Picoseconds{0}, what + " takes a time below 0");
  require(found, seconds <= longest_span,
          what + " takes " + (span == never ? "longer than is simulated" : format(seconds)) + "; at most " +
              format(longest_span) + " can be simulated: " + way);
}

void check(std::vector<std::string>& found, const ReplicaPool& pool, const std::string& name) {
  const EngineSettings& e = pool.engine;
  const auto at_least_one = [&](std::int64_t value, const std::string& what) {
    require(found, value >= 1, name + ": " + what + " is " + std::to_string(value) + "; it takes at least 1");
  };
  require(found, pool.tables != nullptr, name + ": no tables of iterations");
  at_least_one(pool.replicas, "replicas");
  at_least_one(pool.lanes, "lanes");
  at_least_one(e.max_num_seqs, "max_num_seqs");
  at_least_one(e.max_num_tokens, "max_num_tokens");
  at_least_one(e.block_tokens, "block_tokens");
  at_least_one(pool.lanes >= 1 ? e.blocks / pool.lanes : e.blocks, "blocks of a lane");
  const std::int64_t each = 1 + e.speculation.draft;
  const std::int64_t seqs = pool.lanes >= 1 ? std::max<std::int64_t>(e.max_num_seqs / pool.lanes, 1) : 1;
  require(found, e.rules.order == PromptOrder::before_decodes || seqs * each <= e.max_num_tokens,
          name + ": an iteration takes " + std::to_string(e.max_num_tokens) + " tokens (max_num_tokens), but " +
              std::to_string(seqs) + " sequences decode " + std::to_string(each) +
              " each; raise it or lower max_num_seqs");
  require(found, e.speculation.draft >= 0,
          name + ": a draft of " + std::to_string(e.speculation.draft) + " tokens; 0 means no speculation");
  require(found, e.speculation.acceptance >= 0.0 && e.speculation.acceptance <= 1.0,
          name + ": acceptance " + std::to_string(e.speculation.acceptance) + " is no share from 0 to 1");
  require(found, e.watermark_blocks >= 0, name + ": the watermark cannot be negative");
  require_span(found, pool.front.text, name + ": the front end's work for a token of a prompt", "give a shorter one");
  require_span(found, pool.front.piece, name + ": the front end's work for a token of an answer", "give a shorter one");
  require_span(found, e.swap_per_block, name + ": the copy of a block to the host", "give a faster link");
  if (pool.tables != nullptr) {
    IterationBatch token;
    token.decodes = token.context = 1;
    IterationBatch prompt;
    prompt.add(1, true, pool.tables->chunk(1, 1));
    require_span(found, std::max(pool.tables->time(token), pool.tables->time(prompt)),
                 name + ": an iteration of one sequence", "its GPUs, its links or its draft are too slow");
  }
}

/// Checks the times of a prompt's cache from pool to pool and from each tier.
void check_transfers(std::vector<std::string>& found, const ServingFleet& fleet, std::int32_t longest) {
  const std::string prompt = "a prompt of " + std::to_string(longest) + " tokens";
  if (fleet.prefill) {
    const CacheTransfer& t = fleet.transfer;
    const bool rate = t.bytes_per_token.raw() <= 0.0 || t.rate.raw() > 0.0;
    require(found, rate,
            "transfer: a cache of " + std::to_string(t.bytes_per_token.raw()) +
                " bytes a token over no rate; give the rate of the link between the pools");
    require_span(found, picoseconds(t.latency.raw()), "transfer: the latency", "give a shorter one");
    if (rate && t.bytes_per_token.raw() > 0.0) {
      require_span(found, longest * picoseconds((t.bytes_per_token / t.rate).raw()), "transfer: the cache of " + prompt,
                   "give a faster link between the pools");
    }
  }
  const ReplicaPool& computes = fleet.prefill ? *fleet.prefill : fleet.pool;
  const std::int64_t block = std::max<std::int64_t>(1, computes.engine.block_tokens);
  for (const OffloadTier& tier : fleet.tiers) {
    require(found, tier.blocks >= 0, "a tier of the cache: blocks cannot be negative");
    require_span(found, tier.latency, "a tier of the cache: the latency", "give a shorter one");
    require_span(found, (longest + block - 1) / block * tier.per_block, "a tier of the cache: loading " + prompt,
                 "give a higher bandwidth");
  }
}

void check_beside(std::vector<std::string>& found, const ServingFleet& fleet, const RequestLoad& load) {
  if (fleet.beside.empty()) {
    return;
  }
  for (std::size_t i = 0; i < fleet.beside.size(); ++i) {
    check(found, {fleet.beside[i].tables, fleet.beside[i].engine, 1, 1}, "model " + std::to_string(i + 1));
  }
  require(found, fleet.pool.lanes == 1,
          "several models on a replica of " + std::to_string(fleet.pool.lanes) +
              " pipeline stages: whose stages take turns is not simulated; use pp = 1");
  require(found, !fleet.prefill,
          "several models and prompts on replicas of their own are not simulated together; leave one out");
  require(found, fleet.routing != RequestRouting::shared_queue,
          "several models behind one queue: the first that waits would block the others; use least-outstanding");
  require(found, load.prefixes.empty(),
          "several models and prompts that share prefixes are not simulated together; leave one out");
  std::int32_t classes = 0;
  for (const Request& request : load.requests) {
    classes = std::max(classes, request.service_class + 1);
  }
  require(found, static_cast<std::size_t>(classes) <= fleet.model_of_class.size(),
          std::to_string(classes) + " service classes, and models of " + std::to_string(fleet.model_of_class.size()) +
              "; say which model each class asks");
  for (const std::size_t model : fleet.model_of_class) {
    require(found, model <= fleet.beside.size(),
            "a class asks model " + std::to_string(model) + " of " + std::to_string(fleet.beside.size() + 1));
  }
}

/// Checks the ids of sessions: each begins where the one before it in its prompt ends.
void check_turns_of(std::vector<std::string>& found, const RequestLoad& load) {
  const PromptPrefixes& prefixes = load.prefixes;
  const std::size_t requests = load.requests.size();
  const bool whole = prefixes.first.size() == requests && prefixes.count.size() == requests &&
                     prefixes.answer.size() == requests && prefixes.tokens.size() == prefixes.distinct;
  require(found, whole,
          "prefixes of sessions: lists of other lengths than the " + std::to_string(requests) + " requests");
  for (std::size_t i = 0; whole && i < requests; ++i) {
    std::int32_t end = 0;
    const std::uint32_t answer = prefixes.answer[i];
    bool good = std::size_t{prefixes.first[i]} + prefixes.count[i] <= prefixes.ids.size() &&
                (answer == PromptPrefixes::none || answer < prefixes.distinct);
    for (const std::uint32_t id : good ? prefixes.of(i) : std::span<const std::uint32_t>{}) {
      good = good && id < prefixes.distinct && prefixes.tokens[id].begin == end && prefixes.tokens[id].end >= end;
      end = good ? prefixes.tokens[id].end : end;
    }
    if (!good || end > load.requests[i].prompt_tokens) {
      found.push_back("request " + std::to_string(i + 1) +
                      ": its ids do not stand for the begin of its prompt, or its answer has none of the " +
                      std::to_string(prefixes.distinct) + " ids");
      return;
    }
  }
}

/// Checks that a turn stands behind the one that it waits for.
void check_order(std::vector<std::string>& found, const RequestLoad& load) {
  const SessionTurns& turns = load.turns;
  const std::size_t requests = load.requests.size();
  if (turns.empty()) {
    return;
  }
  bool good = turns.next.size() == requests && turns.previous.size() == requests && turns.pause.size() == requests;
  for (std::size_t i = 0; good && i < requests; ++i) {
    const std::uint32_t next = turns.next[i];
    const std::uint32_t before = turns.previous[i];
    good = (next == SessionTurns::none || (next > i && next < requests && turns.previous[next] == i)) &&
           (before == SessionTurns::none || (before < i && turns.next[before] == i));
    if (turns.pause[i] < Picoseconds{0} || Seconds{seconds_of(turns.pause[i])} > longest_span) {
      require_span(found, turns.pause[i], "the pause before request " + std::to_string(i + 1), "give a shorter one");
    }
  }
  require(found, good, "sessions: a turn names none, or an earlier one, as the next");
}

/// Checks ids, if requests have any: each is a whole number of blocks and always follows the same predecessor.
void check_prefixes(std::vector<std::string>& found, const RequestLoad& load, const ReplicaPool& pool) {
  const PromptPrefixes& prefixes = load.prefixes;
  const std::size_t requests = load.requests.size();
  const std::int64_t block = pool.engine.block_tokens;
  if (prefixes.empty() || block < 1) {
    return;
  }
  require(found, !prefixes.tokens.empty() || (prefixes.id_tokens >= block && prefixes.id_tokens % block == 0),
          "prefixes: an id stands for " + std::to_string(prefixes.id_tokens) +
              " tokens, which are no whole blocks of " + std::to_string(block));
  if (!prefixes.count.empty()) {
    check_turns_of(found, load);
    return;
  }
  const bool whole = prefixes.first.size() == requests + 1 && prefixes.first.front() == 0 &&
                     prefixes.first.back() == prefixes.ids.size() &&
                     std::is_sorted(prefixes.first.begin(), prefixes.first.end());
  require(found, whole,
          "prefixes: ids of " + std::to_string(prefixes.first.size()) + " ends for " + std::to_string(requests) +
              " requests; each takes one, and one more");
  if (!whole) {
    return;
  }
  constexpr std::uint32_t unmet = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> before(prefixes.distinct, unmet);
  for (std::size_t i = 0; i < requests; ++i) {
    std::uint32_t last = unmet - 1;
    const std::int64_t covered = static_cast<std::int64_t>(prefixes.of(i).size()) * prefixes.id_tokens;
    require(found, covered <= load.requests[i].prompt_tokens,
            "request " + std::to_string(i + 1) + ": ids of " + std::to_string(covered) + " tokens, a prompt of " +
                std::to_string(load.requests[i].prompt_tokens));
    for (const std::uint32_t id : prefixes.of(i)) {
      if (id >= prefixes.distinct || (before[id] != unmet && before[id] != last)) {
        found.push_back("request " + std::to_string(i + 1) + ": id " + std::to_string(id) +
                        " stands behind another one than elsewhere, or is none of the " +
                        std::to_string(prefixes.distinct));
        return;
      }
      before[id] = last;
      last = id;
    }
  }
}

}  // namespace

std::vector<std::string> problems(const ServingFleet& fleet, const RequestLoad& load) {
  std::vector<std::string> found;
  check(found, fleet.pool, fleet.prefill ? "decode pool" : "pool");
  if (fleet.prefill) {
    check(found, *fleet.prefill, "prefill pool");
  }
  check_beside(found, fleet, load);
  check_prefixes(found, load, fleet.prefill ? *fleet.prefill : fleet.pool);
  check_order(found, load);
  require(found, load.concurrency >= 0, "load: a concurrency of " + std::to_string(load.concurrency));
  require_span(found, load.think, "load: the think time of a client", "give a shorter one");
  require_span(found, fleet.front_end, "the way from a client to the router", "give a shorter one");
  require(found, load.requests.size() < Sequence::none, "load: more than 4,294,967,294 requests");
  Picoseconds last{0};
  std::int32_t longest = 1;
  for (std::size_t i = 0; i < load.requests.size(); ++i) {
    const Request& request = load.requests[i];
    longest = std::max(longest, request.prompt_tokens);
    const auto bad = [&](const std::string& what) { found.push_back("request " + std::to_string(i + 1) + what); };
    if (request.prompt_tokens < 1 || request.output_tokens < 1) {
      bad(": " + std::to_string(request.prompt_tokens) + " tokens in, " + std::to_string(request.output_tokens) +
          " out; both are at least 1");
    }
    if (request.cached_tokens < 0 || request.service_class < 0) {
      bad(": " + std::to_string(request.cached_tokens) + " cached tokens, class " +
          std::to_string(request.service_class) + "; neither can be negative");
    }
    if (load.concurrency == 0) {
      if (request.arrival < last) {
        bad(": arrives before the one before it, or before time 0; sort the requests by arrival");
      }
      if (request.arrival == never && last < never) {  // so do all later requests
        bad(": arrives beyond the 106 days that are simulated; raise the rate, or leave it out");
      }
      last = std::max(last, request.arrival);
    }
  }
  check_transfers(found, fleet, longest);
  return found;
}

}  // namespace headroom
