// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/scenarios/launch/traffic_words.hpp>

#include <algorithm>

namespace headroom::launch {
namespace {

std::string percent(double share) {
  return format_number(100.0 * share, 3) + " %";
}

std::string counted(std::int64_t count, const std::string& of) {
  return std::to_string(count) + " " + of + (count == 1 ? "" : "s");
}

/// Result of `words` for each class, with the class's name if there are several.
template <class Words>
std::string of_classes(const ServingTraffic& traffic, Words words) {
  std::string text;
  for (const RequestClass& c : traffic.classes) {
    if (const std::string said = words(c.traffic); !said.empty()) {
      text += (text.empty() ? "" : "; ") + (traffic.classes.size() > 1 ? c.name + ": " : std::string{}) + said;
    }
  }
  return text;
}

}  // namespace

std::string prefix_words(const ServingTraffic& traffic) {
  return of_classes(traffic, [](const TrafficClass& c) {
    const SharedPrefixes& shared = c.prefixes;
    return shared.groups == 0 ? std::string{}
                              : counted(shared.groups, "group") + " of " + counted(shared.tokens, "token") +
                                    (shared.share < 1.0 ? ", " + percent(shared.share) + " of the requests" : "") +
                                    (shared.zipf > 0.0 ? ", zipf " + format_number(shared.zipf) : "");
  });
}

std::string turn_words(const ServingTraffic& traffic) {
  return of_classes(traffic, [](const TrafficClass& c) {
    return c.turns > 1 ? counted(c.turns, "turn") + " of a session, " + format(c.think) + " between them"
                       : std::string{};
  });
}

std::string cached_words(const ServingTraffic& traffic) {
  return of_classes(traffic, [](const TrafficClass& c) {
    return c.cached_share > 0.0 ? percent(c.cached_share) + " of a prompt" : std::string{};
  });
}

std::string curve_words(const LoadCurve& curve) {
  double least = curve.peak().raw();
  for (const RateCurve::Point& point : curve.points) {
    least = std::min(least, point.rate);
  }
  return format_number(least) + " to " + format_number(curve.peak().raw()) + " req/s over " + format(curve.period);
}

std::string retry_words(const ClientRetries& retries) {
  return percent(retries.failure) + " of the attempts fail, " +
         (retries.policy.attempts > 0 ? std::to_string(retries.policy.attempts) + " of a request at most"
                                      : std::string{"sent again until one succeeds"}) +
         (retries.policy.backoff > Seconds{} ? ", " + format(retries.policy.backoff) + " before the second" : "");
}

std::string prefill_words(const DisaggregatedPrefill& prefill, std::int64_t each) {
  const std::string tp = " of tp " + std::to_string(prefill.tp);
  return prefill.replicas ? counted(*prefill.replicas, "replica") + tp + ", " + counted(*prefill.replicas * each, "GPU")
                          : "replicas" + tp + ", as many as keep the promises";
}

std::string scaling_words(const AutoscaleQuestion& question) {
  const bool from_storage = question.parts && question.parts->storage;
  const Seconds stated = question.parts ? cold_start_of(*question.parts, Bytes{}).whole : question.cold_start;
  return "at " + percent(question.target) + " of what replicas saturate at, " + format(stated) +
         (from_storage ? " and its weights at " + format(*question.parts->storage) : std::string{}) +
         " to start one, " + counted(question.least, "replica") + " at least";
}

std::string tier_words(const KvOffload& offload) {
  std::string text;
  for (std::size_t i = 0; i < offload_tier_names.size(); ++i) {
    if (const std::optional<KvOffloadTier>& tier = offload.tiers[i]) {
      text += (text.empty() ? "" : "; ") + std::string{offload_tier_names[i]} + " " + format(tier->capacity) +
              (tier->bandwidth ? " at " + format(*tier->bandwidth) : "") +
              (tier->latency > Seconds{} ? " after " + format(tier->latency) : "");
    }
  }
  return text;
}

}  // namespace headroom::launch
