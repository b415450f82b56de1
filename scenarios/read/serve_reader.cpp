// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/hardware/catalog/partition.hpp>
#include <headroom/model/serve/replica/replica.hpp>
#include <headroom/scenarios/keys/strategy_keys.hpp>
#include <headroom/scenarios/read/kv_offload_reader.hpp>
#include <headroom/scenarios/read/look_up.hpp>
#include <headroom/scenarios/read/serve_reader.hpp>
#include <headroom/scenarios/read/serve_rules.hpp>
#include <headroom/scenarios/read/slow_links.hpp>
#include <headroom/scenarios/read/traffic_reader.hpp>
#include <headroom/scenarios/traffic/admission.hpp>
#include <headroom/scenarios/traffic/kv_offload.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

using ServeStrategyKeys = KeyedTable<keys::strategy, Kinds::serve>;

std::string title(Engine engine) {
  return std::string{engine_titles[static_cast<std::size_t>(engine)]};
}

std::string_view meaning(FractionOf of) {
  switch (of) {
    case FractionOf::total: return "of the device's total";
    case FractionOf::free: return "of what is free after loading";
    case FractionOf::fixed_share: break;
  }
  return "weights and KV cache, of what is free before loading";
}

class ServingReader {
 public:
  ServingReader(ConfigTable& root,
                const ModelFinder& models,
                ServeScenario& serve,
                std::vector<std::string>& assumptions)
      : root_{root}, models_{models}, serve_{serve}, assumptions_{assumptions} {}

  void run() {
    ServingKeys table = ServingKeys::of(root_);
    read_strategy();  // before the limits: SGLang's default fraction depends on tp
    if (root_.has("traffic") || root_.has("slo") || root_.has("fleet")) {
      read_open_load(table);
    } else {
      read_load(table);
    }
    read_engine(table);
    if (serve_.traffic && !serve_.traffic->prefix_caching) {
      serve_.engine.scheduler.remembers = false;  // what is evicted is found again by the same caches
    }
    read_formats(table);
    read_limits(table);
    read_experts(table);
    read_client_facts(table, serve_);
    read_chunked_prefill(table, serve_, assumptions_);
    read_speculation(table, models_, serve_, assumptions_);
    read_kv_offload(table, serve_, assumptions_);
    refuse_slow_links(root_, serve_);
    refuse_long_sessions(root_, serve_);
    refuse_contradictions(table, serve_);
    table.finish();
    refuse_encoder();
  }

 private:
  void assume(const std::string& text) { assumptions_.push_back(text); }

  /// Encoders write no tokens: nothing of what an engine does with a KV cache applies to them.
  void refuse_encoder() {
    if (serve_.architecture.kind == ArchitectureKind::encoder) {
      root_.problem("model", quoted(serve_.architecture.id) +
                                 " is an encoder: it keeps no KV cache and writes no tokens, so no engine serves it; "
                                 "kind 'train' answers its training, and of a network of ops ('headroom catalog list "
                                 "networks') kind 'batch' the calls");
    }
  }

  void read_load(ServingKeys& table) {
    ServingWorkload& w = serve_.work;
    w.isl = table.needed<"isl">();
    w.osl = table.needed<"osl">();
    w.concurrency = table.needed<"concurrency">();
  }

  /// Requests that come when they come: lengths are those of the mean request, the longest sequence that of the
  /// longest.
  void read_open_load(ServingKeys& table) {
    ServingWorkload& w = serve_.work;
    if (table.value("concurrency") != nullptr) {
      table.problem("concurrency",
                    "'concurrency' is a fixed load, [traffic] one that comes when it comes; leave one out");
    }
    const std::int64_t isl = table.stated<"isl">().value_or(0);
    const std::int64_t osl = table.stated<"osl">().value_or(0);
    auto traffic = read_traffic(root_, isl, osl, assumptions_);
    auto fleet = read_fleet(root_, serve_.work.layout.gpus(), assumptions_);
    const std::optional<bool> caching = table.stated<"prefix_caching">();
    if (!traffic) {
      root_.problem("traffic", "missing [traffic], what is asked of the fleet: rate = \"12 req/s\", or a trace");
      return;
    }
    take_prefix_caching(caching, *traffic, fleet);
    take_stated_gpus(fleet);
    const ServingTraffic::Lengths lengths = traffic->lengths();
    w.isl = std::max<std::int64_t>(1, std::llround(lengths.prompt));
    w.osl = std::max<std::int64_t>(1, std::llround(lengths.output));
    serve_.traffic = std::make_shared<const ServingTraffic>(std::move(*traffic));
    serve_.fleet = std::make_shared<const FleetQuestion>(std::move(fleet));
  }

