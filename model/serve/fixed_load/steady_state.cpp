// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/fixed_load/steady_state.hpp>

#include <algorithm>

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
  mix.decodes = sequences;
  mix.keys = load.isl + 0.5 * load.osl;
  mix.queries = load.queries;
  return mix;
}

/// Factor by which pipeline bubbles lengthen the time.
double waiting(const SteadyLoad& load, const SteadyHabits& habits) noexcept {
  return 1.0 + habits.bubble * (load.stages - 1.0) / load.stages;
}

/// The time of a prompt beside `others` decodes: of its consecutive chunks, or of its share of an iteration.
struct PromptCost {
  double alone = 0.0;  ///< time of all iterations that carry it
  double more = 0.0;   ///< time that it adds to iterations of decodes alone, beside the prompts of other groups
  double mixed = 0.0;  ///< time of one iteration that carries the prompt
};
PromptCost prompt_cost(const IterationCost& step, const SteadyLoad& load, double others, double decode) {
  const double tokens = std::min(load.isl, load.chunk);
  const double pieces = load.isl / tokens;
  // Chunks that arrive within one iteration share it, each in its own group.
  const double together = std::clamp(others * pieces / load.steps(), 1.0, load.groups);
  IterationMix mix = others > 0.0 ? decodes(others, load) : IterationMix{};
  add_prompts(mix, together * tokens, load.isl, tokens);
  PromptCost cost;
  cost.mixed = step(mix);
  cost.alone = pieces * cost.mixed;
  cost.more = pieces * std::max(0.0, cost.mixed - decode) / together;
  return cost;
}

/// Time per prompt in iterations of `tokens` prompt tokens without decodes.
double packed_prompt(const IterationCost& step, const SteadyLoad& load, double tokens) {
  IterationMix wave;
  add_prompts(wave, tokens, load.isl, load.chunk);
  return step(wave) * load.isl / (wave.chunks * wave.chunk_tokens);
}

void fill_rates(const SteadyLoad& load, double seconds, double requests, SteadyState& s) noexcept {
  s.requests_per_s = requests / seconds;
  s.output_tokens_per_s = s.requests_per_s * load.osl;
}

}  // namespace

double SteadyLoad::steps() const noexcept {
  return std::max(1.0, osl / step_tokens);
}

SteadyState static_batch(const IterationCost& step, const SteadyLoad& load, const SteadyHabits& habits) {
  const double b = std::max(1.0, load.batch / load.stages);
  IterationMix prompts;
  add_prompts(prompts, b * load.isl, load.isl, load.isl);
  SteadyState s;
  const double first = step(prompts);
  const double decode = step(decodes(b, load));
  s.ttft = habits.request + Seconds{first};
  s.decode_step = Seconds{decode};
  s.tpot = Seconds{decode / load.step_tokens};
  s.mixed_step = Seconds{first};
  s.prompt_share = first / (first + load.steps() * decode);
  fill_rates(load, waiting(load, habits) * (first + load.steps() * decode), std::min(load.batch, load.stages * b), s);
  return s;
}

SteadyState saturated(const IterationCost& step, const SteadyLoad& load, const SteadyHabits& habits) {
  const double b = std::max(1.0, load.batch / load.stages);
  const double q =
      std::min(load.groups * load.chunk, std::max(b * load.isl / load.steps(), std::min(load.isl, load.chunk)));
  const double mixed_steps = b * load.isl / q;
  const double decode = step(decodes(b, load));
  IterationMix mix = decodes(std::max(0.0, b - std::max(1.0, q / load.isl)), load);
  if (mix.decodes <= 0.0) {
    mix = IterationMix{};
  }
  add_prompts(mix, q, load.isl, load.chunk);
  const double mixed = step(mix);
  const double cycle = std::max(0.0, load.steps() - mixed_steps) * decode + mixed_steps * mixed;
  SteadyState s;
  s.decode_step = Seconds{decode};
  s.mixed_step = Seconds{mixed};
  s.tpot = Seconds{cycle / load.osl};
  s.prompt_share =
      std::min(1.0, mixed_steps * std::max(0.0, mixed - decode) / cycle + (mixed_steps > load.steps() ? 1.0 : 0.0));
  s.ttft = habits.request + Seconds{load.isl / q * mixed};
  fill_rates(load, waiting(load, habits) * cycle, std::min(load.batch, load.stages * b), s);
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
  s.decode_step = Seconds{decode};
  s.tpot = Seconds{waiting(load, habits) * decode / load.step_tokens};
  fill_rates(load, s.tpot.raw() * load.osl, load.batch, s);
  return s;
}

SteadyState closed_loop(const IterationCost& step, const SteadyLoad& load, const SteadyHabits& habits) {
  const double b = std::max(1.0, load.batch / load.stages);
  const double decode = step(decodes(b, load));
  const PromptCost prompt = prompt_cost(step, load, b - 1.0, decode);
  SteadyState s;
  s.decode_step = Seconds{decode};
  s.mixed_step = Seconds{prompt.mixed};
  const double token = decode / load.step_tokens;
  const double tpot = waiting(load, habits) * (token + habits.interference * (b - 1.0) / load.osl * prompt.more);
  s.tpot = Seconds{tpot};
  s.prompt_share = b * prompt.more / (b * prompt.more + load.steps() * decode);
  // Prompts of others before an arriving one: u / (1 - u) is their time over that of decodes alone.
  const double ahead = std::min(b - 1.0, b * prompt.more / (load.steps() * decode));
  // In the first burst prompts share full iterations.
  const double most = load.groups * load.chunk;
  const double together = std::min(load.concurrency, std::max(1.0, most / load.isl));
  const double each = packed_prompt(step, load, std::min(most, together * load.isl));
  const double queue = std::max(0.0, load.concurrency - load.batch) / load.batch * load.osl * tpot;
  // A lone client meets neither a running step nor others' prompts.
  const double waited = habits.steps * decode * (b - 1.0) / b;
  s.ttft = habits.request + Seconds{waited + prompt.alone + 0.5 * ahead * prompt.more +
                                    habits.burst * 0.5 * (load.concurrency - 1.0) * each / load.waves + queue};
  // Little 1961, but no faster than the replica processes densely packed prompts and decodes.
  const double work = load.concurrency * (each + load.steps() * decode / b) / load.stages;
  const double seconds = std::max(s.ttft.raw() + (load.osl - 1.0) * tpot, work);
  fill_rates(load, seconds, load.concurrency, s);
  return s;
}

}  // namespace headroom
