// SPDX-License-Identifier: Apache-2.0
// Documents of kind post_train, into which keys are planted one at a time.
#pragma once

#include "../../scenarios/key_hosts.hpp"
#include <array>

namespace headroom::test {

inline constexpr std::array post_train_hosts{
    // A step with a split that is asynchronous, paid for.
    KeyHost{Kinds::post_train, HostReader::scenario, R"(
schema = 1
kind = "post_train"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 16
node = "dgx-h100"
[post_train]
algorithm = "ppo"
software = "verl"
prompts = 32
samples = 8
answer_tokens = 600
answer_most = 2048
mini_batch = 128
steps = 100
[pools]
placement = "split"
order = "asynchronous"
staleness = 1
[money]
price = "3 $/h"
date = "2026-08"
[[money.against]]
price = "2 $/h"
date = "2026-08"
[money.storage]
size = "400 TB"
price = "0.02 $/GB/month"
date = "2026-08"
[money.egress]
size = "2 TB"
price = "0.09 $/GB"
date = "2026-08"
[energy]
power_price = "0.1 $/kWh"
date = "2026-08"
)"},
    // Everything open, on hardware of one's own.
    KeyHost{Kinds::post_train, HostReader::scenario, R"(
schema = 1
kind = "post_train"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 16
[post_train]
software = "nemo-rl"
prompts = 64
samples = 4
[money.owned]
capex = "30000 $"
lifetime = "4 y"
utilisation = 0.9
power_price = "0.1 $/kWh"
pue = 1.2
date = "2026-08"
)"},
    // Engines on another SKU, with experts, paid for from a price list.
    KeyHost{Kinds::post_train, HostReader::scenario, R"(
schema = 1
kind = "post_train"
model = "qwen3-30b-a3b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 32
[post_train]
software = "verl"
backend = "fsdp"
prompts = 32
samples = 8
steps = 10
[pools]
placement = "split"
rollout_gpu = "h200-sxm-141gb"
rollout_gpu_count = 16
[money]
prices = "lambda-2026-08"
)"},
    // Stages that feed each other.
    KeyHost{Kinds::post_train, HostReader::scenario, R"(
schema = 1
kind = "post_train"
[hardware]
gpu = "l40"
gpus = 8
[post_train]
demand = 1e9
[[stage]]
name = "simulate"
rate = 60000.0
[[stage]]
name = "train"
rate = 180000.0
)"},
};

}  // namespace headroom::test
