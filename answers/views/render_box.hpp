// SPDX-License-Identifier: Apache-2.0
// A stated number of GPUs under fixed loads: throughput against latency, and what to take.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/scenarios/box/box_curve.hpp>

#include <string>
#include <vector>

namespace headroom {

[[nodiscard]] std::string box_text(const BoxCurve& curve);
/// Schema "headroom.box/1": raw SI, the unit in the key.
[[nodiscard]] Value box_document(const BoxCurve& curve);
/// "take tp 4, 2 replicas, at 96 in flight: ...", or that no load keeps what is promised.
[[nodiscard]] std::string box_verdict(const BoxCurve& curve);

/// Where nothing is taken: the load that comes nearest and what helps, or what would hold the model, in lines.
[[nodiscard]] std::vector<std::string> box_way_out(const BoxCurve& curve);
/// The verdict with what `--set` takes of the point that is taken, for whoever goes on with it.
[[nodiscard]] std::string box_taken_text(const BoxCurve& curve);

}  // namespace headroom
