// SPDX-License-Identifier: Apache-2.0
// The time of one call of a network on a batch: kernels, what the host adds, copies.
#pragma once

#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/infer/call_op.hpp>
#include <headroom/model/infer/call_rates.hpp>
#include <headroom/model/infer/network_engine.hpp>

#include <cstdint>
#include <span>

namespace headroom {

/// A device as its kernels see it, resolved once.
struct CallDevice {
  FlopsPerSecond peak{};         ///< of the format's products
  FlopsPerSecond vector_rate{};  ///< of fp32 outside matrix units; twice that at 16 bit
  BytesPerSecond bandwidth{};
  double product = 0.8;  ///< share of the peak
  /// Of whole matrix units, what the SKU's have at 16 bit: half on GeForce, which accumulates in fp32 at half the rate.
  double units = 1.0;
  bool assumed = false;  ///< no row of the silicon measured that share
  double bandwidth_share = 0.8;
  Seconds step{};
};

struct CallSetting {
  CallFormat format = CallFormat::half;
  bool training = false;
  double element = 2.0;        ///< bytes of an activation
  double weight = 2.0;         ///< bytes of a weight
  bool autocast = false;       ///< mixed precision chosen op by op
  bool deterministic = false;  ///< no sum is split over blocks that add in any order
  double host = 1.0;           ///< launch time of the host over that of a DGX-1's
  double input_bytes = 0.0;    ///< of one sample on its way to the GPU; 0: it is there
  Seconds host_per_sample{};   ///< serial host work beside the network
  double launches = 0.0;       ///< beside those of the ops: what ranks that share a sample exchange
};

/// The device of a setting as an engine's release reaches it. ConfigError where the SKU lacks the format's peak or its
/// bandwidth, or no silicon of its kind was measured.
[[nodiscard]] CallDevice call_device(
    const Device& device, const CallRates& rates, const NetworkEngine& engine, CallFormat format, bool training);

/// Parts of one call. Kernels of products, passes and gaps overlap nothing; host and copies as the engine lets them.
struct CallTime {
  Seconds products{}, passes{}, gaps{};  ///< on the GPU
  Seconds host{};                        ///< launches and half of a call's fixed part
  Seconds waited{};                      ///< of it, what the GPU waits for
  Seconds call{};                        ///< the other half
  Seconds input{};
  Seconds beside{};  ///< serial work of the host
  double launches = 0.0;
  [[nodiscard]] Seconds gpu() const noexcept { return products + passes + gaps; }
  [[nodiscard]] Seconds total() const noexcept { return gpu() + waited + call + input + beside; }
};

/// One kernel, all samples of a batch at once (docs/networks.md has where each part comes from):
///   F = 2 m n k g;  compute = F w / P (1 + u (X - 1)), X = (1 + k0 / k)(1 + m0 / m)(1 + m0 / n) / share, where u is
///   the SKU's part of whole matrix units: what keeps a kernel from the peak of whole ones weighs less on half ones;
///   memory = (in + out + weights) bytes / (share B);  chain = min(z, z/4 + 3 us, z/16 + 6 us), z = step k
///   time = ((compute^p + memory^p)^(p / p) + chain^p)^(1/p); depthwise: the larger of memory and vector work; passes
///   of others: passes x (in + out) / (share B).
[[nodiscard]] Seconds kernel_time(const CallOp& op,
                                  double batch,
                                  const CallDevice& device,
                                  const CallPhysics& physics,
                                  const NetworkEngine& engine,
                                  const CallSetting& setting) noexcept;

/// T = (GPU^a + host^a)^(1/a) + call / 2 + input + serial work, host = launches x launch + call / 2.
[[nodiscard]] CallTime call_time(std::span<const CallOp> ops,
                                 double batch,
                                 const CallDevice& device,
                                 const CallPhysics& physics,
                                 const NetworkEngine& engine,
                                 const CallSetting& setting) noexcept;

}  // namespace headroom
