// SPDX-License-Identifier: Apache-2.0
// Laws of video, simulators and policies against arithmetic by hand, limits that they must keep, and publications.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/classic/media.hpp>

#include <doctest/doctest.h>

#include "../support/model_data.hpp"
#include <algorithm>
#include <string>

using namespace headroom;
using namespace headroom::classic;
using headroom::test::model_data;

namespace {

const MediaNumbers& media() {
  return media_numbers(model_data());
}
const Catalog& media_catalog() {
  static const Catalog shipped = Catalog::standard();
  return shipped;
}
Card media_card(const char* id) {
  return card_of(media_catalog().device(id));
}
std::vector<VideoStage> stages(const VideoTask& task, const char* gpu) {
  const Card card = media_card(gpu);
  return video_stages(task, card, find_video(media_catalog(), gpu).value(), card.memory);
}
double carried(const std::vector<VideoStage>& all, std::string_view name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const VideoStage& each) { return each.name == name; });
  REQUIRE(found != all.end());
  return found->streams;
}
Cores driver(const char* cpu) {
  return cores_of(find_cpu(media_catalog(), cpu), 1.0, 16.0, 16.0);
}
SimulatorTask robots(std::string_view name, double envs, SimulatorPhase phase) {
  return {*of_name(media().simulator.tasks, name), envs, phase};
}

}  // namespace

TEST_CASE("media: a server of eight L4 encodes the AV1 streams that NVIDIA publishes") {
  // NVIDIA, L4: 1,040 streams of AV1 at 720p30 in a server of eight.
  VideoTask task;
  task.decode = false;
  task.encode = true;
  task.encoded = VideoCodec::av1;
  task.out_width = 1280.0;
  task.out_height = 720.0;
  CHECK(8.0 * carried(stages(task, "l4"), "encode") == doctest::Approx(1040.0).epsilon(0.10));
}

TEST_CASE("media: streams are engines by rate over frames a second, and the narrowest part comes first") {
  VideoTask task;
  task.codec = VideoCodec::h264;
  task.frame = Seconds{3.11e-3};
  const std::vector<VideoStage> all = stages(task, "t4");
  // NVDEC: 2 engines of 771 frames/s at 1860 MHz, here 1470 MHz.
  CHECK(carried(all, "decode") == doctest::Approx(2.0 * 771.0 * 1470.0 / 1860.0 / 30.0));
  // 3.11 ms a frame: 10.7 streams, of which 10 are whole.
  CHECK(carried(all, "compute") == doctest::Approx(10.718).epsilon(1e-3));
  CHECK(all.front().name == "compute");
  task.every = 3.0;
  CHECK(carried(stages(task, "t4"), "compute") == doctest::Approx(3.0 * 10.718).epsilon(1e-3));
  task.every = 1000.0;
  CHECK(stages(task, "t4").front().name == "decode");
  CHECK(std::is_sorted(all.begin(), all.end(),
                       [](const VideoStage& a, const VideoStage& b) { return a.streams < b.streams; }));
}

TEST_CASE("media: a raw frame takes a byte and a half a pixel, twice that in ten bits") {
  CHECK(frame_bytes(1920.0, 1080.0, VideoCodec::h264).raw() == doctest::Approx(3'110'400.0));
  CHECK(frame_bytes(1920.0, 1080.0, VideoCodec::hevc_main10).raw() == doctest::Approx(6'220'800.0));
  VideoTask task;
  task.surfaces = 8.0;
  CHECK(stream_bytes(task).raw() == doctest::Approx(8.0 * 3'110'400.0));
  task.encode = true;
  CHECK(stream_bytes(task).raw() == doctest::Approx(16.0 * 3'110'400.0));
}

