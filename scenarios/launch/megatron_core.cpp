// SPDX-License-Identifier: Apache-2.0
// Arguments of strategy and training that map to more than one key.
#include <headroom/scenarios/launch/megatron_core.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::launch {
namespace {

using Kind = ConfigValue::Kind;

constexpr std::array<std::string_view, 4> sharding{"no_shard", "optim", "optim_grads", "optim_grads_params"};

/// Whether a bare flag is present and not set to false.
bool is_on(const LaunchItems& items, std::string_view name) {
  const ConfigValue* item = items.find(name);
  return item != nullptr && item->kind != Kind::null && !(item->kind == Kind::boolean && !item->boolean) &&
         !(item->kind == Kind::text && (item->text == "false" || item->text == "False"));
}

// ---- sharded states

void write_core_sharding(LaunchWriting& writing) {
  const LaunchPlan& plan = writing.plan;
  const std::int64_t zero = plan.count("strategy.zero", 0);
  writing.put_flag("--use-distributed-optimizer", zero >= 1);
  if (zero >= 2) {
    writing.put_flag("--use-megatron-fsdp", true);
    writing.put_word("--data-parallel-sharding-strategy", sharding[static_cast<std::size_t>(zero)]);
    writing.put_word("--ckpt-format", "fsdp_dtensor");
  } else if (writing.explicitly) {
    writing.put_flag("--use-megatron-fsdp", false);
  }
  writing.cover("strategy.zero");
  const std::int64_t data_ranks = plan.count("strategy.dp", 1) * plan.count("strategy.cp", 1);
  if (const std::int64_t shared = plan.count("strategy.shard_ranks", 0);
      zero > 0 && shared > 0 && data_ranks % shared == 0) {
    if (data_ranks > shared || writing.explicitly) {
      writing.put_count("--num-distributed-optimizer-instances", data_ranks / shared);
    }
    writing.cover("strategy.shard_ranks");
  }
}

void read_sharding(const LaunchItems& items, Absent absent, LaunchReading& reading) {
  const ConfigValue* optimizer = items.find("--use-distributed-optimizer");
  const ConfigValue* strategy = items.find("--data-parallel-sharding-strategy");
  if (is_on(items, "--use-megatron-fsdp")) {
    const ConfigValue& fsdp = *items.find("--use-megatron-fsdp");
    std::int64_t zero = 0;
    if (strategy != nullptr) {
      const auto word = reading.choice_of("--data-parallel-sharding-strategy", *strategy, sharding);
      zero = word ? std::find(sharding.begin(), sharding.end(), *word) - sharding.begin() : 0;
    }
    reading.state("strategy.zero", count_value(zero), strategy != nullptr ? *strategy : fsdp);
  } else if (is_on(items, "--use-torch-fsdp2")) {
    const bool kept = is_on(items, "--torch-fsdp2-no-reshard-after-forward");
    reading.state("strategy.zero", count_value(kept ? 2 : 3), *items.find("--use-torch-fsdp2"));
  } else if (optimizer != nullptr) {
    reading.state("strategy.zero", count_value(is_on(items, "--use-distributed-optimizer") ? 1 : 0), *optimizer);
  } else if (absent == Absent::is_default) {
    reading.assume("strategy.zero", count_value(0));
  }
  reading.take_count(items, "--num-distributed-optimizer-instances", "launch.replicas", machine_count);
}

// ---- traffic beside compute, order of ranks

/// Written for a single data rank too, because an absent flag would read as a run without overlap.
void write_core_overlap(LaunchWriting& writing) {
  const LaunchPlan& plan = writing.plan;
  const bool overlap = plan.flag("training.overlap", true);
  writing.put_flag("--overlap-grad-reduce", overlap);
  writing.put_flag("--overlap-param-gather", overlap && plan.count("strategy.zero", 0) >= 1);
  writing.cover("training.overlap");
  if (plan.has("training.async_tp") && plan.flag("strategy.sequence_parallel")) {
    writing.put_flag("--tp-comm-overlap", plan.flag("training.async_tp"));
    writing.cover("training.async_tp");
  }
}

void read_overlap(const LaunchItems& items, Absent absent, LaunchReading& reading) {
  const ConfigValue* gradients = items.find("--overlap-grad-reduce");
  if (gradients != nullptr) {
    const bool on = is_on(items, "--overlap-grad-reduce");
    reading.state("training.overlap", flag_value(on), *gradients);
    const bool weights =
        is_on(items, "--overlap-param-gather") || (absent == Absent::is_unsaid && !items.has("--overlap-param-gather"));
    if (on && !weights && reading.plan.count("strategy.zero", 0) >= 1) {
      reading.remark(*gradients, "ignored: " + reading.called("--overlap-param-gather") +
                                     " is off: no scenario key says that gradients alone run beside compute");
    }
  } else if (absent == Absent::is_default) {
    reading.assume("training.overlap", flag_value(false));
  }
  if (const ConfigValue* tensor = items.find("--tp-comm-overlap")) {
    reading.state("training.async_tp", flag_value(is_on(items, "--tp-comm-overlap")), *tensor);
  }
}

constexpr std::string_view default_order = "tp-cp-dp-pp";
constexpr std::string_view stages_inside = "tp-cp-pp-dp";

void write_order(LaunchWriting& writing) {
  const std::string order = writing.plan.word("strategy.order", default_order);
  if (order == stages_inside && writing.plan.count("strategy.zero", 0) >= 2) {
    return writing.miss("strategy.order", "Megatron FSDP does not take --use-tp-pp-dp-mapping");
  }
  if (order == default_order || order == stages_inside) {
    writing.put_flag("--use-tp-pp-dp-mapping", order == stages_inside);
    writing.cover("strategy.order");
  }
}

void read_order(const LaunchItems& items, LaunchReading& reading) {
  if (const ConfigValue* mapping = items.find("--use-tp-pp-dp-mapping")) {
    const bool inside = is_on(items, "--use-tp-pp-dp-mapping");
    reading.state("strategy.order", word_value(inside ? stages_inside : default_order), *mapping);
  }
}

// ---- recomputation

void write_recompute(LaunchWriting& writing) {
  const std::string how = writing.plan.word("strategy.recompute", "none");
  if (how != "none") {
    writing.put_word("--recompute-granularity", how);
  } else if (writing.explicitly) {
    writing.put("--recompute-granularity", nothing());
  }
  if (how == "full") {
    writing.put_word("--recompute-method", "uniform");
    writing.put_count("--recompute-num-layers", writing.plan.count("strategy.recompute_block", 1));
  }
  writing.cover("strategy.recompute");
  writing.cover("strategy.recompute_block");
}

/// The method `block` recomputes some layers of a stage, which no scenario key expresses, unless it covers all of them.
void read_full_recompute(const LaunchItems& items, LaunchReading& reading) {
  const ConfigValue* method = items.find("--recompute-method");
  const ConfigValue* number = items.find("--recompute-num-layers");
  constexpr std::array<std::string_view, 2> methods{"uniform", "block"};
  const std::optional<std::string> word =
      method != nullptr ? reading.choice_of("--recompute-method", *method, methods) : std::optional<std::string>{};
  const std::optional<std::int64_t> layers = number != nullptr
                                                 ? reading.count_of("--recompute-num-layers", *number, layer_count)
                                                 : std::optional<std::int64_t>{};
  if (word == "uniform" && layers) {
    return reading.state("strategy.recompute_block", count_value(*layers), *number);
  }
  if (word == "block" && layers) {
    const std::int64_t stages =
        std::max<std::int64_t>(1, product(reading.plan.count("strategy.pp", 1), reading.plan.count("strategy.vpp", 1)));
    const std::int64_t model = reading.plan.count("model.layers", 0);
    const std::int64_t all = model < 1 ? 0 : (model - 1) / stages + 1;
    if (all == 0 || *layers < all) {
      reading.problem(*number, "'--recompute-method block' of " + std::to_string(*layers) + " layers" +
                                   (all > 0 ? " out of " + std::to_string(all) + " of a stage" : std::string{}) +
                                   ": no scenario key says a part; use uniform, or --set strategy.recompute=");
    }
  }
}

void read_recompute(const LaunchItems& items, Absent absent, LaunchReading& reading) {
  const ConfigValue* granularity = items.find("--recompute-granularity");
  constexpr std::array<std::string_view, 3> words{"none", "selective", "full"};
  if (granularity != nullptr && (granularity->kind == Kind::null || granularity->text == "null")) {
    reading.state("strategy.recompute", word_value("none"), *granularity);
  } else if (granularity != nullptr) {
    const auto word = reading.choice_of("--recompute-granularity", *granularity, words);
    if (word) {
      reading.state("strategy.recompute", word_value(*word), *granularity);
    }
    if (word == "full") {
      read_full_recompute(items, reading);
    }
  }
  if (const ConfigValue* old = items.find("--recompute-activations");
      old != nullptr && is_on(items, "--recompute-activations")) {
    reading.state("strategy.recompute", word_value("selective"), *old);
  }
  if (const ConfigValue* modules = items.find("--recompute-modules")) {
    reading.remark(*modules, "ignored: --recompute-modules: what is formed again is the software's selective");
  }
  if (absent == Absent::is_default && granularity == nullptr) {
    reading.assume("strategy.recompute", word_value("none"));
  }
}

// ---- precision, gradients, optimizer

struct PrecisionFlags {
  std::string_view precision, width, fp8, recipe, fp4;
};
constexpr std::array precisions{
    PrecisionFlags{"bf16", "--bf16", "", "", ""},      PrecisionFlags{"fp16", "--fp16", "", "", ""},
    PrecisionFlags{"fp8", "--bf16", "hybrid", "", ""}, PrecisionFlags{"mxfp8", "--bf16", "e4m3", "mxfp8", ""},
    PrecisionFlags{"nvfp4", "--bf16", "", "", "e2m1"}, PrecisionFlags{"fp32", "", "", "", ""},
};

void write_core_precision(LaunchWriting& writing) {
  const std::string precision = writing.plan.word("training.precision");
  for (const PrecisionFlags& flags : precisions) {
    if (flags.precision != precision) {
      continue;
    }
    if (!flags.width.empty()) {
      writing.put_flag(flags.width, true);
    }
    for (const auto& [name, word] : {std::pair{"--fp8-format", flags.fp8}, std::pair{"--fp8-recipe", flags.recipe},
                                     std::pair{"--fp4-format", flags.fp4}}) {
      if (!word.empty()) {
        writing.put_word(name, word);
      }
    }
    writing.cover("training.precision");
    const std::string gradients = writing.plan.word("training.gradients");
    if (flags.width == "--bf16") {
      writing.put_flag("--grad-reduce-in-bf16", gradients == "bf16");
    }
    if (gradients == "fp32" || (writing.explicitly && !gradients.empty())) {
      writing.put_flag("--accumulate-allreduce-grads-in-fp32", gradients == "fp32");
    }
    writing.cover("training.gradients");
  }
}

void read_gradients(const LaunchItems& items, std::string_view width, Absent absent, LaunchReading& reading) {
  for (const auto& [name, word] :
       {std::pair{"--grad-reduce-in-bf16", "bf16"}, std::pair{"--accumulate-allreduce-grads-in-fp32", "fp32"}}) {
    if (is_on(items, name)) {
      reading.state("training.gradients", word_value(word), *items.find(name));
    }
  }
  if (absent == Absent::is_default && !width.empty()) {
    // By default bf16 gradients are accumulated in fp32, fp16 gradients in two bytes.
    reading.assume("training.gradients", word_value(width == "--bf16" ? "fp32" : "bf16"));
  }
}

void read_precision(const LaunchItems& items, Absent absent, LaunchReading& reading) {
  const bool bf16 = is_on(items, "--bf16");
  const bool fp16 = is_on(items, "--fp16");
  const std::string_view width = bf16 ? "--bf16" : fp16 ? "--fp16" : "";
  if (bf16 && fp16) {
    reading.failed.emplace("training.precision");
    return reading.problem(*items.find("--fp16"), "'--fp16' and '--bf16' exclude each other; leave one");
  }
  if (is_on(items, "--fp4-format")) {
    reading.state("training.precision", word_value("nvfp4"), *items.find("--fp4-format"));
  } else if (is_on(items, "--fp8-format")) {
    const ConfigValue* recipe = items.find("--fp8-recipe");
    const bool blocks = recipe != nullptr && recipe->kind == Kind::text && recipe->text == "mxfp8";
    constexpr std::array<std::string_view, 2> formats{"e4m3", "hybrid"};
    if (reading.choice_of("--fp8-format", *items.find("--fp8-format"), formats)) {
      reading.state("training.precision", word_value(blocks ? "mxfp8" : "fp8"), *items.find("--fp8-format"));
    }
  } else if (!width.empty()) {
    reading.state("training.precision", word_value(width.substr(2)), *items.find(width));
  } else if (absent == Absent::is_default) {
    reading.assume("training.precision", word_value("fp32"));
  }
  read_gradients(items, width, absent, reading);
}

struct OptimizerFlags {
  std::string_view optimizer, word, moments;
};
/// Narrower moments belong to the precision-aware optimizer (--exp-avg-dtype, --exp-avg-sq-dtype).
constexpr std::array core_optimizers{
    OptimizerFlags{"adamw", "adam", ""},         OptimizerFlags{"adamw-bf16", "adam", "bf16"},
    OptimizerFlags{"adamw-8bit", "adam", "fp8"}, OptimizerFlags{"momentum", "sgd", ""},
    OptimizerFlags{"muon", "muon", ""},          OptimizerFlags{"lion", "lion", ""},
};

void write_optimizer(LaunchWriting& writing) {
  const std::string optimizer = writing.plan.word("training.optimizer", "adamw");
  const bool aware = writing.plan.flag("training.offload.optimizer");
  if (optimizer == "sgd") {
    writing.put_word("--optimizer", "sgd");
    writing.put("--sgd-momentum", number_value(0.0));
    writing.cover("training.optimizer");
  }
  for (const OptimizerFlags& flags : core_optimizers) {
    if (flags.optimizer != optimizer) {
      continue;
    }
    writing.put_word("--optimizer", flags.word);
    if (!flags.moments.empty() || aware) {
      writing.put_flag("--use-precision-aware-optimizer", true);
    }
    if (!flags.moments.empty()) {
      writing.put_word("--exp-avg-dtype", flags.moments);
      writing.put_word("--exp-avg-sq-dtype", flags.moments);
    }
    writing.cover("training.optimizer");
  }
}

void read_optimizer(const LaunchItems& items, Absent absent, LaunchReading& reading) {
  const ConfigValue* name = items.find("--optimizer");
  constexpr std::array<std::string_view, 5> words{"adam", "sgd", "muon", "dist_muon", "lion"};
  std::string word = "adam";
  if (name != nullptr) {
    const auto chosen = reading.choice_of("--optimizer", *name, words);
    if (!chosen) {
      return;
    }
    word = *chosen == "dist_muon" ? "muon" : *chosen;
  } else if (absent == Absent::is_unsaid) {
    return;
  }
  std::string moments;
  if (const ConfigValue* first = items.find("--exp-avg-dtype"); first != nullptr && first->kind == Kind::text) {
    moments = first->text == "fp32" ? "" : first->text;
  }
  if (const ConfigValue* momentum = items.find("--sgd-momentum"); momentum != nullptr && word == "sgd") {
    if (reading.number_of("--sgd-momentum", *momentum, share) == 0.0) {
      return reading.state("training.optimizer", word_value("sgd"), *momentum);
    }
  }
  for (const OptimizerFlags& flags : core_optimizers) {
    if (flags.word == word && (flags.moments == moments || word != "adam")) {
      return name != nullptr ? reading.state("training.optimizer", word_value(flags.optimizer), *name)
                             : reading.assume("training.optimizer", word_value(flags.optimizer));
    }
  }
  reading.problem(*items.find("--exp-avg-dtype"),
                  reading.called("--exp-avg-dtype") + " is " + quoted(moments) + "; known here: fp32, bf16, fp8");
}

// ---- the rest

void write_training(LaunchWriting& writing) {
  const LaunchPlan& plan = writing.plan;
  const double step = tokens_of_step(plan);
  if (const double tokens = plan.number("training.tokens", 0.0); tokens > 0.0 && step > 0.0) {
    writing.put_count("--train-iters", static_cast<std::int64_t>(std::ceil(tokens / step)));
    writing.cover("training.tokens");
  }
  if (const ConfigValue* dropout = plan.find("training.dropout")) {
    writing.put("--attention-dropout", number_value(dropout->boolean ? 0.1 : 0.0));
    writing.put("--hidden-dropout", number_value(dropout->boolean ? 0.1 : 0.0));
    writing.cover("training.dropout");
  }
}

void read_length(const LaunchItems& items, LaunchReading& reading) {
  reading.take_count(items, "--train-iters", "launch.iterations", positive);
  if (const ConfigValue* samples = items.find("--train-samples")) {
    if (const auto count = reading.count_of("--train-samples", *samples, positive)) {
      const auto length = static_cast<double>(reading.plan.count("training.seq_len", 0));
      reading.state("training.tokens", number_value(static_cast<double>(*count) * length), *samples);
    }
  }
}

void read_dropout(const LaunchItems& items, Absent absent, LaunchReading& reading) {
  const ConfigValue* stated = nullptr;
  bool any = false;
  for (const std::string_view name : {"--attention-dropout", "--hidden-dropout"}) {
    const ConfigValue* item = items.find(name);
    if (item == nullptr) {
      any = any || absent == Absent::is_default;  // Megatron-LM's default is 0.1
      continue;
    }
    stated = item;
    const bool drops = reading.number_of(name, *item, share).value_or(0.0) > 0.0;  // also reports wrong values
    any = any || drops;
  }
  if (stated != nullptr) {
    reading.state("training.dropout", flag_value(any), *stated);
  } else if (absent == Absent::is_default) {
    reading.assume("training.dropout", flag_value(any));
  }
}

void read_schedule(const LaunchItems& items, LaunchReading& reading) {
  if (const ConfigValue* chunk = items.find("--num-layers-per-virtual-pipeline-stage")) {
    if (const auto layers = reading.count_of("--num-layers-per-virtual-pipeline-stage", *chunk, layer_count)) {
      const std::int64_t pp = reading.plan.count("strategy.pp", 1);
      const std::int64_t all = reading.plan.count("model.layers", 0);
      const std::int64_t chunks = product(pp, *layers);
      if (all > 0 && (chunks == 0 || all % chunks != 0)) {
        return reading.problem(*chunk, std::to_string(all) + " layers on " + std::to_string(pp) +
                                           " stages do not divide into chunks of " + std::to_string(*layers));
      }
      if (all > 0) {
        reading.state("strategy.vpp", count_value(all / pp / *layers), *chunk);
      } else {
        reading.state("launch.chunk_layers", count_value(*layers), *chunk);  // divided later by the preset's layers
      }
    }
  }
  for (const std::string_view name : {"--enable-cuda-graph", "--external-cuda-graph"}) {
    if (is_on(items, name)) {
      reading.state("strategy.cuda_graphs", flag_value(true), *items.find(name));
    }
  }
  if (is_on(items, "--use-flash-attn")) {
    reading.state("training.flash_attention", flag_value(true), *items.find("--use-flash-attn"));
  }
  if (reading.plan.count("strategy.cp", 1) <= 1) {
    reading.plan.erase("strategy.cp_form");
  }
}

}  // namespace

