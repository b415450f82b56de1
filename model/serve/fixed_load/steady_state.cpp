// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/fixed_load/steady_state.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// Adds chunks of at most `most` tokens, `tokens` prompt tokens in total, to an iteration. Prompts longer than a chunk
/// have the mean number of keys that their chunks see.
void add_prompts(IterationMix& mix, double tokens, double isl, double most) noexcept {
  mix.chunk_tokens = std::min({isl, tokens, most});
  mix.chunks = tokens / mix.chunk_tokens;
  mix.chunk_keys = mix.chunk_tokens < isl ? 0.5 * (isl + mix.chunk_tokens) : isl;
  mix.ending = tokens / isl;
}

IterationMix decodes(double sequences, const SteadyLoad& load) noexcept {
  IterationMix mix;
  mix.decodes = sequences * load.beams;
  mix.keys = load.isl + load.answered();
  mix.queries = load.queries;
  return mix;
}

/// Factor by which pipeline bubbles lengthen the time.
double waiting(const SteadyLoad& load, const SteadyHabits& habits) noexcept {
  return 1.0 + habits.bubble * (load.stages - 1.0) / load.stages;
}

/// Iterations from one with prompts to the next under balanced attention-DP, `b` sequences decoding: until each rank
/// has a prompt, the longest of as many exponential times, and those that prompts then wait for more, or until the time
/// is out. 1: prompts do not wait for those of other ranks.
double balance_period(const SteadyLoad& load, double b) noexcept {
  const ClientFacts& client = load.client;
  if (client.balance_timeout <= 0.0 || load.groups <= 1.0 || b <= load.groups) {
    return 1.0;  // a rank without decodes lets all prompts run
  }
  double longest = 0.0;
  for (double ranks = load.groups; ranks >= 1.0; ranks -= 1.0) {
    longest += 1.0 / ranks;
  }
  const double all = longest * load.groups * load.steps() / b;
  return std::max(1.0, all <= client.balance_timeout ? all + client.balance_batching : client.balance_timeout);
}

/// The time of a prompt beside `others` decodes: of its consecutive chunks, or of its share of an iteration.
struct PromptCost {
  double alone = 0.0;  ///< time of all iterations that carry it
  double ranks = 0.0;  ///< part of `alone` that waits for prompts of other groups
  double more = 0.0;   ///< time that it adds to iterations of decodes alone, beside the prompts of other groups
  double mixed = 0.0;  ///< time of one iteration that carries the prompt
};
PromptCost prompt_cost(const IterationCost& step, const SteadyLoad& load, double others, double decode) {
  const double tokens = std::min(load.isl, load.chunk);
  const double pieces = load.isl / tokens;
  // Chunks that arrive within one iteration share it, in each group as many as its budget of tokens holds: of those
  // that come at random with a mean of x, x / (1 - exp(-x)) in iterations that have any (zero-truncated Poisson); where
  // prompts wait for those of other groups, all that came since the last such iteration.
  const double period =
      std::max(balance_period(load, others + 1.0), load.prompts_first ? load.client.recv_interval : 1.0);
  const double most = load.groups * std::max(1.0, load.chunk / tokens);
  const double coming = period * others * pieces / load.steps();
  double together = std::clamp(coming > 0.0 ? coming / -std::expm1(-coming) : 1.0, 1.0, most);
  if (load.in_step && !load.prompts_first && pieces <= 1.0) {
    // A first burst fills every iteration, and who starts together comes back together.
    together = std::clamp(std::floor((load.groups * load.chunk - others) / tokens), 1.0, std::max(1.0, others));
  }
  const IterationMix beside = others > 0.0 && !load.prompts_first ? decodes(others, load) : IterationMix{};
  IterationMix mix = beside;
  add_prompts(mix, together * tokens, load.isl, tokens);
  PromptCost cost;
  cost.mixed = step(mix);
  cost.alone = pieces * cost.mixed;
  if (load.groups > 1.0) {
    IterationMix own = beside;
    add_prompts(own, tokens * std::max(1.0, together / load.groups), load.isl, tokens);
    cost.ranks = std::max(0.0, cost.alone - pieces * step(own));
  }
  cost.more = pieces * (load.prompts_first ? cost.mixed : std::max(0.0, cost.mixed - decode)) / together;
  return cost;
}

