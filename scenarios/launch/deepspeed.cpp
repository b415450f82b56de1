// SPDX-License-Identifier: Apache-2.0
// DeepSpeed's configuration. Names: deepspeedai/DeepSpeed @ edaa722, deepspeed/runtime/config.py, zero/config.py and
// zero/offload_config.py, docs/_pages/config-json.md; data_types: pull request 4713 of the same repository.
#include <headroom/core/json_reader.hpp>
#include <headroom/core/json_writer.hpp>
#include <headroom/scenarios/launch/launch_forms.hpp>

#include <array>

namespace headroom::launch {
namespace {

using Kind = ConfigValue::Kind;
using enum RowKind;

constexpr std::array gradients{LaunchWord{"fp32", "fp32"}, LaunchWord{"bf16", "bf16"}, LaunchWord{"fp16", "bf16"}};
constexpr std::array optimizers{
    LaunchWord{"AdamW", "adamw"}, LaunchWord{"Adam", "adamw"}, LaunchWord{"FusedAdam", "adamw"},
    LaunchWord{"Lion", "lion"},   LaunchWord{"Muon", "muon"},
};

constexpr std::array rows{
    LaunchRow{"train_batch_size", "training.global_batch"},
    LaunchRow{"train_micro_batch_size_per_gpu", "strategy.micro_batch"},
    LaunchRow{"gradient_accumulation_steps", "", special},
    LaunchRow{"bf16.enabled", "", special},
    LaunchRow{"fp16.enabled", "", special},
    LaunchRow{"data_types.grad_accum_dtype", "training.gradients", word, "", gradients},
    LaunchRow{"optimizer.type", "training.optimizer", word, "", optimizers},
    LaunchRow{"zero_optimization.stage", "strategy.zero", count, "0"},
    LaunchRow{"zero_optimization.mics_shard_size", "", special},
    LaunchRow{"zero_optimization.overlap_comm", "", special},
    LaunchRow{"zero_optimization.offload_optimizer.device", "", special},
    LaunchRow{"zero_optimization.offload_param.device", "", special},
    LaunchRow{"zero_optimization.cpu_offload", "", special},
    LaunchRow{"tensor_parallel.autotp_size", "strategy.tp"},
    LaunchRow{"expert_parallel.autoep_size", "strategy.ep"},
    LaunchRow{"activation_checkpointing.cpu_checkpointing", "training.offload.activations", yes, "false"},
};

constexpr auto passed = std::to_array<std::string_view>({"zero_optimization.*",
                                                         "bf16.*",
                                                         "fp16.*",
                                                         "optimizer.*",
                                                         "scheduler.*",
                                                         "activation_checkpointing.*",
                                                         "expert_parallel.*",
                                                         "tensor_parallel.*",
                                                         "gradient_clipping",
                                                         "communication_data_type",
                                                         "prescale_gradients",
                                                         "gradient_predivide_factor",
                                                         "sparse_gradients",
                                                         "steps_per_print",
                                                         "wall_clock_breakdown",
                                                         "dump_state",
                                                         "flops_profiler.*",
                                                         "comms_logger.*",
                                                         "tensorboard.*",
                                                         "wandb.*",
                                                         "csv_monitor.*",
                                                         "aio.*",
                                                         "checkpoint.*",
                                                         "nebula.*",
                                                         "elasticity.*",
                                                         "autotuning.*",
                                                         "zero_allow_untested_optimizer",
                                                         "zero_force_ds_cpu_optimizer",
                                                         "data_efficiency.*"});

constexpr std::string_view in_code = "in the model's code; DeepSpeed's file has no key for it";

constexpr std::array gaps{
    LaunchGap{"strategy.dp", "", ""},
    LaunchGap{"model.*", "", ""},
    LaunchGap{"strategy.pp", "1", "PipelineModule(num_stages=) says it"},
    LaunchGap{"strategy.vpp", "1", "DeepSpeed does not interleave"},
    LaunchGap{"strategy.cp", "1", in_code},
    LaunchGap{"strategy.cp_form", "", in_code},
    LaunchGap{"strategy.schedule", "\"1f1b\"", "DeepSpeed runs 1F1B"},
    LaunchGap{"strategy.recompute", "", in_code},
    LaunchGap{"strategy.recompute_block", "1", in_code},
    LaunchGap{"strategy.sequence_parallel", "", in_code},
    LaunchGap{"strategy.cuda_graphs", "false", in_code},
    LaunchGap{"strategy.overlap_experts", "false", in_code},
    LaunchGap{"strategy.order", "\"tp-cp-dp-pp\"", in_code},
    LaunchGap{"strategy.*", "", in_code},
    LaunchGap{"training.seq_len", "", in_code},
    LaunchGap{"training.tokens", "", in_code},
    LaunchGap{"training.software", "\"deepspeed\"", "another software than what is launched"},
    LaunchGap{"training.method", "\"full\"", in_code},
    LaunchGap{"training.lora_rank", "", in_code},
    LaunchGap{"training.double_quant", "", in_code},
    LaunchGap{"training.flash_attention", "", in_code},
    LaunchGap{"training.dropout", "", in_code},
    LaunchGap{"training.fused_loss", "", in_code},
    LaunchGap{"training.compile", "false", in_code},
    LaunchGap{"training.overlap", "false", "overlap_comm is part of ZeRO, from stage 1 up"},
    LaunchGap{"training.async_tp", "false", in_code},
    LaunchGap{"training.vocab_multiple", "1", in_code},
    LaunchGap{"training.precision", "", "DeepSpeed has no such recipe"},
    LaunchGap{"training.bucket_bytes", "", "reduce_bucket_size counts elements"},
    LaunchGap{"training.offload_to", "\"host\"", "checkpoints go to the host's memory"},
};

void write_batch(LaunchWriting& writing) {
  const LaunchPlan& plan = writing.plan;
  const std::int64_t pass = plan.count("strategy.micro_batch", 1) * plan.count("strategy.dp", 1);
  const std::int64_t batch = plan.count("training.global_batch", 0);
  if (pass > 0 && batch % pass == 0) {
    writing.put_count("gradient_accumulation_steps", batch / pass);
  }
}

void write_precision(LaunchWriting& writing) {
  const std::string precision = writing.plan.word("training.precision");
  if (precision == "bf16" || precision == "fp16") {
    writing.put(precision + ".enabled", flag_value(true));
  }
  if (precision == "bf16" || precision == "fp16" || precision == "fp32") {
    writing.cover("training.precision");
  }
  // Two bytes a gradient are those of the run's own 16-bit format.
  if (precision == "fp16" && writing.plan.word("training.gradients") == "bf16") {
    writing.put_word("data_types.grad_accum_dtype", "fp16");
    writing.cover("training.gradients");
  }
}

void write_offload(LaunchWriting& writing) {
  const LaunchPlan& plan = writing.plan;
  if (plan.flag("training.offload.optimizer")) {
    writing.put_word("zero_optimization.offload_optimizer.device",
                     plan.word("training.offload_to", "host") == "nvme" ? "nvme" : "cpu");
    writing.put("zero_optimization.offload_optimizer.pin_memory", flag_value(true));
    writing.cover("training.offload_to");
  }
  writing.cover("training.offload.optimizer");
  if (plan.flag("training.offload.parameters")) {
    writing.put_word("zero_optimization.offload_param.device",
                     plan.word("training.offload_to", "host") == "nvme" ? "nvme" : "cpu");
    writing.put("zero_optimization.offload_param.pin_memory", flag_value(true));
    writing.cover("training.offload_to");
    writing.cover("training.offload.parameters");
  }
}

void write_sharding(LaunchWriting& writing) {
  const LaunchPlan& plan = writing.plan;
  if (const ConfigValue* shared = plan.find("strategy.shard_ranks")) {
    if (plan.count("strategy.zero", 0) == 3) {
      writing.put("zero_optimization.mics_shard_size", *shared);
      writing.cover("strategy.shard_ranks");
    } else {
      writing.miss("strategy.shard_ranks", "mics_shard_size is ZeRO 3's alone");
    }
  }
  if (plan.count("strategy.tp", 1) == 1) {
    writing.cover("strategy.tp");
  }
  if (plan.count("strategy.ep", 1) == 1) {
    writing.cover("strategy.ep");
  } else if (plan.count("strategy.zero", 0) == 3) {
    writing.miss("strategy.ep", "AutoEP takes ZeRO 0 to 2");
  } else {
    writing.put("expert_parallel.enabled", flag_value(true));
  }
  if (plan.count("strategy.tp", 1) == 1) {
    writing.cover("strategy.etp");
  }
  if (!plan.flag("training.offload.activations")) {
    writing.cover("training.offload.activations");
  }
}

void write_overlap(LaunchWriting& writing) {
  if (writing.plan.count("strategy.zero", 0) > 0) {
    writing.put("zero_optimization.overlap_comm", flag_value(writing.plan.flag("training.overlap", true)));
    writing.cover("training.overlap");
  }
}

/// Not said, it is on at ZeRO 3 alone.
void read_overlap(const LaunchItems& items, bool trainer_says, LaunchReading& reading) {
  if (const ConfigValue* overlap = items.find("zero_optimization.overlap_comm")) {
    if (const auto flag = reading.flag_of("zero_optimization.overlap_comm", *overlap)) {
      reading.state("training.overlap", flag_value(*flag), *overlap);
    }
  } else if (!trainer_says) {
    reading.assume("training.overlap", flag_value(reading.plan.count("strategy.zero", 0) == 3));
  }
}

/// "auto" leaves a key to the trainer that reads the file (Hugging Face).
LaunchItems without_auto(const LaunchItems& items, LaunchReading& reading) {
  LaunchItems kept;
  for (const LaunchItem& item : items.all()) {
    if (item.value.kind == Kind::text && item.value.text == "auto") {
      reading.remark(item.value, "ignored: " + item.name + " \"auto\": the trainer says it");
    } else if (item.value.kind != Kind::null) {
      kept.put(item.name, item.value);
    }
  }
  return kept;
}

bool is_true(const LaunchItems& items, std::string_view name, LaunchReading& reading) {
  const ConfigValue* item = items.find(name);
  return item != nullptr && reading.flag_of(name, *item).value_or(false);
}

void read_precision(const LaunchItems& items, bool trainer_says, LaunchReading& reading) {
  const bool bf16 = is_true(items, "bf16.enabled", reading);
  const bool fp16 = is_true(items, "fp16.enabled", reading);
  if (bf16 && fp16) {
    reading.failed.emplace("training.precision");
    return reading.problem(*items.find("fp16.enabled"), "'fp16.enabled' and 'bf16.enabled' exclude each other");
  }
  if (bf16 || fp16) {
    reading.state("training.precision", word_value(bf16 ? "bf16" : "fp16"),
                  *items.find(bf16 ? "bf16.enabled" : "fp16.enabled"));
  } else if (!trainer_says) {
    reading.assume("training.precision", word_value("fp32"));
  }
}

void read_offload(const LaunchItems& items, LaunchReading& reading) {
  constexpr std::array<std::string_view, 3> devices{"none", "cpu", "nvme"};
  if (const ConfigValue* device = items.find("zero_optimization.offload_optimizer.device")) {
    const auto word = reading.choice_of("zero_optimization.offload_optimizer.device", *device, devices);
    if (word && *word != "none") {
      reading.state("training.offload.optimizer", flag_value(true), *device);
      reading.state("training.offload_to", word_value(*word == "nvme" ? "nvme" : "host"), *device);
    }
  }
  if (is_true(items, "zero_optimization.cpu_offload", reading)) {
    reading.state("training.offload.optimizer", flag_value(true), *items.find("zero_optimization.cpu_offload"));
  }
  if (const ConfigValue* device = items.find("zero_optimization.offload_param.device")) {
    const auto word = reading.choice_of("zero_optimization.offload_param.device", *device, devices);
    if (word && *word != "none") {
      reading.state("training.offload.parameters", flag_value(true), *device);
      reading.state("training.offload_to", word_value(*word == "nvme" ? "nvme" : "host"), *device);
    }
  }
}

void read_sizes(const LaunchItems& items, LaunchReading& reading) {
  if (const ConfigValue* shared = items.find("zero_optimization.mics_shard_size")) {
    const auto count = reading.count_of("zero_optimization.mics_shard_size", *shared, {-1, machine_count.high});
    if (count && *count > 0) {
      reading.state("strategy.shard_ranks", count_value(*count), *shared);
    }
  }
  reading.take_count(items, "gradient_accumulation_steps", "launch.accumulation", machine_count);
}

void write_json(const ConfigValue& value, JsonWriter& json) {
  switch (value.kind) {
    case Kind::boolean: return json.boolean(value.boolean);
    case Kind::integer: return json.integer(value.integer);
    case Kind::number: return json.number(value.number);
    case Kind::text: return json.text(value.text);
    default: break;
  }
  json.begin_object();
  for (const ConfigEntry& entry : value.entries) {
    json.key(entry.key);
    write_json(entry.value, json);
  }
  json.end_object();
}

}  // namespace

LaunchText deepspeed_text(const LaunchPlan& plan) {
  LaunchWriting writing{plan, true};
  write_precision(writing);
  write_offload(writing);
  write_sharding(writing);
  write_overlap(writing);
  write_rows(rows, writing);
  write_batch(writing);
  note_gaps(gaps, "DeepSpeed", writing);
  writing.note("model", value_text(word_value(plan.word("launch.model"))), "the model's code");
  JsonWriter json;
  write_json(nested(writing.items), json);
  return {json.take(), writing.notes};
}

void read_deepspeed_text(const ConfigSource& source, LaunchReading& reading) {
  const LaunchItems written = items_of_document(parse_json(source.text, source.file));
  const LaunchItems items = without_auto(written, reading);
  const auto left_open = [&](std::string_view name) { return written.has(name) && !items.has(name); };
  read_rows(rows, passed, items, reading);
  read_precision(items, left_open("bf16.enabled") || left_open("fp16.enabled"), reading);
  read_offload(items, reading);
  read_sizes(items, reading);
  read_absent(rows, items, reading);
  read_overlap(items, left_open("zero_optimization.overlap_comm") || left_open("zero_optimization.stage"), reading);
  reading.assume("strategy.overlap_experts", flag_value(false));
  reading.assume("training.software", word_value("deepspeed"));
  reading.assume("training.vocab_multiple", count_value(1));
}

}  // namespace headroom::launch