LaunchWriting write_megatron(const LaunchPlan& plan, bool explicitly) {
  LaunchWriting writing{plan, explicitly};
  write_rows(megatron_rows(), writing);
  write_megatron_network(writing);
  write_megatron_details(writing);
  write_core_sharding(writing);
  write_core_overlap(writing);
  write_order(writing);
  write_recompute(writing);
  write_core_precision(writing);
  write_optimizer(writing);
  write_training(writing);
  note_gaps(megatron_gaps(), "Megatron-Core", writing);
  return writing;
}

void read_megatron(const LaunchItems& items, Absent absent, LaunchReading& reading) {
  read_rows(megatron_rows(), megatron_passed(), items, reading);
  read_megatron_network(items, absent, reading);
  read_megatron_details(items, absent, reading);
  read_sharding(items, absent, reading);
  read_overlap(items, absent, reading);
  read_order(items, reading);
  read_recompute(items, absent, reading);
  read_precision(items, absent, reading);
  read_optimizer(items, absent, reading);
  read_dropout(items, absent, reading);
  read_length(items, reading);
  read_schedule(items, reading);
  if (absent == Absent::is_default) {
    read_absent(megatron_rows(), items, reading);
    if (reading.plan.count("strategy.cp", 1) > 1) {
      reading.assume("strategy.cp_form", word_value("ring"));  // Megatron-LM's default is p2p
    }
  }
}

}  // namespace headroom::launch
