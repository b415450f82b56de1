// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/scenarios/question/sequence_length.hpp>
#include <headroom/scenarios/read/serve_rules.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

std::string title(const ServeScenario& s) {
  return std::string{engine_titles[static_cast<std::size_t>(s.engine.engine)]};
}

bool has_rate(const Device& device, Precision precision) {
  return device.peak[static_cast<std::size_t>(row_of(precision).rate)].has_value();
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
  if (s.engine.habits.tokens_hold_sequences && serving.has("max_num_tokens") && serving.has("max_num_seqs") &&
      w.max_num_tokens < w.max_num_seqs) {
    serving.problem("max_num_tokens", "'max_num_tokens' is " + std::to_string(w.max_num_tokens) +
                                          ", below max_num_seqs " + std::to_string(w.max_num_seqs) + ": " + title(s) +
                                          " refuses to start, for every running sequence takes a token of a " +
                                          "step; raise it, or lower max_num_seqs to " +
                                          std::to_string(w.max_num_tokens));
  }
}

/// A step verifies every running sequence's draft beside its token. Engines that run prompts beside decodes count both
/// against max_num_tokens; the others let a step of decodes be as long as it is.
void refuse_long_drafts(ConfigTable& serving, const ServeScenario& s) {
  const ServingWorkload& w = s.work;
  const std::int64_t turns = std::max<std::int64_t>(1, w.layout.pp) * w.layout.attention_groups();
  const std::int64_t asked = s.traffic ? w.max_num_seqs : (sequences_asked(w) + turns - 1) / turns;
  const std::int64_t seqs = std::min(w.max_num_seqs, asked);
  if (!w.draft || s.engine.scheduler.order == PromptOrder::before_decodes || seqs > w.max_num_tokens) {
    return;
  }
  const std::int64_t each = 1 + w.draft->speculation.draft;
  if (seqs * each > w.max_num_tokens) {
    serving.problem("max_num_seqs", std::to_string(seqs) + " sequences of a step ('max_num_seqs') verify " +
                                        std::to_string(each) + " tokens each, " + std::to_string(seqs * each) +
                                        ", and a step takes " + std::to_string(w.max_num_tokens) +
                                        " ('max_num_tokens'); lower max_num_seqs to " +
                                        std::to_string(std::max<std::int64_t>(1, w.max_num_tokens / each)) +
                                        ", draft fewer, or raise max_num_tokens to " + std::to_string(seqs * each));
  }
}

