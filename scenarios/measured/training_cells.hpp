// SPDX-License-Identifier: Apache-2.0
// The cells of a measured training row as the model's own types: network, layout, options, bytes per parameter.
#pragma once

#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/train/errors/posterior.hpp>
#include <headroom/model/train/evaluate/training.hpp>
#include <headroom/scenarios/measured/run_row.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Blank cells that a scorable row must have (docs/design.md, section 6).
[[nodiscard]] std::vector<std::string_view> missing_training_cells(const RunConfiguration& run);

/// Whether a row on up to 128 GPUs states nothing of its layout, or of it the context ranks alone: dp, tp, pp and, if
/// blank, cp are all it lacks. Where experts are is no cell that a row must have.
[[nodiscard]] bool leaves_layout_open(const RunConfiguration& run);
/// The row with each layout in powers of two: tp, and of networks with experts ep unless stated, to 8 and a host's
/// GPUs, cp and pp to 4, replicas that divide the batch. Without `stages` pp is 1 and cp goes to 8.
[[nodiscard]] std::vector<RunConfiguration> possible_layouts(const RunConfiguration& run, bool stages);

/// Axes of the step that the row leaves blank, whatever its software does about them.
[[nodiscard]] BlankAxes blank_axes(const RunConfiguration& run) noexcept;

/// The row with the axis left blank; nullopt where it states none. Whether a row states how its experts run, its
/// software's recipes know (TrainingRowModel::closed_axes).
[[nodiscard]] std::optional<RunConfiguration> without_axis(const RunConfiguration& run, BlankAxis axis);

/// The schedule that a row states, in its own words or in those of Primus; nullopt when nobody knows it here.
[[nodiscard]] std::optional<Schedule> schedule_of(const RunConfiguration& run);

/// The first cell whose number is impossible for any network or layout, for print; empty when none is.
[[nodiscard]] std::string impossible_cell(const RunConfiguration& run);

[[nodiscard]] std::optional<Precision> training_precision(std::string_view name);

/// The network of a row whose columns hold its sizes; `vocabulary` where they do not.
[[nodiscard]] Architecture architecture_of(const RunConfiguration& run, std::int64_t vocabulary);

/// Layout and schedule; what a row leaves blank is its software's default.
[[nodiscard]] Strategy strategy_of(const RunConfiguration& run, const StackDefaults& defaults);

/// Name without a slice of layers: "Llama3-70B-12L" is twelve layers of Llama3-70B.
[[nodiscard]] std::string without_slice(const std::string& model);

/// The row of a network whose sizes are a preset's.
[[nodiscard]] RunConfiguration with_sizes_of(const Architecture& preset, RunConfiguration run);

[[nodiscard]] MemoryOptions options_of(const RunConfiguration& run, const StackDefaults& defaults);

/// Bytes per parameter that the software keeps; fp32 and tf32 have no master copy and no 16-bit weights. A stated
/// optimizer brings its own moments.
[[nodiscard]] StateBytes states_of(const RunConfiguration& run,
                                   const MemoryStack& software,
                                   Precision precision,
                                   const Device& device);

}  // namespace headroom
