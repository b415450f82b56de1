// SPDX-License-Identifier: Apache-2.0
// Documents in which keys have a part that the documents of the readers' tests give none: experts across hosts, a
// narrow feed, engines whose front end binds.
#pragma once

#include "../../scenarios/key_hosts.hpp"
#include <array>

namespace headroom::test {

inline constexpr std::array more_hosts{
    // Experts that are met over NICs.
    KeyHost{Kinds::train, HostReader::scenario, R"(
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
)"},
    // Context ranks, a batch that grew, and a feed that binds.
    KeyHost{Kinds::train, HostReader::scenario, R"(
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
tokens = 1e12
base_batch = 32
epoch_samples = 1e6
sync_every = 2
[strategy]
cp = 4
[data]
sample_bytes = "100 MB"
storage_bandwidth = "1 GB/s"
cpu_time = "2 s"
workers = 4
)"},
    // A 4-bit base whose optimizer lies on the host.
    KeyHost{Kinds::train, HostReader::scenario, R"(
schema = 1
kind = "train"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 1
[training]
seq_len = 2048
global_batch = 16
precision = "bf16"
method = "qlora"
offload = ["optimizer"]
)"},
    // A network that waits for its samples.
    KeyHost{Kinds::network, HostReader::network, R"(
schema = 1
kind = "train"
model = "perception-2b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 64
[training]
global_batch = 128
precision = "bf16"
[strategy]
zero = 2
recompute = "full"
[data]
sample_bytes = "100 MB"
storage_bandwidth = "1 GB/s"
cpu_time = "2 s"
workers = 4
)"},
    // Attention replicas that share experts.
    KeyHost{Kinds::serve, HostReader::scenario, R"(
schema = 1
kind = "serve"
model = "qwen3-30b-a3b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 16
[serving]
engine = "sglang"
isl = 1000
osl = 200
concurrency = 512
[strategy]
tp = 1
ep = 16
)"},
    // Prompts that wait for more of them: one is a third of a step.
    KeyHost{Kinds::serve, HostReader::scenario, R"(
schema = 1
kind = "serve"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 1
[serving]
engine = "tensorrt-llm"
isl = 3000
osl = 200
concurrency = 64
batch_wait = 20
batch_wait_share = 0.5
[strategy]
tp = 1
)"},
    // Replicas that dp counts.
    KeyHost{Kinds::serve, HostReader::scenario, R"(
schema = 1
kind = "serve"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
[serving]
engine = "tensorrt-llm"
isl = 1000
osl = 200
concurrency = 64
batch_wait = 20
batch_wait_share = 0.5
[strategy]
tp = 1
)"},
    // Small answers that one process of a front end cannot write in time.
    KeyHost{Kinds::serve, HostReader::scenario, R"(
schema = 1
kind = "serve"
model = "llama3.2-1b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 1
[serving]
engine = "tensorrt-llm"
isl = 128
osl = 200
concurrency = 1024
[strategy]
tp = 1
)"},
    // Shared prefixes that no one tier holds.
    KeyHost{Kinds::serve, HostReader::scenario, R"(
schema = 1
kind = "serve"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
[serving]
engine = "vllm"
[serving.kv_offload.cpu]
capacity = "50 GB"
[serving.kv_offload.disk]
capacity = "400 GB"
bandwidth = "10 GB/s"
[serving.kv_offload.remote]
capacity = "4 TB"
bandwidth = "10 GB/s"
[strategy]
tp = 1
[traffic]
rate = "6 req/s"
[traffic.prompt]
mean = 4000
[traffic.output]
mean = 200
[traffic.prefix]
groups = 1000
tokens = 3000
)"},
    // A draft by a layer.
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
method = "eagle"
[strategy]
tp = 8
)"},
    // A draft by a layer, for which the engine's next step waits.
    KeyHost{Kinds::serve, HostReader::scenario, R"(
schema = 1
kind = "serve"
model = "llama3.1-70b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 8
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
)",
            " serving.speculative"},
    // Stages that flush.
    KeyHost{Kinds::train, HostReader::scenario, R"(
schema = 1
kind = "train"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 8
[training]
seq_len = 4096
global_batch = 64
precision = "bf16"
software = "torchtitan"
[strategy]
pp = 4
micro_batch = 1
recompute = "full"
)",
            " strategy"},
    // Prices of lists, of a run.
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
    // The same of a network's.
    KeyHost{Kinds::network, HostReader::network, R"(
schema = 1
kind = "train"
model = "perception-2b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 64
[training]
global_batch = 128
precision = "bf16"
samples = 1e9
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
    // A network's run at prices that are stated.
    KeyHost{Kinds::network, HostReader::network, R"(
schema = 1
kind = "train"
model = "perception-2b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 64
[training]
global_batch = 128
precision = "bf16"
samples = 1e9
[money]
price = "3 $/h"
date = "2026-08"
[money.storage]
size = "400 TB"
price = "0.02 $/GB/month"
date = "2026-08"
[money.egress]
size = "2 TB"
price = "0.09 $/GB"
date = "2026-08"
)",
            " money"},
    // A network with sizes and parts.
    KeyHost{Kinds::network, HostReader::network, R"(
schema = 1
kind = "train"
model = "bert-base-squad"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 8
[training]
global_batch = 64
precision = "bf16"
)",
            " sizes strategy.recompute"},
    // Prices of lists, of what serves.
    KeyHost{Kinds::serve, HostReader::scenario, R"(
schema = 1
kind = "serve"
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
    // Ranks of attention that wait for each other's prompts.
    KeyHost{Kinds::serve, HostReader::scenario, R"(
schema = 1
kind = "serve"
model = "qwen3-30b-a3b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 16
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
)",
            " serving.attention_dp"},
    // Classes whose laws are open.
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
[traffic.class.prompt]
mean = 800
[traffic.class.output]
mean = 200
[[traffic.class]]
name = "code"
rate = "6 req/s"
prompt = { mean = 1200 }
output = { mean = 100 }
)",
            " traffic.class"},
    // Replicas that each hold a part of the prefixes.
    KeyHost{Kinds::serve, HostReader::scenario, R"(
schema = 1
kind = "serve"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 4
[serving]
engine = "vllm"
[strategy]
tp = 1
[traffic]
rate = "40 req/s"
[traffic.prompt]
mean = 3000
[traffic.output]
mean = 200
[traffic.prefix]
groups = 4
tokens = 2000
zipf = 2.0
[fleet]
routing = "prefix"
[fleet.prefix_routing]
cache_threshold = 0.3
balance_abs_threshold = 2
balance_rel_threshold = 1.1
)",
            " fleet.routing fleet.prefix_routing"},
    // Replicas that are taken away.
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
rate = "60 req/s"
[slo]
ttft_p95 = "1 s"
[fleet.failures]
preemptions_every = "6 h"
back = "10 min"
availability = 0.999
)",
            " fleet.failures"},
    // A fleet that follows its load, its cold start in parts.
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
[traffic.over_time]
shape = "diurnal"
peak_over_mean = 1.8
[fleet.autoscale]
node = "3 min"
image = "1 min"
weights = "30 s"
compile = "40 s"
graphs = "20 s"
)",
            " fleet.autoscale"},
    // The same with weights that are read from a store.
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
[traffic.over_time]
shape = "diurnal"
peak_over_mean = 1.8
[fleet.autoscale]
node = "3 min"
image = "1 min"
storage = "1 GB/s"
compile = "40 s"
graphs = "20 s"
)",
            " fleet.autoscale"},
    // Weights that are unpacked to 16 bit.
    KeyHost{Kinds::serve, HostReader::scenario, R"(
schema = 1
kind = "serve"
model = "llama3-8b"
[hardware]
gpu = "a100-sxm-80gb"
[strategy]
tp = 1
[serving]
isl = 1000
osl = 200
concurrency = 64
weights = "int4"
)",
            " serving.quantization"},
};

}  // namespace headroom::test
