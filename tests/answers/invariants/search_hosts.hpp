// SPDX-License-Identifier: Apache-2.0
// Small searches into which keys of [search] and [objective] are planted one at a time; the hosts of the readers' tests
// state no whole question.
#pragma once

#include "../../scenarios/key_hosts.hpp"
#include <array>

namespace headroom::test {

inline constexpr std::array search_hosts{
    KeyHost{Kinds::train, HostReader::search, R"(
schema = 1
kind = "train"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 16
[training]
seq_len = 8192
global_batch = 64
precision = "bf16"
tokens = 1e12
[money]
prices = "nebius-2026-08"
[search]
tp = [1, 2]
[objective]
gpus_on_hand = 64
)"},
    // Stages, whose order is open.
    KeyHost{Kinds::train, HostReader::search, R"(
schema = 1
kind = "train"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 16
[training]
seq_len = 8192
global_batch = 64
precision = "bf16"
[strategy]
pp = 2
micro_batch = 1
[search]
tp = [1, 2]
)",
            " search.schedule"},
    // Context ranks.
    KeyHost{Kinds::train, HostReader::search, R"(
schema = 1
kind = "train"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 16
[training]
seq_len = 32768
global_batch = 64
precision = "bf16"
[strategy]
cp = 4
[search]
tp = [1, 2]
)",
            " search.cp_form"},
    // Experts that are met over NICs.
    KeyHost{Kinds::train, HostReader::search, R"(
schema = 1
kind = "train"
model = "qwen3-30b-a3b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 32
[training]
seq_len = 4096
global_batch = 256
precision = "bf16"
software = "megatron-core-te"
[strategy]
ep = 32
recompute = "selective"
[search]
tp = [1, 2]
)",
            " search.overlap_experts search.ep search.etp"},
    // Many plans that are nearly alike.
    KeyHost{Kinds::train, HostReader::search, R"(
schema = 1
kind = "train"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 16
[training]
seq_len = 8192
global_batch = 64
precision = "bf16"
tokens = 1e12
[search]
tp = [1, 2, 4]
pp = [1, 2]
zero = [1, 2, 3]
)",
            " objective.plans objective.simplicity"},
    // A day on which the run must have ended.
    KeyHost{Kinds::train, HostReader::search, R"(
schema = 1
kind = "train"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 16
[training]
seq_len = 8192
global_batch = 64
precision = "bf16"
tokens = 1e11
[search]
tp = [1, 2]
[objective]
deadline = "2026-12-01"
start = "2026-09-01"
)",
            " objective.start objective.deadline"},
    // A fleet.
    KeyHost{Kinds::serve, HostReader::fleet_axes, R"(
schema = 1
kind = "serve"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
[serving]
isl = 1000
osl = 200
[traffic]
rate = "12 req/s"
[slo]
ttft_p95 = "1 s"
[search]
tp = [1, 2]
)"},
    // One that is paid for.
    KeyHost{Kinds::serve, HostReader::fleet_axes, R"(
schema = 1
kind = "serve"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
[serving]
isl = 1000
osl = 200
[traffic]
rate = "12 req/s"
[slo]
ttft_p95 = "1 s"
[money]
prices = "nebius-2026-08"
market = "on-demand"
region = "eu"
[search]
tp = [1, 2]
)",
            " search.gpu search.market search.region search.prices"},
    // A stated number of GPUs under fixed loads.
    KeyHost{Kinds::serve, HostReader::fleet_axes, R"(
schema = 1
kind = "serve"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 2
[serving]
isl = 1000
osl = 200
[search]
tp = [1, 2]
concurrency = [1, 8]
)",
            " search.concurrency search.memory_fraction"},
};

}  // namespace headroom::test
