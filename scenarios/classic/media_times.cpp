// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/classic/media_times.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headroom::classic {
namespace {

const MediaNumbers& media_of(const Question& q) {
  return media_numbers(q.sources->data);
}

/// Streams on all GPUs: those wanted where they are carried.
double streams_on(const Question& q, const VideoAsked& asked, double cards) {
  const double carried = cards * whole_streams(stages_of(q, asked));
  return std::min(carried, asked.streams.value_or(carried));
}

SimulatorTime simulated(const Question& q, const SimulatorAsked& asked, double cards) {
  return simulator_time(asked.task, q.card, cards, q.host, media_of(q).simulator);
}

}  // namespace

std::vector<VideoStage> stages_of(const Question& q, const VideoAsked& asked) noexcept {
  return video_stages(asked.task, q.card, asked.engines, usable_memory * q.card.memory);
}

double whole_streams(const std::vector<VideoStage>& stages) noexcept {
  return stages.empty() ? 0.0 : std::floor(stages.front().streams * (1.0 + 1e-9));
}

Times video_times(const Question& q, const VideoAsked& asked, double cards) {
  Times times;
  for (const VideoStage& stage : stages_of(q, asked)) {
    if (stage.frame > Seconds{}) {
      times.parts.push_back({std::string{stage.name}, stage.frame});
    }
  }
  if (asked.task.batch > 1.0) {
    // The first frame of a batch waits for the last of its own stream.
    times.parts.push_back({"wait for a batch", Seconds{(asked.task.batch - 1.0) * asked.task.every / asked.task.fps}});
  }
  times.width = std::max(asked.compute_width, 0.1);
  times.rate = Hertz{std::max(1e-9, streams_on(q, asked, cards) * asked.task.fps)};
  return times;
}

Times simulator_times(const Question& q, const SimulatorAsked& asked, double cards) {
  const SimulatorTime time = simulated(q, asked, cards);
  Times times{{{"launches", time.launches},
               {"contacts", time.contacts},
               {"cameras", time.cameras},
               {"sample", time.sample},
               {"learn", time.learn},
               {"exchange", time.exchange}},
              media_of(q).simulator.width,
              cards * asked.task.envs,
              Bytes{},
              {}};
  return times;
}

Times policy_times(const Question& q, const PolicyAsked& asked) {
  const PolicyTime time = policy_time(asked.task, q.card, media_of(q).policy);
  return {{{"vision", time.vision}, {"language", time.language}, {"action", time.action}, {"launches", time.launches}},
          media_of(q).policy.width,
          1.0,
          Bytes{},
          {}};
}

Work media_work(const Algorithm& algorithm) {
  Work work;
  if (const auto* const video = std::get_if<VideoAsked>(&algorithm)) {
    const VideoTask& task = video->task;
    work.algorithm = "video";
    work.size_name = "streams";
    work.size = video->streams.value_or(1.0);
    work.bytes = stream_bytes(task);
    work.sources = {"NVIDIA Video Codec SDK 13.0, NVDEC and NVENC application notes: rates of one engine",
                    "Williams et al. 2009, roofline: a frame's bytes and its arithmetic, one after the other",
                    "fitted to NVIDIA's tables of Maxine (docs/classic.md)"};
    work.sources.insert(work.sources.end(), video->engines.sources.begin(), video->engines.sources.end());
    work.notes.emplace_back("a frame costs an engine as its pixels do, and engines work beside the multiprocessors");
    if (!video->engines.clock && (task.decode || task.encode)) {
      work.notes.emplace_back(
          "the catalog has no video clock of this card: its engines are taken at the clock of the published rates");
    }
  } else if (const auto* const simulator = std::get_if<SimulatorAsked>(&algorithm)) {
    work.algorithm = "simulator";
    work.size_name = "environments";
    work.size = simulator->task.envs;
    work.sources = {"Makoviychuk et al. 2021, Isaac Gym: physics, observations and learning on the card",
                    "Michaelis and Menten 1913: a rate that saturates",
                    "fitted to Isaac Lab's tables (docs/classic.md)"};
  } else {
    const PolicyTask& task = std::get<PolicyAsked>(algorithm).task;
    work.algorithm = "policy";
    work.size_name = "pictures";
    work.size = task.views;
    const double pictures = task.views * task.model.view_tokens;
    work.flops = Flops{2.0 * (task.model.vision * pictures + task.model.language * (pictures + task.model.prompt) +
                              task.model.action * task.flow_steps * (task.chunk + 1.0))};
    work.bytes = policy_bytes(task);
    work.sources = {"Black et al. 2024, pi0: a vision-language-action flow model", "Williams et al. 2009, roofline",
                    "fitted to Dexmal/realtime-vla (docs/classic.md)"};
  }
  return work;
}