/// Time per prompt in iterations of `tokens` prompt tokens without decodes.
double packed_prompt(const IterationCost& step, const SteadyLoad& load, double tokens) {
  IterationMix wave;
  add_prompts(wave, tokens, load.isl, load.chunk);
  return step(wave) * load.isl / (wave.chunks * wave.chunk_tokens);
}

/// Sequences of a stage that decode at once when prompts are the limit: each joins with the tokens of its prompt, and
/// decodes for as many iterations as its output takes.
double kept_up(const SteadyLoad& load) noexcept {
  return std::max(1.0, load.steps() * load.groups * load.chunk / load.isl);
}

/// Iterations that a prompt waits for more prompts, `b` sequences decoding.
double wait_for_more(const SteadyLoad& load, double b) noexcept {
  const ClientFacts& client = load.client;
  if (client.batch_wait <= 0.0 || b <= 1.0 || load.isl + b >= client.batch_wait_share * load.chunk) {
    return 0.0;
  }
  const double coming = 1.0 + client.batch_wait * (b - 1.0) / load.steps();
  return client.batch_wait * (coming + 1.0) / (2.0 * coming);
}

/// Seconds that first tokens wait in the mean until the prompts behind them have run: those of all iterations of a
/// burst but its last, whose clients are in step, or, of prompts that come at random, of any that comes while the own
/// runs.
double launched_behind(
    const SteadyLoad& load, double b, double together, double each, const PromptCost& prompt, double decode) noexcept {
  if (load.in_step) {
    // Of a prompt in chunks the next one.
    return std::max(0.0, 1.0 - together / b) * together * each * std::min(1.0, load.groups * load.chunk / load.isl);
  }
  const double fresh = 1.0 - load.found;
  const double coming = fresh * (b - 1.0) / (load.steps() * decode + b * fresh * prompt.more);
  return -std::expm1(-coming * prompt.alone) * prompt.mixed;
}

void fill_rates(const SteadyLoad& load, double seconds, double requests, SteadyState& s) noexcept {
  s.requests_per_s = requests / seconds;
  s.output_tokens_per_s = s.requests_per_s * load.osl;
}

}  // namespace

double SteadyLoad::steps() const noexcept {
  return std::max(1.0, osl / step_tokens);
}

double SteadyLoad::answered() const noexcept {
  return 0.5 * osl * (1.0 + output_cv * output_cv);
}

SteadyHabits steady_habits(const IterationStack& stack, double prompt, double bubble) noexcept {
  return {stack.way(prompt),
          stack.steps,
          stack.burst,
          stack.interference,
          bubble,
          stack.piece.raw(),
          stack.holds_first,
          stack.in_turn(prompt).raw(),
          stack.late_results};
}

SteadyState static_batch(const IterationCost& step, const SteadyLoad& load, const SteadyHabits& habits) {
  const double b = std::max(1.0, load.batch / load.stages);
  IterationMix prompts;
  add_prompts(prompts, b * load.isl, load.isl, load.isl);
  SteadyState s;
  const double first = step(prompts);
  const double decode = step(decodes(b, load));
  s.ttft = habits.request + Seconds{first};
  s.decoding = b;
  s.decode_step = Seconds{decode};
  s.tpot = Seconds{decode / load.step_tokens};
  s.mixed_step = Seconds{first};
  s.prompt_share = first / (first + load.steps() * decode);
  fill_rates(load, waiting(load, habits) * (first + load.steps() * decode), std::min(load.batch, load.stages * b), s);
  return s;
}

