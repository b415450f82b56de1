// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/web/question_cost.hpp>

#include <algorithm>
#include <array>

namespace headroom::cli {
namespace {

/// Tables and words of questions that are searched or simulated: open loads, pools, clusters, post-training, tenants.
constexpr std::array<std::string_view, 13> heavy_words{"search", "objective",     "traffic", "fleet", "pool",
                                                       "slo",    "cluster",       "tenant",  "job",   "post_train",
                                                       "batch",  "post_training", "sharing"};
/// A plan that states its tensor ranks has no blank layout; memory alone needs none.
constexpr std::string_view layout_word = "tp";

bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_light_plan(std::string_view text) noexcept {
  bool layout = false;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_letter(text[at])) {
      if (text.substr(at).starts_with("..")) {
        return false;  // a range of values is a curve or a search
      }
      at += text[at] == '\\' ? 2 : 1;  // what follows is an escape of JSON, not a letter
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_letter(text[end])) {
      ++end;
    }
    const std::string_view word = text.substr(at, end - at);
    if (std::find(heavy_words.begin(), heavy_words.end(), word) != heavy_words.end()) {
      return false;
    }
    layout = layout || word == layout_word || word == "only";
    at = end;
  }
  return layout;
}

}  // namespace

QuestionCost cost_of(WireVerb verb, std::string_view request) noexcept {
  switch (verb) {
    case WireVerb::search:
    case WireVerb::simulate:
    case WireVerb::scale:
    case WireVerb::compare: return QuestionCost::heavy;
    case WireVerb::plan:
    case WireVerb::explain: return is_light_plan(request) ? QuestionCost::light : QuestionCost::heavy;
    default: return QuestionCost::light;
  }
}

}  // namespace headroom::cli
