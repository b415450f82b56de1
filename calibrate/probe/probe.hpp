// SPDX-License-Identifier: Apache-2.0
// What can be measured on a device (Probe), the result (Sample), and the interface that measures (Prober). Free of
// CUDA: probe_library.hpp reaches a real GPU, tests provide their own prober.
#pragma once

#include <headroom/calibrate/probe/probe_kinds.hpp>
#include <headroom/core/quantity.hpp>
#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/collectives/collective.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace headroom {

enum class GemmType : std::uint8_t { bf16, fp16, tf32, fp8, int8, fp32, fp8_e5m2, nvfp4, count };

struct GemmTypeRow {
  GemmType type;
  std::string_view name;    ///< spelling on the command line
  std::string_view column;  ///< spelling in the column dtype
  Rate rate;                ///< datasheet peak for comparison
  std::int64_t operand_bits;
  std::int64_t output_bytes;
  std::int64_t least_capability;  ///< lowest compute capability, 10 x major + minor
};

// clang-format off
inline constexpr std::array gemm_types{
    GemmTypeRow{GemmType::bf16, "bf16", "bfloat16", Rate::bf16, 16, 2, 80},
    GemmTypeRow{GemmType::fp16, "fp16", "float16",  Rate::fp16, 16, 2, 80},
    GemmTypeRow{GemmType::tf32, "tf32", "tf32",     Rate::tf32, 32, 4, 80},
    GemmTypeRow{GemmType::fp8,  "fp8",  "fp8",      Rate::fp8,   8, 2, 89},  // e4m3, a scale per tensor, bf16 out
    GemmTypeRow{GemmType::int8, "int8", "int8",     Rate::int8,  8, 4, 80},  // int32 out, before any scale
    GemmTypeRow{GemmType::fp32, "fp32", "float32",  Rate::fp32_vector, 32, 4, 80},
    // x in e5m2 and w in e4m3, as for the gradient of an input; cuBLASLt does not multiply e5m2 by e5m2.
    GemmTypeRow{GemmType::fp8_e5m2, "fp8_e5m2", "fp8_e5m2", Rate::fp8, 8, 2, 89},
    GemmTypeRow{GemmType::nvfp4, "nvfp4", "nvfp4",  Rate::fp4,   4, 2, 100},  // e2m1, a ue4m3 scale for 16, bf16 out
};
// clang-format on
static_assert(gemm_types.size() == static_cast<std::size_t>(GemmType::count));
[[nodiscard]] constexpr const GemmTypeRow& row_of(GemmType type) {
  return gemm_types[static_cast<std::size_t>(type)];
}

/// Bytes of `elements` operands (a multiple of 16), with the scales of block formats.
[[nodiscard]] constexpr std::int64_t operand_bytes(GemmType type, std::int64_t elements) {
  constexpr std::int64_t scaled_block = 16;
  return elements * row_of(type).operand_bits / 8 + (type == GemmType::nvfp4 ? elements / scaled_block : 0);
}

/// The product y[m,n] = x[m,k] w[n,k]^T, all row-major: a linear layer on m tokens.
struct GemmProbe {
  GemmType type = GemmType::bf16;
  std::int64_t m = 1, n = 1, k = 1;
  std::int64_t copies = 1;  ///< copies of the weight, used in turn so that none is still in L2 when its turn comes
  Seconds sustained{};      ///< least duration of a back-to-back run; zero: a short measurement

  [[nodiscard]] constexpr Flops flops() const noexcept {
    return Flops{2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k)};
  }
};

enum class CopyOp : std::uint8_t { memcpy, copy, triad, count };
/// The driver's device-to-device copy; b = a by a kernel; a = b + s c by a kernel (McCalpin 1995, STREAM).
inline constexpr std::array<std::string_view, 3> copy_op_names{"memcpy", "copy", "triad"};

struct CopyProbe {
  CopyOp op = CopyOp::copy;
  std::int64_t array_bytes = 0;
  std::int64_t copies = 1;  ///< sets of arrays, used in turn

  [[nodiscard]] constexpr std::int64_t arrays() const noexcept { return op == CopyOp::triad ? 3 : 2; }
  /// Bytes that one launch reads and writes.
  [[nodiscard]] constexpr Bytes moved() const noexcept { return Bytes{static_cast<double>(arrays() * array_bytes)}; }
};