SteadyState saturated(const IterationCost& step, const SteadyLoad& load, const SteadyHabits& habits) {
  if (load.requests > 0.0 && load.set_seconds > 0.0) {
    SteadyLoad endless = load;
    endless.requests = 0.0;
    SteadyLoad set = load;
    set.requests = std::max(load.requests, load.set_seconds * saturated(step, endless, habits).requests_per_s);
    set.set_seconds = 0.0;
    return saturated(step, set, habits);
  }
  double places = load.batch / load.stages;
  if (load.requests > 0.0) {
    places = std::min(places, load.requests / load.stages);
  }
  const double full_batch = std::clamp(places, 1.0, kept_up(load));
  const double period = balance_period(load, full_batch);
  // Places stay empty while their prompts wait for those of other groups.
  const double b = std::max(1.0, full_batch * (1.0 - 0.5 * (period - 1.0) / load.steps()));
  const double q = std::min(load.groups * load.chunk,
                            std::max(period * b * load.isl / load.steps(), std::min(load.isl, load.chunk)));
  const double mixed_steps = b * load.isl / q;
  const double decode = step(decodes(b, load));
  IterationMix mix = decodes(std::max(0.0, b - std::max(1.0, q / load.isl)), load);
  if (mix.decodes <= 0.0 || load.prompts_first) {
    mix = IterationMix{};
  }
  add_prompts(mix, q, load.isl, load.chunk);
  const double mixed = step(mix);
  const double apart = load.prompts_first ? 0.0 : mixed_steps;  // iterations of the cycle that prompts share
  const double cycle = std::max(0.0, load.steps() - apart) * decode + mixed_steps * mixed;
  SteadyState s;
  s.decoding = b;
  s.decode_step = Seconds{decode};
  s.mixed_step = Seconds{mixed};
  s.tpot = Seconds{cycle / load.osl};
  const double more = load.prompts_first ? mixed : std::max(0.0, mixed - decode);
  s.prompt_share = std::min(1.0, mixed_steps * more / cycle + (apart > load.steps() ? 1.0 : 0.0));
  s.ttft = habits.request + Seconds{load.isl / q * mixed};
  double seconds = waiting(load, habits) * cycle;
  double requests = std::min(load.batch, load.stages * b);
  if (load.requests > 0.0) {
    const double full = load.groups * load.chunk;
    const double fill = b * load.isl / full;
    IterationMix filling = load.prompts_first ? IterationMix{} : decodes(0.5 * b, load);
    add_prompts(filling, full, load.isl, load.chunk);
    const double each = load.requests / load.stages;
    const double left = load.answered() / load.step_tokens;
    const double meanwhile = load.prompts_first ? 0.0 : 0.5 * fill;  // iterations of full batches that filling decodes
    const double steady = std::max(0.0, each * load.steps() / b - meanwhile - left);
    double emptying = load.steps() * step(decodes(std::max(1.0, 0.5 * b), load));
    if (load.longest > load.osl) {
      const double last = std::max(load.longest / load.step_tokens, left);
      emptying = left * decode + (last - left) * step(decodes(1.0, load));
    }
    seconds = waiting(load, habits) * (fill * step(filling) + steady * cycle / load.steps() + emptying);
    requests = load.requests;
  }
  fill_rates(load, seconds, requests, s);
  return s;
}

SteadyState prefill_pool(const IterationCost& step, const SteadyLoad& load) {
  const double each = packed_prompt(step, load, load.groups * load.chunk);
  SteadyState s;
  s.ttft = s.mixed_step = Seconds{each};
  s.prompt_share = 1.0;
  fill_rates(load, each, load.stages, s);
  return s;
}

SteadyState decode_pool(const IterationCost& step, const SteadyLoad& load, const SteadyHabits& habits) {
  const double b = std::max(1.0, load.batch / load.stages);
  const double decode = step(decodes(b, load));
  SteadyState s;
  s.decoding = b;
  s.decode_step = Seconds{decode};
  s.tpot = Seconds{waiting(load, habits) * decode / load.step_tokens};
  fill_rates(load, s.tpot.raw() * load.osl, load.batch, s);
  return s;
}

