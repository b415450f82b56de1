// SPDX-License-Identifier: Apache-2.0
// Tables [money] and [energy] of a scenario, resolved: every price with its source and date.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/scenarios/money/formulas.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// One part of a GPU's cost: capital, upkeep or electricity.
struct PricePart {
  std::string_view name;
  DollarsPerSecond per_gpu{};
};

/// Price of a GPU per second, with its source.
struct GpuPrice {
  std::optional<DollarsPerSecond> price;  ///< dollars per second and GPU
  std::string source;                     ///< name, market, region and date in one line, for print
  std::string name;              ///< name of the price list or of the user's own price; "owned" for bought hardware
  std::string date;              ///< empty for a price typed on the command line
  std::string market;            ///< "on-demand", "spot", "reserved", "owned"; empty: not stated
  std::string region;            ///< class of regions; empty: not stated
  std::vector<PricePart> parts;  ///< breakdown of `price`, for an owned GPU only
};

/// Source and date of a number; `date` is empty for a number typed on the command line.
struct Stated {
  std::string source, date;
};

struct OwnedHardware {
  Ownership terms;
  Stated stated;
  std::string power_source;  ///< source of `terms.power`
};

/// Bytes stored, for the length of the run or for a stated time.
struct StorageQuestion {
  Bytes size{};
  std::optional<Seconds> kept;  ///< absent: as long as the run
  DollarsPerByteSecond price{};
  Stated stated;
};

/// Bytes sent out of the provider's network, once.
struct EgressQuestion {
  Bytes size{};
  DollarsPerByte price{};
  Stated stated;
};

/// Dollars that an API charges per million tokens.
struct ApiPrice {
  std::string name;
  Dollars input{}, output{};
  Stated stated;
};

/// Table [money]. Without a price no dollars are printed.
struct Money : GpuPrice {
  std::optional<OwnedHardware> owned;  ///< the price itself, or an alternative when another price is stated
  std::optional<StorageQuestion> storage;
  std::optional<EgressQuestion> egress;
  std::optional<ApiPrice> api;
  std::vector<GpuPrice> against;  ///< other ways to pay for the same GPUs
  bool what_if = false;           ///< whether cheaper variants of the training run are asked for
};

/// Table [energy].
struct EnergyQuestion {
  std::optional<double> pue;  ///< absent: energy is that of the machines, not of the building
  std::optional<DollarsPerJoule> power_price;
  Stated stated;
  std::optional<Watts> rack_power;
};

}  // namespace headroom
