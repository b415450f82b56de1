// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/classic/media.hpp>

#include <algorithm>
#include <cmath>

namespace headroom::classic {
namespace {

constexpr double weight_bytes = 2.0;

Seconds streamed_or_multiplied(double parameters, double tokens, const Card& card, double efficiency) noexcept {
  return std::max(Flops{2.0 * parameters * tokens} / (efficiency * card.fp16),
                  Bytes{weight_bytes * parameters} / card.bandwidth);
}

bool ten_bits(VideoCodec codec) noexcept {
  return codec == VideoCodec::hevc_main10 || codec == VideoCodec::vp9_10bit;
}

}  // namespace

Seconds effect_time(const VideoEffect& effect, const Card& card, const MediaNumbers::Video& law) noexcept {
  return effect.bytes / card.bandwidth + Flops{law.intensity * effect.bytes.raw()} / card.fp32;
}

double streams_of(Seconds frame, double fps) noexcept {
  // A rate that ends a billionth below a whole number is that number.
  return std::floor(1.0 / (fps * frame.raw()) * (1.0 + 1e-9));
}

Bytes frame_bytes(double width, double height, VideoCodec codec) noexcept {
  constexpr double chroma = 1.5;
  return Bytes{width * height * chroma * (ten_bits(codec) ? 2.0 : 1.0)};
}

Bytes stream_bytes(const VideoTask& task) noexcept {
  return task.surfaces * ((task.decode ? frame_bytes(task.width, task.height, task.codec) : Bytes{}) +
                          (task.encode ? frame_bytes(task.out_width, task.out_height, task.encoded) : Bytes{})) +
         task.own;
}

std::vector<VideoStage> video_stages(const VideoTask& task,
                                     const Card& card,
                                     const CardVideo& engines,
                                     Bytes usable) noexcept {
  std::vector<VideoStage> stages;
  const auto engine = [&](std::string_view name, double count, std::optional<Hertz> rate) {
    stages.push_back(
        {name, rate ? count * rate->raw() / task.fps : 0.0, rate ? Seconds{1.0 / rate->raw()} : Seconds{}, count});
  };
  if (task.decode) {
    engine("decode", engines.decoders, engines.decodes(task.codec, task.width * task.height));
  }
  if (task.frame > Seconds{}) {
    stages.push_back({"compute", task.every / (task.fps * task.frame.raw()), task.batch * task.frame, 0.0});
  }
  if (task.encode) {
    engine("encode", engines.encoders,
           engines.encodes(task.encoded, task.preset, task.tuning, task.out_width * task.out_height));
    if (engines.sessions) {
      stages.push_back({"sessions", *engines.sessions, Seconds{}, 0.0});
    }
  }
  if (task.bus) {
    // Frames come one way and go the other.
    const Bytes wider = std::max(frame_bytes(task.width, task.height, task.codec),
                                 frame_bytes(task.out_width, task.out_height, task.encoded));
    stages.push_back({"bus", card.host.raw() / (task.fps * wider.raw()), wider / card.host, 0.0});
  }
  if (const Bytes each = stream_bytes(task); each > Bytes{}) {
    stages.push_back({"memory", std::max(0.0, (usable - task.model).raw()) / each.raw(), Seconds{}, 0.0});
  }
  std::stable_sort(stages.begin(), stages.end(),
                   [](const VideoStage& a, const VideoStage& b) { return a.streams < b.streams; });
  return stages;
}

SimulatorTime simulator_time(const SimulatorTask& task,
                             const Card& card,
                             double cards,
                             const Cores& host,
                             const MediaNumbers::Simulator& law) noexcept {
  SimulatorTime time;
  time.launches = task.work.substeps / host.alone * law.substep;
  time.contacts = task.envs * task.work.substeps / card.by_bandwidth() * task.work.contact;
  time.cameras = task.envs * task.work.cameras / host.alone * law.camera;
  if (task.phase != SimulatorPhase::step) {
    time.sample = 1.0 / host.alone * law.sample;
  }
  if (task.phase == SimulatorPhase::learn) {
    time.learn = 1.0 / host.alone * law.learn;
    time.exchange = std::log2(std::max(1.0, cards)) * law.exchange;
  }
  return time;
}

PolicyTime policy_time(const PolicyTask& task, const Card& card, const MediaNumbers::Policy& law) noexcept {
  const PolicyModel& model = task.model;
  const double pictures = model.view_tokens * task.views;
  PolicyTime time;
  time.vision = streamed_or_multiplied(model.vision, pictures, card, law.efficiency);
  time.language = streamed_or_multiplied(model.language, pictures + model.prompt, card, law.efficiency);
  // The state goes in beside the chunk's actions.
  time.action = task.flow_steps * streamed_or_multiplied(model.action, task.chunk + 1.0, card, law.efficiency);
  time.launches = task.flow_steps * law.step;
  return time;
}

Bytes policy_bytes(const PolicyTask& task) noexcept {
  return Bytes{weight_bytes * (task.model.vision + task.model.language + task.model.action)};
}

}  // namespace headroom::classic
