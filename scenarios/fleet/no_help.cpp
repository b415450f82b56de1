// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/scenarios/fleet/no_help.hpp>
#include <headroom/scenarios/serving/simulated_serving.hpp>

namespace headroom {
namespace {

/// What helps, and the keys that say it.
struct Help {
  std::string_view words;
  std::vector<std::string_view> keys;
};

Help help_of(const NoHelp& why) {
  switch (why.cause) {
    case NoHelpCause::refused:
      return {"replicas with more room for a sequence or shorter requests",
              {"strategy.tp", "strategy.pp", "serving.kv_cache", "hardware.gpu", "traffic.prompt.most"}};
    case NoHelpCause::prefill: return {"replicas that prefill", {"fleet.prefill.replicas"}};
    case NoHelpCause::burst:
      return {"replicas that are warm before it, or a shorter cold start",
              {"fleet.autoscale.least", "fleet.autoscale.target", "fleet.autoscale.cold_start"}};
    case NoHelpCause::datasheet:
    case NoHelpCause::idle:
    case NoHelpCause::unanswered: break;
  }
  const bool first = why.promise.metric == LatencyMetric::ttft;
  return first ? Help{"faster replicas, shorter prompts or a longer promise",
                      {"strategy.tp", "hardware.gpu", "serving.weights", "traffic.prompt.mean"}}
               : Help{"faster replicas, narrower weights, a draft or a longer promise",
                      {"strategy.tp", "hardware.gpu", "serving.weights", "serving.speculative"}};
}

}  // namespace

std::string cause_text(const NoHelp& why) {
  const std::string promised = key_of(why.promise) + " of " + format(why.promise.limit);
  const std::string idle = "not even an idle replica keeps " + promised +
                           (why.probability > 0.0 ? " with probability " + probability_text(why.probability) : "");
  switch (why.cause) {
    case NoHelpCause::datasheet:
      return promised + " lies below the floor of " + format(why.reached) +
             (why.promise.metric == LatencyMetric::ttft
                  ? ": the mean prompt at the datasheet's peak and bandwidth"
                  : ": one token of a lone sequence, its weights and cache read at the datasheet's bandwidth");
    case NoHelpCause::idle: return idle + ": it takes " + format(why.reached);
    case NoHelpCause::refused:
      return idle + ": its KV cache refuses " + format_number(100.0 * why.refused) + " % of the requests as too long";
    case NoHelpCause::unanswered: return idle + ": an answer takes longer than the 106 days that are simulated at most";
    case NoHelpCause::prefill:
      return "prompts wait for the " + counted(why.stated, "replica") + " that " +
             (why.stated == 1 ? "prefills" : "prefill") + ", of which it takes " + std::to_string(why.enough);
    case NoHelpCause::burst:
      return "the burst of " + format(why.length) + " at " + format(why.at) + ", to " + format_number(why.peak.raw()) +
             " req/s, is over before a replica that is ordered in it serves, after " + format(why.cold_start) + ": " +
             std::to_string(why.stated) + " serve when it begins, and it takes " + std::to_string(why.enough) +
             " warm ones" +
             (why.warm_for_wait < why.enough && why.warm_for_wait > why.stated
                  ? " (" + std::to_string(why.warm_for_wait) + " for a backlog within the promised time)"
                  : "");
  }
  return {};
}

std::string no_help_text(const NoHelp& why) {
  const Help help = help_of(why);
  std::string keys;
  for (const std::string_view key : help.keys) {
    keys += (keys.empty() ? "" : ", ") + std::string{key};
  }
  return "more replicas will not help, because " + cause_text(why) + "; what helps: " + std::string{help.words} + " (" +
         keys + ")";
}

std::vector<std::string_view> helping_keys(const NoHelp& why) {
  return help_of(why).keys;
}

}  // namespace headroom