/// A longer max_seq_len alone is only told: requests as asked stay within the positions.
void refuse_long_requests(ConfigTable& serving, const ServeScenario& s) {
  if (s.traffic && s.traffic->classes.size() > 1) {
    return;  // each class by its own requests, once it is known which model it asks (beside.hpp)
  }
  if (s.traffic && s.traffic->has_turns()) {
    return;  // by the last turn of its session
  }
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

void read_chunked_prefill(ServingKeys& serving, ServeScenario& s, std::vector<std::string>& assumptions) {
  if (const std::optional<bool> stated = serving.stated<"chunked_prefill">()) {
    s.chunked_prefill = *stated;
    return;
  }
  const bool longer = s.work.isl > s.work.max_num_tokens;
  s.chunked_prefill = s.engine.habits.chunks_prompts || longer;
  if (!serving.has("chunked_prefill") && longer && !s.engine.habits.chunks_prompts) {
    assumptions.push_back("serving.chunked_prefill = true (" + title(s) + "'s default, false, refuses prompts above " +
                          std::to_string(s.work.max_num_tokens) + " tokens)");
  }
}

void read_client_facts(ServingKeys& serving, ServeScenario& s) {
  ServingWorkload& w = s.work;
  w.range_ratio = serving.get<"range_ratio">();
  w.distinct_prompts = serving.stated<"distinct_prompts">().value_or(0);
  w.client.stream_interval = real(serving.get<"stream_interval">());
  w.client.recv_interval = real(serving.get<"recv_interval">());
  w.client.batch_wait = real(serving.get<"batch_wait">());
  w.client.batch_wait_share = serving.get<"batch_wait_share">();
  w.client.balance_timeout = real(serving.get<"attention_dp_timeout">());
  w.client.balance_batching = real(serving.get<"attention_dp_batching">());
  w.client.front_ends = real(serving.get<"front_end_processes">());
  for (const std::string_view key : {"range_ratio", "distinct_prompts", "recv_interval", "batch_wait",
                                     "batch_wait_share", "attention_dp_timeout", "attention_dp_batching"}) {
    if (serving.has(key) && s.traffic) {
      serving.problem(key, quoted(key) +
                               " belongs to a fixed load, and [traffic] is one that comes when it comes; "
                               "leave one out");
    }
  }
  const auto needs = [&](bool stated, std::string_view key, Engine engine) {
    if (stated && s.engine.engine != engine) {
      serving.problem(key, quoted(key) + " is an option of " +
                               std::string{engine_titles[static_cast<std::size_t>(engine)]} + ", and the engine is " +
                               title(s) + "; leave it out, or take engine \"" +
                               std::string{engine_names[static_cast<std::size_t>(engine)]} + "\"");
    }
  };
  needs(w.client.recv_interval > 1.0, "recv_interval", Engine::sglang);
  needs(w.client.batch_wait > 0.0, "batch_wait", Engine::tensorrt_llm);
  needs(w.client.balance_timeout > 0.0, "attention_dp_timeout", Engine::tensorrt_llm);
  if (w.client.balance_batching > 0.0 && w.client.balance_timeout <= 0.0) {
    serving.problem("attention_dp_batching",
                    "'attention_dp_batching' without 'attention_dp_timeout' holds nothing back: prompts wait for those "
                    "of other ranks only until a time is out; state both, or neither");
  }
  if ((w.client.batch_wait > 0.0) != (w.client.batch_wait_share > 0.0)) {
    const bool iterations = w.client.batch_wait > 0.0;
    serving.problem(iterations ? "batch_wait" : "batch_wait_share",
                    std::string{iterations ? "'batch_wait' without 'batch_wait_share'"
                                           : "'batch_wait_share' without 'batch_wait'"} +
                        " holds nothing back: prompts wait until both the iterations and the share are reached; state "
                        "both, or neither");
  }
  if (!s.traffic && w.client.stream_interval > real(w.osl)) {
    serving.problem("stream_interval", "'stream_interval' is " +
                                           std::to_string(std::llround(w.client.stream_interval)) + ", above the " +
                                           std::to_string(w.osl) +
                                           " tokens of an answer ('osl'): nothing is streamed before its end; lower it "
                                           "to " +
                                           std::to_string(w.osl) + " or less");
  }
}

void refuse_long_sessions(ConfigTable& root, const ServeScenario& serve) {
  if (!serve.traffic || !serve.traffic->has_turns()) {
    return;
  }
  for (const RequestClass& c : serve.traffic->classes) {
    const std::optional<std::int64_t> positions = c.model == 0 ? positions_of(serve.architecture) : std::nullopt;
    const std::int64_t stated = c.model == 0 ? serve.work.max_seq_len : 0;
    const double turn = c.traffic.prompt.mean + c.traffic.output.mean;
    const double last = real(c.traffic.turns) * turn;
    const bool by_length = stated > 0 && stated < positions.value_or(stated + 1);
    const double most = by_length ? real(stated) : positions ? real(*positions) : last;
    if (c.traffic.turns > 1 && last > most) {
      root.problem("traffic", std::to_string(c.traffic.turns) + " turns of " + format_number(c.traffic.prompt.mean) +
                                  " + " + format_number(c.traffic.output.mean) + " tokens end at " +
                                  format_count(last) + ", beyond the " + format_count(most) + " " +
                                  (by_length ? "of serving.max_seq_len"
                                             : "positions that " + serve.architecture.id + " was trained on") +
                                  "; lower 'turns' to " + format_count(std::max(1.0, std::floor(most / turn))) +
                                  ", shorten what a turn brings, or state " +
                                  (by_length ? "a longer one" : "model.max_seq_len where positions are scaled"));
    }
  }
}

void check_replicas(ConfigTable& strategy, std::optional<std::int64_t> replicas, const ServeScenario& serve) {
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

bool spans_hosts(const ServeScenario& s, std::int64_t tp) noexcept {
  return s.host && tp > s.host->gpus;
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
  refuse_long_drafts(serving, serve);
  refuse_long_requests(serving, serve);
  refuse_formats(serving, serve);
}

}  // namespace headroom