/// Time of empty kernels: launched one by one into a stream (`stream`), the host's part of that (`stream_host`), as
/// nodes of a graph (`graph`), launched and awaited one by one by the host's clock (`sync`), a graph launched and
/// awaited by the host's clock (`replay`), queued behind a running kernel so that only the device limits them (`rate`).
enum class LaunchOp : std::uint8_t { stream, stream_host, graph, sync, replay, rate, count };
inline constexpr std::array<std::string_view, 6> launch_op_names{"stream", "stream_host", "graph",
                                                                 "sync",   "replay",      "rate"};

struct LaunchProbe {
  LaunchOp op = LaunchOp::stream;
  std::int64_t count = 1;
};

/// An out-of-place NCCL collective of 16-bit floats among `ranks` GPUs of this process.
struct CollectiveProbe {
  Collective collective = Collective::all_reduce;
  std::int64_t ranks = 2;
  std::int64_t bytes = 0;  ///< full buffer as in nccl-tests, gathered or not yet scattered
};

using Probe = std::variant<GemmProbe,
                           CopyProbe,
                           LaunchProbe,
                           AttentionProbe,
                           DecodeProbe,
                           PassProbe,
                           TransferProbe,
                           CollectiveProbe,
                           LayerProbe,
                           UnitProbe>;

/// Names for messages and manifests: "gemm bf16 8192x8192x8192", "triad 4096 B", "graph 64", "all_reduce x8 4096 B".
[[nodiscard]] std::string name_of(const Probe& probe);

/// Effort of a measurement; the manifest records it.
struct ProbeEffort {
  std::int64_t repeats = 9;      ///< number of timed spans; their median is the latency
  Seconds span{2e-3};            ///< least length of a span; shorter kernels are repeated within it
  std::int64_t algorithms = 16;  ///< cuBLASLt algorithms that are timed; the fastest is measured
  std::int64_t round = 0;        ///< earlier measurements of this probe; only a simulated device uses it
};

/// One measurement. Latencies are per kernel.
struct Sample {
  Probe probe;
  Seconds latency;           ///< median of the spans; for a sustained run, of its second half
  Seconds fastest, slowest;  ///< fastest and slowest span
  std::int64_t spans = 0;
  std::int64_t launches = 0;      ///< kernels per span
  std::int64_t algorithms = 0;    ///< algorithms that were timed; 0: no choice
  Seconds first{};                ///< sustained runs: the first span, before clocks drop
  Seconds lasted{};               ///< sustained runs: total time of all spans
  std::optional<Hertz> sm_clock;  ///< clock right after; for a sustained run, median of its second half
  std::optional<Watts> power;     ///< sustained runs only, because NVML averages over up to a second
  std::vector<Seconds> told;      ///< single spans, as far as the prober returns them
  Seconds predicted{};            ///< latency that NCCL itself predicts for a collective; zero: unknown
};

/// A probe that was not measured, with the reason.
struct Skipped {
  std::string probe;
  std::string why;
};

using Measurement = std::variant<Sample, Skipped>;

/// Properties of a device from the CUDA runtime.
struct ProbeDevice {
  std::string name;
  std::int64_t capability = 0;  ///< 10 x major + minor
  std::int64_t sms = 0;
  Bytes l2{}, memory{}, free_memory{};
  std::string cuda_driver, cuda_runtime, cublaslt;  ///< versions such as "13.0" or "13.1.0"
  std::string pci_bus_id;                           ///< identifies the device in NVML
  std::string cudnn = {};                           ///< "9.19.0"; empty: not installed
  std::int64_t peers = 0;                           ///< other devices whose memory this one can address
  std::int64_t group = 1;                           ///< GPUs that this process sees, >= 1
  std::string nccl = {};                            ///< "2.28.9"; empty: not installed
};

/// Device, driver or probe library is missing or has failed, so nothing was measured.
class DeviceError : public std::runtime_error {
 public:
  /// Whether what was measured before can be gone on with.
  enum class Samples : std::uint8_t { usable, useless };
  explicit DeviceError(const std::string& what, Samples before = Samples::usable)
      : std::runtime_error{what}, samples{before} {}
  Samples samples;
};

class Prober {
 public:
  Prober() = default;
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;
  Prober(Prober&&) = delete;
  Prober& operator=(Prober&&) = delete;
  virtual ~Prober() = default;

  [[nodiscard]] virtual const ProbeDevice& device() const noexcept = 0;
  /// Blocks until measured. A probe that the device or its library refuses is Skipped. Throws DeviceError when the
  /// device cannot continue.
  virtual Measurement measure(const Probe& probe, const ProbeEffort& effort) = 0;
  /// Time since a fixed moment, used for budgets. A simulated device has its own clock.
  [[nodiscard]] virtual Seconds clock() const;
};

}  // namespace headroom
