// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/serve/memory/serving.hpp>
#include <headroom/model/serve/time/simulated_time.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/read/slow_links.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {
namespace {

/// The cache of the longest prompt, of the whole model and of its draft.
struct LongestPrompt {
  std::int64_t tokens = 1;
  Bytes cache{};
};

LongestPrompt longest_prompt(const ServeScenario& serve) {
  const double element = row_of(serve.work.kv).weight_bytes;
  LongestPrompt prompt{serve.traffic->lengths().longest_prompt, {}};
  prompt.cache = kv_bytes(serve.architecture, element, 1.0, real(prompt.tokens));
  if (serve.work.draft && serve.work.draft->model) {
    prompt.cache += kv_bytes(*serve.work.draft->model, element, 1.0, real(prompt.tokens));
  }
  return prompt;
}

void refuse(ConfigTable& table, std::string_view key, BytesPerSecond link, const LongestPrompt& prompt) {
  const Seconds time = prompt.cache / link;
  if (time > longest_span) {
    table.problem(key, quoted(key) + " is " + format(link) + ": the cache of the longest prompt, " +
                           format_count(real(prompt.tokens)) + " tokens in " + format(prompt.cache) + ", takes " +
                           format(time) + " over it, and at most " + format(longest_span) +
                           " can be simulated; state " + format(1.01 * prompt.cache / longest_span) + " or more");
  }
}

}  // namespace

void refuse_slow_links(ConfigTable& root, const ServeScenario& serve) {
  if (!serve.traffic || !serve.fleet) {
    return;
  }
  const LongestPrompt prompt = longest_prompt(serve);
  const auto below = [](std::optional<ConfigTable> table, std::string_view key) {
    return table ? table->maybe_table(key) : std::nullopt;
  };
  if (const std::optional<DisaggregatedPrefill>& prefill = serve.fleet->prefill) {
    if (std::optional<ConfigTable> table = below(root.maybe_table("fleet"), "prefill")) {
      refuse(*table, "link", prefill->link, prompt);
    }
  }
  for (std::size_t i = 0; i < offload_tier_names.size(); ++i) {
    const std::optional<KvOffloadTier>& tier = serve.fleet->kv_offload.tiers[i];
    if (!tier || !tier->bandwidth) {
      continue;
    }
    if (std::optional<ConfigTable> table =
            below(below(root.maybe_table("serving"), "kv_offload"), offload_tier_names[i])) {
      refuse(*table, "bandwidth", *tier->bandwidth, prompt);
    }
  }
}

}  // namespace headroom
