// SPDX-License-Identifier: Apache-2.0
// Loads behind published serving runs: sets of prompts recognised by their mean lengths, and habits of clients that no
// column states.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/model/serve/load/lengths.hpp>
#include <headroom/model/serve/load/request.hpp>
#include <headroom/scenarios/measured/run_row.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

class ModelData;

/// A known set of prompts (model/stacks/step/serve-loads.toml, [[lengths]]).
struct KnownLengths {
  std::string id;
  std::array<double, 2> prompt_bounds{}, output_bounds{};  ///< bounds of the row's mean tokens; 0: known by name alone
  LengthLaw prompt, output;                                ///< length laws; a mean of 0 stands for the row's mean
  /// Outputs that somebody counted, each as likely as the next, which are cut at the law's limit; empty: by the law.
  std::vector<std::int32_t> counted;
  [[nodiscard]] bool holds(double isl, double osl) const noexcept;
};

struct PublishedLoads {
  std::uint64_t seed = 0;
  std::int64_t repeats = 1;             ///< most repeats of a row's run
  std::int64_t requests = 1;            ///< requests of all repeats together that are enough
  std::int64_t waves = 10;              ///< requests per client of a closed loop
  std::int64_t server_requests = 6000;  ///< of a replica that keeps limits, at a rate that is sought
  double server_seconds = 600.0;        ///< for which the rate that was found has to keep them
  std::int64_t server_most = 24'000;    ///< requests in which it does at the latest
  std::vector<KnownLengths> lengths;
};

[[nodiscard]] PublishedLoads read_published_loads(const ConfigValue& document, Diagnostics& diagnostics);
/// Loads from the embedded file or the user's folders, parsed once.
[[nodiscard]] const PublishedLoads& published_loads(const ModelData& data);

/// How requests arrive: at a rate, all at once, or from clients that each wait for an answer.
enum class ClientKind : std::uint8_t { open, burst, closed };

/// Load of a row for a simulated run.
struct ClientLoad {
  ClientKind kind = ClientKind::burst;
  double rate = 0.0;          ///< requests per second of an open load; 0: to be sought
  std::int64_t clients = 0;   ///< clients of a closed loop
  std::int64_t requests = 1;  ///< total number of requests
  LengthLaw prompt, output;
  const KnownLengths* known = nullptr;  ///< the set of prompts, one of the loads; nullptr: none
  /// The first prompts, of which nobody sent one before; those behind them are found in the cache. -1: all are new.
  std::int64_t fresh = -1;
  [[nodiscard]] bool random() const noexcept;  ///< whether the result depends on the seed
  [[nodiscard]] std::int64_t repeats(const PublishedLoads& loads) const noexcept;
};

/// Prompts of a closed loop that are sent for the first time: of `distinct_prompts` those that the clients'
/// `warmups_per_client` did not send before the run; nullopt: all of them.
[[nodiscard]] std::optional<double> fresh_prompts(const ServingConfiguration& run);

/// Load of a row with mean lengths `isl` and `osl` in tokens; nullopt, with the reason in `why`, when something was not
/// published.
[[nodiscard]] std::optional<ClientLoad> client_load(
    const ServingConfiguration& run, double isl, double osl, const PublishedLoads& loads, std::string& why);

/// The lengths of a row's outputs where its launch names a known set; nullopt: none is named.
[[nodiscard]] std::optional<LengthLaw> named_outputs(const ServingConfiguration& run,
                                                     double osl,
                                                     const PublishedLoads& loads);

/// Requests of one run of a load. Precondition: the lengths have no problems().
[[nodiscard]] RequestLoad requests_of(const ClientLoad& load, std::uint64_t seed);

}  // namespace headroom
