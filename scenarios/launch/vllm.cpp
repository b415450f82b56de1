// SPDX-License-Identifier: Apache-2.0
// Reads and writes `vllm serve`. Flags: vllm-project/vllm, vllm/engine/arg_utils.py; data parallelism with experts:
// docs/serving/data_parallel_deployment.md; benchmark: `vllm bench serve` (sources in docs/launch.md).
#include <headroom/core/json_reader.hpp>
#include <headroom/scenarios/launch/argument_tables.hpp>
#include <headroom/scenarios/launch/serve_forms.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

namespace headroom::launch {
namespace {

using enum RowKind;

constexpr std::array vllm_rows{
    LaunchRow{"--tensor-parallel-size", "strategy.tp", count, "1"},
    LaunchRow{"--pipeline-parallel-size", "strategy.pp", count, "1"},
    LaunchRow{"--max-model-len", "serving.max_seq_len"},
    LaunchRow{"--max-num-seqs", "serving.max_num_seqs"},
    LaunchRow{"--enable-eplb", "serving.balanced_experts", yes},
    LaunchRow{"--enable-dbo", "serving.two_batch_overlap", yes},
    LaunchRow{"--eplb-config", "", special},
    LaunchRow{"--max-num-batched-tokens", "serving.max_num_tokens"},
    LaunchRow{"--no-enable-chunked-prefill", "serving.chunked_prefill", no},
    LaunchRow{"--enable-chunked-prefill", "serving.chunked_prefill", yes},
    LaunchRow{"--gpu-memory-utilization", "", special},
    LaunchRow{"--data-parallel-size", "", special},
    LaunchRow{"--enable-expert-parallel", "", special},
    LaunchRow{"--dtype", "", special},
    LaunchRow{"--quantization", "", special},
    LaunchRow{"--kv-cache-dtype", "", special},
    LaunchRow{"--speculative-config", "", special},
    LaunchRow{"--model", "", special},
};
constexpr std::array vllm_aliases{
    FlagAlias{"-tp", "--tensor-parallel-size"},   FlagAlias{"-pp", "--pipeline-parallel-size"},
    FlagAlias{"-dp", "--data-parallel-size"},     FlagAlias{"-q", "--quantization"},
    FlagAlias{"-ep", "--enable-expert-parallel"},
};
constexpr auto vllm_passed = std::to_array<std::string_view>({"--host",
                                                              "--port",
                                                              "--api-key",
                                                              "--served-model-name",
                                                              "--tokenizer",
                                                              "--tokenizer-mode",
                                                              "--trust-remote-code",
                                                              "--revision",
                                                              "--download-dir",
                                                              "--load-format",
                                                              "--seed",
                                                              "--enable-prefix-caching",
                                                              "--no-enable-prefix-caching",
                                                              "--distributed-executor-backend",
                                                              "--data-parallel-backend",
                                                              "--data-parallel-size-local",
                                                              "--data-parallel-address",
                                                              "--data-parallel-rpc-port",
                                                              "--data-parallel-start-rank",
                                                              "--nnodes",
                                                              "--node-rank",
                                                              "--master-addr",
                                                              "--master-port",
                                                              "--headless",
                                                              "--disable-log-requests",
                                                              "--disable-log-stats",
                                                              "--enable-auto-tool-choice",
                                                              "--tool-call-parser",
                                                              "--reasoning-parser",
                                                              "--chat-template",
                                                              "--compilation-config",
                                                              "--all2all-backend",
                                                              "--async-scheduling",
                                                              "--no-async-scheduling",
                                                              "--generation-config",
                                                              "--uvicorn-log-level",
                                                              "--attention-backend"});

/// Whether one server holds every replica. Without experts data ranks are replicas behind one address; with experts
/// they would share the expert layers, which is a different layout.
bool one_vllm_server(const LaunchPlan& plan) {
  return !plan.flag("launch.experts") && plan.count("hardware.gpus", 1) <= plan.count("launch.gpus_per_node", 1);
}

void write_ranks(LaunchWriting& writing, HostsBy hosts) {
  const LaunchPlan& plan = writing.plan;
  const std::int64_t tp = plan.count("strategy.tp", 1);
  const std::int64_t ep = plan.count("strategy.ep", 1);
  const std::int64_t groups = plan.count("launch.groups", 1);
  const std::int64_t replicas = plan.count("launch.replicas", 1);
  if (ep > 1 && ep < tp) {
    throw ConfigError{"vLLM deals experts to all ranks or to none: ep " + std::to_string(ep) + " with tp " +
                      std::to_string(tp) + " has no flag; use ep 1 or ep " + std::to_string(tp)};
  }
  if (groups > 1 || (one_vllm_server(plan) && replicas > 1)) {
    writing.put_count("--data-parallel-size", groups > 1 ? groups : replicas);
  }
  if (ep > 1) {
    writing.put_flag("--enable-expert-parallel", true);
  }
  writing.cover("strategy.ep");
  std::string exchange = plan.word("launch.exchange");
  if (plan.flag("serving.two_batch_overlap") && !exchange.starts_with("deepep")) {  // it goes with these alone
    const std::string priced = exchange.empty() ? "an all-gather" : exchange;
    exchange = plan.word("serving.pool") == "prefill" ? "deepep_high_throughput" : "deepep_low_latency";
    writing.note("serving.two_batch_overlap", "true",
                 "--enable-dbo goes with deepep alone, so that this launch runs " + exchange +
                     "; the plan's times are of " + priced +
                     ": state two_batch_overlap = false for a launch of what is planned");
  }
  if (!exchange.empty()) {
    writing.put_word("--all2all-backend", exchange);
  }
  // vllm/config/parallel.py, EPLBConfig: redundant experts without --enable-eplb are refused.
  if (plan.flag("serving.balanced_experts") && plan.has("serving.redundant_experts")) {
    writing.put_word("--eplb-config",
                     "{\"num_redundant_experts\": " + std::to_string(plan.count("serving.redundant_experts", 0)) + "}");
    writing.cover("serving.redundant_experts");
  }
  note_load(writing, one_vllm_server(plan), BenchGaps::gamma);
  if (hosts == HostsBy::form) {
    return;
  }
  const std::int64_t per_node = plan.count("launch.gpus_per_node", 1);
  if (tp * plan.count("strategy.pp", 1) > per_node) {
    writing.put_word("--distributed-executor-backend", "ray");
  } else if (groups * tp > per_node) {
    writing.put_word("--data-parallel-backend", "ray");
  }
}

/// Writes --speculative-config, a JSON object (vllm/config/speculative.py). Heads other than the model's own have a
/// checkpoint, which no scenario names.
void write_draft(LaunchWriting& writing) {
  const LaunchPlan& plan = writing.plan;
  const std::string method = plan.word("serving.speculative.method");
  if (method != "draft_model" && method != "ngram" && method != "mtp") {
    return;
  }
  std::string json = "{\"method\": \"" + method + "\"";
  if (const ConfigValue* model = plan.find("serving.speculative.draft_model")) {
    json += ", \"model\": " + value_text(*model);  // TOML's basic strings have the same escapes as JSON
  }
  json += ", \"num_speculative_tokens\": " + std::to_string(plan.count("serving.speculative.draft", 1));
  if (plan.has("serving.speculative.draft_tp")) {
    json += ", \"draft_tensor_parallel_size\": " + std::to_string(plan.count("serving.speculative.draft_tp", 1));
  }
  if (plan.word("serving.speculative.draft_weights") == "fp8") {
    json += ", \"quantization\": \"fp8\"";
  }
  writing.put_word("--speculative-config", json + "}");
  const std::string weights = plan.word("serving.speculative.draft_weights");
  if (weights == "fp8" || weights == "bf16" || weights == "fp16") {
    writing.cover("serving.speculative.draft_weights");
  }
  for (const std::string_view key : {"draft", "method", "draft_model", "draft_tp"}) {
    writing.cover("serving.speculative." + std::string{key});
  }
}

/// The JSON object that an option is given; nullopt without one, and with a problem where it is none.
std::optional<ConfigValue> object_of(const LaunchItems& items,
                                     std::string_view flag,
                                     std::string_view example,
                                     LaunchReading& reading) {
  const ConfigValue* item = items.find(flag);
  const auto text = item == nullptr ? std::nullopt : reading.word_of(flag, *item);
  if (!text) {
    return std::nullopt;
  }
  try {
    return parse_json(*text, reading.file);
  } catch (const ConfigError&) {
    reading.problem(*item, "'" + std::string{flag} + "' is " + quoted(*text) + "; it is one JSON object, as in " +
                               std::string{example});
    return std::nullopt;
  }
}

/// A member of an option's object, at the option's place.
ConfigValue at_option(ConfigValue member, const ConfigValue& option) {
  member.at = member.key_at = option.at;
  member.file = option.file;
  return member;
}

/// Reads the draft; the scenario reader asks for the acceptance, which no launch states.
void read_draft(const LaunchItems& items, LaunchReading& reading) {
  const std::optional<ConfigValue> read =
      object_of(items, "--speculative-config", R"({"method": "ngram", "num_speculative_tokens": 4})", reading);
  if (!read) {
    return;
  }
  const ConfigValue& object = *read;
  const ConfigValue* item = items.find("--speculative-config");
  const ConfigValue* method = object.find("method");
  const bool heads = method != nullptr && method->text != "draft_model";
  for (const ConfigEntry& entry : object.entries) {
    std::string_view key;
    if (entry.key == "num_speculative_tokens") {
      key = "draft";
    } else if (entry.key == "method") {
      key = "method";
    } else if (entry.key == "model" && !heads) {
      key = "draft_model";
    } else if (entry.key == "draft_tensor_parallel_size" && !heads) {
      key = "draft_tp";
    } else if (entry.key == "quantization" && !heads && entry.value.text == "fp8") {
      key = "draft_weights";
    } else {
      reading.remark(*item, "ignored: " + entry.key + " of --speculative-config");
      continue;
    }
    reading.state("serving.speculative." + std::string{key}, at_option(entry.value, *item), *item);
  }
}

/// Reads the redundant experts of --eplb-config.
void read_eplb(const LaunchItems& items, LaunchReading& reading) {
  const std::optional<ConfigValue> read =
      object_of(items, "--eplb-config", R"({"num_redundant_experts": 32})", reading);
  if (!read) {
    return;
  }
  const ConfigValue* item = items.find("--eplb-config");
  for (const ConfigEntry& entry : read->entries) {
    if (entry.key == "num_redundant_experts") {
      reading.state("serving.redundant_experts", at_option(entry.value, *item), *item);
    } else {
      reading.remark(*item, "ignored: " + entry.key + " of --eplb-config");
    }
  }
}

/// Reads the server's line; the model comes before the flags or after --model.
void read_server(std::vector<ShellWord> words, LaunchReading& reading) {
  const bool named = !words.empty() && !words.front().text.starts_with("-");
  if (named) {
    ConfigValue model = word_value(words.front().text);
    model.at = model.key_at = words.front().at;
    read_checkpoint(model, reading);
    words.erase(words.begin());
  }
  const LaunchItems items = items_of_words(words, reading);
  read_rows(vllm_rows, vllm_passed, items, reading);
  if (const ConfigValue* model = items.find("--model"); model != nullptr && !named) {
    read_checkpoint(*model, reading);
  }
  read_absent(vllm_rows, items, reading);
  read_weights(items, reading);
  if (const ConfigValue* kernels = items.find("--quantization"); kernels != nullptr && kernels->text == "gptq") {
    // gptq_marlin.py, override_quantization_method: stated, it forces ExLlama's kernels; left out, Marlin's are taken.
    reading.state("serving.quantization", word_value(kernels->text), *kernels);
  }
  read_cache(items, "--kv-cache-dtype", reading);
  read_fraction(items, "--gpu-memory-utilization", reading);
  read_draft(items, reading);
  read_eplb(items, reading);
  std::int64_t groups = 1;
  if (const ConfigValue* data = items.find("--data-parallel-size")) {
    groups = reading.count_of("--data-parallel-size", *data, machine_count).value_or(1);
    reading.assume("launch.data_ranks", count_value(groups));
  }
  if (const ConfigValue* experts = items.find("--enable-expert-parallel")) {
    if (reading.flag_of("--enable-expert-parallel", *experts).value_or(false)) {
      reading.state("strategy.ep",
                    count_value(product(groups, std::max<std::int64_t>(1, reading.plan.count("strategy.tp", 1)))),
                    *experts);
    }
  } else if (groups > 1) {
    reading.assume("launch.shared_experts", flag_value(true));
  }
}

}  // namespace

void write_vllm(LaunchWriting& writing, HostsBy hosts) {
  write_ranks(writing, hosts);
  write_weights(writing);
  write_cache(writing, "--kv-cache-dtype", "fp8");
  writing.put("--gpu-memory-utilization", *writing.plan.find("serving.memory_fraction"));
  writing.cover("serving.memory_fraction");
  if (writing.plan.flag("serving.chunked_prefill")) {
    writing.cover("serving.chunked_prefill");  // default of vLLM
  }
  write_rows(vllm_rows, writing);
  write_draft(writing);
}

std::vector<std::string> vllm_bench(const BenchLoad& load) {
  return random_bench({"vllm bench serve", "--backend vllm", "--model \"$MODEL\"", "--dataset-name random"}, load);
}

LaunchText vllm_text(const LaunchPlan& plan) {
  LaunchWriting writing{plan};
  write_vllm(writing, HostsBy::engine);
  note_arguments("vllm", "server", writing);
  note_serving_gaps("vLLM", writing);
  ServeScript script;
  script.head = {"vLLM: 'bash FILE' " + bench_promise(plan)};
  script.server = {"vllm serve \"$MODEL\""};
  const std::vector<std::string> words = words_of_items(writing.items);
  script.server.insert(script.server.end(), words.begin(), words.end());
  script.bench = {vllm_bench(bench_load(plan, one_vllm_server(plan)))};
  return script_text(plan, writing, script);
}

void read_vllm_text(const ConfigSource& source, LaunchReading& reading) {
  constexpr std::array<std::string_view, 2> serve{"vllm", "serve"};
  constexpr std::array<std::string_view, 2> module{"-m", "vllm.entrypoints.openai.api_server"};
  constexpr std::array<std::string_view, 3> bench{"vllm", "bench", "serve"};
  const ShellScript script = script_of(source, Assignments::variables, {});
  reading.plan.set("launch.kind", word_value("serve"));
  reading.plan.set("serving.engine", word_value("vllm"));
  std::optional<std::vector<ShellWord>> server = command_behind(script, serve, vllm_aliases);
  server = server ? server : command_behind(script, module, vllm_aliases);
  if (!server) {
    reading.problem(Position{}, "no launch line: neither 'vllm serve' nor vllm.entrypoints.openai.api_server");
    return;
  }
  read_server(*server, reading);
  if (const auto load = command_behind(script, bench, vllm_aliases)) {
    read_benchmark(*load, RangeRatio::around, reading);
  }
}

}  // namespace headroom::launch
