// SPDX-License-Identifier: Apache-2.0
// torchtitan's job file. Names: pytorch/torchtitan @ 4a950ea, torchtitan/config/job_config.py, the last version read
// from TOML; older spellings @ 6404b93, the same file; networks @ 00f555e, torchtitan/models/llama3/__init__.py, and @
// 0014ac2, torchtitan/models/deepseek_v3/__init__.py.
#include <headroom/scenarios/launch/launch_forms.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::launch {
namespace {

using Kind = ConfigValue::Kind;
using enum RowKind;

constexpr std::array cp_forms{LaunchWord{"allgather", "all-gather"}, LaunchWord{"alltoall", "ring"}};
constexpr std::array modes{LaunchWord{"none", "none"}, LaunchWord{"selective", "selective"},
                           LaunchWord{"full", "full"}};
constexpr std::array optimizers{LaunchWord{"AdamW", "adamw"}, LaunchWord{"Adam", "adamw"}};

constexpr std::array torchtitan_rows{
    LaunchRow{"model.name", "", special},
    LaunchRow{"model.flavor", "", special},
    LaunchRow{"model.converters", "", special},
    LaunchRow{"training.seq_len", "training.seq_len", count, "2048"},
    LaunchRow{"training.global_batch_size", "", special},
    LaunchRow{"training.local_batch_size", "", special},
    LaunchRow{"training.steps", "", special},
    LaunchRow{"training.mixed_precision_param", "", special},
    LaunchRow{"training.enable_cpu_offload", "training.offload.optimizer", yes, "false"},
    LaunchRow{"training.compile", "", special},
    LaunchRow{"compile.enable", "training.compile", yes, "false"},
    LaunchRow{"optimizer.name", "training.optimizer", word, "\"adamw\"", optimizers},
    LaunchRow{"parallelism.data_parallel_replicate_degree", "", special},
    LaunchRow{"parallelism.data_parallel_shard_degree", "", special},
    LaunchRow{"parallelism.fsdp_reshard_after_forward", "", special},
    LaunchRow{"parallelism.tensor_parallel_degree", "strategy.tp", count, "1"},
    LaunchRow{"parallelism.pipeline_parallel_degree", "strategy.pp", count, "1"},
    LaunchRow{"parallelism.pipeline_parallel_schedule", "", special},
    LaunchRow{"parallelism.pipeline_parallel_microbatch_size", "", special},
    LaunchRow{"parallelism.pipeline_parallel_layers_per_stage", "", special},
    LaunchRow{"parallelism.pipeline_parallel_first_stage_less_layers", "", special},
    LaunchRow{"parallelism.pipeline_parallel_last_stage_less_layers", "", special},
    LaunchRow{"parallelism.context_parallel_degree", "strategy.cp", count, "1"},
    LaunchRow{"parallelism.context_parallel_rotate_method", "strategy.cp_form", word, "", cp_forms},
    LaunchRow{"parallelism.expert_parallel_degree", "strategy.ep"},
    LaunchRow{"parallelism.expert_tensor_parallel_degree", "", special},
    LaunchRow{"parallelism.enable_async_tensor_parallel", "", special},
    LaunchRow{"activation_checkpoint.mode", "strategy.recompute", word, "\"selective\"", modes},
    LaunchRow{"activation_checkpoint.selective_ac_option", "", special},
};

constexpr auto torchtitan_passed = std::to_array<std::string_view>({"job.*",
                                                                    "profiling.*",
                                                                    "metrics.*",
                                                                    "optimizer.*",
                                                                    "lr_scheduler.*",
                                                                    "checkpoint.*",
                                                                    "comm.*",
                                                                    "fault_tolerance.*",
                                                                    "validation.*",
                                                                    "experimental.*",
                                                                    "memory_estimation.*",
                                                                    "float8.*",
                                                                    "mx.*",
                                                                    "quantize.*",
                                                                    "debug.*",
                                                                    "compile.components",
                                                                    "compile.backend",
                                                                    "model.tokenizer_path",
                                                                    "model.hf_assets_path",
                                                                    "model.print_after_conversion",
                                                                    "training.dataset",
                                                                    "training.dataset_path",
                                                                    "training.max_norm",
                                                                    "training.dtype",
                                                                    "training.mixed_precision_reduce",
                                                                    "training.seed",
                                                                    "training.deterministic",
                                                                    "training.gc_freq",
                                                                    "training.gc_debug",
                                                                    "parallelism.disable_loss_parallel",
                                                                    "parallelism.enable_compiled_autograd",
                                                                    "parallelism.context_parallel_load_balancer"});

/// Torchtitan's name and flavor of a preset; the first entry of equal words is meant. In torchtitan llama3 always
/// scales RoPE as Llama 3.1 does, and both families use the same norm epsilon.
struct Flavor {
  std::string_view preset, name, flavor;
};
constexpr std::array flavors{
    Flavor{"llama3-8b", "llama3", "8B"},          Flavor{"llama3.1-8b", "llama3", "8B"},
    Flavor{"llama3-70b", "llama3", "70B"},        Flavor{"llama3.1-70b", "llama3", "70B"},
    Flavor{"llama3.3-70b", "llama3", "70B"},      Flavor{"llama3.1-405b", "llama3", "405B"},
    Flavor{"deepseek-v2", "deepseek_v3", "236B"}, Flavor{"deepseek-v3", "deepseek_v3", "671B"},
};
constexpr double norm_eps = 1e-5;
constexpr std::string_view llama_stretch = "llama3";

struct ScheduleName {
  std::string_view theirs, ours;
  bool chunks = false;
};
constexpr std::array schedules{
    ScheduleName{"1F1B", "1f1b"},
    ScheduleName{"GPipe", "gpipe"},
    ScheduleName{"Interleaved1F1B", "1f1b", true},
    ScheduleName{"ZBVZeroBubble", "zb-v"},
};

/// Layers that embedding and head count for in the pipeline split: one each by default.
constexpr std::int64_t end_layers = 2;

constexpr std::array gaps{
    LaunchGap{"model.*", "", ""},
    LaunchGap{"strategy.vpp", "1", "no number of layers a stage makes as many chunks"},
    LaunchGap{"strategy.schedule", "\"1f1b\"", "torchtitan has no such schedule"},
    LaunchGap{"strategy.cp_form", "", "torchtitan has no such form"},
    LaunchGap{"strategy.recompute_block", "1", "torchtitan keeps the input of every layer"},
    LaunchGap{"strategy.cuda_graphs", "false", "torchtitan has no key for it"},
    LaunchGap{"strategy.overlap_experts", "false", "torchtitan has no key for it"},
    LaunchGap{"strategy.order", "\"tp-cp-dp-pp\"", "torchtitan's mesh has one order, tp-cp-dp-pp"},
    LaunchGap{"training.overlap", "true", "torchtitan has no key that turns it off"},
    LaunchGap{"training.async_tp", "false", "torchtitan takes it with compile alone"},
    LaunchGap{"strategy.sequence_parallel", "true", "torchtitan shards norms by sequence whenever tp > 1"},
    LaunchGap{"training.gradients", "\"fp32\"", "torchtitan keeps them in fp32"},
    LaunchGap{"training.dropout", "false", "torchtitan's networks have none"},
    LaunchGap{"training.flash_attention", "true", "torchtitan's attention is fused"},
    LaunchGap{"training.fused_loss", "false", "torchtitan has no key for it"},
    LaunchGap{"training.vocab_multiple", "1", "torchtitan does not pad"},
    LaunchGap{"training.method", "\"full\"", "torchtitan's job file trains all weights"},
    LaunchGap{"training.lora_rank", "", "torchtitan's job file trains all weights"},
    LaunchGap{"training.double_quant", "", "torchtitan's job file trains all weights"},
    LaunchGap{"training.offload.parameters", "", "enable_cpu_offload moves weights with the optimizer's states"},
    LaunchGap{"training.offload_to", "\"host\"", "the host's memory only"},
    LaunchGap{"training.offload.activations", "false", "torchtitan's job file has no key for it"},
    LaunchGap{"training.software", "\"torchtitan\"", "another software than what is launched"},
    LaunchGap{"training.precision", "", "torchtitan has no such recipe"},
};

void write_network(LaunchWriting& writing) {
  const LaunchPlan& plan = writing.plan;
  const ConfigValue id = word_value(plan.word("launch.model"));
  const auto found = std::find_if(flavors.begin(), flavors.end(), [&](const Flavor& f) { return f.preset == id.text; });
  if (found == flavors.end() || plan.flag("launch.own_network")) {
    writing.note("model", value_text(id), "torchtitan has no such flavor here; set model.name and .flavor");
    return;
  }
  writing.put_word("model.name", found->name);
  writing.put_word("model.flavor", found->flavor);
  const std::string flavor = "flavor " + std::string{found->flavor};
  if (plan.number("model.norm_eps", norm_eps) != norm_eps) {
    writing.miss("model.norm_eps", flavor + " has " + value_text(number_value(norm_eps)) + ": another network");
  }
  if (found->name == "llama3" && plan.word("model.rope_scaling.kind", "none") != llama_stretch) {
    writing.note("model.rope_scaling", "none", flavor + " stretches positions as Llama 3.1 does");
  }
}

void write_precision(LaunchWriting& writing) {
  const std::string precision = writing.plan.word("training.precision");
  const bool fp8 = precision == "fp8" || precision == "mxfp8";
  if (precision != "bf16" && precision != "fp32" && !fp8) {
    return;
  }
  if (fp8) {
    ConfigValue converters;
    converters.kind = Kind::array;
    converters.items.push_back(word_value(precision == "fp8" ? "quantize.linear.float8" : "quantize.linear.mx"));
    writing.put("model.converters", std::move(converters));
  }
  writing.put_word("training.mixed_precision_param", precision == "fp32" ? "float32" : "bfloat16");
  writing.cover("training.precision");
}

/// Writes replicas and shards (HSDP); with ZeRO 2 weights stay gathered after the forward pass.
void write_sharding(LaunchWriting& writing) {
  const LaunchPlan& plan = writing.plan;
  const std::int64_t dp = plan.count("strategy.dp", 1);
  const std::int64_t cp = plan.count("strategy.cp", 1);
  const std::int64_t zero = plan.count("strategy.zero", 0);
  const std::int64_t shared = plan.count("strategy.shard_ranks", 0);
  std::int64_t replicas = zero == 0 ? dp : 1;
  std::int64_t shards = zero == 0 ? 1 : -1;
  if (zero > 0 && shared > 1 && (dp * cp) % shared == 0 && dp % (dp * cp / shared) == 0) {
    replicas = dp * cp / shared;
    shards = dp / replicas;
    writing.cover("strategy.shard_ranks");
  }
  writing.put_count("parallelism.data_parallel_replicate_degree", replicas);
  writing.put_count("parallelism.data_parallel_shard_degree", shards);
  if (zero == 0 && cp > 1) {
    writing.miss("strategy.zero", "torchtitan shards over context ranks");
  } else if (zero == 1) {
    writing.miss("strategy.zero", "torchtitan shards gradients with the states, as ZeRO 2");
  }
  if (zero > 0) {
    writing.put_word("parallelism.fsdp_reshard_after_forward", zero == 3 ? "always" : "never");
  }
  writing.cover("strategy.zero");
}

void write_pipeline(LaunchWriting& writing) {
  const LaunchPlan& plan = writing.plan;
  const std::int64_t pp = plan.count("strategy.pp", 1);
  const std::int64_t vpp = plan.count("strategy.vpp", 1);
  const std::string schedule = plan.word("strategy.schedule", "1f1b");
  if (pp == 1) {
    return;
  }
  for (const ScheduleName& name : schedules) {
    if (name.ours == schedule && name.chunks == (vpp > 1)) {
      writing.put_word("parallelism.pipeline_parallel_schedule", name.theirs);
      writing.cover("strategy.schedule");
    }
  }
  if (vpp > 1) {
    const std::int64_t counted = plan.count("model.layers", 0) + end_layers;
    const std::int64_t chunk = (counted + pp * vpp - 1) / (pp * vpp);
    if ((counted + chunk - 1) / chunk == pp * vpp) {
      writing.put_count("parallelism.pipeline_parallel_layers_per_stage", chunk);
      writing.cover("strategy.vpp");
    }
  }
}

/// With a pipeline a rank's local batch is split into micro-batches, and gradients accumulate over local batches;
/// otherwise the local batch is one micro-batch.
void write_batch(LaunchWriting& writing) {
  const LaunchPlan& plan = writing.plan;
  const std::int64_t micro_batch = plan.count("strategy.micro_batch", 1);
  const bool pipeline = plan.count("strategy.pp", 1) > 1;
  const std::int64_t batch = plan.count("training.global_batch", 1);
  const std::int64_t local = plan.count("strategy.local_batch", batch / plan.count("strategy.dp", 1));
  writing.put_count("training.local_batch_size", pipeline ? local : micro_batch);
  writing.cover("strategy.local_batch");
  writing.put_count("training.global_batch_size", batch);
  if (pipeline) {
    writing.put_count("parallelism.pipeline_parallel_microbatch_size", micro_batch);
  }
  writing.cover("strategy.micro_batch");
  writing.cover("training.global_batch");
  const double step = tokens_of_step(plan);
  if (const double tokens = plan.number("training.tokens", 0.0); tokens > 0.0 && step > 0.0) {
    writing.put_count("training.steps", static_cast<std::int64_t>(std::ceil(tokens / step)));
    writing.cover("training.tokens");
  }
}

/// Asynchronous TP needs compiled layers.
void write_async_tp(LaunchWriting& writing) {
  if (writing.plan.flag("training.async_tp") && writing.plan.flag("training.compile")) {
    writing.put_flag("parallelism.enable_async_tensor_parallel", true);
    writing.cover("training.async_tp");
  }
}

/// Without expert ranks experts are split as tp, whatever the key says.
void write_experts(LaunchWriting& writing) {
  const LaunchPlan& plan = writing.plan;
  const std::int64_t etp = plan.count("strategy.etp", 1);
  const bool free = plan.count("strategy.ep", 1) > 1;
  if (free && (etp == 1 || etp == plan.count("strategy.tp", 1))) {
    writing.put_count("parallelism.expert_tensor_parallel_degree", etp);
    writing.cover("strategy.etp");
  } else if (free) {
    writing.miss("strategy.etp", "torchtitan knows 1 and tp");
  } else if (etp == plan.count("strategy.tp", 1) &&
             (etp == 1 || plan.word("training.software").starts_with("torchtitan"))) {
    writing.cover("strategy.etp");
  } else {
    writing.miss("strategy.etp", "without expert ranks torchtitan splits experts as tp does");
  }
}

// ---- reading

void read_async_tp(const LaunchItems& items, LaunchReading& reading) {
  constexpr std::string_view name = "parallelism.enable_async_tensor_parallel";
  const ConfigValue* item = items.find(name);
  const std::optional<bool> on = item == nullptr ? std::nullopt : reading.flag_of(name, *item);
  if (on == true && !reading.plan.flag("training.compile")) {
    return reading.remark(*item, "ignored: " + std::string{name} + ": it works with compile.enable alone");
  }
  if (on) {
    reading.state("training.async_tp", flag_value(*on), *item);
  }
}

/// Bounds of a batch in sequences, of one rank or of all.
constexpr Range<std::int64_t> batch_size{1, 100'000'000};

/// A count, or -1 for "the rest".
std::optional<std::int64_t> count_or_all(std::string_view name, const ConfigValue& value, LaunchReading& reading) {
  const std::optional<std::int64_t> count = reading.count_of(name, value, {-1, batch_size.high});
  if (count == 0) {
    reading.problem(value, reading.called(name) + " is 0; it must be at least 1, or -1 for what the rest leaves");
    return std::nullopt;
  }
  return count;
}

const ConfigValue* item_of(const LaunchItems& items, std::string_view name) {
  return items.find("parallelism." + std::string{name});
}

void read_network(const LaunchItems& items, LaunchReading& reading) {
  const ConfigValue* name = items.find("model.name");
  const ConfigValue* flavor = items.find("model.flavor");
  if (name == nullptr || flavor == nullptr || name->kind != Kind::text || flavor->kind != Kind::text) {
    return;
  }
  for (const Flavor& known : flavors) {
    if (known.name == name->text && known.flavor == flavor->text) {
      return reading.state("launch.model", word_value(known.preset), *flavor);
    }
  }
  reading.remark(*flavor, "ignored: the network " + quoted(name->text) + " " + quoted(flavor->text) +
                              " is none known here; --model says which");
}

void read_precision(const LaunchItems& items, LaunchReading& reading) {
  std::string precision = "bf16";
  const ConfigValue* at = items.find("training.mixed_precision_param");
  constexpr std::array<std::string_view, 2> widths{"bfloat16", "float32"};
  if (at != nullptr && reading.choice_of("training.mixed_precision_param", *at, widths) == "float32") {
    precision = "fp32";
  }
  if (const ConfigValue* converters = items.find("model.converters")) {
    std::vector<ConfigValue> list = converters->items;
    if (converters->kind == Kind::text) {
      list.push_back(*converters);
    }
    for (const ConfigValue& converter : list) {
      if (converter.text.find("float8") != std::string::npos || converter.text.ends_with("mx")) {
        precision = converter.text.find("float8") != std::string::npos ? "fp8" : "mxfp8";
        at = converters;
      } else {
        reading.remark(*converters, "ignored: converter " + quoted(converter.text));
      }
    }
  }
  at != nullptr ? reading.state("training.precision", word_value(precision), *at)
                : reading.assume("training.precision", word_value(precision));
}

void read_sharding(const LaunchItems& items, LaunchReading& reading) {
  const ConfigValue* copies = item_of(items, "data_parallel_replicate_degree");
  const std::int64_t replicas =
      copies == nullptr
          ? 1
          : reading.count_of("parallelism.data_parallel_replicate_degree", *copies, machine_count).value_or(1);
  const ConfigValue* degree = item_of(items, "data_parallel_shard_degree");
  const std::int64_t shards =
      degree == nullptr ? -1 : count_or_all("parallelism.data_parallel_shard_degree", *degree, reading).value_or(-1);
  std::string keeps = "default";
  const ConfigValue* reshard = item_of(items, "fsdp_reshard_after_forward");
  constexpr std::array<std::string_view, 3> policies{"default", "always", "never"};
  if (reshard != nullptr) {
    keeps = reading.choice_of("parallelism.fsdp_reshard_after_forward", *reshard, policies).value_or(keeps);
  }
  // By default weights are freed after the forward pass, except with pipelines.
  const bool freed = keeps == "always" || (keeps == "default" && reading.plan.count("strategy.pp", 1) == 1);
  const bool whole = shards == 1 && reading.plan.count("strategy.cp", 1) == 1;
  const std::int64_t zero = whole ? 0 : freed ? 3 : 2;
  const ConfigValue* at = degree == nullptr ? reshard : degree;
  at != nullptr ? reading.state("strategy.zero", count_value(zero), *at)
                : reading.assume("strategy.zero", count_value(zero));
  if (copies != nullptr && zero > 0) {
    reading.state("launch.replicas", count_value(replicas), *copies);
  }
  if (shards > 0) {
    const ConfigValue& from = copies != nullptr ? *copies : *degree;
    reading.state("launch.data_ranks", count_value(replicas * shards), from);
  }
}

void read_pipeline(const LaunchItems& items, LaunchReading& reading) {
  bool chunks = false;
  if (const ConfigValue* schedule = item_of(items, "pipeline_parallel_schedule")) {
    std::vector<std::string_view> known;
    for (const ScheduleName& name : schedules) {
      known.push_back(name.theirs);
    }
    const auto word = reading.choice_of("parallelism.pipeline_parallel_schedule", *schedule, known);
    for (const ScheduleName& name : schedules) {
      if (word && name.theirs == *word) {
        reading.state("strategy.schedule", word_value(name.ours), *schedule);
        chunks = name.chunks;
      }
    }
  }
  std::int64_t ends = 0;
  for (const std::string_view name :
       {"pipeline_parallel_first_stage_less_layers", "pipeline_parallel_last_stage_less_layers"}) {
    const ConfigValue* less = item_of(items, name);
    ends += less == nullptr
                ? 1
                : reading.count_of("parallelism." + std::string{name}, *less, {0, layer_count.high}).value_or(1);
  }
  if (const ConfigValue* layers = item_of(items, "pipeline_parallel_layers_per_stage")) {
    if (const auto count = reading.count_of("parallelism.pipeline_parallel_layers_per_stage", *layers, layer_count)) {
      reading.state("launch.chunk_layers", count_value(*count), *layers);
      reading.plan.set("launch.end_layers", count_value(ends));
    }
  } else if (chunks) {
    reading.assume("strategy.vpp", count_value(2));  // looped schedules use two stages per rank
  }
}

void read_batch(const LaunchItems& items, LaunchReading& reading) {
  const bool pipeline = reading.plan.count("strategy.pp", 1) > 1;
  const auto number = [&](std::string_view name, std::int64_t fallback) -> std::pair<std::int64_t, const ConfigValue*> {
    const ConfigValue* item = items.find(name);
    return {item == nullptr ? fallback : reading.count_of(name, *item, batch_size).value_or(fallback), item};
  };
  const auto [local, local_at] = number("training.local_batch_size", 8);
  const auto [micro, micro_at] = number("parallelism.pipeline_parallel_microbatch_size", 1);
  const ConfigValue* batch_at = items.find("training.global_batch_size");
  const std::int64_t batch =
      batch_at == nullptr ? -1 : count_or_all("training.global_batch_size", *batch_at, reading).value_or(-1);
  const ConfigValue* at = pipeline ? micro_at : local_at;
  at != nullptr ? reading.state("strategy.micro_batch", count_value(pipeline ? micro : local), *at)
                : reading.assume("strategy.micro_batch", count_value(pipeline ? micro : local));
  if (batch > 0) {
    reading.state("training.global_batch", count_value(batch), *batch_at);
    if (pipeline) {
      local_at != nullptr ? reading.state("strategy.local_batch", count_value(local), *local_at)
                          : reading.assume("strategy.local_batch", count_value(local));
    }
  } else {
    reading.plan.set("launch.batch_of_rank", count_value(local));
  }
  reading.take_count(items, "training.steps", "launch.iterations", positive);
}

void read_rest(const LaunchItems& items, LaunchReading& reading) {
  reading.take_flag(items, "training.compile", "training.compile");
  const ConfigValue* etp = item_of(items, "expert_tensor_parallel_degree");
  const std::int64_t ep = reading.plan.count("strategy.ep", 1);
  if (ep > 1) {
    reading.assume("strategy.overlap_experts", flag_value(false));
    const std::int64_t ranks =
        etp == nullptr ? 1
                       : reading.count_of("parallelism.expert_tensor_parallel_degree", *etp, machine_count).value_or(1);
    etp != nullptr ? reading.state("strategy.etp", count_value(ranks), *etp)
                   : reading.assume("strategy.etp", count_value(ranks));
  }
  const ConfigValue* option = items.find("activation_checkpoint.selective_ac_option");
  if (option != nullptr &&
      reading.word_of("activation_checkpoint.selective_ac_option", *option).value_or("op") != "op") {
    reading.remark(*option, "ignored: selective_ac_option " + quoted(option->text) +
                                ": selective is taken op by op, every second product kept");
  }
  if (reading.plan.count("strategy.cp", 1) > 1) {
    reading.assume("strategy.cp_form", word_value("all-gather"));
  } else {
    reading.plan.erase("strategy.cp_form");
  }
  if (reading.plan.count("strategy.tp", 1) > 1) {
    reading.assume("strategy.sequence_parallel", flag_value(true));
  }
  read_async_tp(items, reading);
  // Fixed behaviour of torchtitan.
  reading.assume("training.overlap", flag_value(true));
  reading.assume("training.gradients", word_value("fp32"));
  reading.assume("training.flash_attention", flag_value(true));
  reading.assume("training.dropout", flag_value(false));
  reading.assume("training.fused_loss", flag_value(false));
}

}  // namespace

