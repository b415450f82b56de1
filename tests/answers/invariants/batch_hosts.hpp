// SPDX-License-Identifier: Apache-2.0
// Documents of kind batch into which keys are planted one at a time.
#pragma once

#include "../../scenarios/key_hosts.hpp"
#include <array>

namespace headroom::test {

inline constexpr std::array batch_hosts{
    // A network before a rate, with a promise, on machines that cost and draw.
    KeyHost{Kinds::batch, HostReader::scenario, R"(
schema = 1
kind = "batch"
model = "bert-base-squad"
[hardware]
gpu = "h100-sxm-80gb"
[inference]
precision = "fp16"
[requests]
rate = "5000 req/s"
simulated = 2000
[requests.slo]
p99 = "100 ms"
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
    // Stated batches and windows on stated GPUs, on hardware of one's own.
    KeyHost{Kinds::batch, HostReader::scenario, R"(
schema = 1
kind = "batch"
model = "resnet-50"
[hardware]
gpu = "a100-sxm-80gb"
gpus = 4
[inference]
max_batch = 16
window = "2 ms"
[requests]
rate = "4000 req/s"
simulated = 2000
[requests.slo]
p95 = "50 ms"
[money.owned]
capex = "40000 $"
lifetime = "4 y"
utilisation = 0.85
power_price = "0.08 $/kWh"
pue = 1.25
date = "2026-08"
)"},
    // Calls that were measured, for classes with deadlines.
    KeyHost{Kinds::batch, HostReader::scenario, R"(
schema = 1
kind = "batch"
[hardware]
gpu = "t4"
gpus = 1
[[inference.call]]
batch = 1
time = "4 ms"
[[inference.call]]
batch = 8
time = "9 ms"
[requests]
simulated = 2000
[[requests.class]]
name = "frames"
rate = "60 req/s"
deadline = "9 ms"
[[requests.class]]
name = "logs"
rate = "100 req/s"
deadline = "200 ms"
)"},
    // Clients in a loop.
    KeyHost{Kinds::batch, HostReader::scenario, R"(
schema = 1
kind = "batch"
model = "resnet-50"
[hardware]
gpu = "t4"
gpus = 1
[clients]
clients = 16
)"},
    // Records by a time and for a sum, from spot machines that a slow host feeds.
    KeyHost{Kinds::batch, HostReader::scenario, R"(
schema = 1
kind = "batch"
model = "resnet-50"
[hardware]
gpu = "a100-sxm-80gb"
[job]
records = 1e9
deadline = "8 h"
budget = "1000 $"
interruptions = "0.05 req/h"
start = "5 min"
[data]
sample_bytes = "1 MB"
storage_bandwidth = "1 GB/s"
cpu_time = "10 ms"
workers = 16
fed_bytes = "1 MB"
set_bytes = "100 TB"
[money]
price = "3 $/h"
date = "2026-08"
)"},
    // The same from a price list.
    KeyHost{Kinds::batch, HostReader::scenario, R"(
schema = 1
kind = "batch"
model = "resnet-50"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 4
[job]
records = 1e9
[money]
prices = "lambda-2026-08"
[[money.against]]
prices = "nebius-2026-08"
[money.storage]
size = "400 TB"
prices = "gcs-2026-09"
[money.egress]
size = "2 TB"
prices = "gcs-2026-09"
)"},
    // Samples that stages prepare on cores, the GPU and its engines, one of which binds, copied in many pieces.
    KeyHost{Kinds::batch, HostReader::scenario, R"(
schema = 1
kind = "batch"
[hardware]
gpu = "a100-sxm-80gb"
gpus = 1
[[inference.call]]
batch = 1
time = "1 us"
[job]
records = 1e9
[data]
workers = 4
[[data.stage]]
name = "text"
on = "cpu"
cpu_time = "2 ms"
gpu_time = "1 ms"
engine_time = "3 ms"
output = "10 kB"
[[data.stage]]
name = "another"
cpu_time = "1 ms"
gpu_time = "100 us"
engine_time = "300 us"
on = "gpu"
)",
            " data."},
    // What a batch is asked on.
    KeyHost{Kinds::batch, HostReader::search, R"(
schema = 1
kind = "batch"
model = "resnet-50"
[search]
gpu = ["t4", "a100-sxm-80gb"]
precision = ["fp16", "int8"]
[[search.offer]]
gpu = "t4"
price = "0.35 $/h"
date = "2026-08"
[[search.offer]]
gpu = "a100-sxm-80gb"
price = "4.1 $/h"
date = "2026-08"
[requests]
rate = "5000 req/s"
[requests.slo]
p95 = "100 ms"
)"},
    // Samples that storage and the link bind, most of them cached.
    KeyHost{Kinds::batch, HostReader::scenario, R"(
schema = 1
kind = "batch"
model = "resnet-50"
[hardware]
gpu = "a100-sxm-80gb"
[job]
records = 1e9
deadline = "8 h"
[data]
sample_bytes = "1 MB"
storage_bandwidth = "1 TB/s"
fed_bytes = "10 MB"
set_bytes = "100 TB"
cache = "50 TB"
cache_bandwidth = "1 GB/s"
)",
            " data."},
    KeyHost{Kinds::batch, HostReader::search, R"(
schema = 1
kind = "batch"
model = "resnet-50"
[search]
gpu = ["t4", "a100-sxm-80gb"]
[requests]
rate = "5000 req/s"
[requests.slo]
p95 = "100 ms"
)",
            " search.gpu"},
};

}  // namespace headroom::test
