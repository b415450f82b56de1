// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/printable.hpp>
#include <headroom/model/serve/engine/all_to_all_rule.hpp>
#include <headroom/model/serve/memory/draft_memory.hpp>
#include <headroom/model/serve/replica/replica.hpp>
#include <headroom/model/serve/replica/replica_formats.hpp>
#include <headroom/scenarios/launch/serve_forms.hpp>
#include <headroom/scenarios/launch/traffic_words.hpp>
#include <headroom/scenarios/traffic/admission.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace headroom::launch {
namespace {

using Kind = ConfigValue::Kind;

/// Repository in "Hugging Face config.json of meta-llama/Meta-Llama-3-70B; ..."; empty without one.
std::string repository_of(std::string_view source) {
  constexpr std::string_view said = "config.json of ";
  const std::size_t at = source.find(said);
  if (at == std::string_view::npos) {
    return "";
  }
  const std::string_view rest = source.substr(at + said.size());
  const std::string_view name = rest.substr(0, rest.find_first_of(" ;,"));
  return name.find('/') == std::string_view::npos ? "" : std::string{name};
}

struct DtypeWord {
  std::string_view theirs, ours;
};
/// PyTorch's names of --dtype in vLLM and SGLang; the first synonym is written.
constexpr std::array dtype_words{
    DtypeWord{"bfloat16", "bf16"}, DtypeWord{"float16", "fp16"}, DtypeWord{"half", "fp16"},
    DtypeWord{"float32", "fp32"},  DtypeWord{"float", "fp32"},   DtypeWord{"auto", ""},
};
/// Names of --quantization that define the format of the weights.
constexpr std::array quantization_words{
    DtypeWord{"fp8", "fp8"},     DtypeWord{"w8a8_fp8", "fp8"},       DtypeWord{"awq", "int4"},
    DtypeWord{"gptq", "int4"},   DtypeWord{"awq_marlin", "int4"},    DtypeWord{"gptq_marlin", "int4"},
    DtypeWord{"mxfp4", "mxfp4"}, DtypeWord{"modelopt_fp4", "nvfp4"}, DtypeWord{"w8a8_int8", "int8"},
};

template <std::size_t N>
std::vector<std::string_view> theirs_of(const std::array<DtypeWord, N>& words) {
  std::vector<std::string_view> names;
  for (const DtypeWord& word : words) {
    names.push_back(word.theirs);
  }
  return names;
}

template <std::size_t N>
std::string_view ours_of(const std::array<DtypeWord, N>& words, std::string_view theirs) {
  return std::find_if(words.begin(), words.end(), [&](const DtypeWord& w) { return w.theirs == theirs; })->ours;
}

std::string_view written_dtype(std::string_view ours) {
  const auto* found =
      std::find_if(dtype_words.begin(), dtype_words.end(), [&](const auto& w) { return w.ours == ours; });
  return found == dtype_words.end() ? std::string_view{} : found->theirs;
}

bool starts_with_words(const std::vector<ShellWord>& command,
                       std::size_t from,
                       std::span<const std::string_view> words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (from + i >= command.size()) {
      return false;
    }
    const std::string& text = command[from + i].text;
    const std::string_view name = std::string_view{text}.substr(text.find_last_of('/') + 1);
    if (name != words[i]) {
      return false;
    }
  }
  return true;
}

ShellWord spelled_out(ShellWord word, std::span<const FlagAlias> aliases) {
  if (!word.text.starts_with("-") || word.text.size() < 2) {
    return word;
  }
  const std::size_t equals = std::min(word.text.find('='), word.text.size());
  std::string name = word.text.substr(0, equals);
  std::replace(name.begin(), name.end(), '_', '-');
  for (const FlagAlias& alias : aliases) {
    name = name == alias.theirs ? std::string{alias.name} : name;
  }
  word.text = name + word.text.substr(equals);
  return word;
}

