// SPDX-License-Identifier: Apache-2.0
// Documents of kind cluster into which keys are planted one at a time.
#pragma once

#include "../../scenarios/key_hosts.hpp"
#include <array>

namespace headroom::test {

inline constexpr std::array cluster_hosts{// More work than GPUs, of two tenants, with credit; a pool that is rented.
                                          KeyHost{Kinds::cluster, HostReader::scenario, R"(
schema = 1
kind = "cluster"
[[pool]]
name = "a100"
gpu = "a100-sxm-80gb"
nodes = 1
[[pool]]
name = "t4"
gpu = "t4"
nodes = 2
gpus_per_node = 4
rented = true
[[tenant]]
name = "research"
credit = "500 GPU-h"
[[tenant]]
name = "product"
[[job]]
name = "train"
tenant = "research"
count = 4
gpus = 8
time = "2 h"
pools = ["a100"]
preemptible = true
[[job]]
name = "urgent"
tenant = "product"
gpus = 8
time = "1 h"
arrival = "30 min"
priority = 5
needs = {gpu = "a100-sxm-80gb"}
[[job]]
name = "light"
tenant = "product"
count = 20
gpus = 1
time = "1 h"
[[job.on]]
pool = "t4"
[[job.on]]
pool = "a100"
time = "20 min"
[policy]
order = "fair"
)"},
                                          // Services and a rollout on pools of one's own, each job on any of them.
                                          KeyHost{Kinds::cluster, HostReader::scenario, R"(
schema = 1
kind = "cluster"
[[pool]]
name = "a100"
gpu = "a100-sxm-80gb"
gpus = 16
[[pool]]
name = "h100"
gpu = "h100-sxm-80gb"
nodes = 2
[[tenant]]
name = "all"
[[job]]
name = "chat"
gpus = 8
service = true
[[job]]
name = "sweep"
count = 12
gpus = 4
time = "3 h"
[policy]
horizon = "1 d"
[[rollout]]
job = "chat"
replicas = 4
start = "3 min"
drain = "1 min"
)"},
                                          // Names that other keys take, and a pool that is rented at a price.
                                          KeyHost{Kinds::cluster, HostReader::scenario, R"(
schema = 1
kind = "cluster"
[[pool]]
name = "us"
gpu = "h100-sxm-80gb"
nodes = 4
rented = true
price = "3 $/h"
date = "2026-08"
[[pool]]
name = "eu"
gpu = "a100-sxm-80gb"
nodes = 1
[[tenant]]
name = "us"
[[tenant]]
name = "eu"
quota = {eu = 4}
[[job]]
name = "text"
gpus = 4
time = "3 h"
count = 3
[[job.on]]
pool = "eu"
[[job]]
name = "0.9"
gpus = 4
time = "5 h"
count = 3
[[job]]
name = "another"
gpus = 8
service = true
[[job]]
name = "fsdp"
gpus = 2
service = true
[policy]
horizon = "1 d"
order = "fifo"
[[rollout]]
job = "another"
replicas = 8
start = "3 min"
drain = "1 min"
)"},
                                          // A pool whose price a list has.
                                          KeyHost{Kinds::cluster, HostReader::scenario, R"(
schema = 1
kind = "cluster"
[[pool]]
name = "us"
gpu = "h100-sxm-80gb"
nodes = 4
prices = "verda-2026-08"
[[pool]]
name = "eu"
gpu = "a100-sxm-80gb"
nodes = 4
[[job]]
name = "text"
gpus = 4
time = "3 h"
)",
                                                  " pool. job.pools"}};

}  // namespace headroom::test