SteadyState closed_loop(const IterationCost& step, const SteadyLoad& load, const SteadyHabits& habits) {
  const double b = std::clamp(load.batch / load.stages, 1.0, kept_up(load));
  const double running = std::min(load.batch, b * load.stages);
  const double decode = step(decodes(b, load));
  const PromptCost prompt = prompt_cost(step, load, b - 1.0, decode);
  const double fresh = 1.0 - load.found;
  SteadyState s;
  s.decoding = b;
  s.decode_step = Seconds{decode};
  s.mixed_step = Seconds{prompt.mixed};
  const double token = decode / load.step_tokens;
  const double more = fresh * prompt.more;
  // In the first burst prompts share full iterations, and in every burst of clients that the engine keeps in step.
  const double most = load.groups * load.chunk;
  const double together = std::min(load.concurrency, std::max(1.0, most / load.isl));
  const double each = packed_prompt(step, load, std::min(most, together * load.isl));
  const double behind = load.prompts_first && load.in_step ? 0.5 * std::max(0.0, b - together) * fresh * each
                                                           : habits.interference * (b - 1.0) * more;
  double tpot = waiting(load, habits) * (token + behind / load.osl);
  s.prompt_share = b * more / (b * more + load.steps() * decode);
  // Prompts of others before an arriving one: u / (1 - u) is their time over that of decodes alone.
  const double ahead = std::min(b - 1.0, b * more / (load.steps() * decode));
  const double queue = std::max(0.0, load.concurrency - running) / running * load.osl * tpot;
  // A lone client meets neither a running step nor others' prompts.
  const double steps = habits.steps * (b - 1.0) / b + 0.5 * (load.client.recv_interval - 1.0) * (b - 1.0) / b +
                       wait_for_more(load, b) + 0.5 * (balance_period(load, b) - 1.0);
  FirstToken& first = s.first;
  // What a first burst takes beyond its prompts it takes once.
  const double bursts =
      load.prompts_first && load.in_step ? 1.0 + (habits.burst - 1.0) / load.waves : habits.burst / load.waves;
  first.client = Seconds{bursts * 0.5 * (load.concurrency - 1.0) * fresh * each};
  first.queue = Seconds{steps * decode + 0.5 * ahead * more + queue};
  first.rank_wait = Seconds{fresh * prompt.ranks};
  first.own = Seconds{fresh * (prompt.alone - prompt.ranks) + load.found * decode};
  // What first tokens come later decodes seem faster by: the answer ends when it did.
  const double late = habits.late_results ? std::min(fresh * launched_behind(load, b, together, each, prompt, decode),
                                                     0.5 * (load.osl - 1.0) * tpot)
                                          : 0.0;
  tpot -= load.osl > 1.0 ? late / (load.osl - 1.0) : 0.0;
  first.behind = Seconds{late};
  first.response = Seconds{habits.holds_first ? (load.client.stream_interval - 1.0) * tpot : 0.0};
  first.front_end = habits.request;
  const double answer = (first.total() - first.response).raw() + (load.osl - 1.0) * tpot;
  // Pieces leave no faster than the front end's processes write them; what they lag is before each of them.
  const double written =
      load.concurrency * (load.osl / load.client.stream_interval * habits.piece + habits.text) / load.client.front_ends;
  first.front_end += Seconds{std::max(0.0, written - answer)};
  s.ttft = first.total();
  // The client takes the time from the first piece that it saw.
  const double held = habits.holds_first ? std::min(load.client.stream_interval - 1.0, load.osl - 1.0) : 0.0;
  s.tpot = Seconds{tpot * (load.osl > 1.0 ? 1.0 - held / (load.osl - 1.0) : 1.0)};
  // Little 1961, but no faster than the replica processes densely packed prompts and decodes.
  const double work = load.concurrency * (fresh * each + load.steps() * decode / b) / load.stages;
  const double seconds = std::max({answer, written, work});
  fill_rates(load, seconds, load.concurrency, s);
  return s;
}

}  // namespace headroom
