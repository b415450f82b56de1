// SPDX-License-Identifier: Apache-2.0
// Decoders and encoders of video on a card: catalog/video/ID.toml, a file for each generation of engines with its
// cards.
#pragma once

#include <headroom/hardware/catalog/catalog.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

enum class VideoCodec : std::uint8_t { h264, hevc, hevc_main10, vp9, vp9_10bit, av1 };
inline constexpr std::array<std::string_view, 6> video_codec_names{"h264", "hevc",      "hevc-main10",
                                                                   "vp9",  "vp9-10bit", "av1"};
[[nodiscard]] constexpr std::string_view name_of(VideoCodec codec) noexcept {
  return video_codec_names[static_cast<std::size_t>(codec)];
}
/// Presets of NVENC from the fastest to the best, and what they are tuned for: low latency, high quality.
inline constexpr std::array<std::string_view, 4> video_preset_names{"p1", "p3", "p5", "p7"};
inline constexpr std::array<std::string_view, 2> video_tuning_names{"low-latency", "high-quality"};

/// Engines of one generation: frames of 1920 x 1080 a second of one engine at its clock.
struct VideoEngines {
  std::string id, name, file;
  std::array<std::optional<Sourced<std::int64_t>>, video_codec_names.size()> decode;
  std::optional<Sourced<Hertz>> decode_clock, encode_clock;
  /// By codec, preset and tuning: [codec][2 x preset + tuning].
  std::array<std::array<std::optional<Sourced<std::int64_t>>, 8>, video_codec_names.size()> encode;
};

/// The engines of one card.
struct CardVideo {
  VideoEngines engines;
  double decoders = 0.0, encoders = 0.0;
  std::optional<double> sessions;  ///< of encoders that run at once in one host; nothing: no limit but their rate
  std::optional<Hertz> clock;      ///< the card's highest video clock; nothing: rates stand as published
  std::vector<std::string> sources;

  /// Frames a second that one decoder of this card decodes, which fall and rise with its clock and the pixels of a
  /// frame. nullopt: it does not decode the codec.
  [[nodiscard]] std::optional<Hertz> decodes(VideoCodec codec, double pixels) const noexcept;
  /// The same of an encoder; `preset` and `tuning` are places of their names.
  [[nodiscard]] std::optional<Hertz> encodes(VideoCodec codec,
                                             std::size_t preset,
                                             std::size_t tuning,
                                             double pixels) const noexcept;
};

/// The engines of a SKU. nullopt: no file of the catalog lists it. ConfigError with what is wrong in a file.
[[nodiscard]] std::optional<CardVideo> find_video(const Catalog& catalog, std::string_view gpu);
/// SKUs whose engines are known, in the order of files.
[[nodiscard]] std::vector<std::string> video_cards(const Catalog& catalog);

}  // namespace headroom
