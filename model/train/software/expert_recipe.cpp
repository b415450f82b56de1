// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/software/expert_recipe.hpp>

#include <algorithm>

namespace headroom {
namespace {

/// An empty list holds every name.
bool names_hold(const std::vector<std::string>& names, std::string_view name) noexcept {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

/// The next letter or digit from `at` on, in lower case; 0: there is none. "Qwen3_30B" and "qwen3-30b" are one name.
char next_sign(std::string_view text, std::size_t& at) noexcept {
  while (at < text.size()) {
    const char c = text[at++];
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      return c;
    }
    if (c >= 'A' && c <= 'Z') {
      return static_cast<char>(c - 'A' + 'a');
    }
  }
  return 0;
}

bool begins_with(std::string_view name, std::string_view start) noexcept {
  std::size_t in_name = 0;
  std::size_t in_start = 0;
  while (const char sign = next_sign(start, in_start)) {
    if (next_sign(name, in_name) != sign) {
      return false;
    }
  }
  return true;
}

bool begins(const std::vector<std::string>& names, std::string_view name) noexcept {
  return names.empty() ||
         std::any_of(names.begin(), names.end(), [&](const std::string& start) { return begins_with(name, start); });
}

}  // namespace

bool ExpertRule::holds_for(const ExpertJob& job) const noexcept {
  return names_hold(releases, job.release) && names_hold(devices, job.device) && begins(models, job.model) &&
         names_hold(precisions, name_of(job.precision));
}

ExpertHabits expert_habits(std::span<const ExpertRule> rules, const ExpertJob& job) noexcept {
  const auto found =
      std::find_if(rules.begin(), rules.end(), [&](const ExpertRule& rule) { return rule.holds_for(job); });
  return found == rules.end() ? ExpertHabits{} : found->habits;
}

std::vector<ExpertRule> read_expert_rules(ConfigTable& root) {
  std::vector<ExpertRule> rules;
  for (ConfigTable& table : root.tables("experts")) {
    ExpertRule rule;
    rule.releases = table.texts("releases");
    rule.devices = table.texts("devices");
    rule.models = table.texts("models");
    rule.precisions = table.texts("precisions");
    rule.habits.launch = static_cast<ExpertLaunch>(table.maybe_choice("launch", expert_launch_names).value_or(0));
    rule.habits.dispatcher =
        static_cast<ExpertDispatcher>(table.maybe_choice("dispatcher", expert_dispatcher_names).value_or(0));
    rule.habits.fused_products = table.maybe_boolean("fused_products").value_or(false);
    rule.habits.one_launch = table.maybe_boolean("one_launch").value_or(false);
    rule.habits.eager_attention = table.maybe_boolean("eager_attention").value_or(false);
    rule.habits.overlaps = table.maybe_boolean("overlaps").value_or(false);
    for (const std::string& part : table.texts("recompute_parts")) {
      const auto* const found = std::find(recompute_part_names.begin(), recompute_part_names.end(), part);
      if (found == recompute_part_names.end()) {
        table.problem("recompute_parts", "'recompute_parts' holds " + quoted(part) + ", which is none of " +
                                             "core_attn, layernorm, mla_up_proj, moe_act");
      } else {
        rule.habits.recompute_parts.add(static_cast<RecomputePart>(found - recompute_part_names.begin()));
      }
    }
    rule.habits.predicts = table.maybe_boolean("predicts").value_or(false);
    rule.habits.wide_layers = table.maybe_number("wide_layers", {0.0, 1e4}).value_or(0.0);
    rule.habits.wide_mixers = table.maybe_boolean("wide_mixers").value_or(false);
    rule.habits.wide_modules = table.maybe_boolean("wide_modules").value_or(false);
    rule.habits.eight_bit_outputs = table.maybe_boolean("eight_bit_outputs").value_or(false);
    rule.habits.router_launches = table.maybe_number("router_launches", {0.0, 1000.0});
    rule.habits.shared_beside = table.maybe_boolean("shared_beside").value_or(false);
    rule.habits.consecutive = table.maybe_boolean("consecutive").value_or(false);
    rule.habits.by_recipe = true;
    rule.habits.usual = table.maybe_boolean("usual").value_or(false);
    rule.source = table.text("source");
    table.finish();
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace headroom
