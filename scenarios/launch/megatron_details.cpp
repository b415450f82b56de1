// SPDX-License-Identifier: Apache-2.0
// Arguments that define the network without changing its bytes or seconds.
#include <headroom/scenarios/launch/megatron_core.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::launch {
namespace {

using Kind = ConfigValue::Kind;

// Constants without an argument in Megatron-Core: apply_scaling() of rotary_pos_embedding.py and MLATransformerConfig.
constexpr double llama_low_freq = 1.0, llama_high_freq = 4.0, yarn_beta_fast = 32.0, yarn_beta_slow = 1.0;
constexpr std::int64_t llama_positions = 8192, yarn_positions = 4096;

/// Doubles that represent integers exactly.
constexpr Range<double> whole_numbers{-0x1p53, 0x1p53};

/// Activation names of Megatron-Bridge (src/megatron/bridge/utils/activation_map.py); the first synonym is written.
constexpr std::array functions{LaunchWord{"silu", "silu"},           LaunchWord{"gelu", "gelu"},
                               LaunchWord{"fast_gelu", "gelu-tanh"}, LaunchWord{"gelu_pytorch_tanh", "gelu-tanh"},
                               LaunchWord{"relu", "relu"},           LaunchWord{"squared_relu", "relu2"},
                               LaunchWord{"relu2", "relu2"}};

bool is_latent(const LaunchPlan& plan) {
  return plan.has("model.mla.kv_rank");
}

/// Writes a flag from a key of the plan; false when the plan lacks the key.
bool put_known(std::string_view flag, std::string_view key, LaunchWriting& writing) {
  const ConfigValue* value = writing.plan.find(key);
  if (value != nullptr) {
    writing.put(flag, *value);
    writing.cover(key);
  }
  return value != nullptr;
}

// ---- writing

/// Megatron-LM has a flag per gated activation and by default uses tanh-approximated GELU without a gate.
/// Megatron-Bridge's explicit form always names the function.
void write_activation(LaunchWriting& writing) {
  const std::string word = writing.plan.word("model.activation");
  const bool gated = writing.plan.flag("model.gated_mlp");
  const auto* function =
      std::find_if(functions.begin(), functions.end(), [&](const auto& f) { return f.ours == word; });
  if (word.empty()) {
    return writing.lack("model.activation");
  }
  if (writing.explicitly && function != functions.end()) {
    writing.put_word("--activation-func", function->theirs);
    return writing.cover("model.activation");
  }
  writing.put_flag("--squared-relu", !gated && word == "relu2");
  if (gated ? word == "silu" : word == "relu2" || word.starts_with("gelu")) {
    writing.cover("model.activation");
  } else {
    writing.miss("model.activation", gated ? "--swiglu gates with SiLU: another network is launched"
                                           : "Megatron-LM has no such activation: another network is launched");
  }
}

bool is(const LaunchPlan& plan, std::string_view key, double value) {
  return plan.number(key, value) == value;
}

void cover_scaling(LaunchWriting& writing) {
  for (const ConfigEntry& entry : writing.plan.entries()) {
    if (entry.key.starts_with("model.rope_scaling.")) {
      writing.cover(entry.key);
    }
  }
}

/// Writes RoPE scaling; note_gaps() reports what has no argument.
void write_stretch(LaunchWriting& writing) {
  const LaunchPlan& plan = writing.plan;
  const std::string kind = plan.word("model.rope_scaling.kind", "none");
  const double factor = plan.number("model.rope_scaling.factor", 0.0);
  const bool yarn = kind == "yarn" && is_latent(plan);
  const bool llama = kind == "llama3" && is(plan, "model.rope_scaling.low_freq", llama_low_freq) &&
                     is(plan, "model.rope_scaling.high_freq", llama_high_freq) &&
                     plan.count("model.rope_scaling.original_positions", llama_positions) == llama_positions;
  if (is_latent(plan)) {
    writing.put_word("--rope-type", yarn ? "yarn" : "rope");  // the default of latent attention is YaRN
  }
  writing.put_flag("--use-rope-scaling", llama);
  if (llama) {
    put_known("--rope-scaling-factor", "model.rope_scaling.factor", writing);
    cover_scaling(writing);
  } else if (kind == "linear" && factor == std::floor(factor)) {
    writing.put_count("--rotary-seq-len-interpolation-factor", static_cast<std::int64_t>(factor));
    cover_scaling(writing);
  } else if (yarn) {
    put_known("--rotary-scaling-factor", "model.rope_scaling.factor", writing);
    put_known("--mscale", "model.rope_scaling.mscale", writing);
    put_known("--mscale-all-dim", "model.rope_scaling.mscale_all", writing);
    writing.cover("model.rope_scaling.kind");
    for (const auto& [key, value] : {std::pair{"model.rope_scaling.beta_fast", yarn_beta_fast},
                                     std::pair{"model.rope_scaling.beta_slow", yarn_beta_slow},
                                     std::pair{"model.rope_scaling.original_positions", double{yarn_positions}}}) {
      if (is(plan, key, value)) {
        writing.cover(key);
      }
    }
  }
}

void write_rotation(LaunchWriting& writing) {
  if (!put_known("--rotary-base", "model.rope_base", writing)) {
    writing.lack("model.rope_base");
  }
  if (!put_known("--rotary-percent", "model.rope_share", writing) && writing.explicitly) {
    writing.put("--rotary-percent", number_value(1.0));
  }
  if (writing.plan.has("model.rope_base_local")) {
    writing.miss("model.rope_base_local", "Megatron-LM turns all layers by one base: another network is launched");
  }
  write_stretch(writing);
}

void write_router(LaunchWriting& writing) {
  const LaunchPlan& plan = writing.plan;
  if (!plan.has("model.moe.experts")) {
    return;
  }
  const std::string score = plan.word("model.moe.score");
  if (!put_known("--moe-router-score-function", "model.moe.score", writing)) {
    writing.lack("model.moe.score");
  }
  const bool biased = plan.flag("model.moe.router_bias");
  if (biased && score != "sigmoid") {
    writing.miss("model.moe.router_bias", "Megatron-Core's bias goes with sigmoid scores");
  } else {
    writing.put_flag("--moe-router-enable-expert-bias", biased);
    writing.cover("model.moe.router_bias");
  }
  const ConfigValue* normalized = plan.find("model.moe.normalized");
  if (normalized == nullptr) {
    writing.lack("model.moe.normalized");
  } else if (score == "sigmoid" && !normalized->boolean && plan.count("model.moe.top_k", 1) > 1) {
    writing.miss("model.moe.normalized", "of sigmoid scores Megatron-Core lets the chosen sum to one");
  } else {
    writing.put_flag("--moe-router-pre-softmax", score == "softmax" && !normalized->boolean);
    writing.cover("model.moe.normalized");
  }
  put_known("--moe-router-topk-scaling-factor", "model.moe.scale", writing);
  put_known("--moe-router-num-groups", "model.moe.groups", writing);
  put_known("--moe-router-group-topk", "model.moe.top_groups", writing);
}

// ---- reading

/// Value of a flag; nullopt when absent.
std::optional<bool> flag_at(const LaunchItems& items, std::string_view name, LaunchReading& reading) {
  const ConfigValue* item = items.find(name);
  return item == nullptr || item->kind == Kind::null ? std::nullopt : reading.flag_of(name, *item);
}

void read_number(const LaunchItems& items, std::string_view name, std::string_view key, LaunchReading& reading) {
  const ConfigValue* item = items.find(name);
  if (item != nullptr && item->kind != Kind::null) {
    if (const auto number = reading.number_of(name, *item)) {
      reading.state(key, number_value(*number), *item);
    }
  }
}

/// Reads a count that some configurations of the software write as a float: 1000000.0, 1e6.
void read_whole(const LaunchItems& items, std::string_view name, std::string_view key, LaunchReading& reading) {
  const ConfigValue* item = items.find(name);
  const bool there = item != nullptr && item->kind != Kind::null;
  const std::optional<double> number = there ? reading.number_of(name, *item, whole_numbers) : std::nullopt;
  if (!number) {
    return;
  }
  if (*number != std::floor(*number)) {
    return reading.problem(*item, reading.called(name) + " is " + quoted(value_text(number_value(*number))) +
                                      "; it must be a whole number");
  }
  reading.state(key, count_value(static_cast<std::int64_t>(*number)), *item);
}

void read_count(const LaunchItems& items, std::string_view name, std::string_view key, LaunchReading& reading) {
  const ConfigValue* item = items.find(name);
  if (item != nullptr && item->kind != Kind::null) {
    if (const auto count = reading.count_of(name, *item, any_count)) {
      reading.state(key, count_value(*count), *item);
    }
  }
}

void read_activation(const LaunchItems& items, Absent absent, LaunchReading& reading) {
  if (const ConfigValue* function = items.find("--activation-func")) {
    const auto word = reading.word_of("--activation-func", *function);
    const auto* known =
        std::find_if(functions.begin(), functions.end(), [&](const auto& f) { return f.theirs == word; });
    return known != functions.end()
               ? reading.state("model.activation", word_value(known->ours), *function)
               : reading.remark(*function, "ignored: " + reading.called("--activation-func") + ": no key says it");
  }
  if (flag_at(items, "--squared-relu", reading).value_or(false)) {
    reading.state("model.activation", word_value("relu2"), *items.find("--squared-relu"));
  } else if (absent == Absent::is_default && flag_at(items, "--swiglu", reading).value_or(false)) {
    reading.state("model.activation", word_value("silu"), *items.find("--swiglu"));
  } else if (absent == Absent::is_default && !items.has("--quick-geglu")) {
    reading.assume("model.activation", word_value("gelu"));
  }
}

/// Latent attention uses YaRN unless a type is stated; a factor of 1 has no effect.
void read_yarn(const LaunchItems& items, Absent absent, LaunchReading& reading) {
  const ConfigValue* type = items.find("--rope-type");
  constexpr std::array<std::string_view, 2> types{"rope", "yarn"};
  const std::string word = type == nullptr ? "" : reading.choice_of("--rope-type", *type, types).value_or("");
  const bool yarn = word == "yarn" || (word.empty() && absent == Absent::is_default);
  const ConfigValue* factor = items.find("--rotary-scaling-factor");
  const double stretch = factor == nullptr ? 1.0 : reading.number_of("--rotary-scaling-factor", *factor).value_or(1.0);
  if (!yarn || stretch == 1.0) {
    return;
  }
  reading.state("model.rope_scaling.kind", word_value("yarn"), *factor);
  reading.state("model.rope_scaling.factor", number_value(stretch), *factor);
  read_number(items, "--mscale", "model.rope_scaling.mscale", reading);
  read_number(items, "--mscale-all-dim", "model.rope_scaling.mscale_all", reading);
  if (absent == Absent::is_default) {
    reading.assume("model.rope_scaling.mscale", number_value(1.0));
    reading.assume("model.rope_scaling.mscale_all", number_value(0.0));
    reading.assume("model.rope_scaling.beta_fast", number_value(yarn_beta_fast));
    reading.assume("model.rope_scaling.beta_slow", number_value(yarn_beta_slow));
    reading.assume("model.rope_scaling.original_positions", count_value(yarn_positions));
  }
}

void read_stretch(const LaunchItems& items, Absent absent, LaunchReading& reading) {
  const std::optional<bool> llama = flag_at(items, "--use-rope-scaling", reading);
  if (llama.value_or(false)) {
    const ConfigValue& at = *items.find("--use-rope-scaling");
    reading.state("model.rope_scaling.kind", word_value("llama3"), at);
    read_number(items, "--rope-scaling-factor", "model.rope_scaling.factor", reading);
    reading.assume("model.rope_scaling.factor", number_value(8.0));
    reading.assume("model.rope_scaling.low_freq", number_value(llama_low_freq));
    reading.assume("model.rope_scaling.high_freq", number_value(llama_high_freq));
    reading.assume("model.rope_scaling.original_positions", count_value(llama_positions));
  } else if (const ConfigValue* linear = items.find("--rotary-seq-len-interpolation-factor");
             linear != nullptr && linear->kind != Kind::null) {
    read_number(items, "--rotary-seq-len-interpolation-factor", "model.rope_scaling.factor", reading);
    reading.state("model.rope_scaling.kind", word_value("linear"), *linear);
  } else if (is_latent(reading.plan)) {
    read_yarn(items, absent, reading);
  }
  if (llama == false && !reading.plan.has("model.rope_scaling.kind")) {
    reading.state("model.rope_scaling.kind", word_value("none"), *items.find("--use-rope-scaling"));
  } else if (absent == Absent::is_default) {
    reading.assume("model.rope_scaling.kind", word_value("none"));
  }
}

void read_rotation(const LaunchItems& items, Absent absent, LaunchReading& reading) {
  const ConfigValue* type = items.find("--position-embedding-type");
  const bool rotary = (type != nullptr && type->kind == Kind::text && type->text == "rope") ||
                      items.has("--use-rotary-position-embeddings");
  if (type != nullptr && type->kind == Kind::text && type->text == "none") {
    return reading.state("model.positions", word_value("none"), *type);
  }
  if (!rotary && (type != nullptr || absent == Absent::is_default)) {
    return;
  }
  read_whole(items, "--rotary-base", "model.rope_base", reading);
  read_number(items, "--rotary-percent", "model.rope_share", reading);
  read_stretch(items, absent, reading);
  if (absent == Absent::is_default) {
    reading.assume("model.rope_base", count_value(10000));
    reading.assume("model.rope_base_local", count_value(0));  // all layers share one RoPE base
    reading.assume("model.rope_share", number_value(1.0));
  }
}

void read_router(const LaunchItems& items, Absent absent, LaunchReading& reading) {
  if (const ConfigValue* score = items.find("--moe-router-score-function")) {
    constexpr std::array<std::string_view, 2> scores{"softmax", "sigmoid"};
    if (const auto word = reading.choice_of("--moe-router-score-function", *score, scores)) {
      reading.state("model.moe.score", word_value(*word), *score);
    }
  } else if (absent == Absent::is_default) {
    reading.assume("model.moe.score", word_value("softmax"));
  }
  if (const auto biased = flag_at(items, "--moe-router-enable-expert-bias", reading)) {
    reading.state("model.moe.router_bias", flag_value(*biased), *items.find("--moe-router-enable-expert-bias"));
  } else if (absent == Absent::is_default) {
    reading.assume("model.moe.router_bias", flag_value(false));
  }
  const std::string score = reading.plan.word("model.moe.score");
  if (const auto before = flag_at(items, "--moe-router-pre-softmax", reading); before && score == "softmax") {
    reading.state("model.moe.normalized", flag_value(!*before), *items.find("--moe-router-pre-softmax"));
  } else if (score == "softmax" ? absent == Absent::is_default
                                : score == "sigmoid" && reading.plan.count("model.moe.top_k", 1) > 1) {
    reading.assume("model.moe.normalized", flag_value(true));  // always true for sigmoid scores
  }
  read_number(items, "--moe-router-topk-scaling-factor", "model.moe.scale", reading);
  read_count(items, "--moe-router-num-groups", "model.moe.groups", reading);
  read_count(items, "--moe-router-group-topk", "model.moe.top_groups", reading);
  if (absent == Absent::is_default) {
    reading.assume("model.moe.scale", number_value(1.0));
    reading.assume("model.moe.groups", count_value(0));
    reading.assume("model.moe.top_groups", count_value(0));
  }
}

}  // namespace

void write_megatron_details(LaunchWriting& writing) {
  if (!put_known("--norm-epsilon", "model.norm_eps", writing)) {
    writing.lack("model.norm_eps");
  }
  write_activation(writing);
  const std::string positions = writing.plan.word("model.positions", "rope");
  if (positions == "none") {
    writing.cover("model.positions");
  } else if (positions == "rope" && writing.plan.count("model.learned_positions", 0) == 0) {
    write_rotation(writing);
  }
  write_router(writing);
}

void read_megatron_details(const LaunchItems& items, Absent absent, LaunchReading& reading) {
  read_number(items, "--norm-epsilon", "model.norm_eps", reading);
  if (absent == Absent::is_default) {
    reading.assume("model.norm_eps", number_value(1e-5));
  }
  read_activation(items, absent, reading);
  read_rotation(items, absent, reading);
  if (reading.plan.has("model.moe.experts")) {
    read_router(items, absent, reading);
  }
}

}  // namespace headroom::launch
