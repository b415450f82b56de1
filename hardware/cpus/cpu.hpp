// SPDX-License-Identifier: Apache-2.0
// A processor of a host as its catalog file states it: cores, vector units, memory and caches, power and price.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/hardware/catalog/catalog.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// One socket. Peaks follow from cores and clock; nothing here is of a whole server.
struct Cpu {
  std::string id, name, vendor, file, notes;
  std::vector<std::string> aliases;
  std::int64_t year = 0;
  Sourced<std::int64_t> cores;
  Sourced<Hertz> clock;                  ///< that all cores hold at once
  std::optional<Sourced<Hertz>> base;    ///< that the vendor guarantees at rated power, where it is stated
  std::optional<Sourced<Hertz>> boost;   ///< of one core by itself, where it is stated
  Sourced<double> per_clock;             ///< instructions a clock over those of Broadwell, as vendors state them
  Sourced<std::int64_t> fp32_per_clock;  ///< FLOP a clock and core: 2 x lanes x FMAs
  std::string vector_unit;
  Sourced<BytesPerSecond> bandwidth;  ///< of all its channels, at their peak
  Sourced<Bytes> last_cache;          ///< that all cores share
  Sourced<Bytes> core_cache;          ///< of one core, its second level
  Sourced<Watts> tdp;
  std::optional<Sourced<DollarsPerSecond>> price;  ///< of one socket with its part of the server

  /// cores x clock x FLOP a clock.
  [[nodiscard]] FlopsPerSecond peak() const noexcept;
};

/// A file of catalog/cpus. Problems go to `diagnostics`, all at once.
[[nodiscard]] Cpu read_cpu(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics);

/// By id or alias. ConfigError for a spelling that is none, with those that are known.
[[nodiscard]] Cpu find_cpu(const Catalog& catalog, std::string_view spelling);

}  // namespace headroom
