// SPDX-License-Identifier: Apache-2.0
// Reads and writes `python -m sglang.launch_server`. Flags: sgl-project/sglang, python/sglang/srt/server_args.py.
// --tp-size counts all ranks of a replica, attention-DP groups included; with such groups --chunked-prefill-size and
// --max-running-requests are totals that SGLang divides among them. Benchmark: python/sglang/bench_serving.py, which
// draws lengths between --random-range-ratio and 1 of those stated, so 1.0 fixes them.
#include <headroom/scenarios/launch/argument_tables.hpp>
#include <headroom/scenarios/launch/serve_forms.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::launch {
namespace {

using enum RowKind;

constexpr std::array sglang_rows{
    LaunchRow{"--pp-size", "strategy.pp", count, "1"},
    LaunchRow{"--context-length", "serving.max_seq_len"},
    LaunchRow{"--enable-eplb", "serving.balanced_experts", yes},
    LaunchRow{"--ep-num-redundant-experts", "serving.redundant_experts"},
    LaunchRow{"--enable-two-batch-overlap", "serving.two_batch_overlap", yes},
    LaunchRow{"--tp-size", "", special},
    LaunchRow{"--ep-size", "", special},
    LaunchRow{"--dp-size", "", special},
    LaunchRow{"--enable-dp-attention", "", special},
    LaunchRow{"--max-running-requests", "", special},
    LaunchRow{"--chunked-prefill-size", "", special},
    LaunchRow{"--max-prefill-tokens", "", special},
    LaunchRow{"--mem-fraction-static", "", special},
    LaunchRow{"--dtype", "", special},
    LaunchRow{"--quantization", "", special},
    LaunchRow{"--kv-cache-dtype", "", special},
    LaunchRow{"--model-path", "", special},
};
constexpr std::array aliases{
    FlagAlias{"--tp", "--tp-size"},
    FlagAlias{"--tensor-parallel-size", "--tp-size"},
    FlagAlias{"--pp", "--pp-size"},
    FlagAlias{"--pipeline-parallel-size", "--pp-size"},
    FlagAlias{"--dp", "--dp-size"},
    FlagAlias{"--data-parallel-size", "--dp-size"},
    FlagAlias{"--ep", "--ep-size"},
    FlagAlias{"--expert-parallel-size", "--ep-size"},
    FlagAlias{"--model", "--model-path"},
    FlagAlias{"--random-input", "--random-input-len"},
    FlagAlias{"--random-output", "--random-output-len"},
};
constexpr auto sglang_passed = std::to_array<std::string_view>({"--host",
                                                                "--port",
                                                                "--api-key",
                                                                "--served-model-name",
                                                                "--tokenizer-path",
                                                                "--trust-remote-code",
                                                                "--revision",
                                                                "--random-seed",
                                                                "--log-level",
                                                                "--log-requests",
                                                                "--enable-metrics",
                                                                "--disable-radix-cache",
                                                                "--nnodes",
                                                                "--node-rank",
                                                                "--dist-init-addr",
                                                                "--attention-backend",
                                                                "--moe-a2a-backend",
                                                                "--moe-runner-backend",
                                                                "--deepep-mode",
                                                                "--cuda-graph-max-bs",
                                                                "--chat-template",
                                                                "--reasoning-parser",
                                                                "--tool-call-parser",
                                                                "--schedule-policy",
                                                                "--schedule-conservativeness"});

bool one_server(const LaunchPlan& plan) {
  return plan.count("launch.groups", 1) == 1 && plan.count("hardware.gpus", 1) <= plan.count("launch.gpus_per_node", 1);
}

void write_ranks(LaunchWriting& writing) {
  const LaunchPlan& plan = writing.plan;
  const std::int64_t ep = plan.count("strategy.ep", 1);
  const std::int64_t groups = plan.count("launch.groups", 1);
  const std::int64_t replicas = plan.count("launch.replicas", 1);
  const std::int64_t ranks = groups * plan.count("strategy.tp", 1);
  if (ranks > 1) {
    writing.put_count("--tp-size", ranks);
  }
  writing.cover("strategy.tp");
  if (ep > 1) {
    writing.put_count("--ep-size", ep);
  }
  writing.cover("strategy.ep");
  if (groups > 1 || (one_server(plan) && replicas > 1)) {
    writing.put_count("--dp-size", groups > 1 ? groups : replicas);
    writing.put_flag("--enable-dp-attention", groups > 1);
  }
  const std::string exchange = plan.word("launch.exchange");
  if (!exchange.empty() || plan.flag("serving.two_batch_overlap")) {  // halves in turn are refused without one
    writing.put_word("--moe-a2a-backend", exchange.empty() ? "deepep" : exchange);
  }
  note_load(writing, one_server(plan), BenchGaps::poisson);
  const std::int64_t per_node = plan.count("launch.gpus_per_node", 1);
  if (const std::int64_t gpus = ranks * plan.count("strategy.pp", 1); gpus > per_node) {
    writing.put_count("--nnodes", (gpus + per_node - 1) / per_node);
  }
}

void write_limits(LaunchWriting& writing) {
  const LaunchPlan& plan = writing.plan;
  const std::int64_t groups = plan.count("launch.groups", 1);
  const std::int64_t tokens = plan.count("serving.max_num_tokens", 1);
  writing.put_count("--max-running-requests", groups * plan.count("serving.max_num_seqs", 1));
  if (plan.flag("serving.chunked_prefill")) {
    writing.put_count("--chunked-prefill-size", groups * tokens);
  } else {
    writing.put("--chunked-prefill-size", count_value(-1));
    writing.put_count("--max-prefill-tokens", tokens);
  }
  writing.put("--mem-fraction-static", *plan.find("serving.memory_fraction"));
  for (const std::string_view key :
       {"serving.max_num_seqs", "serving.max_num_tokens", "serving.chunked_prefill", "serving.memory_fraction"}) {
    writing.cover(key);
  }
}

/// Reads a count that is a total over attention-DP groups.
void read_shared(const LaunchItems& items,
                 std::string_view flag,
                 std::string_view key,
                 std::int64_t groups,
                 LaunchReading& reading) {
  const ConfigValue* item = items.find(flag);
  const bool disables = flag == "--chunked-prefill-size";  // -1 disables chunking
  const auto count =
      item == nullptr ? std::nullopt : reading.count_of(flag, *item, {disables ? std::int64_t{-1} : 1, positive.high});
  if (count && *count > 0) {
    reading.state(key, count_value(std::max<std::int64_t>(1, *count / groups)), *item);
  } else if (count) {
    reading.state("serving.chunked_prefill", flag_value(false), *item);
    read_shared(items, "--max-prefill-tokens", key, 1, reading);
  }
}

/// Reads ranks and groups of a replica and the number of replicas; returns the ranks.
std::int64_t read_ranks(const LaunchItems& items, LaunchReading& reading) {
  const auto count = [&](std::string_view flag) {
    const ConfigValue* item = items.find(flag);
    return item == nullptr ? std::int64_t{1} : reading.count_of(flag, *item, machine_count).value_or(1);
  };
  const ConfigValue* shared = items.find("--enable-dp-attention");
  const bool attention = shared != nullptr && reading.flag_of("--enable-dp-attention", *shared).value_or(false);
  const std::int64_t ranks = count("--tp-size");
  const std::int64_t data = count("--dp-size");
  const std::int64_t groups = attention ? data : 1;
  if (ranks % groups != 0) {
    reading.problem(*items.find("--dp-size"), "--tp-size " + std::to_string(ranks) + " does not divide by --dp-size " +
                                                  std::to_string(groups) + " with --enable-dp-attention");
    return 1;
  }
  const auto place = [&](std::string_view key, std::int64_t value, std::string_view flag) {
    if (const ConfigValue* item = items.find(flag)) {
      reading.state(key, count_value(value), *item);
    } else {
      reading.assume(key, count_value(value));
    }
  };
  place("strategy.tp", ranks / groups, "--tp-size");
  if (groups > 1) {
    place("strategy.ep", ranks, "--ep-size");  // experts are spread over all ranks
  } else if (items.has("--ep-size")) {
    place("strategy.ep", count("--ep-size"), "--ep-size");
  }
  reading.assume("launch.data_ranks", count_value(data));
  return groups;
}

}  // namespace

