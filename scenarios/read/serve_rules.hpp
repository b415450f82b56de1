// SPDX-License-Identifier: Apache-2.0
// What an engine refuses of a serving question: settings that contradict each other, lengths beyond the model's
// context, formats that the SKU lacks. Each problem stands at its key, with the way out.
#pragma once

#include <headroom/scenarios/keys/keyed_table.hpp>
#include <headroom/scenarios/keys/serving_keys.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

using ServingKeys = KeyedTable<keys::serving, Kinds::serve>;

/// Reads `chunked_prefill` of the [serving] table; where it is blank that is told in `assumptions`.
void read_chunked_prefill(ServingKeys& serving, ServeScenario& serve, std::vector<std::string>& assumptions);

/// Reads the facts of the launch and of its clients: range_ratio to front_end_processes.
void read_client_facts(ServingKeys& serving, ServeScenario& serve);

/// Sessions whose last turn, of mean lengths, is longer than what a server lets in.
void refuse_long_sessions(ConfigTable& root, const ServeScenario& serve);

/// `replicas`: `dp` of [strategy], which may only say what GPUs and ranks say already.
void check_replicas(ConfigTable& strategy, std::optional<std::int64_t> replicas, const ServeScenario& serve);

/// Adds a problem for each rule that the question breaks. The engine's own: vLLM's scheduler takes at least one token
/// of every running sequence (vllm/config/scheduler.py), with a draft those too; without chunked prefill a prompt is
/// one step's work in all engines; requests beyond the positions are refused by all. The SKU's: a 4-bit cache, which
/// only chips with 4-bit products read.
void refuse_contradictions(ConfigTable& serving, const ServeScenario& serve);

/// Whether so many tensor ranks lie in several hosts, as those of no replica of a fleet do; false where no host is
/// known.
[[nodiscard]] bool spans_hosts(const ServeScenario& serve, std::int64_t tp) noexcept;

/// ConfigError when a plan of replicas under a fixed load is asked of requests that come when they come.
void refuse_open_load(const ServeScenario& serve);

/// ConfigError when times are asked of bf16 weights on a SKU that multiplies fp16 alone. Their memory has an answer.
void refuse_untimed_weights(const ServeScenario& serve);

}  // namespace headroom
