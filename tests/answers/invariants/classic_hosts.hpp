// SPDX-License-Identifier: Apache-2.0
// Documents of kind classic into which keys are planted one at a time: one of each algorithm.
#pragma once

#include "../../scenarios/key_hosts.hpp"
#include <array>

namespace headroom::test {

inline constexpr std::array classic_hosts{
    KeyHost{Kinds::classic, HostReader::scenario, R"(
schema = 1
kind = "classic"
[hardware]
gpu = "a100-sxm-80gb"
gpus = 2
[trees]
rows = 1e6
features = 28
[money]
price = "1 $/h"
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
[units]
rate = "100000 req/s"
unit_rate = "5035 req/s"
price = "22021.90 $"
energy = "0.1 J"
)"},
    KeyHost{Kinds::classic, HostReader::scenario, R"(
schema = 1
kind = "classic"
[hardware]
gpu = "l4"
gpus = 2
[kmeans]
points = 1e6
dims = 96
clusters = 1000
[money.owned]
capex = "30000 $"
lifetime = "4 y"
utilisation = 0.9
power_price = "0.1 $/kWh"
pue = 1.2
date = "2026-08"
)"},
    KeyHost{Kinds::classic, HostReader::scenario, R"(
schema = 1
kind = "classic"
[hardware]
gpu = "t4"
[vectors]
index = "ivf-pq"
vectors = 1e9
dims = 96
code = 20
lists = 262144
recall = 0.7
wanted_recall = 0.8
rate = "500000 req/s"
)"},
    KeyHost{Kinds::classic, HostReader::scenario, R"(
schema = 1
kind = "classic"
[hardware]
gpu = "h100-sxm-80gb"
[vectors]
index = "graph"
vectors = 1e7
dims = 96
)"},
    KeyHost{Kinds::classic, HostReader::scenario, R"(
schema = 1
kind = "classic"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 8
[selection]
items = 1e9
k = 100
)"},
    KeyHost{Kinds::classic, HostReader::scenario, R"(
schema = 1
kind = "classic"
[hardware]
gpu = "l4"
[grouping]
rows = 1e9
keys = 1e6
workers = 10
)"},
    KeyHost{Kinds::classic, HostReader::scenario, R"(
schema = 1
kind = "classic"
[hardware]
gpu = "a100-sxm-80gb"
gpus = 2
[host]
memory = "100 GB"
nvme = "2 TB"
[recommender]
parameters = 113e9
batch = 65536
)"},
    KeyHost{Kinds::classic, HostReader::scenario, R"(
schema = 1
kind = "classic"
[hardware]
gpu = "l4"
[video]
codec = "hevc"
frame_time = "2 ms"
encode = "h264"
out_width = 1280
out_height = 720
model_memory = "2 GB"
stream_memory = "100 MB"
streams = 300
)"},
    KeyHost{Kinds::classic, HostReader::scenario, R"(
schema = 1
kind = "classic"
[hardware]
gpu = "l40"
gpus = 1
[video]
effect = "super-resolution-2x"
)"},
    KeyHost{Kinds::classic, HostReader::scenario, R"(
schema = 1
kind = "classic"
[hardware]
gpu = "l40"
[simulator]
task = "humanoid"
envs = 2048
steps = 1e9
demand = "300000 req/s"
env_memory = "1 MB"
memory = "3 GB"
)"},
    KeyHost{Kinds::classic, HostReader::scenario, R"(
schema = 1
kind = "classic"
[hardware]
gpu = "rtx-4090"
gpus = 1
[control]
model = "pi0"
network = "5 ms"
rate = "30 req/s"
)"},
};

}  // namespace headroom::test
