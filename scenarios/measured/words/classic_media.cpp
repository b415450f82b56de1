// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/classic/media.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/measured/words/classic_row.hpp>
#include <headroom/scenarios/measured/words/classic_tables.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace headroom {
namespace {

using classic::MediaNumbers;
using classic::SimulatorPhase;

/// The entry whose title a config begins with, the longest first.
template <class Each>
const Each* titled(const std::vector<Each>& all, std::string_view config) {
  const Each* found = nullptr;
  for (const Each& each : all) {
    if (config.starts_with(each.title) && (found == nullptr || each.title.size() > found->title.size())) {
      found = &each;
    }
  }
  return found;
}

RowPrediction upscaler(const MediaNumbers::Video& law, const RunRow& row, const std::string& config) {
  if (row.metric != "device_memory_mb") {
    return unsupported("what the host of those frames takes, which go through it and back, is not published");
  }
  const std::optional<double> streams = number_behind(config, "streams="), batch = number_behind(config, "batch=");
  const std::optional<double> lines = number_behind(config, "720x");
  if (!streams || !batch || !lines) {
    return unsupported("the row states no streams, batch or size of a frame");
  }
  const double bytes = law.context.raw() + *streams * *batch * 720.0 * *lines * law.frame_bytes;
  return answered(bytes / 1e6, 0.05);
}

/// What those cards answer, or why nobody knows them.
template <class Answer>
RowPrediction on_cards(const ClassicLaws& laws, const std::string& hardware, const Answer& answer) {
  std::string why;
  const auto cards = classic_cards(laws.catalog, laws.data, hardware, why);
  return cards ? answer(*cards) : unsupported(why);
}

RowPrediction effect_row(const ClassicLaws& laws, const RunRow& row, Seconds frame) {
  const MediaNumbers::Video& law = laws.media.video;
  if (row.metric == "latency_ms_per_frame") {
    return answered(frame.raw() * 1e3, law.width);
  }
  if (row.metric == "max_streams_30fps") {
    constexpr double fps = 30.0;
    if (!laws.whole) {
      return answered(1.0 / (fps * frame.raw()), law.width);
    }
    RowPrediction streams = answered(classic::streams_of(frame, fps), law.width);
    streams.low = classic::streams_of((1.0 + law.width) * frame, fps);
    streams.high = classic::streams_of(1.0 / (1.0 + law.width) * frame, fps);
    return streams;
  }
  return unsupported("metric " + row.metric + " of a video's effect is not answered");
}

RowPrediction enhanced_video(const ClassicLaws& laws,
                             const RunRow& row,
                             const std::string& config,
                             const std::string& hardware) {
  const MediaNumbers::Video& law = laws.media.video;
  if (config.starts_with("realesrgan")) {
    return upscaler(law, row, config);
  }
  const classic::VideoEffect* const effect = titled(law.effects, config);
  if (effect == nullptr) {
    return unsupported("no effect by the name of '" + config + "' was measured");
  }
  return on_cards(laws, hardware, [&](const ClassicCards& cards) {
    return effect_row(laws, row, classic::effect_time(*effect, cards.card, law));
  });
}

std::optional<SimulatorPhase> phase_of(std::string_view metric) {
  return metric == "env_step_fps"           ? std::optional{SimulatorPhase::step}
         : metric == "step_infer_fps"       ? std::optional{SimulatorPhase::sample}
         : metric == "step_infer_train_fps" ? std::optional{SimulatorPhase::learn}
                                            : std::nullopt;
}

RowPrediction simulated_robots(const ClassicLaws& laws,
                               const RunRow& row,
                               const std::string& config,
                               const std::string& hardware) {
  const MediaNumbers::Simulator& law = laws.media.simulator;
  const std::optional<SimulatorPhase> phase = phase_of(row.metric);
  if (!phase) {
    return unsupported("one number of environments does not tell the simulator's memory from that of an environment");
  }
  const classic::SimulatorWork* const work = titled(law.tasks, config);
  const std::optional<double> envs = number_behind(config, "envs=");
  if (work == nullptr || !envs) {
    return unsupported("no environments by the name of '" + config + "' were measured");
  }
  std::string why;
  const std::optional<ClassicCards> cards = classic_cards(laws.catalog, laws.data, hardware, why);
  const std::optional<classic::Cores> host =
      cards ? classic_host(laws.catalog, laws.data, hardware, why) : std::nullopt;
  if (!host) {
    return unsupported(why);
  }
  const Seconds step = classic::simulator_time({*work, *envs, *phase}, cards->card, cards->cards, *host, law).total();
  return answered(cards->cards * *envs / step.raw(), law.width);
}

RowPrediction acting_policy(const ClassicLaws& laws,
                            const RunRow& row,
                            const std::string& config,
                            const std::string& hardware) {
  const MediaNumbers::Policy& law = laws.media.policy;
  const classic::PolicyModel* const model = titled(law.models, config);
  const std::size_t views = config.find(" views");
  if (row.metric != "latency_ms" || model == nullptr || views == std::string::npos) {
    return unsupported("no policy by the name of '" + config + "' was measured");
  }
  classic::PolicyTask task;
  task.model = *model;
  task.views = number_behind(config, "; ").value_or(1.0);
  task.chunk = number_behind(config, "chunk ").value_or(task.chunk);
  task.flow_steps = 10.0;
  return on_cards(laws, hardware, [&](const ClassicCards& cards) {
    return answered(classic::policy_time(task, cards.card, law).total().raw() * 1e3, law.width);
  });
}

}  // namespace

RowPrediction predict_media(const ClassicLaws& laws, const RunFile& file, const RunRow& row) {
  const std::string workload = cell(file, row, "workload").value_or("");
  const std::string config = cell(file, row, "config").value_or("");
  const std::string hardware = cell(file, row, "hardware").value_or("");
  if (workload == "vla_train") {
    return unsupported("batch and lengths of those steps are not published");
  }
  return workload == "video_enhance" ? enhanced_video(laws, row, config, hardware)
         : workload == "rl_sim"      ? simulated_robots(laws, row, config, hardware)
                                     : acting_policy(laws, row, config, hardware);
}

}  // namespace headroom
