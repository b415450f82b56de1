// SPDX-License-Identifier: Apache-2.0
// Keys of [[traffic.class]] that name a model of its own beside the scenario's.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/model/workload/architecture.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Keys of [[traffic.class]] that say which model it asks, and how that model is held.
inline constexpr std::array<std::string_view, 4> beside_keys{"model", "weights", "kv_cache", "kv_share"};

/// The model that `spelling`, the value of `key`, names; problems go to the table.
using FindModel =
    std::function<std::optional<Architecture>(ConfigTable& table, std::string_view key, const std::string& spelling)>;

/// Reads beside_keys of the classes into `serve`, whose traffic and [serving] have been read. One engine a model: what
/// several classes say of it must agree. What is left open is told in `assumptions`.
void read_beside(ConfigTable& root, const FindModel& find, ServeScenario& serve, std::vector<std::string>& assumptions);

}  // namespace headroom
