// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/scenarios/sequence_length.hpp>
#include <headroom/scenarios/serve_rules.hpp>

#include <cmath>

namespace headroom {
namespace {

std::string title(const ServeScenario& s) {
  return std::string{engine_titles[static_cast<std::size_t>(s.engine.engine)]};
}

bool has_rate(const Device& device, Precision precision) {
  return device.peak[static_cast<std::size_t>(row_of(precision).rate)].has_value();
}

/// TensorRT-LLM chunks prompts when it is told to (trtllm-serve --enable_chunked_prefill); the others unless they are
/// told not to.
bool chunks_by_default(Engine engine) noexcept {
  return engine != Engine::tensorrt_llm;
}

void read_chunks(ConfigTable& serving, ServeScenario& s, std::vector<std::string>& assumptions) {
  if (const std::optional<bool> stated = serving.maybe_boolean("chunked_prefill")) {
    s.chunked_prefill = *stated;
    return;
  }
  const bool longer = s.work.isl > s.work.max_num_tokens;
  s.chunked_prefill = chunks_by_default(s.engine.engine) || longer;
  if (!serving.has("chunked_prefill") && longer && !chunks_by_default(s.engine.engine)) {
    assumptions.push_back("serving.chunked_prefill = true (" + title(s) + "'s default, false, refuses prompts above " +
                          std::to_string(s.work.max_num_tokens) + " tokens)");
  }
}

void read_speculation(ConfigTable& serving, ServeScenario& s, std::vector<std::string>& assumptions) {
  std::optional<ConfigTable> table = serving.maybe_table("speculative");
  if (!table) {
    return;
  }
  Speculation speculation;
  speculation.draft = table->integer("draft", {1, 64});
  if (!table->has("acceptance")) {
    table->problem("acceptance",
                   "speculative decoding without 'acceptance': what it saves is the share of drafted tokens that the "
                   "model accepts, 0 to 1, and nothing stands for it; state it as measured on your requests (engines "
                   "log it), or leave [serving.speculative] out");
  } else {
    speculation.acceptance = table->number("acceptance", {0.0, 1.0});
  }
  table->finish();
  s.speculation = speculation;
  assumptions.push_back("serving.speculative: " + std::to_string(speculation.draft) + " drafted tokens at acceptance " +
                        format_number(speculation.acceptance) + " make " +
                        format_number(speculation.tokens_per_step()) +
                        " tokens a step (Leviathan et al. 2023, equation 1); neither the time with it nor the draft's "
                        "memory is priced");
}

/// Without chunks a prompt is prefilled in one step, so that a step must hold it.
void refuse_short_steps(ConfigTable& serving, const ServeScenario& s) {
  const ServingWorkload& w = s.work;
  if (!s.chunked_prefill && w.max_num_tokens < w.isl) {
    serving.problem("chunked_prefill", "'chunked_prefill' is false and a step takes " +
                                           std::to_string(w.max_num_tokens) +
                                           " tokens ('max_num_tokens'), fewer than " + "the " + std::to_string(w.isl) +
                                           " of a prompt: none would ever run; set it to true, or max_num_tokens to " +
                                           std::to_string(w.isl) + " or more");
  }
  if (s.engine.engine == Engine::vllm && serving.has("max_num_tokens") && serving.has("max_num_seqs") &&
      w.max_num_tokens < w.max_num_seqs) {
    serving.problem("max_num_tokens", "'max_num_tokens' is " + std::to_string(w.max_num_tokens) +
                                          ", below max_num_seqs " + std::to_string(w.max_num_seqs) +
                                          ": vLLM refuses to start, for every running sequence takes a token of a " +
                                          "step; raise it, or lower max_num_seqs to " +
                                          std::to_string(w.max_num_tokens));
  }
}

/// A longer max_seq_len alone is only told: requests as asked stay within the positions.
void refuse_long_requests(ConfigTable& serving, const ServeScenario& s) {
  const std::int64_t tokens = s.work.isl + s.work.osl;
  const bool writes = s.architecture.kind != ArchitectureKind::encoder;  // encoders are refused as such
  if (writes && beyond_positions(s.architecture, tokens)) {
    serving.problem("isl", "isl + osl = " + std::to_string(tokens) + ", beyond the " +
                               std::to_string(s.architecture.max_seq_len) + " positions of " + s.architecture.id +
                               ": " + title(s) +
                               " refuses such requests; shorten them, take a model of more positions, or " +
                               "state model.max_seq_len where its positions are scaled");
  }
}

void refuse_formats(ConfigTable& serving, const ServeScenario& s) {
  if (s.device.id.empty()) {
    return;
  }
  if (s.work.kv == Precision::nvfp4 && !has_rate(s.device, Precision::nvfp4)) {
    serving.problem("kv_cache", "'kv_cache' is nvfp4, which " + s.device.id + " does not multiply; use fp8");
  }
}

}  // namespace

void read_serving_habits(ConfigTable& serving, ServeScenario& serve, std::vector<std::string>& assumptions) {
  read_chunks(serving, serve, assumptions);
  read_speculation(serving, serve, assumptions);
}

void check_replicas(ConfigTable& strategy, const ServeScenario& serve) {
  const std::optional<std::int64_t> replicas = strategy.maybe_integer("dp", {1, 10'000'000});
  const std::int64_t ranks = serve.work.layout.gpus();
  const std::int64_t gpus = serve.work.gpus;
  if (!replicas || gpus < 1 || *replicas * ranks == gpus) {
    return;
  }
  const std::string way = gpus % ranks == 0 ? "use dp " + std::to_string(gpus / ranks) + ", " : "use ";
  strategy.problem("dp", "'dp' is " + std::to_string(*replicas) + ": that many replicas of " + std::to_string(ranks) +
                             " GPUs are " + std::to_string(*replicas * ranks) + ", not the " + std::to_string(gpus) +
                             " of hardware.gpus; " + way + "gpus " + std::to_string(*replicas * ranks) +
                             ", or leave dp out");
}

void refuse_open_load(const ServeScenario& s) {
  if (s.traffic) {
    throw ConfigError{
        "[traffic] asks for a fleet, which 'headroom plan' sizes and 'headroom simulate' runs; this needs a fixed "
        "load: a "
        "scenario with serving.isl, osl and concurrency instead of [traffic], [slo] and [fleet]"};
  }
}

void refuse_untimed_weights(const ServeScenario& s) {
  if (s.work.weights == Precision::bf16 && !has_rate(s.device, Precision::bf16) &&
      has_rate(s.device, Precision::fp16)) {
    throw ConfigError{"serving.weights = bf16: " + s.device.id +
                      " has no bf16 rate, so that no engine serves it; use --weights fp16, or ask for --only memory"};
  }
}

void refuse_contradictions(ConfigTable& serving, const ServeScenario& serve) {
  refuse_short_steps(serving, serve);
  refuse_long_requests(serving, serve);
  refuse_formats(serving, serve);
}

}  // namespace headroom
