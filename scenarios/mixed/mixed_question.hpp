// SPDX-License-Identifier: Apache-2.0
// A question about pools of unlike SKUs, [[hardware.pool]]: one training job over all of them, or one fleet of replicas
// behind one router. Each pool is read as the same question on its SKU alone.
#pragma once

#include <headroom/core/config_value.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

struct MixedPool {
  std::int64_t gpus = 1;
  Scenario alone;  ///< training: the whole job as if every GPU were of this SKU; serving: the pool's own replicas
};

/// How requests are split over replicas of unlike SKUs.
enum class MixedRouting : std::uint8_t {
  by_rate,  ///< in proportion to what each replica answers at the most
  equal,    ///< as many to each: in turn, or at random
};

struct MixedQuestion {
  std::string name;
  bool serves = false;
  std::vector<MixedPool> pools;
  std::int64_t gpus = 0;  ///< of all pools
  MixedRouting routing = MixedRouting::by_rate;
  std::vector<std::string> assumptions;

  /// Dollars of all GPUs; nullopt where a pool has no price.
  [[nodiscard]] std::optional<DollarsPerSecond> price() const;
};

/// Most pools of a question.
inline constexpr std::size_t most_pools = 8;

/// Whether a document has [[hardware.pool]].
[[nodiscard]] bool asks_for_mixed(const ConfigValue& root) noexcept;

/// ConfigError with every problem at once: those of each pool as its own question would tell them; tables and keys that
/// are of one SKU, each with its reason; groups of ranks that would lie across SKUs.
[[nodiscard]] MixedQuestion read_mixed(const ConfigValue& root, const std::string& file, const Sources& sources);
MixedQuestion read_mixed(const ConfigValue& root, const std::string& file, const Sources&& gone) = delete;

}  // namespace headroom
