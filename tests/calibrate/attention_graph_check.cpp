// SPDX-License-Identifier: Apache-2.0
// Whether cuDNN knows the probes' graphs of attention as a pattern of its fused kernels, and compiles them: for devices
// that are described, not there. The toolkit's stub of the driver stands in for the driver; it refuses to load what was
// compiled, so that a right graph fails at that step and a wrong one before it.
#include <headroom/calibrate/probes/attention_graph.hpp>

#include <array>
#include <cstdio>
#include <exception>
#include <sstream>
#include <string>
#include <vector>

using namespace headroom::probes;

namespace {

/// What cuDNN 9.19 asks of a description; numbers of an H200 (CUDA C++ Programming Guide, technical specifications of
/// compute capability 9.0, and the catalog). `capability` and `sms` vary.
std::string described(int capability, int sms) {
  std::ostringstream text;
  text << R"({"cudaDeviceId":0,"deviceName":"described","driverVer":13000,"deviceVer":)" << 10 * capability
       << R"(,"multiProcessorCount":)" << sms << R"(,"totalGlobalMem":85000000000,"l2CacheSize":52428800,)"
       << R"("maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],"regsPerBlock":65536,)"
       << R"("maxRegistersPerSM":65536,"warpSize":32,"maxSharedMemoryPerBlock":49152,"maxSharedMemoryPerBlockOptin":)"
       << (capability == 80 ? 166912 : 232448) << R"(,"reservedSharedMemoryPerBlock":1024,"maxCtasPerSM":32,)"
       << R"("maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,"pciDeviceId":0,"isTccDriver":0,)"
       << R"("supportCoopLaunch":1,"smClockRateKHz":1755000,"memClockRateKHz":3201000})";
  return text.str();
}

/// What the stub makes of a compiled kernel.
constexpr const char* loading = "cuLibraryLoadData";

bool known(const AttentionSizes& sizes, bool backward, const Descriptor& device, int capability) {
  std::string why;
  try {
    const AttentionPlan plan{sizes, backward, {nullptr, &device}};
    return true;
  } catch (const std::exception& error) {
    why = error.what();
  }
  if (why.find(loading) != std::string::npos) {
    return true;
  }
  std::printf("capability %d, %s, %s, heads of %ld: %s\n", capability, backward ? "backward" : "forward",
              sizes.causal ? "causal" : "not causal", static_cast<long>(sizes.head_dim), why.c_str());
  return false;
}

}  // namespace

int main() {
  if (cudnn_text().empty()) {
    std::puts("Skipped: no cuDNN 9");
    return 0;
  }
  int graphs = 0;
  int failed = 0;
  for (const int capability : {80, 90, 100}) {
    Descriptor device{CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR};
    const std::string text = described(capability, capability == 90 ? 132 : 108);
    device.set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, static_cast<std::int64_t>(text.size()),
               text.data());
    try {
      device.finalize("description of a device");
    } catch (const std::exception& error) {  // another version of cuDNN asks for more
      std::printf("Skipped: %s\n", error.what());
      return 0;
    }
    // Heads of 256 have a backward on Hopper alone; of the others one shape stands for all.
    using Heads = std::array<std::int64_t, 3>;
    const std::vector<Heads> all =
        capability == 90 ? std::vector<Heads>{{32, 8, 128}, {8, 8, 256}} : std::vector<Heads>{{32, 8, 128}};
    for (const Heads& heads : all) {
      // Each graph takes cuDNN seconds to plan: without a mask on Hopper alone.
      for (const bool causal :
           capability == 90 && heads[2] == 128 ? std::vector<bool>{false, true} : std::vector<bool>{true}) {
        for (const bool backward : {false, true}) {
          ++graphs;
          failed += known({8, 2048, heads[0], heads[1], heads[2], causal}, backward, device, capability) ? 0 : 1;
        }
      }
    }
  }
  std::printf("cuDNN %s compiles %d of %d graphs\n", cudnn_text().c_str(), graphs - failed, graphs);
  return failed == 0 ? 0 : 1;
}
