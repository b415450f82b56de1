// SPDX-License-Identifier: Apache-2.0
// Documents into which keys of a scenario are planted one at a time: together they make readers ask for every key.
#pragma once

#include <headroom/scenarios/keys/key.hpp>

#include <array>
#include <string_view>

namespace headroom::test {

/// Who reads a document.
enum class HostReader { scenario, network, search, fleet_axes, mixed };

struct KeyHost {
  Kinds kind;
  HostReader reader;
  std::string_view text;
  std::string_view only{};  ///< beginnings of the paths of keys that it is for, each after a space; empty: all
};

inline constexpr std::array key_hosts{
    // A run with everything beside it.
    KeyHost{Kinds::train, HostReader::scenario, R"(
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
base_batch = 512
method = "lora"
offload = ["optimizer"]
[sweep]
configurations = 16
max_resource = 9
[strategy]
recompute = "full"
[data]
sample_bytes = "1 kB"
workers = 8
[goodput]
failures = "llama3-54-days"
checkpoint_store = "100 GB/s"
checkpoint_writer = "1 GB/s"
detection = "5 min"
restart = "10 min"
repair = "24 h"
may_miss = 1
evaluation = "1 min"
evaluation_every = 1000
[money]
price = "3 $/h"
date = "2026-08"
[[money.against]]
price = "2 $/h"
date = "2026-08"
[money.owned]
capex = "40000 $"
lifetime = "4 y"
utilisation = 0.85
power_price = "0.08 $/kWh"
pue = 1.25
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
    // Tokens that follow from a loss; a rate of failures of one's own; steps between saves.
    KeyHost{Kinds::train, HostReader::scenario, R"(
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
[target]
loss = 2.0
[strategy]
tp = 2
[goodput]
mtbf_per_gpu = "50000 h"
checkpoint_writer = "1 GB/s"
detection = "0 s"
restart = "10 min"
)"},
    KeyHost{Kinds::network, HostReader::network, R"(
schema = 1
kind = "train"
model = "perception-2b"
[hardware]
gpu = "a100-sxm-80gb"
gpus = 64
[training]
global_batch = 128
precision = "bf16"
[strategy]
zero = 2
[data]
prefetch = 2
[money]
price = "3 $/h"
date = "2026-08"
[[money.against]]
price = "2 $/h"
date = "2026-08"
[money.owned]
capex = "40000 $"
lifetime = "4 y"
utilisation = 0.85
power_price = "0.08 $/kWh"
pue = 1.25
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
    // A fixed load, with a draft and an API beside it.
    KeyHost{Kinds::serve, HostReader::scenario, R"(
schema = 1
kind = "serve"
model = "llama3.1-70b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 8
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
[money]
price = "3 $/h"
date = "2026-08"
[[money.against]]
price = "2 $/h"
date = "2026-08"
[money.owned]
capex = "40000 $"
lifetime = "4 y"
utilisation = 0.85
power_price = "0.08 $/kWh"
pue = 1.25
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
[money.api]
input = "0.5 $"
output = "1.5 $"
date = "2026-08"
)"},
    // An open load of one class, with a day, shared prefixes and tiers of caches.
    KeyHost{Kinds::serve, HostReader::scenario, R"(
schema = 1
kind = "serve"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
[serving]
engine = "vllm"
[serving.kv_offload.cpu]
capacity = "500 GB"
[serving.kv_offload.disk]
capacity = "4 TB"
bandwidth = "10 GB/s"
[serving.kv_offload.remote]
capacity = "40 TB"
bandwidth = "10 GB/s"
[strategy]
tp = 1
[traffic]
rate = "12 req/s"
arrivals = "gamma"
cv = 2.0
[traffic.prompt]
mean = 1000
law = "lognormal"
cv = 1.0
[traffic.output]
mean = 200
law = "uniform"
low = 0.5
[traffic.prefix]
groups = 10
tokens = 512
[traffic.over_time]
shape = "diurnal"
peak_over_mean = 1.8
[traffic.retries]
failure = 0.01
[slo]
ttft_p95 = "1 s"
[fleet]
routing = "prefix"
[fleet.prefix_routing]
cache_threshold = 0.3
[fleet.failures]
mtbf_per_gpu = "50000 h"
back = "10 min"
availability = 0.999
)"},
    // Bursts, and prompts on replicas of their own.
    KeyHost{Kinds::serve, HostReader::scenario, R"(
schema = 1
kind = "serve"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
[serving]
isl = 1000
osl = 200
[strategy]
tp = 1
[traffic]
rate = "12 req/s"
arrivals = "weibull"
shape = 0.5
[traffic.prompt]
mean = 1000
law = "uniform"
low = 0.5
[traffic.output]
mean = 200
law = "lognormal"
cv = 1.0
[traffic.over_time]
shape = "bursts"
factor = 3
length = "1 min"
period = "1 h"
[fleet]
spare = 1
[fleet.prefill]
link = "50 GB/s"
)"},
    // A fleet that follows its load, of sessions.
    KeyHost{Kinds::serve, HostReader::scenario, R"(
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
turns = 2
[traffic.over_time]
shape = "diurnal"
peak_over_mean = 1.8
[fleet.autoscale]
cold_start = "5 min"
)"},
    // Classes whose prompts share prefixes, in sessions.
    KeyHost{Kinds::serve, HostReader::scenario, R"(
schema = 1
kind = "serve"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
[serving]
engine = "vllm"
[strategy]
tp = 1
[[traffic.class]]
name = "chat"
rate = "6 req/s"
turns = 2
arrivals = "gamma"
cv = 2.0
[traffic.class.prompt]
mean = 800
law = "lognormal"
cv = 1.0
[traffic.class.output]
mean = 200
law = "uniform"
low = 0.5
[traffic.class.prefix]
groups = 10
tokens = 512
[traffic.class.slo]
ttft_p95 = "1 s"
)"},
    // Classes of two models.
    KeyHost{Kinds::serve, HostReader::scenario, R"(
schema = 1
kind = "serve"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
[serving]
engine = "vllm"
[strategy]
tp = 1
[[traffic.class]]
name = "code"
model = "qwen3-8b"
rate = "2 req/s"
arrivals = "weibull"
shape = 0.5
[traffic.class.prompt]
mean = 800
law = "uniform"
low = 0.5
[traffic.class.output]
mean = 200
law = "lognormal"
cv = 1.0
[[traffic.class]]
name = "chat"
rate = "6 req/s"
prompt = { mean = 800 }
output = { mean = 200 }
)"},
    KeyHost{Kinds::train, HostReader::search, R"(
schema = 1
kind = "train"
[search]
micro_batch = "any"
[training]
tokens = 1e12
[money]
price = "3 $/h"
date = "2026-08"
[objective]
gpus_on_hand = 64
)"},
    KeyHost{Kinds::serve, HostReader::fleet_axes, R"(
schema = 1
kind = "serve"
model = "llama3-8b"
[search]
pp = [1, 2]
)"},
    // Pools of unlike SKUs.
    KeyHost{Kinds::train, HostReader::mixed, R"(
schema = 1
kind = "train"
model = "llama3-8b"
[[hardware.pool]]
gpu = "h100-sxm-80gb"
gpus = 8
[[hardware.pool]]
gpu = "a100-sxm-80gb"
gpus = 8
[training]
seq_len = 8192
global_batch = 64
precision = "bf16"
[money]
price = "3 $/h"
date = "2026-08"
)"},
    KeyHost{Kinds::serve, HostReader::mixed, R"(
schema = 1
kind = "serve"
model = "llama3-8b"
[[hardware.pool]]
gpu = "h100-sxm-80gb"
gpus = 8
[[hardware.pool]]
gpu = "a100-sxm-80gb"
gpus = 8
[serving]
engine = "vllm"
[traffic]
rate = "2 req/s"
prompt = { mean = 800 }
output = { mean = 200 }
[money]
price = "3 $/h"
date = "2026-08"
)"},
};

}  // namespace headroom::test