  /// Engines keep prefixes unless they are told not to (vLLM's enable_prefix_caching).
  void take_prefix_caching(std::optional<bool> stated, ServingTraffic& traffic, const FleetQuestion& fleet) {
    const bool shares = traffic.shares_prefixes();
    traffic.prefix_caching = stated.value_or(true);
    if (shares && !stated) {
      assume("serving.prefix_caching = true: each replica keeps what prompts share in the free blocks of its KV cache");
    }
    if (fleet.routing == RequestRouting::prefix && !traffic.shares_prefixes()) {
      root_.problem("fleet", "fleet.routing 'prefix', but " +
                                 std::string{shares ? "serving.prefix_caching is false"
                                                    : "no request says what it shares; state [traffic.prefix], or a "
                                                      "trace with hash_ids"});
    }
  }

  /// GPUs that are stated are the fleet: as many replicas as they make, the spare ones among them.
  void take_stated_gpus(FleetQuestion& fleet) {
    if (gpus_open_ || fleet.prefill || fleet.failures) {
      return;
    }
    const std::int64_t replicas = serve_.work.gpus / serve_.work.layout.gpus();
    if (fleet.replicas && *fleet.replicas + fleet.spare != replicas) {
      root_.problem("fleet", "fleet.replicas " + std::to_string(*fleet.replicas) + " and spare " +
                                 std::to_string(fleet.spare) + " are not the " + std::to_string(replicas) +
                                 " replicas that hardware.gpus makes; leave one out");
    } else if (replicas <= fleet.spare) {
      root_.problem("fleet", "hardware.gpus makes " + counted(replicas, "replica") + ", of which " +
                                 std::to_string(fleet.spare) +
                                 " would be spare: nothing serves; leave hardware.gpus out "
                                 "to have the fleet sized");
    } else {
      fleet.replicas = replicas - fleet.spare;
    }
  }

  void read_engine(ServingKeys& table) {
    const auto named = table.get<"engine", Engine>();
    if (!table.has("engine")) {
      assume("serving.engine = vllm (not stated)");
    }
    serve_.engine = find_serving_stack(*serve_.data, named);
    const ConfigValue* version = table.value("engine_version");
    if (version != nullptr &&
        (version->kind == ConfigValue::Kind::number || version->kind == ConfigValue::Kind::integer)) {
      table.problem(
          "engine_version",
          "'engine_version' is a number, and 0.10 and 0.1 are the same one; state it as text, \"0.11.0\" or v0.11");
      return;
    }
    serve_.engine_version = table.stated<"engine_version">().value_or("");
    if (serve_.engine_version.empty()) {
      return;
    }
    const auto stack = look_up(table, "engine_version", serve_.engine_version,
                               [&](const std::string& s) { return find_serving_stack(*serve_.data, named, s); });
    if (stack) {
      serve_.engine = *stack;
      assume("serving.engine_version = " + serve_.engine_version + ": its iterations are those of stack " +
             serve_.engine.id + " (" + serve_.engine.name + ")");
    }
  }

  /// What is stated; else the checkpoint's own format, which engines load without being told.
  void read_weights(ServingKeys& table) {
    ServingWorkload& w = serve_.work;
    const Architecture& arch = serve_.architecture;
    if (const auto stated = table.stated<"weights">()) {
      w.weights = served_weights(*stated);
      const ConfigValue* word = table.value("weights");
      if (word != nullptr && word->text != name_of(w.weights)) {
        assume("serving.weights = " + std::string{name_of(w.weights)} + " (" + word->text +
               ": 4-bit integers in groups of 128, unpacked on the way to 16-bit products)");
      }
    } else if (!table.has("weights")) {
      serve_.weights_open = true;
      const std::optional<Precision> own = own_weights(arch);
      w.weights = own.value_or(Precision::bf16);
      if (arch.weights && !own) {
        table.missing("weights", ": the checkpoint of " + quoted(arch.id) + " is quantised by " +
                                     quoted(arch.weights->method) +
                                     ", which is none of the formats known here; state "
                                     "the nearest of " +
                                     listed(served_weight_names));
      } else if (own) {
        const std::string& source = arch.weights->source;
        assume("serving.weights = " + std::string{name_of(w.weights)} + " (the checkpoint's own format" +
               (source.empty() ? "" : ": " + source) + ")");
      } else if (!arch.id.empty()) {
        assume("serving.weights = bf16 (not stated; the checkpoint is not quantised)");
      }
    }
  }