std::string indented(const std::vector<std::string>& words) {
  std::string text = "  ";
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += (i == 0 ? "" : " \\\n    ") + words[i];
  }
  return text + "\n";
}

/// Sets method and length of drafts. Acceptance depends on the requests, so no launch states it.
void set_draft(const DraftPlan& draft, LaunchPlan& plan) {
  plan.set("serving.speculative.draft", count_value(draft.speculation.draft));
  if (!draft.method.empty()) {
    plan.set("serving.speculative.method", word_value(draft.method));
  }
  if (draft.model && !draft.heads) {
    const std::string repository = repository_of(draft.model->source);
    plan.set("serving.speculative.draft_model", word_value(repository.empty() ? draft.model->id : repository));
    plan.set("serving.speculative.draft_weights", word_value(name_of(draft.weights)));
    if (draft.tp > 0) {
      plan.set("serving.speculative.draft_tp", count_value(draft.tp));
    }
  }
}

/// How the question's engine sends tokens to the ranks of their experts; nullopt: every rank gathers all tokens.
std::optional<AllToAllRule> exchange_rule(const ServeScenario& s) {
  const ServingLayout& layout = s.work.layout;
  if (!s.architecture.moe || layout.attention_groups() <= 1 || layout.cut_experts) {
    return std::nullopt;
  }
  const bool over_nics = experts_over_nics(s.device, s.host ? &*s.host : nullptr, layout);
  const std::vector<AllToAllRule> rules = s.engine.exchange_rules(s.engine.release);
  const AllToAllRule* rule =
      rule_of(rules, {layout.ep, over_nics, s.device.scale_up.domain, static_cast<double>(s.architecture.moe->top_k),
                      activation_precision(s.device, s.work.weights)});
  return rule == nullptr ? std::nullopt : std::optional{*rule};
}

/// Sets the engine's keys for a question with traffic.
void set_fleet_keys(const ServeScenario& s, LaunchPlan& plan) {
  if (!s.engine_version.empty()) {
    plan.set("serving.engine_version", word_value(s.engine_version));
  }
  if (s.traffic && !s.traffic->prefix_caching) {
    plan.set("serving.prefix_caching", flag_value(false));
  }
  if (s.fleet && s.fleet->kv_offload.any()) {
    plan.set("serving.kv_offload", word_value(tier_words(s.fleet->kv_offload)));
  }
  if (s.engine.scheduler.eviction == Eviction::swap) {
    plan.set("serving.preemption_mode", word_value("swap"));
  }
  for (const BesideServed& other : s.beside) {
    plan.set("traffic.class.model", word_value(other.architecture.id));
  }
}

}  // namespace

