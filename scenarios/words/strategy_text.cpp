// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/train/memory/memory.hpp>
#include <headroom/scenarios/words/strategy_text.hpp>

#include <algorithm>

namespace headroom {
namespace {

/// "layernorm moe_act".
std::string parts_text(const RecomputeParts& set) {
  std::string text;
  for (std::size_t i = 0; i < recompute_part_names.size(); ++i) {
    if (set.has(static_cast<RecomputePart>(i))) {
      text += (text.empty() ? "" : " ") + std::string{recompute_part_names[i]};
    }
  }
  return text;
}

}  // namespace

Words strategy_words(const Strategy& s) {
  Words words;
  const auto say = [&](std::string_view name, const std::string& value) {
    words.push_back({name, std::string{name} + (value.empty() ? "" : " " + value)});
  };
  const auto add = [&](std::string_view name, int value, int usual) {
    if (value != usual) {
      say(name, std::to_string(value));
    }
  };
  say("tp", std::to_string(s.tp));
  say("pp", std::to_string(s.pp));
  say("dp", std::to_string(s.dp));
  add("vpp", s.vpp, 1);
  add("cp", s.cp, 1);
  add("ep", s.ep, 1);
  add("etp", s.etp, 1);
  say("micro-batch", std::to_string(s.micro_batch));
  say("ZeRO", std::to_string(s.zero) +
                  (s.shard_ranks > 0 ? " over " + std::to_string(s.shard_ranks) + " ranks" : std::string{}));
  say("recompute", std::string{recompute_names[static_cast<std::size_t>(s.recompute)]} +
                       (s.parts.any() ? " of " + parts_text(s.parts) : std::string{}) +
                       (s.recompute_block > 1 ? " in blocks of " + std::to_string(s.recompute_block) : std::string{}));
  if (s.schedule != usual_schedule) {
    say("schedule", std::string{name_of(s.schedule)});
  }
  if (s.cp > 1 && s.cp_form != CpForm::unstated) {
    say("context by", std::string{cp_form_names[static_cast<std::size_t>(s.cp_form)]});
  }
  add("first stage layers", s.first_stage_layers, 0);
  add("last stage layers", s.last_stage_layers, 0);
  if (s.order != RankOrder::tp_cp_dp_pp) {
    say("order", std::string{name_of(s.order)});
  }
  if (s.overlap_experts) {
    say("experts overlapped", "");
  }
  for_each_told_field(s, [&](const auto& field) {
    const std::string value = field_text(field, s);
    say(field.told, value == "true" ? "" : value);
  });
  if (s.sequence_parallel) {
    say("sequence parallel", "");
  }
  return words;
}

std::string strategy_text(const Strategy& s) {
  return words_text(strategy_words(s));
}

std::vector<StatedKey> stated_recipe(const MemoryOptions& o) {
  const std::string parts = parts_text(o.recompute_parts);
  const auto count = [](std::int64_t number) { return number > 0 ? std::to_string(number) : std::string{}; };
  const auto factor = [](double number) { return number > 0.0 ? format_number(number, 3) : std::string{}; };
  const auto word = [](const auto& stated, const auto& names) {
    return stated ? std::string{names[static_cast<std::size_t>(*stated)]} : std::string{};
  };
  return {{"strategy.recompute_parts", parts},
          {"training.saved_activations", !o.narrow_saved   ? ""
                                         : *o.narrow_saved ? "fp8"
                                                           : "bf16"},
          {"training.dispatch", o.experts.narrow_dispatch ? "fp8" : ""},
          {"training.dispatch_domains", count(o.experts.domains)},
          {"training.dispatch_sms", count(o.experts.units)},
          {"training.dispatcher", word(o.experts.dispatcher, expert_dispatcher_names)},
          {"training.expert_launch", word(o.experts.launch, expert_launch_names)},
          {"training.expert_capacity", factor(o.experts.capacity)},
          {"training.rank_capacity", factor(o.experts.rank_capacity)},
          {"training.gradient_format", o.sent_gradients ? o.sent_gradients->text() : std::string{}},
          {"training.bucket_bytes", o.bucket > Bytes{} ? format(o.bucket) : std::string{}},
          {"training.weight_average", o.average == WeightAverage::none
                                          ? std::string{}
                                          : std::string{weight_average_names[static_cast<std::size_t>(o.average)]}}};
}

std::string stated_recipe_text(const MemoryOptions& o) {
  std::string text;
  for (const StatedKey& stated : stated_recipe(o)) {
    if (!stated.value.empty()) {
      std::string name{stated.path.substr(stated.path.find('.') + 1)};
      std::replace(name.begin(), name.end(), '_', ' ');
      text += ", " + name + " " + stated.value;
    }
  }
  return text;
}

}  // namespace headroom
