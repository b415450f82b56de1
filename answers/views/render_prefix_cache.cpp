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
  Table table{{"prefix cache, of the prompt tokens", ""}};
  table.left(1);
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

void prefix_member(JsonWriter& json, const ServingSimulation& r) {
  if (!r.prefixes) {
    return;
  }
  const FoundPrefixes& found = *r.prefixes;
  const PrefixMetrics& m = found.metrics;
  json.key("prefix_cache");
  json.begin_object();
  json.member("prompt_tokens", m.prompt_tokens);
  json.member("shared_share", m.share(m.shareable));
  json.member("hit_share", m.hit_share());
  json.member("kv_cache_share", m.share(m.pool));
  json.key("tiers");
  json.begin_array();
  for (std::size_t i = 0; i < found.tiers.size(); ++i) {
    if (found.tiers[i]) {
      json.compact_next();
      json.begin_object();
      json.member("name", offload_tier_names[i]);
      json.member("hit_share", m.share(m.tiers[i].tokens));
      json.member("loaded_tokens", m.tiers[i].loaded);
      json.member("loaded_bytes", found.loaded[i].raw());
      json.member("requests", m.tiers[i].requests);
      json.end_object();
    }
  }
  json.end_array();
  json.member("requests_that_load", m.loads);
  summary(json, "load_s", m.loading);
  summary(json, "ttft_of_loads_s", m.ttft_loaded);
  summary(json, "ttft_without_cache_s", found.ttft_without);
  json.member("overloaded_without_cache", found.overloaded_without);
  json.end_object();
}

}  // namespace headroom
