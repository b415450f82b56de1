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
    // Prompts that wait for more of them.
    KeyHost{Kinds::serve, HostReader::scenario, R"(
schema = 1
kind = "serve"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 1
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
};

}  // namespace headroom::test