LaunchPlan serve_keys(const Scenario& scenario, const ServeScenario& s) {
  const ServingWorkload& w = s.work;
  LaunchPlan plan;
  plan.set("name", word_value(scenario.name));
  plan.set("launch.kind", word_value("serve"));
  plan.set("launch.model", word_value(s.architecture.id));
  const ConfigValue* model = scenario.document ? scenario.document->find("model") : nullptr;
  const bool own = model != nullptr && model->kind == Kind::table;
  if (const std::string repository = repository_of(s.architecture.source); !repository.empty() && !own) {
    plan.set("launch.checkpoint", word_value(repository));
  }
  plan.set("launch.gpus_per_node", count_value(s.host ? s.host->gpus : w.gpus));
  plan.set("launch.replicas", count_value(std::max<std::int64_t>(1, w.gpus / w.layout.gpus())));
  set_traffic(s, plan);
  if (const ConfigValue* servers = plan.find("launch.servers")) {
    plan.set("launch.replicas", ConfigValue{*servers});
  }
  plan.set("launch.groups", count_value(w.layout.attention_groups()));
  plan.set("launch.vendor", word_value(s.device.vendor));
  plan.set("launch.experts", flag_value(s.architecture.moe.has_value()));
  plan.set("hardware.gpu", word_value(s.device.id));
  plan.set("hardware.gpus", count_value(product(plan.count("launch.replicas", 1), w.layout.gpus())));
  plan.set("serving.isl", count_value(w.isl));
  plan.set("serving.osl", count_value(w.osl));
  plan.set("serving.concurrency", count_value(w.concurrency));
  plan.set("serving.weights", word_value(name_of(w.weights)));
  if (w.weight_kernels != WeightKernels::fused) {
    plan.set("serving.quantization", word_value(weight_kernel_names[static_cast<std::size_t>(w.weight_kernels)]));
  }
  plan.set("serving.engine", word_value(engine_names[static_cast<std::size_t>(s.engine.engine)]));
  plan.set("serving.kv_cache", word_value(name_of(w.kv)));
  plan.set("serving.memory_fraction", number_value(w.memory_fraction));
  plan.set("serving.max_num_seqs", count_value(w.max_num_seqs));
  plan.set("serving.max_num_tokens", count_value(w.max_num_tokens));
  plan.set("serving.max_seq_len", count_value(admitted_tokens(s)));
  plan.set("serving.chunked_prefill", flag_value(s.chunked_prefill));
  if (w.draft) {
    set_draft(*w.draft, plan);
  }
  set_fleet_keys(s, plan);
  plan.set("strategy.tp", count_value(w.layout.tp));
  plan.set("strategy.pp", count_value(w.layout.pp));
  if (s.architecture.moe) {
    plan.set("strategy.ep", count_value(w.layout.ep));
  }
  if (w.layout.redundant > 0) {
    plan.set("serving.redundant_experts", count_value(w.layout.redundant));
  }
  if (w.layout.balanced) {
    plan.set("serving.balanced_experts", flag_value(true));
  }
  if (w.layout.two_batches) {
    plan.set("serving.two_batch_overlap", flag_value(true));
  }
  if (const std::optional<AllToAllRule> rule = exchange_rule(s)) {
    const std::string& backend = w.pool == ServingPool::prefill ? rule->prompts_backend : rule->backend;
    if (!backend.empty()) {
      plan.set("launch.exchange", word_value(backend));
    }
  }
  if (w.pool != ServingPool::both) {
    plan.set("serving.pool", word_value(serving_pool_names[static_cast<std::size_t>(w.pool)]));
  }
  return plan;
}

void write_weights(LaunchWriting& writing) {
  const std::string weights = writing.plan.word("serving.weights");
  if (const std::string kernels = writing.plan.word("serving.quantization"); !kernels.empty()) {
    writing.put_word("--dtype", "float16");  // ExLlama's kernels multiply in no other format
    writing.put_word("--quantization", kernels);
    writing.cover("serving.quantization");
    return writing.miss("serving.weights", "the checkpoint's format: MODEL must be one in it");
  }
  if (const std::string_view dtype = written_dtype(weights); !dtype.empty()) {
    writing.put_word("--dtype", dtype);
    return writing.cover("serving.weights");
  }
  writing.put_word("--dtype", "bfloat16");
  if (weights == "fp8") {
    writing.put_word("--quantization", "fp8");
    return writing.cover("serving.weights");
  }
  writing.miss("serving.weights", "the checkpoint's format: MODEL must be one in it");
}

void read_weights(const LaunchItems& items, LaunchReading& reading) {
  if (const ConfigValue* quantization = items.find("--quantization")) {
    if (const auto word = reading.choice_of("--quantization", *quantization, theirs_of(quantization_words))) {
      return reading.state("serving.weights", word_value(ours_of(quantization_words, *word)), *quantization);
    }
    reading.failed.emplace("serving.weights");
    return;
  }
  if (const ConfigValue* dtype = items.find("--dtype")) {
    const auto word = reading.choice_of("--dtype", *dtype, theirs_of(dtype_words));
    if (!word) {
      reading.failed.emplace("serving.weights");
    } else if (const std::string_view ours = ours_of(dtype_words, *word); !ours.empty()) {
      reading.state("serving.weights", word_value(ours), *dtype);
    }
  }
}

