// SPDX-License-Identifier: Apache-2.0
// What prefix caches did, in the answer of a simulation.
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_simulation.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

#include <array>
#include <cmath>
#include <cstddef>

namespace headroom {
namespace {

constexpr std::array<std::string_view, PrefixHits::most_tiers> tier_words{"loaded from host memory (cpu)",
                                                                          "loaded from disk", "loaded from remote"};

std::string times_text(const TimeSummary& times) {
  return std::isnan(times.p50.raw())
             ? "-"
             : "p50 " + format(times.p50) + ", p95 " + format(times.p95) + ", p99 " + format(times.p99);
}

}  // namespace

std::string prefix_rows(const ServingSimulation& r) {
  if (!r.prefixes) {
    return "";
  }
  const FoundPrefixes& found = *r.prefixes;
  const PrefixMetrics& m = found.metrics;
  Table table{{"prefix cache, of the prompt tokens", "<"}};
  table.row({"shared with others", percent(m.share(m.shareable))});
  table.row({"found in the KV cache", percent(m.share(m.pool))});
  for (std::size_t i = 0; i < found.tiers.size(); ++i) {
    if (found.tiers[i]) {
      const PrefixMetrics::Tier& tier = m.tiers[i];
      table.row({std::string{tier_words[i]}, percent(m.share(tier.tokens)) + ", " + format(found.loaded[i]) + " for " +
                                                 format_count(static_cast<double>(tier.requests)) + " requests"});
    }
  }
  table.row({"computed", percent(1.0 - m.hit_share())});
  if (m.loads > 0) {
    table.row({"a request that loads waits for it", times_text(m.loading)});
    table.row({"  its TTFT", times_text(m.ttft_loaded)});
  }
  table.row({"TTFT if nothing were kept",
             found.overloaded_without ? "the fleet would be overloaded" : times_text(found.ttft_without)});
  return table.text() + "\n";
}

Value sessions_value(const ServingSimulation& r) {
  if (r.sessions.empty()) {
    return {};
  }
  return object("sessions"_m = list(r.sessions, [](const SessionFacts& one) {
                  return row("class"_m = one.name.empty() ? std::string{"all"} : one.name, "turns"_m = one.turns,
                             "think_s"_m = one.think, "sessions_per_s"_m = one.sessions_per_s, "open_mean"_m = one.open,
                             "new_prompt_tokens_mean"_m = one.new_prompt, "prompt_tokens_mean"_m = one.prompt,
                             "kept_s"_m = when(one.caches && std::isfinite(one.kept.raw()), one.kept),
                             "expected_hit_share"_m = share(one.found));
                }));
}

Value prefix_value(const ServingSimulation& r) {
  if (!r.prefixes) {
    return {};
  }
  const FoundPrefixes& found = *r.prefixes;
  const PrefixMetrics& m = found.metrics;
  Value tiers = Value::empty_list();
  for (std::size_t i = 0; i < found.tiers.size(); ++i) {
    tiers.push(found.tiers[i] ? row("name"_m = offload_tier_names[i], "hit_share"_m = share(m.share(m.tiers[i].tokens)),
                                    "loaded_tokens"_m = m.tiers[i].loaded, "loaded_bytes"_m = found.loaded[i],
                                    "requests"_m = m.tiers[i].requests)
                              : Value{});
  }
  return object("prompt_tokens"_m = m.prompt_tokens, "shared_share"_m = share(m.share(m.shareable)),
                "hit_share"_m = share(m.hit_share()), "kv_cache_share"_m = share(m.share(m.pool)),
                "tiers"_m = std::move(tiers), "requests_that_load"_m = m.loads, "load_s"_m = tail(m.loading),
                "ttft_of_loads_s"_m = tail(m.ttft_loaded), "ttft_without_cache_s"_m = tail(found.ttft_without),
                "overloaded_without_cache"_m = found.overloaded_without);
}

}  // namespace headroom
