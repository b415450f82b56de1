// SPDX-License-Identifier: Apache-2.0
// What runs a network's call: which ops it fuses, what its launches and calls cost the host.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/core/quantity.hpp>
#include <headroom/model/infer/call_op.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class ModelData;

/// Kernels and passes over memory that an engine leaves of an op that multiplies nothing: fixed parts, and parts for
/// each primitive of the op.
struct FusedOp {
  double launches = 1.0, passes = 1.0;
  double launches_each = 0.0, passes_each = 0.0;
  [[nodiscard]] constexpr double launches_of(const CallOp& op) const noexcept {
    return launches + launches_each * op.primitives;
  }
  [[nodiscard]] constexpr double passes_of(const CallOp& op) const noexcept {
    return passes + passes_each * op.primitives;
  }
};

/// Engines that fuse alike. `framework` launches every op; `fused_framework` has kernels of norm and activation
/// together; `graph` decomposes what is not one kernel; `compiled` writes chains of element-wise ops as one kernel;
/// `inference` folds norms and activations into products.
enum class Fusion : std::uint8_t { framework, fused_framework, graph, compiled, runtime, inference };
inline constexpr std::array<std::string_view, 6> fusion_names{"framework", "fused-framework", "graph",
                                                              "compiled",  "runtime",         "inference"};

/// One release line of an engine: stacks/infer/ID.toml.
struct NetworkEngine {
  std::string id, name, file, source;
  std::string base;                ///< id of the engine whose numbers it has where it states none; empty: none
  std::vector<std::string> names;  ///< as rows spell it
  std::string from, before;        ///< of those, releases >= from and < before; empty: all
  std::string component;           ///< word before a release's number, where versions say more ("NGC 20.06")
  std::string mark;                ///< word in a row's options that asks for it ("xla"); empty: none
  Fusion fusion = Fusion::framework;
  bool fused_attention = false;  ///< scores stay on the chip (Dao et al. 2022)
  Seconds launch{};              ///< host time of one kernel
  Seconds call{};                ///< host and driver time of one call
  double autocast = 1.0;         ///< launch time of mixed precision over single
  double overlap = 6.0;          ///< a of (GPU^a + host^a)^(1/a): 1 waits for each other, 6 runs beside each other
  double elementwise = 1.0;      ///< passes over memory over those of the op list
  double elementwise_training = 1.0;
  bool trains = false;  ///< its file states the line above
  /// Share of the exchange of gradients that runs beside the last backward pass, where there is room.
  double exchange_hidden = 0.0;
  bool sharded_update = false;  ///< each rank updates its share of the weights (Rajbhandari et al. 2020, section 5)
  bool buckets = false;         ///< tensors are updated and exchanged together, in buckets of 25 MB (Li et al. 2020)
  /// Of compute capabilities whose kernels came later than the release: its products' rate over today's.
  std::map<std::string, double, std::less<>> early_products;
  std::optional<BytesPerSecond> input;  ///< from a server's client to the GPU, where a server feeds the engine
  /// 80 % of calls under it lie within a factor of 1 / (1 + width) .. 1 + width, networks and SKUs left out of the fit;
  /// the same of closed loops of clients. Nothing: as others of its kind (CallRates).
  std::optional<double> width, loop_width;
  std::string width_source;
  double served = 1.0;  ///< throughput of a closed loop of clients over half their requests a call's time
};

/// 1 where the release has the kernels of a capability.
[[nodiscard]] double early_rate(const NetworkEngine& engine, std::string_view capability) noexcept;

[[nodiscard]] FusedOp fused(Fusion fusion, CallOpKind kind) noexcept;

/// Engines of `data`, in the order of their ids.
[[nodiscard]] const std::vector<NetworkEngine>& network_engines(const ModelData& data);
/// By id. ConfigError that lists what there is.
[[nodiscard]] const NetworkEngine& find_network_engine(const ModelData& data, std::string_view id);
/// The engine that a row means: `name` as it spells it, `release` and `options` as it states them. nullptr: none.
[[nodiscard]] const NetworkEngine* network_engine_of(const ModelData& data,
                                                     std::string_view name,
                                                     std::string_view release,
                                                     std::string_view options);

}  // namespace headroom
