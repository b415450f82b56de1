// SPDX-License-Identifier: Apache-2.0
// Ranks and steps that are slower than others, and runs that hang.
#include <headroom/calibrate/diagnosis/trace_causes.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace headroom {
namespace {

double middle(std::vector<double> values) {
  if (values.empty()) {
    return 1.0;
  }
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

/// Mean of logarithms of ratios, and how many of its standard errors it lies above 0.
struct MeanRatio {
  double ratio = 1.0, deviations = 0.0;
};

MeanRatio mean_ratio(const std::vector<double>& ratios) {
  const double n = real(static_cast<std::int64_t>(ratios.size()));
  double sum = 0.0;
  double squares = 0.0;
  for (const double r : ratios) {
    sum += std::log(r) / n;
  }
  for (const double r : ratios) {
    squares += (std::log(r) - sum) * (std::log(r) - sum);
  }
  const double error = n > 1.0 ? std::sqrt(squares / (n - 1.0) / n) : 0.0;
  return {std::exp(sum), error > 0.0 ? sum / error : 0.0};
}

/// How long the kernels of a rank take in a step, over what the same kernels take in the middle of all ranks and steps.
using Paces = std::vector<std::vector<double>>;

Paces paces_of(const TracedRun& run) {
  using Kernel = std::pair<std::string, std::int64_t>;
  std::map<Kernel, std::size_t> numbers;
  struct Sum {
    double time = 0.0, count = 0.0;
  };
  // Of each rank, step and kernel.
  std::vector<std::vector<std::map<std::size_t, Sum>>> sums;
  for (std::size_t r = 0; r < run.replay.ranks(); ++r) {
    const RankGraph& graph = run.graph(r);
    sums.emplace_back(graph.steps.size());
    std::map<std::pair<std::int32_t, std::int64_t>, std::size_t> own;
    for (const GraphWork& work : graph.work) {
      if (work.work != DeviceWork::compute) {
        continue;
      }
      const auto [known, fresh] = own.emplace(std::pair{work.name, work.blocks}, 0);
      if (fresh) {
        known->second =
            numbers.emplace(Kernel{graph.names[static_cast<std::size_t>(work.name)], work.blocks}, numbers.size())
                .first->second;
      }
      Sum& sum = sums[r][static_cast<std::size_t>(work.step)][known->second];
      sum.time += real(work.lasts());
      sum.count += 1.0;
    }
  }
  std::vector<std::vector<double>> means(numbers.size());
  for (const auto& of_rank : sums) {
    for (const auto& of_step : of_rank) {
      for (const auto& [kernel, sum] : of_step) {
        means[kernel].push_back(sum.time / sum.count);
      }
    }
  }
  std::vector<double> usual;
  for (const auto& all : means) {
    usual.push_back(middle(all));
  }
  Paces paces;
  for (const auto& of_rank : sums) {
    paces.emplace_back();
    for (const auto& of_step : of_rank) {
      double time = 0.0;
      double expected = 0.0;
      for (const auto& [kernel, sum] : of_step) {
        time += sum.time;
        expected += sum.count * usual[kernel];
      }
      paces.back().push_back(expected > 0.0 ? time / expected : 1.0);
    }
  }
  return paces;
}

/// The run with each rank's kernels of each step over `pace`.
RunChanges paced(const TracedRun& run, const Paces& pace) {
  RunChanges changes = run.replay.as_it_was();
  for (std::size_t r = 0; r < changes.size(); ++r) {
    const RankGraph& graph = run.graph(r);
    for (std::size_t i = 0; i < graph.work.size(); ++i) {
      if (graph.work[i].work == DeviceWork::compute) {
        changes[r].work[i] =
            static_cast<TraceTime>(real(changes[r].work[i]) / pace[r][static_cast<std::size_t>(graph.work[i].step)]);
      }
    }
  }
  return changes;
}

Paces ones(const Paces& like) {
  Paces same = like;
  for (auto& of_rank : same) {
    std::fill(of_rank.begin(), of_rank.end(), 1.0);
  }
  return same;
}

void add_paces(TracedRun& run) {
  const Paces paces = paces_of(run);
  const std::size_t ranks = paces.size();
  std::vector<double> of_rank;
  for (const auto& steps : paces) {
    of_rank.push_back(middle(steps));
  }
  std::size_t steps = paces.front().size();
  for (const auto& all : paces) {
    steps = std::min(steps, all.size());
  }
  Paces left = paces;  // what is left once a straggler's own pace is taken out
  if (ranks > 1) {
    const auto slow = static_cast<std::size_t>(std::max_element(of_rank.begin(), of_rank.end()) - of_rank.begin());
    std::vector<double> beyond;  // over the other ranks', of each step
    for (std::size_t s = 0; s < steps; ++s) {
      std::vector<double> others;
      for (std::size_t r = 0; r < ranks; ++r) {
        if (r != slow) {
          others.push_back(paces[r][s]);
        }
      }
      beyond.push_back(paces[slow][s] / middle(others));
    }
    double usual = middle(beyond);
    // Slow in most steps by about as much: else ranks take turns.
    const auto like = std::count_if(beyond.begin(), beyond.end(), [&](double b) {
      return b > 1.0 + 0.5 * (usual - 1.0) && b < 1.0 + 1.5 * (usual - 1.0);
    });
    const bool steady = usual > 1.0 + least_share && 4 * static_cast<std::size_t>(like) >= 3 * steps;
    // Or, where ranks also take turns, slow on average by more than these explain: Student's 99 % for eight steps is
    // 3.0, for the slowest of six ranks 4.0.
    constexpr double surely = 4.0;
    const MeanRatio mean = mean_ratio(beyond);
    const bool besides = !steady && mean.ratio > 1.0 + least_share && mean.deviations > surely;
    usual = besides ? mean.ratio : usual;
    if (steady || besides) {
      Paces pace = ones(paces);
      std::fill(pace[slow].begin(), pace[slow].end(), usual);
      for (double& p : left[slow]) {
        p /= usual;
      }
      run.add(CauseKind::straggler, run.replay.ratio(paced(run, pace)),
              "The others wait for " + run.who(slow) + ", whose kernels take " +
                  format_number(100.0 * (usual - 1.0), 3) + " % longer than theirs.",
              "Look at its clock, its share of the work and its neighbours; replace the GPU where it stays slow.", -1.0,
              {run.ranks[slow].file + ": kernels take " + format_number(of_rank[slow], 3) + " times the usual"});
    }
  }
  std::vector<double> of_step(steps, 0.0);
  double spread = 0.0;
  double longest = 0.0;
  for (std::size_t s = 0; s < steps; ++s) {
    double most = 0.0;
    for (std::size_t r = 0; r < ranks; ++r) {
      of_step[s] += left[r][s] / real(static_cast<std::int64_t>(ranks));
      most = std::max(most, left[r][s]);
    }
    longest += most / of_step[s] / real(static_cast<std::int64_t>(steps));
    for (std::size_t r = 0; r < ranks; ++r) {
      const double off = left[r][s] / of_step[s] - 1.0;
      spread += off * off / real(static_cast<std::int64_t>(ranks * steps));
    }
  }
  spread = std::sqrt(spread);
  if (ranks > 1 && longest > 1.0 + least_share) {
    Paces pace = ones(paces);
    for (std::size_t s = 0; s < steps; ++s) {
      for (std::size_t r = 0; r < ranks; ++r) {
        pace[r][s] = left[r][s] / of_step[s];
      }
    }
    run.add(CauseKind::imbalance, run.replay.ratio(paced(run, pace)),
            "Ranks have unlike work from step to step, none always the most: the longest of a step takes " +
                format_number(100.0 * (longest - 1.0), 3) + " % more than the mean.",
            "Share the work out evenly: samples of like length together, packed sequences, balanced experts.");
  }
  if (steps >= 4) {
    std::vector<double> sorted = of_step;
    std::sort(sorted.begin(), sorted.end());
    const double best = sorted.front();
    std::size_t slow = 0;
    std::size_t from = steps;
    for (std::size_t s = 0; s < steps; ++s) {
      const bool is = of_step[s] > (1.0 + least_share) * best;
      slow += is ? 1 : 0;
      from = is ? std::min(from, s) : from;
    }
    // A clock that falls stays down: the slow steps are the last ones, or follow one another.
    // One slow step of many ranks at once is no chance: their kernels are hundreds.
    const bool together = (slow >= 2 || (slow == 1 && ranks > 1)) && slow == steps - from;
    const double most = of_step.empty() ? 1.0 : *std::max_element(of_step.begin(), of_step.end());
    if (together && spread < 0.5 * (most / best - 1.0)) {
      Paces pace = ones(paces);
      for (std::size_t r = 0; r < ranks; ++r) {
        for (std::size_t s = from; s < pace[r].size(); ++s) {
          pace[r][s] = of_step[std::min(s, steps - 1)] / best;
        }
      }
      run.add(
          CauseKind::low_clock, run.replay.ratio(paced(run, pace)),
          "From step " + std::to_string(from + 1) + " of those read on, the same kernels take up to " +
              format_number(100.0 * (most / best - 1.0), 3) + " % longer on every rank.",
          "Look at temperature, power limit and clocks over time (nvidia-smi -q -d CLOCK,PERFORMANCE); cool, or lift "
          "the cap.");
    }
  }
}

/// Numbers of ranks that left no file: below the world's size where traces tell it, else gaps between those that did.
std::vector<std::int64_t> unseen_ranks(const TracedRun& run) {
  std::set<std::int64_t> seen;
  std::int64_t world = 0;
  for (const TracedRank& rank : run.ranks) {
    if (!rank.rank) {
      return {};
    }
    seen.insert(*rank.rank);
    world = std::max({world, rank.world.value_or(0), *rank.rank + 1});
  }
  constexpr std::int64_t most = 1'000'000;
  std::vector<std::int64_t> unseen;
  for (std::int64_t rank = 0; rank < std::min(world, most); ++rank) {
    if (!seen.contains(rank)) {
      unseen.push_back(rank);
    }
  }
  return unseen;
}

/// Of each rank what its messages take, once all seen ranks are there, beyond the fastest message of the same kernel
/// and bytes: nanoseconds over all steps.
std::vector<double> unexplained_waits(const TracedRun& run) {
  using Message = std::pair<std::string, double>;
  std::vector<std::vector<TraceTime>> lasts;
  for (std::size_t r = 0; r < run.replay.ranks(); ++r) {
    lasts.emplace_back();
    for (const GraphWork& work : run.graph(r).work) {
      lasts.back().push_back(work.lasts());
    }
  }
  for (const RankMeeting& meeting : run.replay.meetings()) {
    for (const auto& [rank, work] : meeting.who) {
      lasts[rank][static_cast<std::size_t>(work)] = meeting.lasts;
    }
  }
  std::map<Message, TraceTime> fastest;
  const auto each = [&](auto use) {
    for (std::size_t r = 0; r < run.replay.ranks(); ++r) {
      const RankGraph& graph = run.graph(r);
      for (std::size_t i = 0; i < graph.work.size(); ++i) {
        if (graph.work[i].work == DeviceWork::communication) {
          use(r, Message{graph.names[static_cast<std::size_t>(graph.work[i].name)], graph.work[i].bytes}, lasts[r][i]);
        }
      }
    }
  };
  each([&](std::size_t /*rank*/, const Message& message, TraceTime time) {
    const auto [at, fresh] = fastest.try_emplace(message, time);
    at->second = std::min(at->second, time);
  });
  std::vector<double> waits(run.replay.ranks(), 0.0);
  each([&](std::size_t rank, const Message& message, TraceTime time) {
    waits[rank] += real(time - fastest.find(message)->second);
  });
  return waits;
}

/// What ranks without a file are waited for counts as the messages' own time: that it may is told, and how much.
void add_unseen(TracedRun& run) {
  const std::vector<std::int64_t> unseen = unseen_ranks(run);
  if (unseen.empty()) {
    return;
  }
  constexpr std::size_t most = 8;
  std::string who;
  for (std::size_t i = 0; i < std::min(most, unseen.size()); ++i) {
    who += (i > 0 ? ", " : "") + std::to_string(unseen[i]);
  }
  who += unseen.size() > most ? " and " + std::to_string(unseen.size() - most) + " more" : "";
  double waits = 0.0;
  double steps = 0.0;
  bool sends = false;
  const std::vector<double> all = unexplained_waits(run);
  for (std::size_t r = 0; r < all.size(); ++r) {
    waits += all[r];
    steps += real(static_cast<std::int64_t>(run.graph(r).steps.size()));
    const std::vector<GraphWork>& work = run.graph(r).work;
    sends = sends || std::any_of(work.begin(), work.end(),
                                 [](const GraphWork& w) { return w.work == DeviceWork::communication; });
  }
  const Seconds each{1e-9 * waits / std::max(1.0, steps)};
  const std::string head = unseen.size() == 1 ? "Rank " + who + " left no file" : "Ranks " + who + " left no files";
  if (!sends) {
    run.reading.notes.push_back(head + ", and the others send no message.");
    return;
  }
  run.reading.notes.push_back(
      head + ": what the others wait for " + (unseen.size() == 1 ? "it" : "them") +
      " looks like the messages' own time. " +
      (each > least_share * run.step
           ? "Messages take " + format(each) + " of each step of " + format(run.step) +
                 " beyond the fastest of the same kernel and bytes: a wait of unknown cause (a rank that is not seen, "
                 "links that are shared). Name its trace to tell which."
           : "No message takes much longer than the fastest of the same kernel and bytes, so that little is hidden."));
}

void add_waits(TracedRun& run) {
  const std::size_t ranks = run.replay.ranks();
  if (ranks < 2 || run.replay.meetings().empty()) {
    return;
  }
  std::vector<double> waits(ranks, 0.0), lasts(ranks, 0.0), met(ranks, 0.0);
  for (const RankMeeting& meeting : run.replay.meetings()) {
    std::size_t last = meeting.who.front().first;
    TraceTime least = -1;
    for (const auto& [rank, work] : meeting.who) {
      const TraceTime took = run.graph(rank).work[static_cast<std::size_t>(work)].lasts();
      waits[rank] += real(took - meeting.lasts);
      met[rank] += 1.0;
      if (least < 0 || took < least) {
        least = took;
        last = rank;
      }
    }
    lasts[last] += 1.0;
  }
  FindingTable table{"waits",
                     "Who waits for whom, of a step, on the first rank's clock:",
                     {{"rank", "<rank"},
                      {"computing_s", "computing"},
                      {"waits_s", "waits for others"},
                      {"last_share", "comes last"},
                      {"unexplained_s", "beyond the fastest"},
                      {"clock_offset_s", "clock is off by"}},
                     {}};
  const std::vector<double> unexplained = unexplained_waits(run);
  for (std::size_t r = 0; r < ranks; ++r) {
    const double steps = real(static_cast<std::int64_t>(run.graph(r).steps.size()));
    table.rows.push_back({run.who(r), run.ranks[r].mean(&DeviceTime::computing), Seconds{1e-9 * waits[r] / steps},
                          met[r] > 0.0 ? lasts[r] / met[r] : 0.0, Seconds{1e-9 * unexplained[r] / steps},
                          Seconds{-1e-9 * real(run.replay.offset(r))}});
  }
  run.reading.tables.push_back(std::move(table));
}

}  // namespace

void add_rank_causes(TracedRun& run) {
  add_paces(run);
  add_waits(run);
  add_unseen(run);
}

void add_hangs(TracedRun& run) {
  Seconds hung{};
  std::vector<std::size_t> waiting, gone;
  for (std::size_t r = 0; r < run.replay.ranks(); ++r) {
    const RankGraph& graph = run.graph(r);
    (graph.hangs > 0 ? waiting : gone).push_back(r);
    hung = std::max(hung, Seconds{1e-9 * real(graph.hangs)});
  }
  if (waiting.empty()) {
    return;
  }
  const RankGraph& first = run.graph(waiting.front());
  Seconds known{};
  for (const GraphWindow& step : first.steps) {
    known += Seconds{1e-9 * real(step.end - step.begin)};
  }
  const double share = hung / (hung + known);
  // Who sent something else than most.
  std::map<std::pair<std::string, double>, std::vector<std::size_t>> sent;
  for (const std::size_t r : waiting) {
    sent[{run.graph(r).hangs_in, run.graph(r).hangs_bytes}].push_back(r);
  }
  Cause cause;
  cause.lost = share;
  if (sent.size() > 1) {
    const auto few = std::min_element(sent.begin(), sent.end(),
                                      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    cause.kind = CauseKind::mismatched_collective;
    cause.says = "Ranks sent different messages, and all wait: " + run.who(few->second.front()) + " is in " +
                 few->first.first.substr(0, 60) + ", others are not, for " + format(hung) + " until the traces end.";
    cause.cure =
        "Look for a branch that not all ranks take (a condition on data, an early continue, unused parameters); "
        "TORCH_DISTRIBUTED_DEBUG=DETAIL checks each call.";
    for (const auto& [what, who] : sent) {
      for (const std::size_t r : who) {
        cause.evidence.push_back(run.ranks[r].file + ": waits in " + what.first.substr(0, 60) +
                                 (what.second > 0.0 ? " of " + format(Bytes{what.second}) : ""));
      }
    }
  } else {
    cause.kind = CauseKind::dead_rank;
    const std::string who = gone.empty() ? "a rank whose trace is not here" : run.who(gone.front());
    cause.says = "The run hangs: " + who + " stopped, and the others wait in a message for " + format(hung) +
                 " until the traces end.";
    cause.cure =
        "Look at the end of that rank's log and at its host (out of memory, a killed process, Xid errors in "
        "dmesg), then restart from the last checkpoint.";
    for (const std::size_t r : gone) {
      cause.evidence.push_back(run.ranks[r].file + ": nothing after its last kernel, while others wait");
    }
  }
  run.reading.causes.push_back(std::move(cause));
}

}  // namespace headroom