void write_cache(LaunchWriting& writing, std::string_view flag, std::string_view fp8) {
  const std::string cache = writing.plan.word("serving.kv_cache");
  const std::string weights = writing.plan.word("serving.weights");
  const bool plain = !written_dtype(weights).empty();
  if (cache == (plain ? weights : "bf16")) {
    return writing.cover("serving.kv_cache");
  }
  if (cache == "fp8") {
    writing.put_word(flag, fp8);
    writing.cover("serving.kv_cache");
  }
}

void read_cache(const LaunchItems& items, std::string_view flag, LaunchReading& reading) {
  constexpr std::array<std::string_view, 7> known{"auto", "fp8", "fp8_e4m3", "fp8_e5m2", "bfloat16", "bf16", "nvfp4"};
  const ConfigValue* item = items.find(flag);
  const std::string weights = reading.plan.word("serving.weights");
  const auto as_weights = [&] {
    if (weights == "fp16" || weights == "fp32") {
      reading.assume("serving.kv_cache", word_value(weights));
    }
  };
  if (item == nullptr) {
    return as_weights();
  }
  const auto word = reading.choice_of(flag, *item, known);
  if (word == "auto") {
    return as_weights();
  }
  if (!word) {
    reading.failed.emplace("serving.kv_cache");
  } else {
    const std::string_view ours = word->starts_with("fp8") ? "fp8" : *word == "nvfp4" ? "nvfp4" : "bf16";
    reading.state("serving.kv_cache", word_value(ours), *item);
  }
}

void read_fraction(const LaunchItems& items, std::string_view flag, LaunchReading& reading) {
  if (const ConfigValue* item = items.find(flag)) {
    if (const auto number = reading.number_of(flag, *item)) {
      return reading.state("serving.memory_fraction", number_value(*number), *item);
    }
    reading.failed.emplace("serving.memory_fraction");
  }
}

void read_checkpoint(const ConfigValue& value, LaunchReading& reading) {
  if (const auto name = reading.word_of("MODEL", value)) {
    reading.state("launch.checkpoint", word_value(*name), value);
  }
}

void note_serving_gaps(std::string_view form, LaunchWriting& writing) {
  constexpr std::array gaps{
      LaunchGap{"serving.engine", "", ""},
      LaunchGap{"serving.isl", "", ""},
      LaunchGap{"serving.osl", "", ""},
      LaunchGap{"serving.concurrency", "", ""},
      LaunchGap{"hardware.gpus", "", ""},
      LaunchGap{"serving.balanced_experts", "", "it takes a file of its load balancer, which no scenario names"},
      LaunchGap{
          "serving.redundant_experts", "",
          "TensorRT-LLM has slots in the file of its load balancer; vLLM takes them in --eplb-config, which goes with "
          "--enable-eplb"},
      LaunchGap{"serving.two_batch_overlap", "", "no key of this engine has halves of a batch take turns"},
      LaunchGap{"serving.speculative.*", "",
                "drafts are written for vLLM alone, and of heads no scenario names the checkpoint"},
      LaunchGap{"serving.engine_version", "", "what is installed is not the launch's to say"},
      LaunchGap{"serving.prefix_caching", "", "prefixes are kept by default: turn it off by hand"},
      LaunchGap{"serving.kv_offload", "", "tiers are configured beside the engine"},
      LaunchGap{"serving.preemption_mode", "", "no flag of this engine"},
      LaunchGap{"traffic.class.model", "",
                "each model has a server of its own, with its part of the memory fraction; this line is the first's"},
      LaunchGap{"serving.kv_cache", "", "the engine keeps none, or as its checkpoint says"},
      LaunchGap{"fleet.routing", "", "a router in front of the servers decides it"},
      LaunchGap{"fleet.autoscale", "", "what starts and stops servers is no part of a launch"},
      LaunchGap{"traffic.arrivals", "", "the benchmark's requests come as a Poisson process"},
      LaunchGap{"traffic.cv", "", "the benchmark's requests come as a Poisson process"},
      LaunchGap{"traffic.prompt.law", "\"fixed\"", "the benchmark draws lengths evenly around the mean"},
      LaunchGap{"traffic.output.law", "\"fixed\"", "the benchmark draws lengths evenly around the mean, as prompts"},
      LaunchGap{"traffic.class", "", "the benchmark sends one kind of request, of their mean length"},
      LaunchGap{"traffic.trace", "", "the benchmark sends random requests of its mean length at its mean rate"},
      LaunchGap{"traffic.over_time", "", "the benchmark sends the highest rate all the time"},
      LaunchGap{"traffic.retries", "", "the benchmark sends the rate of all attempts, and none again"},
      LaunchGap{"traffic.prefix", "", "the benchmark's prompts have nothing in common"},
      LaunchGap{"traffic.turns", "",
                "the benchmark sends turns as requests of their own, with prompts of their mean length"},
      LaunchGap{"traffic.cached_share", "", "the benchmark's prompts have nothing in common"},
  };
  if (writing.plan.word("launch.checkpoint").empty()) {
    writing.note("model", value_text(*writing.plan.find("launch.model")),
                 "no repository is known for it: set MODEL to its checkpoint");
  }
  note_gaps(gaps, form, writing);
}

