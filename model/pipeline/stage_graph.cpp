// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/pipeline/stage_graph.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace headroom {
namespace {

constexpr double unbound = std::numeric_limits<double>::infinity();

[[nodiscard]] bool on_host(StagePlace place) noexcept {
  return place == StagePlace::cpu;
}

/// Whether the network is before a stage, however far.
[[nodiscard]] std::vector<bool> after_network(const std::vector<PipelineStage>& stages) {
  std::vector<bool> follows(stages.size(), false);
  // As many rounds as the longest way has edges.
  for (std::size_t round = 0; round < stages.size(); ++round) {
    for (std::size_t i = 0; i < stages.size(); ++i) {
      for (const std::size_t before : stages[i].after) {
        follows[i] = follows[i] || before == stages.size() || follows[before];
      }
    }
  }
  return follows;
}

}  // namespace

std::vector<std::size_t> cycle_of(const std::vector<PipelineStage>& stages) {
  enum class Mark : std::uint8_t { unseen, open, done };
  std::vector<Mark> marks(stages.size(), Mark::unseen);
  std::vector<std::size_t> way, found;
  const std::function<bool(std::size_t)> visit = [&](std::size_t stage) {
    if (stage >= stages.size() || marks[stage] == Mark::done) {
      return false;
    }
    if (marks[stage] == Mark::open) {
      found.assign(std::find(way.begin(), way.end(), stage), way.end());
      return true;
    }
    marks[stage] = Mark::open;
    way.push_back(stage);
    for (const std::size_t before : stages[stage].after) {
      if (visit(before)) {
        return true;
      }
    }
    way.pop_back();
    marks[stage] = Mark::done;
    return false;
  };
  for (std::size_t i = 0; i < stages.size() && found.empty(); ++i) {
    static_cast<void>(visit(i));
  }
  std::reverse(found.begin(), found.end());
  return found;
}

StageFlow stage_flow(const std::vector<PipelineStage>& stages, const PipelineHost& host) {
  const std::size_t network = network_of(stages);
  StageFlow flow;
  flow.rate = unbound;
  // Cores that are shared, and the GPU.
  Seconds shared = host.core_time;
  for (const PipelineStage& stage : stages) {
    if (stage.on == StagePlace::cpu && stage.cores <= 0.0) {
      shared += stage.share * stage.now();
    }
    if (stage.on == StagePlace::gpu) {
      flow.on_gpu += stage.share * stage.now();
    }
  }
  const Seconds gpu = host.called + flow.on_gpu;
  const double asked = gpu > Seconds{} ? host.gpus / gpu.raw() : 0.0;  // samples a second of a host that never waits
  const auto bind = [&](double rate, const std::string& name) {
    if (rate < flow.rate) {
      flow.rate = rate;
      flow.binds = name;
    }
  };
  for (const PipelineStage& stage : stages) {
    StageRate rate{stage.name, stage.on, stage.now(), stage.share, unbound, 0.0};
    const double each = stage.share * stage.now().raw();
    switch (stage.on) {
      case StagePlace::cpu: {
        const double cores = stage.cores > 0.0 ? stage.cores : host.cores;
        const double all = stage.cores > 0.0 ? each : shared.raw();
        rate.samples_per_s = cores > 0.0 && all > 0.0 ? cores / all : unbound;
        rate.needed = asked * each;
        break;
      }
      case StagePlace::engine:
        rate.samples_per_s = each > 0.0 ? host.gpus * stage.engines / each : unbound;
        rate.needed = asked * each / host.gpus;
        break;
      default: rate.samples_per_s = asked > 0.0 ? asked : unbound; break;
    }
    if (stage.on != StagePlace::gpu) {
      bind(rate.samples_per_s, stage.name);
    }
    flow.stages.push_back(std::move(rate));
  }

  // Ways to every stage and to the network. `network` stands at the end of both.
  const std::vector<bool> follows = after_network(stages);
  const auto place_of = [&](std::size_t i) { return i == network ? StagePlace::gpu : stages[i].on; };
  const auto copy_between = [&](std::size_t from, std::size_t to) {
    if (on_host(place_of(from)) == on_host(place_of(to))) {
      return Seconds{};
    }
    const double share = from == network ? 1.0 : stages[from].share;
    const Bytes bytes = from == network ? host.result : stages[from].output;
    ++flow.crossings;
    flow.crossed += share * bytes;
    return host.link > BytesPerSecond{} ? bytes / host.link : Seconds{};
  };
  std::vector<std::optional<Seconds>> done(stages.size() + 1);
  const std::function<Seconds(std::size_t)> reach = [&](std::size_t i) {
    if (done[i]) {
      return *done[i];
    }
    Seconds ready{};
    if (i == network) {
      // Whatever nothing but the network waits for.
      for (std::size_t from = 0; from < stages.size(); ++from) {
        const bool last = std::none_of(stages.begin(), stages.end(), [&](const PipelineStage& stage) {
          return std::find(stage.after.begin(), stage.after.end(), from) != stage.after.end();
        });
        if (last && !follows[from]) {
          ready = std::max(ready, reach(from) + copy_between(from, network));
        }
      }
    } else {
      for (const std::size_t from : stages[i].after) {
        ready = std::max(ready, reach(from) + copy_between(from, i));
      }
      ready += stages[i].now();
    }
    done[i] = ready;
    return ready;
  };
  flow.before = reach(network);
  Seconds whole = flow.before;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    whole = std::max(whole, reach(i));
  }
  flow.after = whole - flow.before;
  if (host.link > BytesPerSecond{} && flow.crossed > Bytes{}) {
    bind(host.gpus * host.link.raw() / flow.crossed.raw(), "copies");
  }
  return flow;
}

std::optional<std::vector<PipelineStage>> best_places(const std::vector<PipelineStage>& stages,
                                                      const PipelineHost& host) {
  std::vector<std::size_t> movable;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const auto& time = stages[i].time;
    if (std::count_if(time.begin(), time.end(), [](const auto& each) { return each.has_value(); }) > 1) {
      movable.push_back(i);
    }
  }
  if (movable.empty() || movable.size() > most_movable) {
    return std::nullopt;
  }
  std::vector<PipelineStage> best = stages, tried = stages;
  StageFlow least = stage_flow(stages, host);
  const std::function<void(std::size_t)> place = [&](std::size_t at) {
    if (at == movable.size()) {
      StageFlow flow = stage_flow(tried, host);
      const auto order = [](const StageFlow& f) { return std::pair{f.latency().raw(), f.crossings}; };
      if (order(flow) < order(least)) {
        least = std::move(flow);
        best = tried;
      }
      return;
    }
    for (std::size_t p = 0; p < stage_place_count; ++p) {
      if (tried[movable[at]].time[p]) {
        tried[movable[at]].on = static_cast<StagePlace>(p);
        place(at + 1);
      }
    }
  };
  place(0);
  return best;
}

}  // namespace headroom