LaunchWriting write_torchtitan(const LaunchPlan& plan) {
  LaunchWriting writing{plan, true};
  write_network(writing);
  write_precision(writing);
  write_batch(writing);
  write_sharding(writing);
  write_pipeline(writing);
  write_async_tp(writing);
  write_rows(torchtitan_rows, writing);
  if (plan.has("strategy.etp")) {
    write_experts(writing);
  }
  if (plan.word("strategy.recompute") == "selective") {
    writing.put_word("activation_checkpoint.selective_ac_option", "op");
  }
  note_gaps(gaps, "torchtitan", writing);
  return writing;
}

void read_torchtitan(const LaunchItems& items, LaunchReading& reading) {
  read_rows(torchtitan_rows, torchtitan_passed, items, reading);
  read_network(items, reading);
  read_precision(items, reading);
  read_sharding(items, reading);
  read_pipeline(items, reading);
  read_batch(items, reading);
  read_rest(items, reading);
  read_absent(torchtitan_rows, items, reading);
  reading.assume("training.software", word_value("torchtitan"));
  reading.assume("training.vocab_multiple", count_value(1));
}

LaunchText torchtitan_text(const LaunchPlan& plan) {
  const LaunchWriting writing = write_torchtitan(plan);
  const std::vector<std::string> head{"torchtitan job file: --job.config_file, releases up to April 2026"};
  return {comment_head(plan, head, writing.notes) + document_text(nested(writing.items), {}), writing.notes};
}

void read_torchtitan_text(const ConfigSource& source, LaunchReading& reading) {
  read_torchtitan(items_of_document(parse_toml(source.text, source.file)), reading);
}

}  // namespace headroom::launch