std::string bench_promise(const LaunchPlan& plan) {
  return plan.has("fleet.prefill")
             ? "starts a server that decodes, 'bash FILE bench' in a second shell sends it prompts and answers alike"
             : "starts the server, 'bash FILE bench' in a second shell loads it as the plan does";
}

std::optional<std::vector<ShellWord>> command_behind(const ShellScript& script,
                                                     std::span<const std::string_view> words,
                                                     std::span<const FlagAlias> aliases) {
  for (const ShellCommand& command : script.commands) {
    for (std::size_t i = 0; i < command.words.size(); ++i) {
      if (!starts_with_words(command.words, i, words)) {
        continue;
      }
      std::vector<ShellWord> behind;
      for (std::size_t k = i + words.size(); k < command.words.size(); ++k) {
        behind.push_back(spelled_out(command.words[k], aliases));
      }
      return behind;
    }
  }
  return std::nullopt;
}

LaunchText script_text(const LaunchPlan& plan, const LaunchWriting& writing, const ServeScript& script) {
  std::string text = "#!/bin/bash\n" + comment_head(plan, script.head, writing.notes);
  text += "MODEL=" + shell_quoted(plan.word("launch.checkpoint", plan.word("launch.model"))) + "\n";
  text += script.before + "if [ \"${1-}\" = bench ]; then\n";
  for (const std::vector<std::string>& command : script.bench) {
    text += indented(command);
  }
  return {text + "else\n" + indented(script.server) + "fi\n", writing.notes};
}

Replicas replicas_of(const LaunchPlan& plan) {
  Replicas r;
  r.one = plan;
  r.count = std::max<std::int64_t>(1, plan.count("launch.replicas", 1));
  r.spare = plan.count("fleet.spare", 0);
  r.gpus = std::max<std::int64_t>(1, plan.count("hardware.gpus", 1) / r.count);
  r.host_gpus = std::min(r.gpus, std::max<std::int64_t>(1, plan.count("launch.gpus_per_node", 1)));
  if (r.gpus % r.host_gpus != 0) {
    throw ConfigError{"a replica of " + std::to_string(r.gpus) + " GPUs does not fill hosts of " +
                      std::to_string(r.host_gpus) + ": state strategy.tp, pp and ep whose product does"};
  }
  r.hosts = r.gpus / r.host_gpus;
  r.one.set("launch.replicas", count_value(1));
  r.one.set("hardware.gpus", count_value(r.gpus));
  if (plan.has("launch.servers")) {
    r.one.set("launch.servers", count_value(1));
  }
  r.one.erase("fleet.spare");
  return r;
}

