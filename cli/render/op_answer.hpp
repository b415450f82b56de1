// SPDX-License-Identifier: Apache-2.0
// One op explained: its time, what binds it, how far the roofs are, what would help.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/cli/frame/form_reader.hpp>
#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/model/laboratory/chain.hpp>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {
class ModelData;
}

namespace headroom::cli {

/// What a change would do to the time.
struct Effect {
  std::string change;  ///< "10 % more bandwidth"
  double time = 1.0;   ///< after over before
};

/// A piece of the time. Pieces overlap: they need not add up.
struct OpPart {
  std::string_view label;
  std::string_view key;  ///< in JSON, with its unit: "loop_s"
  Seconds time{};
};

struct OpAnswer {
  std::string_view kind;
  std::string title;  ///< "4 096 x 4 096 x 4 096, bf16"
  std::string gpu;
  std::vector<Member> question;
  KernelDevice limits;
  Seconds time{};
  Seconds low{}, high{};  ///< nine held-out kernels in ten lie within
  std::string_view bound;
  Seconds launch{};
  Flops work{};                                                ///< 0: a pass over memory
  Bytes moved{};                                               ///< each operand once
  Bytes written{};                                             ///< of them, where the kernel can join another
  std::vector<std::pair<std::string_view, std::string>> rows;  ///< what else people want to see
  std::vector<Member> details;                                 ///< the same and more for programs
  std::vector<OpPart> parts;
  std::vector<Effect> effects;  ///< dearest first
  std::vector<std::string> notes;
  std::string why;  ///< the curve, and how far off it was on kernels that it had not seen

  [[nodiscard]] Seconds roofline() const noexcept;
};

/// A question whose options have been read: the answer on a device. ConfigError when the device lacks the format's rate
/// or no curve serves.
using OpQuestion = std::function<OpAnswer(const ModelData& data, const Device& device)>;

/// A kind of op: what the command line calls it, what its sizes mean, and the reading of its options.
struct OpKind {
  std::string_view name;
  std::string_view meaning;
  OpQuestion (*read)(FormReader& reader);
  Fusable joins = Fusable::no;  ///< how such a kernel joins its neighbours
};
[[nodiscard]] std::span<const OpKind> gemm_kinds() noexcept;
[[nodiscard]] std::span<const OpKind> attention_kinds() noexcept;
[[nodiscard]] std::span<const OpKind> expert_kinds() noexcept;
[[nodiscard]] std::span<const OpKind> pass_kinds() noexcept;

/// All of them, and the options that they read.
[[nodiscard]] std::span<const OpKind> op_kinds();
[[nodiscard]] std::span<const Option> op_options() noexcept;

/// The time on another datasheet.
using TimeOn = std::function<Seconds(const KernelDevice& limits)>;
/// Adds what a tenth more of peak, bandwidth and SMs would do, and what the op would take without a launch of its own.
void add_device_effects(OpAnswer& answer, const TimeOn& time);
void add_effect(OpAnswer& answer, std::string change, Seconds time);
/// The interval of a curve's held-out errors around the time, and the effects in order.
void finish(OpAnswer& answer, double p90);

[[nodiscard]] std::string op_text(const OpAnswer& answer);
/// Schema "headroom.op/1": raw SI, the unit in the key.
[[nodiscard]] Value op_document(const OpAnswer& answer);

}  // namespace headroom::cli
