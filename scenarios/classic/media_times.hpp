// SPDX-License-Identifier: Apache-2.0
// Video, simulators and policies in the one form of classic_times.hpp: times, memory, work, figures of their own.
#pragma once

#include <headroom/scenarios/classic/classic_times.hpp>

#include <vector>

namespace headroom::classic {

/// A frame's way through a card, and the frames a second of all streams that `cards` carry.
[[nodiscard]] Times video_times(const Question& q, const VideoAsked& asked, double cards);
/// A step of all environments.
[[nodiscard]] Times simulator_times(const Question& q, const SimulatorAsked& asked, double cards);
[[nodiscard]] Times policy_times(const Question& q, const PolicyAsked& asked);

/// What one card carries of the streams asked about, the fewest first.
[[nodiscard]] std::vector<VideoStage> stages_of(const Question& q, const VideoAsked& asked) noexcept;
/// Whole streams of one card: no more than its narrowest stage carries.
[[nodiscard]] double whole_streams(const std::vector<VideoStage>& stages) noexcept;

/// Precondition of the following: a question without cores.
[[nodiscard]] Work media_work(const Algorithm& algorithm);
[[nodiscard]] std::vector<MemoryPart> media_memory(const Question& q);
/// What one GPU holds of it: of streams and environments its own, of a policy all.
[[nodiscard]] Bytes media_part(const Question& q, Bytes all);
/// As many GPUs as streams or a demand ask for, where their number is open.
void open_media_cards(Question& q);
void add_media_figures(Plan& plan);

/// The sizes of a sweep: hundredths to hundreds of `size`; of a policy one to four pictures; of video none.
[[nodiscard]] std::vector<double> sizes_of(const Algorithm& algorithm, double size);

}  // namespace headroom::classic
