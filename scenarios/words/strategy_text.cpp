// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/words/strategy_text.hpp>

namespace headroom {

std::string strategy_text(const Strategy& s) {
  std::string text = "tp " + std::to_string(s.tp) + ", pp " + std::to_string(s.pp) + ", dp " + std::to_string(s.dp);
  const auto add = [&](std::string_view name, int value, int usual) {
    if (value != usual) {
      text += ", " + std::string{name} + " " + std::to_string(value);
    }
  };
  add("vpp", s.vpp, 1);
  add("cp", s.cp, 1);
  add("ep", s.ep, 1);
  add("etp", s.etp, 1);
  text += ", micro-batch " + std::to_string(s.micro_batch) + ", ZeRO " + std::to_string(s.zero);
  if (s.shard_ranks > 0) {
    text += " over " + std::to_string(s.shard_ranks) + " ranks";
  }
  text += ", recompute " + std::string{recompute_names[static_cast<std::size_t>(s.recompute)]};
  if (s.recompute_block > 1) {
    text += " in blocks of " + std::to_string(s.recompute_block);
  }
  if (s.schedule != usual_schedule) {
    text += ", schedule " + std::string{name_of(s.schedule)};
  }
  if (s.cp > 1 && s.cp_form != CpForm::unstated) {
    text += ", context by " + std::string{cp_form_names[static_cast<std::size_t>(s.cp_form)]};
  }
  add("first stage layers", s.first_stage_layers, 0);
  add("last stage layers", s.last_stage_layers, 0);
  if (s.order != RankOrder::tp_cp_dp_pp) {
    text += ", order " + std::string{name_of(s.order)};
  }
  text += s.overlap_experts ? ", experts overlapped" : "";
  for_each_told_field(s, [&](const auto& field) {
    const std::string value = field_text(field, s);
    text += ", " + std::string{field.told} + (value == "true" ? "" : " " + value);
  });
  return text + (s.sequence_parallel ? ", sequence parallel" : "");
}

}  // namespace headroom
