// SPDX-License-Identifier: Apache-2.0
// Facts on hardware from outside the catalog, against which lint checks the entries.
#pragma once

#include <array>
#include <string_view>

namespace headroom::lint_facts {

// clang-format off
/// Upper bounds of one GPU of a generation: 16-bit peak without sparsity, memory as sold, and board power.
struct GenerationLimit {
  std::string_view generation;
  double peak;      ///< TFLOP/s
  double capacity;  ///< GB
  double power;     ///< W
};
inline constexpr std::array generation_limits{
    GenerationLimit{"volta",            130,   32,  450},
    GenerationLimit{"turing",           131,   48,  300},
    GenerationLimit{"ampere",           312,   80,  500},
    GenerationLimit{"ada",              366,   48,  450},
    GenerationLimit{"hopper",           990,  144,  700},
    GenerationLimit{"blackwell",       2500,  192, 1200},
    GenerationLimit{"blackwell-ultra", 2500,  288, 1400},
    GenerationLimit{"cdna2",            383,  128,  560},
    GenerationLimit{"cdna3",           1308,  256, 1000},
    GenerationLimit{"cdna4",           2517,  288, 1400},
    GenerationLimit{"gaudi2",           432,   96,  600},
    GenerationLimit{"gaudi3",          1835,  128,  900},
    GenerationLimit{"battlemage",       197,   48,  400},
    GenerationLimit{"cpu",              500, 4096,  600},
};

/// A scale-up link as its vendor builds it. `rate` is of one link in one direction, GB/s.
struct KnownLink {
  std::string_view link;        ///< start of the link's name in the catalog
  std::string_view generation;  ///< generation it is limited to; empty: any
  double rate;
  int links;                    ///< most links of one GPU
};
inline constexpr std::array known_links{
    KnownLink{"NVLink2", "",       25.0,     6},
    KnownLink{"NVLink3", "",       25.0,    12},
    KnownLink{"NVLink3", "ampere", 14.0625,  4},  // the bridge of GA10x boards
    KnownLink{"NVLink4", "",       25.0,    18},
    KnownLink{"NVLink5", "",       50.0,    18},
    KnownLink{"xGMI",    "cdna2",  50.0,     8},
    KnownLink{"xGMI",    "cdna3",  64.0,     7},
    KnownLink{"xGMI",    "cdna4",  76.5,     7},
    KnownLink{"RoCE",    "gaudi2", 12.5,    21},
    KnownLink{"RoCE",    "gaudi3", 25.0,    21},
};

/// Line rate of one PCIe lane in one direction after coding, GB/s, by generation from 1.
inline constexpr std::array pcie_lane_rates{0.25, 0.5, 0.985, 1.969, 3.938, 7.563};

/// Line rates of network ports, Gb/s.
inline constexpr std::array port_rates{10.0, 25.0, 40.0, 50.0, 56.0, 100.0, 200.0, 400.0, 800.0, 1600.0};

/// What a factor between two numbers that should agree usually means.
struct Slip {
  double factor;
  std::string_view meaning;
};
inline constexpr std::array link_slips{
    Slip{2.0,   "both directions were counted, or two GPUs"},
    Slip{0.125, "Gb/s was written where GB/s is meant"},
    Slip{8.0,   "GB/s was written where Gb/s is meant"},
};
inline constexpr std::array peak_slips{
    Slip{2.0, "the figure with sparsity, of two GPUs, or with 16-bit accumulation"},
    Slip{0.5, "a figure with 32-bit accumulation, or half of a pair"},
};
inline constexpr std::array bandwidth_slips{
    Slip{0.125, "Tb/s or Gb/s was written where bytes are meant"},
    Slip{8.0,   "bytes were written where bits are meant"},
    Slip{2.0,   "one clock edge, or half of the bus"},
    Slip{0.5,   "twice the bus, or both clock edges counted twice"},
};
// clang-format on

}  // namespace headroom::lint_facts
