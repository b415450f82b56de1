// SPDX-License-Identifier: Apache-2.0
// What the clients of published serving runs sent: sets of prompts by their mean lengths, and the habits that no column
// states.
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

/// One set of prompts (model/stacks/step/serve-loads.toml, [[lengths]]).
struct KnownLengths {
  std::string id;
  std::array<double, 2> prompt_bounds{}, output_bounds{};  ///< of a row's mean tokens
  LengthLaw prompt, output;                                ///< a mean of 0: the row's
  [[nodiscard]] bool holds(double isl, double osl) const noexcept;
};

struct PublishedLoads {
  std::uint64_t seed = 0;
  std::int64_t repeats = 1;   ///< of a row's run, at most
  std::int64_t requests = 1;  ///< that all of them together need not exceed
  std::int64_t waves = 10;    ///< requests of a closed loop for each client
  std::vector<KnownLengths> lengths;
};

[[nodiscard]] PublishedLoads read_published_loads(const ConfigValue& document, Diagnostics& diagnostics);
/// The embedded file, user folders first; parsed once.
[[nodiscard]] const PublishedLoads& published_loads();

/// How requests come: at a rate; all at once; from clients that each wait for an answer.
enum class ClientKind : std::uint8_t { open, burst, closed };

/// A row's load, for a simulated run.
struct ClientLoad {
  ClientKind kind = ClientKind::burst;
  double rate = 0.0;          ///< requests per second, of open loads
  std::int64_t clients = 0;   ///< of closed loops
  std::int64_t requests = 1;  ///< in all
  LengthLaw prompt, output;
  [[nodiscard]] bool random() const noexcept;  ///< whether two seeds differ
  [[nodiscard]] std::int64_t repeats(const PublishedLoads& loads) const noexcept;
};

/// The load of a row with mean lengths; nullopt: `why` says what was not published.
[[nodiscard]] std::optional<ClientLoad> client_load(
    const ServingConfiguration& run, double isl, double osl, const PublishedLoads& loads, std::string& why);

/// The requests of one run of a load. Precondition: lengths without problems().
[[nodiscard]] RequestLoad requests_of(const ClientLoad& load, std::uint64_t seed);

}  // namespace headroom
