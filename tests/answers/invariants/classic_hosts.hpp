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
};

}  // namespace headroom::test