void write_sglang(LaunchWriting& writing) {
  write_ranks(writing);
  write_rows(sglang_rows, writing);
  write_limits(writing);
  write_weights(writing);
  write_cache(writing, "--kv-cache-dtype", "fp8_e4m3");
}

std::vector<std::string> sglang_bench(BenchLoad load) {
  load.burstiness = 1.0;
  const auto longest = [&](std::int64_t mean) {
    return std::to_string(std::llround((1.0 + load.spread) * static_cast<double>(mean)));
  };
  std::vector<std::string> words{
      "python -m sglang.bench_serving",
      "--backend sglang",
      "--model \"$MODEL\"",
      "--dataset-name random",
      "--random-input-len " + longest(load.isl),
      "--random-output-len " + longest(load.osl),
      "--random-range-ratio " +
          value_text(number_value(std::round(1e4 * (1.0 - load.spread) / (1.0 + load.spread)) / 1e4))};
  for (std::string& word : load_words(load)) {
    words.push_back(std::move(word));
  }
  return words;
}

LaunchText sglang_text(const LaunchPlan& plan) {
  LaunchWriting writing{plan};
  write_sglang(writing);
  note_arguments("sglang", "server", writing);
  note_serving_gaps("SGLang", writing);
  ServeScript script;
  script.head = {"SGLang: 'bash FILE' " + bench_promise(plan)};
  script.server = {"python -m sglang.launch_server", "--model-path \"$MODEL\""};
  const std::vector<std::string> words = words_of_items(writing.items);
  script.server.insert(script.server.end(), words.begin(), words.end());
  if (writing.items.has("--nnodes")) {
    script.server.insert(script.server.end(), {"--node-rank \"$NODE_RANK\"", "--dist-init-addr \"$MASTER_ADDR:5000\""});
  }
  script.bench = {sglang_bench(bench_load(plan, one_server(plan)))};
  return script_text(plan, writing, script);
}

