// SPDX-License-Identifier: Apache-2.0
// Parameters of the laws of classic machine learning: model/stacks/step/classic.toml.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/hardware/catalog/device.hpp>
#include <headroom/hardware/cpus/cpu.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::classic {

/// What the laws ask of a card. Rates are peaks.
struct Card {
  std::string id;
  double units = 0.0;  ///< multiprocessors
  Hertz clock{};
  double warps = 0.0;  ///< resident on one multiprocessor
  BytesPerSecond bandwidth{};
  FlopsPerSecond fp32{}, tf32{}, fp16{};  ///< tf32 and fp16 are those of fp32 where a card has none
  Bytes memory{};
  Watts power{};
  BytesPerSecond host{};  ///< over its bus, one direction
  BytesPerSecond link{};  ///< to its neighbours, one direction; 0: over the bus
  std::string source;
  bool early = false;  ///< before Pascal

  /// Resident warps x GHz over 6000: what hides the latency of gathers and of atomics.
  [[nodiscard]] double by_warps() const noexcept;
  /// Multiprocessors x GHz over 100: what serves atomics in shared memory.
  [[nodiscard]] double by_units() const noexcept;
  /// Memory bandwidth over 1 TB/s: what moves bytes.
  [[nodiscard]] double by_bandwidth() const noexcept;
};

/// Cores of a host at work.
struct Cores {
  std::string id;
  double cores = 1.0;    ///< in all sockets
  double threads = 1.0;  ///< in all; at least the cores
  double sockets = 1.0;
  double speed = 1.0;  ///< of one core over 3.2 GHz of a Golden Cove
  double alone = 1.0;  ///< the same of one core by itself, at its own highest clock where the catalog states it
  double held = 1.0;   ///< the same at the base clock, where the catalog states it
  // Of one core: its part of the socket's last cache and of its memory's bandwidth.
  Bytes cache_part{};
  BytesPerSecond bandwidth_part{};
  FlopsPerSecond peak{};
  BytesPerSecond bandwidth{};
  Bytes cache{};
  Watts power{};
  std::optional<DollarsPerSecond> price;
};

enum class Pace : std::uint8_t { warps, units, bandwidth };
inline constexpr std::array<std::string_view, 3> pace_names{"warps", "units", "bandwidth"};
struct GpuTrees {
  std::string package;
  Pace pace = Pace::warps;  ///< which pace of the card the library keeps
  Seconds level{}, node{}, update{};
  bool level_on_host = false;  ///< whether one core of the host makes a level, whose speed it then follows
  // What the host does beside the card, of a core of speed 1: an entry quantised once and an update on one core; and
  // the bytes of an update that its cores' part of the memory moves.
  Seconds quantise{}, host_serial{};
  Bytes host_bytes{};
  double bytes_per_entry = 0.0, width = 0.0;
  bool host_bound = false;
};
struct CpuTrees {
  std::string package;
  Seconds update{}, level{};
  Seconds barrier{};  ///< of a level, for each core
  Seconds across{};   ///< of a level over two sockets, for each pair of cores
  Seconds far{};      ///< of a row and level that no cache holds, more; whatever the cores
  Bytes index{};      ///< of the bin of an entry
  Bytes row{};        ///< that a level reads of a row beside its bins: a gradient pair, its offset and index
  double serial = 0.0, bytes_per_entry = 0.0, width = 0.0;
  double early = 1.0;  ///< times as long of releases before 2021
};

struct Numbers {
  std::vector<Card> cards;
  std::vector<GpuTrees> gpu_trees;
  std::vector<CpuTrees> cpu_trees;
  double rows_per_split = 1.0, bytes_per_row = 0.0;

  struct KMeans {
    double efficiency = 1.0, early_efficiency = 1.0, passes = 0.0, cpu_efficiency = 1.0, width = 0.0;
    BytesPerSecond host{};
    Seconds centroid{}, cpu_iteration{}, gpu_iteration{}, resident_iteration{};
  } kmeans;

  struct Search {
    double efficiency = 1.0, passes = 0.0, coarse_efficiency = 1.0, lookups = 1.0, scan = 1.0, graph = 1.0, fresh = 1.0;
    double width = 0.0, width_gpu_graph = 0.0;
    Seconds select{}, query{}, query_pq{}, merge{}, launch{};
  } search;

  struct CpuSearch {
    double cores = 1.0, reads_per_s = 1.0, reads = 1.0, recall_power = 1.0, miss_power = 1.0;
    Seconds candidate{}, query{}, code{}, list{}, graph_query{}, graph_step{}, gpu_graph_query{};
    Bytes gpu_graph_step{};
  } cpu_search;

  struct Recommender {
    double efficiency = 1.0, table_passes = 1.0, exchange = 1.0, width = 0.0;
    double sgd = 1.0, adagrad = 1.0, adam = 1.0;
    Seconds gather{}, step{}, serve_request{}, serve_card{}, serve_key{}, cpu_request{};
    double serve_efficiency = 1.0, serve_tail = 1.0, serve_width = 0.0;
    double cpu_efficiency = 1.0, cpu_tail = 1.0, host_rows = 1.0, width_host = 0.0;
  } recommender;

  [[nodiscard]] const GpuTrees* gpu_library(std::string_view name) const noexcept;
  [[nodiscard]] const CpuTrees* cpu_library(std::string_view name) const noexcept;
  [[nodiscard]] const Card* card(std::string_view id) const noexcept;
};

[[nodiscard]] const Numbers& numbers(const ModelData& data);

/// A SKU of the catalog. ConfigError that names what the catalog does not state of it.
[[nodiscard]] Card card_of(const Device& device);
/// `cores` of the sockets' cores, `threads` of them at work; both as they are asked, of at most what the sockets have.
[[nodiscard]] Cores cores_of(const Cpu& cpu, double sockets, double cores, double threads);

}  // namespace headroom::classic
