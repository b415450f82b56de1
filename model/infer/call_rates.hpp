// SPDX-License-Identifier: Apache-2.0
// What kernels of a network's call reach: shares of peaks by compute capability, and the constants of their shapes.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/core/quantity.hpp>
#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/infer/call_op.hpp>
#include <headroom/model/infer/network_engine.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class ModelData;

/// How products are computed, as far as their kernels differ: 16 bit is fp16 and bf16, 8 bit int8 and fp8.
enum class CallFormat : std::uint8_t { fp32, tf32, half, eight };
inline constexpr std::array<std::string_view, 4> call_format_names{"fp32", "tf32", "16-bit", "8-bit"};
/// The kernels that a precision takes: of 4-bit formats those of 16 bit, which unpack them.
[[nodiscard]] CallFormat call_format(Precision precision) noexcept;
/// Bytes of an activation or a weight in it.
[[nodiscard]] double element_bytes(CallFormat format) noexcept;
template <class T>
using ByFormat = std::array<T, call_format_names.size()>;

/// Shares of SKUs of one kind of silicon. A format that no row of the kind measured has that of its neighbours
/// (`assumed`), and one that it does not have stays empty.
struct CallSilicon {
  std::string name;
  std::vector<std::string> capabilities;             ///< CUDA compute capabilities: "8.6"; generations of other vendors
  ByFormat<std::optional<double>> product;           ///< share of the peak
  ByFormat<std::optional<double>> product_training;  ///< the same where calls train; empty: as `product`
  ByFormat<bool> assumed{};
  double bandwidth = 0.8;  ///< share of the datasheet's
  /// FLOP a clock of a multiprocessor whose matrix units are whole, at 16 bit; 0: all of the kind are.
  double whole_units = 0.0;
  double bandwidth_training = 0.8;
  /// TDP over the datasheet's fp32 rate of the board with the most power for its rate, W/(TFLOP/s): boards with less
  /// run products at a lower clock. 0: all boards of the silicon hold theirs.
  double watts_per_teraflops = 0.0;
  Seconds step{};  ///< of one step along k in a kernel whose grid leaves the GPU empty
};

/// Constants that hold on every device.
struct CallPhysics {
  ByFormat<double> convolution{}, grouped{};  ///< over the product's share
  ByFormat<double> convolution_training{}, grouped_training{};
  double attention = 0.8;         ///< products of two activations over the product's share
  double attention_fused = 0.8;   ///< the same of attention kernels that keep scores on the chip (Dao et al. 2022)
  double winograd = 0.6;          ///< multiplications of Winograd's form over the direct one's, fp32
  double depth = 106.0;           ///< k at which a product reaches half its rate; fp32 takes a fifth
  double rows = 31.0;             ///< m, with n above it, at which a product reaches half; fp32 takes half
  double depth_training = 106.0;  ///< the same where calls train
  double rows_training = 31.0;
  double rows_8bit = 2.2;                 ///< of `rows`, 8-bit kernels
  double depthwise_bytes = 0.6;           ///< share of the bandwidth that depthwise kernels reach
  double depthwise_flop = 0.3;            ///< share of the vector rate
  double depthwise_bytes_training = 0.6;  ///< of the bandwidth, forward and backward
  double depthwise_flop_training = 0.03;  ///< the same forward and backward: gradients of weights sum over planes
  double bytes_8bit = 0.6;                ///< of activations under 8-bit engines over one byte an element
  double norm = 2.5;                      ///< p of (compute^p + memory^p)^(1/p)
  Seconds gap{};                          ///< between kernels
  Seconds recurrent_gap{};                ///< between steps of a recurrent layer
  double training = 1.1;                  ///< time of training's kernels over the sum of their parts
  double update_bytes = 30.0;             ///< that an optimizer moves a parameter
  Seconds update_tensor{};                ///< of an optimizer's kernels a tensor
  Seconds exchange_tensor{};              ///< of a tensor's part in the exchange of gradients, on one host
  double straggler = 0.015;               ///< of a step for each doubling of its ranks
  double draw = 0.9;                      ///< of a board's power that products draw at its full clock
  double voltage = 0.5;                   ///< that products keep as their clock falls (docs/money.md, Power cap)
  /// That ranks in a ring move an element of attention's result a step, to merge a block's part into what they have.
  double ring_bytes = 60.0;
};

/// Launch time of a host's processor over that of the Xeon E5-2698 v4.
struct CallHost {
  std::string cpu;
  std::vector<std::string> like;  ///< other names of its generation
  double launch = 1.0;
};

struct CallRates {
  CallPhysics physics;
  std::vector<CallSilicon> silicon;
  std::vector<CallHost> hosts;
  std::string source;
  /// 80 % of calls lie within a factor of 1 / (1 + width) .. 1 + width: of networks left out of the fit under
  /// frameworks and under inference engines, of those with one measured batch, and of steps of training.
  double width = 0.0, width_inference = 0.0, width_measured = 0.0, width_training = 0.0;
  std::string width_source, width_inference_source, width_measured_source, width_training_source;
  /// Of an engine, or of its kind where too few rows of it were left out; `loop`: of closed loops.
  [[nodiscard]] double width_of(const NetworkEngine& engine, bool loop) const noexcept;
  [[nodiscard]] const std::string& width_source_of(const NetworkEngine& engine) const noexcept;
  /// The silicon of a compute capability ("8.0") or generation; nullptr where none was measured.
  [[nodiscard]] const CallSilicon* silicon_of(std::string_view capability) const noexcept;
  /// Of "2 x EPYC 7742"; nullptr for a processor that was never measured.
  [[nodiscard]] const CallHost* host_of(std::string_view cpus) const noexcept;
};

/// stacks/step/network-calls.toml.
[[nodiscard]] const CallRates& call_rates(const ModelData& data);

}  // namespace headroom