  /// How experts lie and are reached, and which phase the replicas compute.
  void read_experts(ServingKeys& table) {
    ServingLayout& layout = serve_.work.layout;
    layout.redundant = table.get<"redundant_experts">();
    // Who spreads experts over hosts balances them, and over NICs hides their exchange: DeepSeek-AI 2024 (DeepSeek-V3,
    // section 3.4), SGLang on 96 H100 and, without halves, on GB200 NVL72 (LMSYS, May and September 2025), vLLM on H200
    // (December 2025).
    const bool wide = layout.attention_groups() > 1 && serve_.host && layout.ep > serve_.host->gpus;
    const bool over_nics = serve_.host && experts_over_nics(serve_.device, &*serve_.host, layout);
    const auto unless_stated = [&](std::optional<bool> stated, std::string_view key, bool usual,
                                   const std::string& what) {
      if (usual && !table.has(key)) {
        assume("serving." + std::string{key} + " = true: " + what + ", as published deployments do (not stated)");
      }
      return stated.value_or(usual);
    };
    layout.balanced = unless_stated(table.stated<"balanced_experts">(), "balanced_experts", wide,
                                    "experts span hosts, and lie where their loads even out");
    layout.two_batches = unless_stated(table.stated<"two_batch_overlap">(), "two_batch_overlap", over_nics,
                                       "experts are met over NICs, and half a batch computes meanwhile");
    const auto refuse = [&](bool stated, std::string_view key, const std::string& where) {
      if (stated) {
        table.problem(key, quoted(key) + " means something with " + where + " only");
      }
    };
    refuse(layout.redundant > 0 && layout.ep <= 1, "redundant_experts", "ep above 1");
    refuse(layout.balanced && layout.ep <= 1, "balanced_experts", "ep above 1");
    refuse(layout.two_batches && layout.attention_groups() <= 1, "two_batch_overlap", "ep above tp (attention-DP)");
    serve_.work.pool = table.get<"pool", ServingPool>();
    refuse(serve_.work.pool != ServingPool::both && serve_.traffic, "pool", "a fixed load, without [traffic]");
  }

  void read_formats(ServingKeys& table) {
    ServingWorkload& w = serve_.work;
    read_weights(table);
    if (const auto kv = table.stated<"kv_cache">()) {
      w.kv = kv_cache_format(*kv);
    } else if (!table.has("kv_cache")) {
      w.kv = default_kv_cache(serve_.engine, w.weights);
      assume("serving.kv_cache = " + std::string{name_of(w.kv)} + " (not stated)");
    }
    w.weight_kernels = table.get<"quantization", WeightKernels>();
    if (w.weight_kernels == WeightKernels::gptq) {
      const bool packed = w.weights == Precision::int4 || w.weights == Precision::int8;
      if (serve_.engine.engine != Engine::vllm) {
        table.problem("quantization", "'quantization' is an option of vLLM, and the engine is " +
                                          title(serve_.engine.engine) + "; leave it out, or take engine \"vllm\"");
      } else if (!packed) {
        table.problem("quantization", "'quantization' gptq multiplies int4 and int8 weights, and 'weights' is " +
                                          std::string{name_of(w.weights)} + "; state one of them, or leave it out");
      } else if (serve_.architecture.moe) {
        table.problem("quantization", "'quantization' gptq has no kernels for the experts of " +
                                          serve_.architecture.id + "; leave it out");
      }
    }
  }

  template <Literal name>
  std::int64_t limit(ServingKeys& table, std::int64_t usual) {
    if (!table.has(name.view())) {
      assume("serving." + std::string{name.view()} + " = " + std::to_string(usual) + " (" +
             title(serve_.engine.engine) + "'s default)");
    }
    return table.stated<name>().value_or(usual);
  }