std::vector<MemoryPart> media_memory(const Question& q) {
  if (const auto* const video = std::get_if<VideoAsked>(&q.algorithm)) {
    return {{"frames of streams", streams_on(q, *video, q.cards) * stream_bytes(video->task)},
            {"network", q.cards * video->task.model}};
  }
  if (const auto* const simulator = std::get_if<SimulatorAsked>(&q.algorithm)) {
    return {{"environments", q.cards * simulator->task.envs * simulator->env.value_or(Bytes{})},
            {"simulator", q.cards * simulator->own.value_or(Bytes{})}};
  }
  return {{"weights", q.cards * policy_bytes(std::get<PolicyAsked>(q.algorithm).task)}};
}

Bytes media_part(const Question& q, Bytes all) {
  return 1.0 / q.cards * all;
}

void open_media_cards(Question& q) {
  if (!q.cards_open) {
    return;
  }
  if (const auto* const video = std::get_if<VideoAsked>(&q.algorithm)) {
    const double each = whole_streams(stages_of(q, *video));
    q.cards = video->streams && each > 0.0 ? std::max(1.0, std::ceil(*video->streams / each)) : 1.0;
  } else if (const auto* const simulator = std::get_if<SimulatorAsked>(&q.algorithm)) {
    q.cards = 1.0;
    if (simulator->demand) {
      const auto short_of = [&](double cards) {
        return cards * simulator->task.envs / simulated(q, *simulator, cards).total().raw() < simulator->demand->raw();
      };
      // The exchange grows with the logarithm of the cards, their rate nearly with the cards.
      constexpr double most = 1e6;
      while (q.cards < most && short_of(q.cards)) {
        q.cards = std::max(q.cards + 1.0, std::floor(1.02 * q.cards));
      }
    }
  }
}

void add_media_figures(Plan& plan) {
  const Question& q = plan.question;
  if (const auto* const video = std::get_if<VideoAsked>(&q.algorithm)) {
    VideoFigures figures;
    figures.stages = stages_of(q, *video);
    figures.streams = whole_streams(figures.stages);
    figures.wanted = video->streams;
    figures.cards =
        figures.streams > 0.0 ? std::max(1.0, std::ceil(video->streams.value_or(1.0) / figures.streams)) : 0.0;
    figures.stream = stream_bytes(video->task);
    if (figures.streams > 0.0) {
      figures.frame = q.card.power / Hertz{figures.streams * video->task.fps};
      if (q.money.price) {
        constexpr double hour = 3600.0;
        figures.stream_hour = hour / figures.streams * (*q.money.price * Seconds{1.0});
      }
    }
    plan.gpu.energy = figures.frame;
    plan.gpu.cost.reset();
    plan.gpu.needed = figures.cards;
    plan.gpu.fits = figures.streams >= 1.0 && figures.cards <= q.cards;
    plan.gpu_wins = plan.gpu.fits;
    plan.video = std::move(figures);
  } else if (const auto* const simulator = std::get_if<SimulatorAsked>(&q.algorithm)) {
    const SimulatorTime time = simulated(q, *simulator, q.cards);
    const Seconds floor = time.total() - time.contacts - time.cameras;
    const Seconds each = 1.0 / simulator->task.envs * (time.contacts + time.cameras);
    SimulatorFigures figures;
    figures.steps = Hertz{q.cards * simulator->task.envs / time.total().raw()};
    if (each > Seconds{}) {
      figures.most = Hertz{q.cards / each.raw()};
      figures.half = floor / each;
    }
    if (simulator->steps) {
      figures.run = Seconds{*simulator->steps / figures.steps.raw()};
    }
    if (simulator->demand) {
      figures.cards = std::ceil(*simulator->demand / figures.steps * q.cards);
    }
    plan.simulator = figures;
    if (each == Seconds{}) {
      plan.notes.emplace_back(
          "environments are taken to cost nothing beside their launches: state simulator.contact, what a substep of "
          "one takes");
    }
    if (!simulator->env) {
      plan.notes.emplace_back("memory: state simulator.env_memory, what an environment takes, to learn how many fit");
    }
  } else {
    const auto& policy = std::get<PolicyAsked>(q.algorithm);
    PolicyFigures figures;
    figures.loop = plan.gpu.time.mid + policy.network;
    figures.rate = Hertz{1.0 / figures.loop.raw()};
    if (policy.wanted) {
      figures.reached = figures.rate >= *policy.wanted;
    }
    plan.policy = figures;
  }
}

std::vector<double> sizes_of(const Algorithm& algorithm, double size) {
  if (std::holds_alternative<VideoAsked>(algorithm)) {
    return {};
  }
  if (std::holds_alternative<PolicyAsked>(algorithm)) {
    return {1.0, 2.0, 3.0, 4.0};
  }
  std::vector<double> sizes;
  for (const double factor : {0.01, 0.1, 1.0, 10.0, 100.0}) {
    sizes.push_back(std::max(1.0, std::round(factor * size)));
  }
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

}  // namespace headroom::classic
