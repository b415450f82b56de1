// SPDX-License-Identifier: Apache-2.0
// Tables [money] and [energy] of a scenario, resolved: every price with its source and date.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/scenarios/money/formulas.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// How hardware is paid for: the markets of price lists in their order, bought, or somebody else's and paid by the
/// token.
enum class PaidAs : std::uint8_t { unstated, on_demand, spot, reserved, owned, api };
inline constexpr std::array<std::string_view, 6> paid_as_names{"", "on-demand", "spot", "reserved", "owned", "api"};
[[nodiscard]] constexpr std::string_view name_of(PaidAs how) noexcept {
  return paid_as_names[static_cast<std::size_t>(how)];
}
[[nodiscard]] constexpr PaidAs paid_as(Market market) noexcept {
  return static_cast<PaidAs>(1 + static_cast<int>(market));
}
static_assert(name_of(paid_as(Market::on_demand)) == market_names[0] &&
              name_of(paid_as(Market::spot)) == market_names[1] &&
              name_of(paid_as(Market::reserved)) == market_names[2]);

/// One part of the cost of a GPU that is owned.
enum class CostPart : std::uint8_t { capital, upkeep, electricity };
inline constexpr std::array<std::string_view, 3> cost_part_names{"capital", "upkeep", "electricity"};
struct PricePart {
  CostPart part = CostPart::capital;
  DollarsPerSecond per_gpu{};
  [[nodiscard]] std::string_view name() const noexcept { return cost_part_names[static_cast<std::size_t>(part)]; }
};

/// Price of a GPU per second, with its source.
struct GpuPrice {
  std::optional<DollarsPerSecond> price;  ///< dollars per second and GPU
  std::string source;                     ///< name, market, region and date in one line, for print
  std::string name;  ///< name of the price list or of the user's own price; "owned" for bought hardware
  std::string date;  ///< empty for a price typed on the command line
  PaidAs market = PaidAs::unstated;
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
