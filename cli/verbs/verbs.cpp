// SPDX-License-Identifier: Apache-2.0
// Which verbs there are.
#include <headroom/cli/frame/verb.hpp>

#include <array>

namespace headroom::cli {
namespace {

constexpr std::array<const Verb*, 18> verbs{
    &plan_verb,       &explain_verb,  &simulate_verb, &compare_verb, &scale_verb,     &export_verb,
    &import_verb,     &validate_verb, &catalog_verb,  &fabric_verb,  &fit_verb,       &op_verb,
    &collective_verb, &roofline_verb, &replay_verb,   &probe_verb,   &calibrate_verb, &schema_verb};

}  // namespace

std::span<const Verb* const> all_verbs() noexcept {
  return verbs;
}

}  // namespace headroom::cli
