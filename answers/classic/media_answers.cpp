// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/classic/media_answers.hpp>
#include <headroom/answers/markup/table.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>
#include <cmath>
#include <variant>

namespace headroom {
namespace {

using classic::Plan;
using classic::VideoStage;

std::string cards_text(double cards, const Plan& plan) {
  return format_count(cards) + " x " + plan.gpu.id;
}

/// What a stage is bound by, as the verdict calls it.
std::string bound_text(std::string_view stage) {
  return stage == "decode"     ? "its decoders"
         : stage == "encode"   ? "its encoders"
         : stage == "compute"  ? "its multiprocessors"
         : stage == "bus"      ? "its bus"
         : stage == "sessions" ? "the encode sessions that its driver opens at once"
                               : "its memory";
}

std::string video_verdict(const Plan& plan) {
  const classic::VideoFigures& video = *plan.video;
  const auto& asked = std::get<classic::VideoAsked>(plan.question.algorithm);
  const std::string stream = format_number(asked.task.width) + " x " + format_number(asked.task.height) + " at " +
                             format_number(asked.task.fps) + " frames/s";
  if (video.stages.empty()) {
    return "nothing is asked of the GPU: neither decoding nor encoding, and no time of a frame";
  }
  const std::string bound = bound_text(video.stages.front().name);
  if (video.streams < 1.0) {
    return "no stream of " + stream + " runs on " + plan.gpu.id + ", which " + bound + " hold" +
           (bound == "its bus" || bound == "its memory" ? "s" : "") + " to " +
           format_number(video.stages.front().streams) + " of one; take a faster GPU, fewer frames, or compute every " +
           format_count(std::ceil(1.0 / std::max(1e-9, video.stages.front().streams))) + "th frame";
  }
  std::string text = "one " + plan.gpu.id + " carries " + format_count(video.streams) +
                     (video.streams == 1.0 ? " stream of " : " streams of ") + stream + ", bound by " + bound;
  if (video.wanted) {
    text += "; " + format_number(*video.wanted) + " of them take " + cards_text(video.cards, plan) +
            (plan.gpu.fits ? "" : ", more than the " + format_count(plan.gpu.count) + " stated");
  }
  return text;
}

std::string simulator_verdict(const Plan& plan) {
  const classic::SimulatorFigures& figures = *plan.simulator;
  std::string text = cards_text(plan.gpu.count, plan) + " make " + format_number(figures.steps.raw()) + " steps/s of " +
                     format_count(plan.size) + " environments a GPU";
  if (figures.run) {
    text += "; the run ends in " + format(*figures.run);
  }
  if (figures.cards) {
    text += "; the demand takes " + format_count(*figures.cards) + " GPUs";
  }
  return text;
}

}  // namespace

std::string media_verdict(const Plan& plan) {
  if (plan.video) {
    return video_verdict(plan);
  }
  if (!plan.gpu.fits) {
    return "one " + plan.gpu.id + " does not hold it: " + format(plan.gpu.memory) + " of " +
           format(*plan.gpu.capacity) +
           (plan.simulator ? "; take a larger GPU, or fewer environments" : "; take a larger GPU");
  }
  if (plan.simulator) {
    return simulator_verdict(plan);
  }
  const classic::PolicyFigures& policy = *plan.policy;
  std::string text = "a call takes " + format(plan.gpu.time.mid) + " and the loop " + format(policy.loop) + ", " +
                     format_number(policy.rate.raw()) + " a second";
  if (policy.reached) {
    text += *policy.reached
                ? ": it keeps the rate that is wanted"
                : ": too slow for the rate that is wanted; take a faster GPU, fewer pictures or steps of the "
                  "flow, or act on the rest of a chunk meanwhile";
  }
  return text;
}

std::string media_figures(const Plan& plan) {
  if (plan.video) {
    const classic::VideoFigures& video = *plan.video;
    Table table{{"part of a GPU", "streams", "a frame", "engines"}};
    for (const VideoStage& stage : video.stages) {
      table.row({std::string{stage.name}, format_number(stage.streams),
                 stage.frame > Seconds{} ? format(stage.frame) : "",
                 stage.engines > 0.0 ? format_count(stage.engines) : ""});
    }
    return "memory: a stream takes " + format(video.stream) +
           (video.stream_hour ? "; a stream costs " + format(*video.stream_hour) + " an hour" : "") + "\n\n" +
           table.text();
  }
  if (plan.simulator && plan.simulator->most > Hertz{}) {
    return "saturation: more environments come near to " + format_number(plan.simulator->most.raw()) +
           " steps/s, half of it at " + format_number(plan.simulator->half) + " environments a GPU\n";
  }
  return {};
}

Value video_value(const std::optional<classic::VideoFigures>& video) {
  return video ? object("streams_per_gpu"_m = video->streams, "wanted_streams"_m = video->wanted,
                        "gpus_needed"_m = video->cards,
                        "limiter"_m =
                            when(!video->stages.empty(),
                                 video->stages.empty() ? Value{} : Value{std::string{video->stages.front().name}}),
                        "stages"_m = list(video->stages,
                                          [](const VideoStage& stage) {
                                            return row("name"_m = std::string{stage.name}, "streams"_m = stage.streams,
                                                       "frame_s"_m = stage.frame, "engines"_m = stage.engines);
                                          }),
                        "stream_memory_bytes"_m = video->stream, "frame_energy_j"_m = video->frame,
                        "stream_hour_usd"_m = video->stream_hour)
               : Value{};
}

Value simulation_value(const std::optional<classic::SimulatorFigures>& simulator) {
  return simulator ? object("steps_per_s"_m = simulator->steps, "most_steps_per_s"_m = simulator->most,
                            "half_saturation_envs"_m = simulator->half, "run_s"_m = simulator->run,
                            "gpus_needed"_m = simulator->cards)
                   : Value{};
}

Value control_value(const std::optional<classic::PolicyFigures>& policy) {
  return policy ? object("loop_s"_m = policy->loop, "calls_per_s"_m = policy->rate, "reached"_m = policy->reached)
                : Value{};
}

}  // namespace headroom
