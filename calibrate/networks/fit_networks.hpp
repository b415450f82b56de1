// SPDX-License-Identifier: Apache-2.0
// Fits the numbers behind networks' calls to measured rows, and estimates their error on networks, SKUs and sources
// that were no part of the fit.
#pragma once

#include <headroom/calibrate/networks/network_numbers.hpp>
#include <headroom/calibrate/solver/hierarchical_fit.hpp>
#include <headroom/scenarios/measured/network_row.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// What is left out together.
enum class NetworkLeaving : std::uint8_t { network, sku, source };
inline constexpr std::array<std::string_view, 3> network_leaving_names{"network", "SKU", "source"};

/// A measured rate or latency in the fit. Errors are ln(predicted / measured) of a call's time.
struct FittedNetworkRun {
  const RunRow* row = nullptr;
  NetworkRowCall call;
  std::string file;        ///< without folders
  std::size_t family = 0;  ///< of one network, engine, SKU and format
  double weight = 1.0;
  double before = 0.0, fitted = 0.0;
  std::array<double, network_leaving_names.size()> left_out{};  ///< NaN where not computed
  [[nodiscard]] std::string left(NetworkLeaving what) const;    ///< the network, SKU or source
};

struct NetworkFit {
  std::vector<NetworkKnob> knobs;
  std::vector<double> values;
  HierarchicalResult result;
  std::vector<FittedNetworkRun> runs;
  std::list<RunRow> worded;  ///< rows that describe their workload in words, as the rows that they mean
  std::size_t open = 0;      ///< configurations whose columns leave open which network ran: never fitted
};

struct NetworkFitOptions {
  std::vector<NetworkLeaving> leave_out{NetworkLeaving::network, NetworkLeaving::sku, NetworkLeaving::source};
  double noise = 0.1;   ///< log error of one row, which weighs rows against priors
  double scale = 0.15;  ///< log error beyond which a row counts linearly
};

/// The runs point into `sources`. One row of each configuration: its rate, else its mean latency; a log that stands
/// under several names once. A family of n rows weighs as n^0.65 rows. Closed loops move the server's share of them
/// alone. Doubted rows, those of capped power and those whose columns leave the network open are left out. ConfigError
/// when no row is left.
[[nodiscard]] NetworkFit fit_networks(std::span<const RunFile> files,
                                      const Sources& sources,
                                      const NetworkFitOptions& options,
                                      const std::function<void(std::string_view)>& progress = {});

/// Half-width of the interval that holds 80 % of the runs of engines of a kind, each once with its network left out and
/// once with its SKU: within 1 / (1 + width) .. 1 + width of the prediction. 0 where fewer than 12 runs of 2 networks
/// tell it.
[[nodiscard]] double left_out_width(const NetworkFit& fit, const std::function<bool(const FittedNetworkRun&)>& of);

}  // namespace headroom