TEST_CASE("media: effects take what NVIDIA's tables say, and their whole streams") {
  // Maxine Video Effects: super resolution from 360 to 720 lines, A40 1.14 ms and 29 streams, L40 0.55 ms and 59.
  const VideoEffect& effect = *of_name(media().video.effects, "super-resolution-2x");
  CHECK(effect_time(effect, media_card("a40"), media().video).raw() == doctest::Approx(1.14e-3).epsilon(0.10));
  CHECK(effect_time(effect, media_card("l40"), media().video).raw() == doctest::Approx(0.55e-3).epsilon(0.10));
  CHECK(streams_of(Seconds{1.14e-3}, 30.0) == 29.0);
  CHECK(streams_of(Seconds{3.11e-3}, 30.0) == 10.0);
  CHECK(streams_of(Seconds{1.0 / 30.0}, 30.0) == 1.0);
}

TEST_CASE("media: environments share a step's floor, so that their rate saturates") {
  const Card card = media_card("l40");
  const Cores host = driver("xeon-8362");
  const auto rate = [&](double envs) {
    return envs / simulator_time(robots("humanoid", envs, SimulatorPhase::step), card, 1.0, host, media().simulator)
                      .total()
                      .raw();
  };
  CHECK(rate(2.0) > 1.9 * rate(1.0));
  CHECK(rate(4096.0) > rate(1024.0));
  CHECK(rate(8e6) < 1.01 * rate(4e6));
  // Contacts alone bound it: 4 substeps of each environment at this card's bandwidth.
  const double bound = card.by_bandwidth() / (4.0 * of_name(media().simulator.tasks, "humanoid")->contact.raw());
  CHECK(rate(1e9) == doctest::Approx(bound).epsilon(0.01));
  CHECK(rate(1e9) < bound);
}

TEST_CASE("media: a humanoid steps as fast as Isaac Lab's tables say, on one card and on sixteen") {
  // Isaac Lab: 82,000 steps/s on an RTX 4090 beside a Ryzen 9 7950X; 62,000, 250,000 and 960,000 on 1, 4 and 16 L40.
  const auto rate = [&](const char* gpu, const char* cpu, double cards) {
    return cards * 4096.0 /
           simulator_time(robots("humanoid", 4096.0, SimulatorPhase::learn), media_card(gpu), cards, driver(cpu),
                          media().simulator)
               .total()
               .raw();
  };
  CHECK(rate("rtx-4090", "ryzen-9-7950x", 1.0) == doctest::Approx(82e3).epsilon(0.15));
  CHECK(rate("l40", "xeon-8362", 1.0) == doctest::Approx(62e3).epsilon(0.15));
  CHECK(rate("l40", "xeon-8362", 4.0) == doctest::Approx(250e3).epsilon(0.15));
  CHECK(rate("l40", "xeon-8362", 16.0) == doctest::Approx(960e3).epsilon(0.15));
}

TEST_CASE("media: pi0 takes what realtime-vla measured, a picture its tokens and the flow its steps") {
  // Dexmal/realtime-vla: 20.0, 27.3 and 36.8 ms of one, two and three pictures on an RTX 4090.
  PolicyTask task;
  task.model = *of_name(media().policy.models, "pi0");
  task.chunk = 63.0;
  const Card card = media_card("rtx-4090");
  const auto call = [&](double views) {
    task.views = views;
    return policy_time(task, card, media().policy).total().raw();
  };
  CHECK(call(1.0) == doctest::Approx(20.0e-3).epsilon(0.12));
  CHECK(call(2.0) == doctest::Approx(27.3e-3).epsilon(0.12));
  CHECK(call(3.0) == doctest::Approx(36.8e-3).epsilon(0.12));
  task.flow_steps = 20.0;
  CHECK(policy_time(task, card, media().policy).launches.raw() == doctest::Approx(20.0 * media().policy.step.raw()));
  // 0.41 + 1.98 + 0.315 billion parameters of two bytes.
  CHECK(policy_bytes(task).raw() == doctest::Approx(2.0 * 2.705e9));
}