void read_sglang_text(const ConfigSource& source, LaunchReading& reading) {
  constexpr std::array<std::string_view, 2> module{"-m", "sglang.launch_server"};
  constexpr std::array<std::string_view, 2> serve{"sglang", "serve"};
  constexpr std::array<std::string_view, 2> bench{"-m", "sglang.bench_serving"};
  const ShellScript script = script_of(source, Assignments::variables, {});
  reading.plan.set("launch.kind", word_value("serve"));
  reading.plan.set("serving.engine", word_value("sglang"));
  std::optional<std::vector<ShellWord>> server = command_behind(script, module, aliases);
  server = server ? server : command_behind(script, serve, aliases);
  if (!server) {
    reading.problem(Position{}, "no launch line: neither sglang.launch_server nor 'sglang serve'");
    return;
  }
  const LaunchItems items = items_of_words(*server, reading);
  read_rows(sglang_rows, sglang_passed, items, reading);
  if (const ConfigValue* model = items.find("--model-path")) {
    read_checkpoint(*model, reading);
  }
  read_absent(sglang_rows, items, reading);
  const std::int64_t groups = read_ranks(items, reading);
  read_shared(items, "--max-running-requests", "serving.max_num_seqs", groups, reading);
  read_shared(items, "--chunked-prefill-size", "serving.max_num_tokens", groups, reading);
  read_weights(items, reading);
  read_cache(items, "--kv-cache-dtype", reading);
  read_fraction(items, "--mem-fraction-static", reading);
  if (const auto load = command_behind(script, bench, aliases)) {
    read_benchmark(*load, RangeRatio::below, reading);
  }
}

}  // namespace headroom::launch
