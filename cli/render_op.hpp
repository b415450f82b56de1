// SPDX-License-Identifier: Apache-2.0
// One kernel explained: its time, what binds it, how far the roofs are, what would help.
#pragma once

#include <headroom/calibrate/score_kernels.hpp>
#include <headroom/hardware/device.hpp>
#include <headroom/model/cost/curve_library.hpp>
#include <headroom/model/cost/gemm.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headroom::cli {

/// What a change would do to the time.
struct Effect {
  std::string change;  ///< "10 % more bandwidth"
  double time = 1.0;   ///< after over before
};

struct GemmAnswer {
  std::string gpu, format, why;
  GemmShape shape;
  KernelDevice limits;
  GemmTime time;
  Seconds low{}, high{};  ///< nine held-out kernels in ten lie within
  Flops work{};
  Bytes moved{};
  Seconds roofline{};
  Flops padded{};  ///< with every size a multiple of `alignment`
  int alignment = 1;
  std::vector<Effect> effects;
};

/// ConfigError when the device lacks the format's rate or no curve serves.
[[nodiscard]] GemmAnswer answer_gemm(const Device& device,
                                     const CurveSet& set,
                                     const GemmFormat& format,
                                     const GemmShape& shape,
                                     std::string_view engine);
[[nodiscard]] std::string gemm_text(const GemmAnswer& answer);
/// Schema "headroom.op/1": raw SI, the unit in the key.
[[nodiscard]] std::string gemm_json(const GemmAnswer& answer);

/// Reads every file; ConfigError with all problems of all of them.
[[nodiscard]] std::vector<KernelFile> read_kernel_files(const std::vector<std::string>& paths,
                                                        std::optional<KernelKind> kind);
/// Kernels that the datasheet does not allow, few of them spelled out; empty when there are none.
[[nodiscard]] std::string too_fast_text(const std::vector<TooFast>& kernels);

}  // namespace headroom::cli