std::string cluster_name(std::string_view id) {
  constexpr std::size_t longest = 50;
  std::string name;
  for (const char c : id) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const char next = upper ? static_cast<char>(c - 'A' + 'a') : kept ? c : '-';
    if (name.size() < longest && !(next == '-' && (name.empty() || name.back() == '-'))) {
      name += next;
    }
  }
  while (name.ends_with('-')) {
    name.pop_back();
  }
  const bool letter = !name.empty() && name.front() >= 'a';
  return letter ? name : name.empty() ? "model" : "m-" + name;
}

std::string gpu_resource(const LaunchPlan& plan) {
  const std::string vendor = plan.word("launch.vendor");
  const bool gaudi = plan.word("hardware.gpu").starts_with("gaudi");
  const std::string gpu = plan.word("hardware.gpu");
  if (const std::size_t slash = gpu.find('/'); slash != std::string::npos && vendor == "nvidia") {
    std::string profile = gpu.substr(slash + 1);
    std::replace(profile.begin(), profile.end(), '+', '.');  // "1g.10gb+me" is no name of Kubernetes
    return "nvidia.com/mig-" + profile;
  }
  return vendor == "amd"     ? "amd.com/gpu"
         : vendor != "intel" ? "nvidia.com/gpu"
         : gaudi             ? "habana.ai/gaudi"
                             : "gpu.intel.com/xe";
}

std::string checkpoint_of(const LaunchPlan& plan) {
  return plan.word("launch.checkpoint", plan.word("launch.model"));
}

std::vector<std::string> arguments_of_items(const LaunchItems& items) {
  std::vector<std::string> words;
  for (const LaunchItem& item : items.all()) {
    const bool bare = item.value.kind == Kind::boolean;
    if (bare && !item.value.boolean) {
      continue;
    }
    words.push_back(item.name);
    if (!bare) {
      words.push_back(item.value.kind == Kind::text ? item.value.text : value_text(item.value));
    }
  }
  return words;
}

std::string bench_comment(const Replicas& replicas, std::vector<std::string> words, const std::string& address) {
  std::string text;
  for (const std::string& word : words) {
    constexpr std::string_view model = "--model \"$MODEL\"";
    text += word == model ? "--base-url " + address + " --model " + shell_quoted(checkpoint_of(replicas.one)) : word;
    text += " ";
  }
  text.pop_back();
  return "the plan's load: " + shown(text);
}

std::string replica_words(const Replicas& replicas) {
  const auto counted = [](std::int64_t count, const std::string& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  };
  return counted(replicas.count, "replica") + " of " + counted(replicas.gpus, "GPU") +
         (replicas.hosts > 1 ? " on " + counted(replicas.hosts, "host") : "") +
         (replicas.spare > 0 ? ", " + std::to_string(replicas.spare) + " of them spare" : "");
}

std::string pod_word(std::string word) {
  for (std::size_t at = word.find('$'); at != std::string::npos; at = word.find('$', at + 2)) {
    word.insert(at, "$");
  }
  return word;
}

std::string engine_image(std::string repository, std::string_view tag, LaunchWriting& writing) {
  std::string release = writing.plan.word("serving.engine_version");
  release.erase(0, release.starts_with('v') ? 1 : 0);
  writing.cover("serving.engine_version");
  if (release.empty()) {
    writing.notes.push_back(
        {"serving.engine_version", "image " + repository + " (state serving.engine_version for one release of it)"});
  }
  return std::move(repository) + ":" + (release.empty() ? "latest" : std::string{tag} + release);
}

ConfigValue words_value(const std::vector<std::string>& words) {
  std::vector<ConfigValue> list;
  for (const std::string& word : words) {
    list.push_back(word_value(word));
  }
  return list_value(std::move(list));
}

}  // namespace headroom::launch
