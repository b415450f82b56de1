// SPDX-License-Identifier: Apache-2.0
// What it costs to start kernels: one by one, as a CUDA graph, or as one kernel that synchronises its whole grid. The
// numbers are those of stacks/step/launches.toml.
#pragma once

#include <headroom/core/quantity.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class ModelData;

/// How a host hands kernels to a GPU: its driver and operating system.
struct LaunchHost {
  std::string id, name, source;
  Seconds dispatch{};     ///< host time of one launch without arguments, through the driver's own call
  Seconds argument{};     ///< of each argument of a kernel more
  Seconds submit{};       ///< least time between two launches that the way to the GPU lets through; 0: no such bound
  Seconds graph{};        ///< host time of the launch of a graph
  Seconds graph_node{};   ///< of each of its nodes more
  Seconds pickup{};       ///< from the end of the host's call to the start of the kernel on a GPU that is idle
  Seconds synchronise{};  ///< from the end of a kernel to the host's return from its wait
  double width = 0.0;     ///< 80 % of measured times lie within a factor of 1 / (1 + width) .. 1 + width
};

/// What stands between a program and the driver's call: nothing, Triton, TorchInductor.
struct LaunchLayer {
  std::string id, name, source;
  Seconds each{};      ///< host time of a launch over the driver's
  Seconds argument{};  ///< of each argument of a kernel, over the driver's
  Seconds call{};      ///< of each call of a compiled function, which launches one kernel or many
  double width = 0.0;
};

/// What a generation of GPUs needs between kernels and between the steps of one kernel.
struct LaunchDevice {
  std::string generation, source;  ///< as the catalog names it; "any": of those that nobody measured
  Seconds gap{};                   ///< between two kernels of one stream that the host has launched ahead
  Seconds node{};                  ///< between two nodes of a graph, one after the other
  Seconds start{};          ///< of a kernel, beside what its bytes and FLOP take: blocks start, the last one drains
  BytesPerSecond cache{};   ///< rate of the second-level cache; 0: not known
  Seconds barrier{};        ///< of a barrier across a grid: its trips to the second-level cache
  Seconds barrier_block{};  ///< of each block more, which counts itself in at one address that all others poll
  double width = 0.0;
  bool assumed = false;  ///< nobody measured this generation: its numbers are those of "any"
};

struct LaunchNumbers {
  std::vector<LaunchHost> hosts;
  std::vector<LaunchLayer> layers;
  std::vector<LaunchDevice> devices;
};

/// All of the file, read once. ConfigError where it is wrong.
[[nodiscard]] const LaunchNumbers& launch_numbers(const ModelData& data);
/// By id ("linux", "wsl2"). ConfigError that lists what there is; the same for the next.
[[nodiscard]] const LaunchHost& find_launch_host(const ModelData& data, std::string_view id);
/// By id ("driver", "triton", "inductor").
[[nodiscard]] const LaunchLayer& find_launch_layer(const ModelData& data, std::string_view id);
/// By a generation as the catalog names it; that of "any", with `assumed`, where it was not measured.
[[nodiscard]] LaunchDevice find_launch_device(const ModelData& data, std::string_view generation);

/// Equal kernels, each of which waits for the one before.
struct KernelChain {
  double kernels = 1.0;     ///< at least 1
  Seconds kernel{};         ///< of one on the device, its start and drain with it; 0: empty kernels
  double arguments = 0.0;   ///< of one
  double sync_every = 0.0;  ///< kernels after which the host waits for the GPU; 0: after the last one alone
};

/// Host time of one launch: dispatch + layer + arguments (driver's + layer's).
[[nodiscard]] Seconds launch_time(const LaunchHost& host, const LaunchLayer& layer, double arguments) noexcept;

/// Seconds of the chain launched kernel by kernel, from the first call until the host returns from its last wait. Of m
/// kernels up to a wait, with h = launch_time():
///
///     max(m h, m submit, h + pickup + m kernel + (m - 1) gap) + synchronise
///
/// a host that launches ahead hides behind the GPU, or the GPU behind it. The second term is WSL2's, where each launch
/// crosses to the Windows driver.
[[nodiscard]] Seconds launched_time(const KernelChain& chain,
                                    const LaunchHost& host,
                                    const LaunchLayer& layer,
                                    const LaunchDevice& device) noexcept;

/// Seconds of the chain as CUDA graphs of `sync_every` nodes (0: one of all), instantiated before; of one of m nodes
///
///     graph + m graph_node + pickup + m kernel + m node + synchronise
[[nodiscard]] Seconds graph_time(const KernelChain& chain, const LaunchHost& host, const LaunchDevice& device) noexcept;

/// One barrier across a grid of `blocks` (cooperative groups' grid.sync()): barrier + blocks x barrier_block. Each
/// block adds itself to one counter, and all poll it, so that the additions queue behind the polls. Precondition:
/// blocks >= 1.
[[nodiscard]] Seconds grid_barrier_time(const LaunchDevice& device, double blocks) noexcept;

/// Seconds of the chain's steps within one cooperative kernel of `blocks` blocks, with a barrier after each step:
///
///     h + pickup + kernels (kernel + grid_barrier_time()) + synchronise
///
/// Blocks that do not all fit on the GPU at once cannot be launched so (CUDA C++ Programming Guide, grid
/// synchronization).
[[nodiscard]] Seconds persistent_time(const KernelChain& chain,
                                      double blocks,
                                      const LaunchHost& host,
                                      const LaunchDevice& device) noexcept;

/// The kernels of a chain from which a graph is faster than launches; 0: from the first; infinity: never.
[[nodiscard]] double graph_pays_from(const KernelChain& chain,
                                     const LaunchHost& host,
                                     const LaunchLayer& layer,
                                     const LaunchDevice& device) noexcept;

}  // namespace headroom
