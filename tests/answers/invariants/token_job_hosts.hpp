// SPDX-License-Identifier: Apache-2.0
// Documents of kind batch whose model is a language model, into which keys are planted one at a time.
#pragma once

#include "../../scenarios/key_hosts.hpp"
#include <array>

namespace headroom::test {

inline constexpr std::array token_job_hosts{
    // Prompts by a time and for a sum, on spot machines.
    KeyHost{Kinds::token_job, HostReader::scenario, R"(
schema = 1
kind = "batch"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
[serving]
isl = 1000
osl = 200
concurrency = 64
[strategy]
tp = 1
[job]
records = 1e6
deadline = "8 h"
budget = "1000 $"
interruptions = "0.05 req/h"
start = "5 min"
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
    // The same on stated machines of one's own, with layout and load left open.
    KeyHost{Kinds::token_job, HostReader::scenario, R"(
schema = 1
kind = "batch"
model = "llama3-8b"
[hardware]
gpu = "a100-sxm-80gb"
gpus = 2
[serving]
isl = 1000
osl = 200
[job]
records = 1e6
[money.owned]
capex = "40000 $"
lifetime = "4 y"
utilisation = 0.85
power_price = "0.08 $/kWh"
pue = 1.25
date = "2026-08"
)",
            " money hardware strategy job"},
    // Prices of lists.
    KeyHost{Kinds::token_job, HostReader::scenario, R"(
schema = 1
kind = "batch"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 1
[serving]
isl = 1000
osl = 200
concurrency = 16
[strategy]
tp = 1
[job]
records = 1e6
[money]
prices = "verda-2026-08"
[[money.against]]
prices = "nebius-2026-08"
[money.storage]
size = "400 TB"
prices = "gcs-2026-09"
[money.egress]
size = "2 TB"
prices = "gcs-2026-09"
)",
            " money"},
    // A draft by a smaller model.
    KeyHost{Kinds::token_job, HostReader::scenario, R"(
schema = 1
kind = "batch"
model = "llama3.1-70b"
[hardware]
gpu = "h100-sxm-80gb"
[serving]
isl = 2048
osl = 256
concurrency = 64
[serving.speculative]
draft = 4
acceptance = 0.7
draft_model = "llama3.2-1b"
[strategy]
tp = 8
[job]
records = 1e6
deadline = "8 h"
)",
            " serving.speculative"},
    // A draft by a layer.
    KeyHost{Kinds::token_job, HostReader::scenario, R"(
schema = 1
kind = "batch"
model = "llama3.1-70b"
[hardware]
gpu = "h100-sxm-80gb"
[serving]
isl = 2048
osl = 256
concurrency = 64
[serving.speculative]
draft = 4
acceptance = 0.7
method = "eagle"
[strategy]
tp = 8
[job]
records = 1e6
deadline = "8 h"
)",
            " serving.speculative"},
    // The same of an engine whose next step waits for it.
    KeyHost{Kinds::token_job, HostReader::scenario, R"(
schema = 1
kind = "batch"
model = "llama3.1-70b"
[hardware]
gpu = "h100-sxm-80gb"
[serving]
engine = "sglang"
isl = 2048
osl = 256
concurrency = 64
[serving.speculative]
draft = 4
acceptance = 0.7
method = "eagle"
[strategy]
tp = 8
[job]
records = 1e6
deadline = "8 h"
)",
            " serving.speculative"},
    // Attention replicas that share experts.
    KeyHost{Kinds::token_job, HostReader::scenario, R"(
schema = 1
kind = "batch"
model = "qwen3-30b-a3b"
[hardware]
gpu = "h100-sxm-80gb"
[serving]
engine = "sglang"
isl = 1000
osl = 200
concurrency = 512
[strategy]
tp = 1
ep = 16
[job]
records = 1e6
deadline = "8 h"
)",
            " serving strategy"},
    // Prompts that wait for more of them: one is a third of a step.
    KeyHost{Kinds::token_job, HostReader::scenario, R"(
schema = 1
kind = "batch"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
[serving]
engine = "tensorrt-llm"
isl = 3000
osl = 200
concurrency = 64
batch_wait = 20
batch_wait_share = 0.5
[strategy]
tp = 1
[job]
records = 1e6
deadline = "8 h"
)",
            " serving.batch_wait"},
    // Ranks of attention that wait for each other's prompts.
    KeyHost{Kinds::token_job, HostReader::scenario, R"(
schema = 1
kind = "batch"
model = "qwen3-30b-a3b"
[hardware]
gpu = "h100-sxm-80gb"
[serving]
engine = "tensorrt-llm"
isl = 1000
osl = 200
concurrency = 512
attention_dp_timeout = 50
attention_dp_batching = 10
[strategy]
tp = 1
ep = 16
[job]
records = 1e6
deadline = "8 h"
)",
            " serving.attention_dp"},
    // Small answers that one process of a front end cannot write in time.
    KeyHost{Kinds::token_job, HostReader::scenario, R"(
schema = 1
kind = "batch"
model = "llama3.2-1b"
[hardware]
gpu = "h100-sxm-80gb"
[serving]
engine = "tensorrt-llm"
isl = 128
osl = 200
concurrency = 1024
[strategy]
tp = 1
[job]
records = 1e6
deadline = "8 h"
)",
            " serving.stream_interval serving.front_end"},
    // Weights that are unpacked to 16 bit.
    KeyHost{Kinds::token_job, HostReader::scenario, R"(
schema = 1
kind = "batch"
model = "llama3-8b"
[hardware]
gpu = "a100-sxm-80gb"
[serving]
isl = 1000
osl = 200
concurrency = 64
weights = "int4"
[strategy]
tp = 1
[job]
records = 1e6
deadline = "8 h"
)",
            " serving.quantization"},
};

}  // namespace headroom::test
