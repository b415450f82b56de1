// SPDX-License-Identifier: Apache-2.0
// Any text as a network and as a trace: read, with numbers that are finite and agree, or refused by ConfigError.
#include <headroom/model/allocator/allocation_trace.hpp>
#include <headroom/model/train/network/network_memory.hpp>

#include "require.hpp"
#include <cmath>
#include <sstream>

using namespace headroom;
using headroom::fuzz::require;

namespace {

void try_network(std::string_view text) {
  const ConfigValue root = parse_toml(text, "f.toml");
  Diagnostics diagnostics;
  const Network network = read_network(ConfigTable{root, "", diagnostics});
  diagnostics.throw_if_any();
  NetworkTraining training;
  training.zero = 3;
  training.ranks = 8;
  training.micro_batch = 4;
  for (const std::int64_t every : {0, 1, 3}) {
    training.recompute.every = every;
    const NetworkMemory memory = training_memory(network, training);
    require(std::isfinite(memory.total().raw()) && memory.total().raw() >= 0.0);
    require(memory.activations <= memory.kept);
    double shares = 0.0;
    for (const PartMemory& part : memory.parts) {
      shares += part.share;
    }
    require(memory.kept.raw() == 0.0 || std::abs(shares - 1.0) < 1e-9);
  }
  require(std::isfinite(inference_memory(network, 2.0).total(1).raw()));
}

void try_trace(const std::string& text) {
  std::istringstream stream{"event,id,bytes\n" + text};
  Diagnostics diagnostics;
  const AllocationTrace trace = read_allocation_trace(stream, "f.csv", diagnostics);
  if (!diagnostics.empty()) {
    return;
  }
  for (const bool expandable : {false, true}) {
    const Replay result = replay(trace, Bytes{40e9}, expandable);
    require(result.stats.allocated <= result.stats.reserved && result.stats.peak_reserved <= 40'000'000'000);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text{reinterpret_cast<const char*>(data), size};
  try {
    try_network(text);
  } catch (const ConfigError&) {
    // Refused with its problems; it may still be a trace.
  }
  try_trace(text);
  return 0;
}
