// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/scenarios/question/sequence_length.hpp>
#include <headroom/scenarios/traffic/admission.hpp>
#include <headroom/scenarios/traffic/beside.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <algorithm>
#include <optional>

namespace headroom {
namespace {

/// Share (0 to 1) of one model's requests that are longer than `admitted` tokens.
double longer_share(const ServingTraffic& traffic, std::int64_t admitted) {
  const std::vector<Request> requests = traffic.load().requests;
  const auto longer = std::count_if(requests.begin(), requests.end(), [&](const Request& one) {
    return std::int64_t{one.prompt_tokens} + one.output_tokens > admitted;
  });
  return real(longer) / real(static_cast<std::int64_t>(requests.size()));
}

/// Adds the notes of a scenario with one model; `whose` is "" or e.g. " to llama3-70b".
void add_refused(const ServeScenario& s, const std::string& whose, std::vector<std::string>& notes) {
  const std::int64_t admitted = admitted_tokens(s);
  const std::optional<std::int64_t> positions = positions_of(s.architecture);
  if (positions && admitted > *positions) {
    notes.push_back("serving.max_seq_len = " + std::to_string(admitted) + " is beyond the " +
                    std::to_string(*positions) + " positions of " + s.architecture.id +
                    ": engines do not start so; lower it, or state model.max_seq_len where positions are scaled");
  }
  if (!s.traffic || s.traffic->lengths().longest <= admitted) {
    return;
  }
  if (const double share = longer_share(*s.traffic, admitted); share > 0.0) {
    notes.push_back(format_number(100.0 * share, 2) + " % of the requests" + whose + " are longer than the " +
                    std::to_string(admitted) + " tokens that a server lets in (" +
                    (positions == admitted ? "the positions of " + s.architecture.id : "serving.max_seq_len") +
                    "): it refuses them, while the plan counts and simulates them as if it let them in");
  }
}

/// The scenario reduced to its own model and that model's classes.
ServeScenario own(const ServeScenario& s) {
  return s.traffic && !s.beside.empty() ? alone(s, 0) : s;
}

}  // namespace

std::int64_t admitted_tokens(const ServeScenario& scenario) {
  const ServeScenario s = own(scenario);
  const std::int64_t mean = s.work.limits().sequence_tokens;
  if (s.work.max_seq_len > 0 || !s.traffic) {
    return mean;
  }
  const std::int64_t longest = std::max(mean, s.traffic->lengths().longest);
  return std::max(mean, std::min(longest, positions_of(s.architecture).value_or(longest)));
}

std::string admitted_text(const ServeScenario& scenario) {
  const std::int64_t admitted = admitted_tokens(scenario);
  const ServeScenario s = own(scenario);
  if (!s.traffic) {
    return std::to_string(admitted) + " (isl + osl)";
  }
  const std::int64_t longest = s.traffic->lengths().longest;
  return std::to_string(admitted) +
         (longest > admitted
              ? " (the positions of " + s.architecture.id + "; the longest request has " + std::to_string(longest) + ")"
              : " (the longest request)");
}

std::vector<std::string> refused_requests(const ServeScenario& scenario) {
  std::vector<std::string> notes;
  if (scenario.beside.empty()) {
    add_refused(scenario, "", notes);
    return notes;
  }
  for (std::size_t i = 0; i < model_count(scenario); ++i) {
    add_refused(alone(scenario, i), " to " + model_of(scenario, i).id, notes);
  }
  return notes;
}

}  // namespace headroom
