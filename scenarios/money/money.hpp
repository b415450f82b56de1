// SPDX-License-Identifier: Apache-2.0
// What a scenario says of money and energy, resolved: every price with who states it and when it was true.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/scenarios/money/formulas.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// One part of what a GPU costs: capital, upkeep, electricity.
struct PricePart {
  std::string_view name;
  DollarsPerSecond per_gpu{};
};

/// What a GPU costs per second, and who says so.
struct GpuPrice {
  std::optional<DollarsPerSecond> price;  ///< per GPU
  std::string source;                     ///< name, market, region and date in one line, for print
  std::string name;                       ///< of the price list, of the user's own, "owned"
  std::string date;                       ///< empty: typed on the command line
  std::string market;                     ///< "on-demand", "spot", "reserved", "owned"; empty: not stated
  std::string region;                     ///< a class; empty: not stated
  std::vector<PricePart> parts;           ///< of an owned GPU
};

/// Who states a number and when; `date` is empty for what was typed on the command line.
struct Stated {
  std::string source, date;
};

struct OwnedHardware {
  Ownership terms;
  Stated stated;
  std::string power_source;  ///< of the watts
};

/// Bytes kept, for the run or for a time of their own.
struct StorageQuestion {
  Bytes size{};
  std::optional<Seconds> kept;  ///< blank: the run
  DollarsPerByteSecond price{};
  Stated stated;
};

/// Bytes that leave the provider, once.
struct EgressQuestion {
  Bytes size{};
  DollarsPerByte price{};
  Stated stated;
};

/// What an API charges per million tokens.
struct ApiPrice {
  std::string name;
  Dollars input{}, output{};
  Stated stated;
};

/// Table [money]; without a price no dollars are printed.
struct Money : GpuPrice {
  std::optional<OwnedHardware> owned;  ///< the price, or held against it
  std::optional<StorageQuestion> storage;
  std::optional<EgressQuestion> egress;
  std::optional<ApiPrice> api;
  std::vector<GpuPrice> against;  ///< other ways to pay for the same GPUs
  bool what_if = false;           ///< cheaper variants of a training run
};

/// Table [energy].
struct EnergyQuestion {
  std::optional<double> pue;  ///< blank: energy is that of the machines
  std::optional<DollarsPerJoule> power_price;
  Stated stated;
  std::optional<Watts> rack_power;
};

}  // namespace headroom
