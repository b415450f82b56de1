// SPDX-License-Identifier: Apache-2.0
// Decoders and encoders of cards: every file that ships, and rates against what NVIDIA publishes of them.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/hardware/video/video_engines.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace headroom;

namespace {

const Catalog& shipped_engines() {
  static const Catalog catalog = Catalog::standard();
  return catalog;
}
CardVideo engines_of(const char* gpu) {
  const auto found = find_video(shipped_engines(), gpu);
  REQUIRE(found);
  return *found;
}
constexpr double full_hd = 1920.0 * 1080.0;

}  // namespace

TEST_CASE("video: every card is one of the catalog, stands once, and decodes") {
  std::set<std::string> seen;
  const std::vector<std::string> cards = video_cards(shipped_engines());
  CHECK(cards.size() >= 20);
  for (const std::string& gpu : cards) {
    CAPTURE(gpu);
    CHECK(seen.insert(gpu).second);
    CHECK(shipped_engines().device(gpu).id == gpu);
    const CardVideo engines = engines_of(gpu.c_str());
    CHECK(engines.decoders >= 1.0);
    CHECK(engines.decodes(VideoCodec::h264, full_hd).value() > Hertz{});
    CHECK_FALSE(engines.sources.empty());
  }
  CHECK_FALSE(find_video(shipped_engines(), "mi300x"));
}

TEST_CASE("video: an engine's rate follows its clock and the pixels of a frame") {
  // NVDEC application note 13.0: 1641 frames of HEVC a second at 2160 MHz; the L4's video clock is 1770 MHz.
  const CardVideo l4 = engines_of("l4");
  CHECK(l4.decodes(VideoCodec::hevc, full_hd)->raw() == doctest::Approx(1641.0 * 1770.0 / 2160.0));
  CHECK(l4.decodes(VideoCodec::hevc, 4.0 * full_hd)->raw() == doctest::Approx(1641.0 * 1770.0 / 2160.0 / 4.0));
  // The RTX 4090 is the card of the encoders' table: 291 frames of H.264 at p5 and low latency.
  CHECK(engines_of("rtx-4090").encodes(VideoCodec::h264, 2, 0, full_hd)->raw() == doctest::Approx(291.0));
}

TEST_CASE("video: cards without an engine say so") {
  CHECK_FALSE(engines_of("t4").decodes(VideoCodec::av1, full_hd));
  CHECK_FALSE(engines_of("a100-sxm-80gb").encodes(VideoCodec::h264, 0, 0, full_hd));
  CHECK_FALSE(engines_of("l4").encodes(VideoCodec::vp9, 0, 0, full_hd));
  CHECK(engines_of("rtx-4090").sessions.value() == 8.0);
  CHECK_FALSE(engines_of("l4").sessions);
}