  void read_limits(ServingKeys& table) {
    ServingWorkload& w = serve_.work;
    const ServingStack& engine = serve_.engine;
    if (const auto fraction = table.stated<"memory_fraction">()) {
      w.memory_fraction = *fraction;
    } else if (!table.has("memory_fraction")) {
      w.memory_fraction = engine.default_fraction(w.layout.tp);
      serve_.fraction_open = true;
      assume("serving.memory_fraction = " + format_number(w.memory_fraction) + " (" + title(engine.engine) +
             "'s default, " + std::string{meaning(engine.memory.fraction_of)} + ")");
    }
    const bool known = !serve_.device.id.empty();
    w.max_num_seqs =
        limit<"max_num_seqs">(table, known ? engine.default_max_num_seqs(serve_.device) : engine.max_num_seqs);
    w.max_num_tokens =
        limit<"max_num_tokens">(table, known ? engine.default_max_num_tokens(serve_.device) : engine.max_num_tokens);
    if (const auto longest = table.stated<"max_seq_len">()) {
      w.max_seq_len = *longest;
      if (w.max_seq_len < w.isl + w.osl) {
        table.problem("max_seq_len", "'max_seq_len' is " + std::to_string(w.max_seq_len) +
                                         ", below isl + osl = " + std::to_string(w.isl + w.osl) +
                                         ": no request would end; raise it or leave it out");
      }
    } else if (!table.has("max_seq_len")) {
      assume("serving.max_seq_len = " + admitted_text(serve_));
    }
  }

  template <Literal name>
  std::int64_t ranks(ServeStrategyKeys& table, bool told) {
    if (!table.has(name.view()) && told) {
      assume("strategy." + std::string{name.view()} + " = 1 (not stated)");
    }
    return table.get<name>();
  }

  void read_strategy() {
    ServeStrategyKeys table = ServeStrategyKeys::or_blank(root_);
    ServingLayout& layout = serve_.work.layout;
    layout.tp = ranks<"tp">(table, true);
    layout.pp = ranks<"pp">(table, true);
    layout.ep = ranks<"ep">(table, serve_.architecture.moe.has_value());
    if (const std::string why = why_no_group(serve_.device); !why.empty() && layout.gpus() > 1) {
      table.problem(layout.tp > 1   ? "tp"
                    : layout.pp > 1 ? "pp"
                                    : "ep",
                    "a replica of " + std::to_string(layout.gpus()) + " GPUs exchanges activations between them: " +
                        why + "; let each slice be a replica, take a larger one, or whole cards, gpu = \"" +
                        serve_.device.slice->card + "\"");
    }
    const std::optional<std::int64_t> replicas = table.stated<"dp">();
    gpus_open_ = serve_.work.gpus == 0;
    if (gpus_open_) {  // to be sized, of no fewer replicas than are stated
      const std::int64_t least = root_.has("traffic") ? 1 : replicas.value_or(1);
      serve_.work.gpus = layout.gpus() * least;
      if (!root_.has("traffic")) {
        assume("hardware.gpus = " + std::to_string(serve_.work.gpus) + " (not stated; " + counted(least, "replica") +
               ")");
      }
    }
    check_replicas(table, replicas, serve_);
    table.finish();
  }

  ConfigTable& root_;
  const ModelFinder& models_;
  ServeScenario& serve_;
  std::vector<std::string>& assumptions_;
  bool gpus_open_ = false;
};

}  // namespace

Precision served_weights(std::size_t choice) noexcept {
  return choice < precision_count ? static_cast<Precision>(choice) : Precision::int4;
}

Precision kv_cache_format(std::size_t choice) noexcept {
  const auto* const found = std::find(precision_names.begin(), precision_names.end(), kv_cache_names[choice]);
  return static_cast<Precision>(found - precision_names.begin());
}

std::optional<Precision> own_weights(const Architecture& architecture) noexcept {
  return architecture.weights ? architecture.weights->format : std::nullopt;
}

BesideWeights weights_beside(const ServeScenario& serve, const Architecture& other) noexcept {
  if (const std::optional<Precision> own = own_weights(other)) {
    return {*own, "its checkpoint's own format"};
  }
  if (serve.weights_open && own_weights(serve.architecture)) {
    return {Precision::bf16, "its checkpoint is not quantised"};
  }
  // mxfp4 holds experts alone (OpenAI 2025, gpt-oss).
  const bool experts = serve.work.weights != Precision::mxfp4 || other.moe.has_value();
  return experts ? BesideWeights{serve.work.weights, "as serving.weights"}
                 : BesideWeights{Precision::bf16, "mxfp4 holds experts alone"};
}

Precision default_kv_cache(const ServingStack& stack, Precision weights) noexcept {
  const bool narrow = weights == Precision::fp8 || weights == Precision::mxfp8 || weights == Precision::nvfp4 ||
                      weights == Precision::mxfp4;
  return stack.habits.narrows_cache && narrow ? Precision::fp8 : Precision::bf16;
}

void read_serving(ConfigTable& root,
                  const ModelFinder& models,
                  ServeScenario& serve,
                  std::vector<std::string>& assumptions) {
  ServingReader{root, models, serve, assumptions}.run();
}

}  // namespace headroom
