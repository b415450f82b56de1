// SPDX-License-Identifier: Apache-2.0
// Video through a card, environments of a simulator, and policies in a control loop.
#pragma once

#include <headroom/hardware/video/video_engines.hpp>
#include <headroom/model/classic/classic_numbers.hpp>
#include <headroom/model/classic/media_numbers.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace headroom::classic {

/// Time of a frame of an effect, of its tables' size: bytes x (1 / bandwidth + intensity / FP32 peak).
[[nodiscard]] Seconds effect_time(const VideoEffect& effect, const Card& card, const MediaNumbers::Video& law) noexcept;
/// Whole streams whose frames come `fps` times a second: floor(1 / (fps x time)).
[[nodiscard]] double streams_of(Seconds frame, double fps) noexcept;

/// Streams of one size and rate that are decoded, computed and encoded. Sizes in pixels, fps > 0.
struct VideoTask {
  VideoCodec codec = VideoCodec::h264;
  double width = 1920.0, height = 1080.0, fps = 30.0;
  double out_width = 1920.0, out_height = 1080.0;   ///< of frames that are encoded
  bool decode = true, encode = false, bus = false;  ///< `bus`: raw frames come from and go to the host
  VideoCodec encoded = VideoCodec::h264;
  std::size_t preset = 0, tuning = 0;
  Seconds frame{};      ///< of the GPU for a frame that it computes; 0: none
  double every = 1.0;   ///< one of so many frames is computed
  double batch = 1.0;   ///< frames computed together
  double surfaces = 8;  ///< decoded frames kept a stream
  Bytes model{};        ///< weights and workspace that all streams share
  Bytes own{};          ///< of a stream beside its frames
};
/// Bytes of a raw frame: 4:2:0 of 8 bits, twice that of 10.
[[nodiscard]] Bytes frame_bytes(double width, double height, VideoCodec codec) noexcept;
/// Of one stream: its decoded frames, and as many of what is encoded where it is.
[[nodiscard]] Bytes stream_bytes(const VideoTask& task) noexcept;

struct VideoStage {
  std::string_view name;  ///< "decode", "compute", "encode", "bus", "memory", "sessions"
  double streams = 0.0;   ///< that one card carries, not rounded
  Seconds frame{};        ///< of one stream, by itself
  double engines = 0.0;   ///< that work side by side; 0 where it is no engine
};
/// What each part of a card carries, the fewest first: streams = engines x rate / fps. An engine that the card lacks
/// carries none. Precondition: `usable` bytes may be filled.
[[nodiscard]] std::vector<VideoStage> video_stages(const VideoTask& task,
                                                   const Card& card,
                                                   const CardVideo& engines,
                                                   Bytes usable) noexcept;

enum class SimulatorPhase : std::uint8_t { step, sample, learn };
inline constexpr std::array<std::string_view, 3> simulator_phase_names{"step", "sample", "learn"};
/// Environments that step together on each card.
struct SimulatorTask {
  SimulatorWork work;
  double envs = 4096.0;
  SimulatorPhase phase = SimulatorPhase::learn;
};
struct SimulatorTime {
  Seconds launches{};  ///< substeps launched by one thread of the host
  Seconds contacts{};  ///< of all environments of a card
  Seconds cameras{};
  Seconds sample{}, learn{}, exchange{};
  [[nodiscard]] Seconds total() const noexcept { return launches + contacts + cameras + sample + learn + exchange; }
};
/// A step of every environment of `cards`, each with a thread of a host of its own speed `alone`. Linear in the
/// environments over a floor, so that their rate saturates (Michaelis and Menten 1913, the form).
[[nodiscard]] SimulatorTime simulator_time(const SimulatorTask& task,
                                           const Card& card,
                                           double cards,
                                           const Cores& host,
                                           const MediaNumbers::Simulator& law) noexcept;

struct PolicyTask {
  PolicyModel model;
  double views = 2.0, chunk = 50.0, flow_steps = 10.0;
};
struct PolicyTime {
  Seconds vision{}, language{}, action{}, launches{};
  [[nodiscard]] Seconds total() const noexcept { return vision + language + action + launches; }
};
/// One call: pictures, their tokens with the prompt, and the steps of the flow over a chunk of actions, each at the
/// larger of 2 P tokens at the peak and P weights of 16 bit at the memory's bandwidth (Williams et al. 2009).
[[nodiscard]] PolicyTime policy_time(const PolicyTask& task,
                                     const Card& card,
                                     const MediaNumbers::Policy& law) noexcept;
/// Weights of 16 bit.
[[nodiscard]] Bytes policy_bytes(const PolicyTask& task) noexcept;

}  // namespace headroom::classic
