// SPDX-License-Identifier: Apache-2.0
// What ranks hold while a checkpoint is loaded.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/train/software/memory_stack.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace headroom {

enum class CheckpointForm : std::uint8_t { full, sharded };
inline constexpr std::array<std::string_view, 2> checkpoint_form_names{"full", "sharded"};

struct LoadPeak {
  CheckpointForm form = CheckpointForm::sharded;
  Bytes first{};     ///< on rank 0
  Bytes rank{};      ///< on every other
  Bytes capacity{};  ///< of a GPU
  [[nodiscard]] bool fits() const noexcept { return first <= capacity && rank <= capacity; }
};
/// A full checkpoint is put together on rank 0, with gradients as an unsharded model has them, before states are
/// sharded: (w + g + o) P bytes there (Rajbhandari et al. 2020, section 3.1: 16 P). Of a sharded one each rank reads
/// what it keeps, `own`.
[[nodiscard]] LoadPeak load_peak(
    CheckpointForm form, double parameters, const StateBytes& states, Bytes own, Bytes capacity) noexcept;

/// "loading a full checkpoint: rank 0 holds 30.0 GiB, ..."; where it does not fit with the way out.
[[nodiscard]] std::string load_text(const LoadPeak& peak);

}  // namespace headroom
