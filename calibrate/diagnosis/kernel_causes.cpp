// SPDX-License-Identifier: Apache-2.0
// Kernels that could take less time: passes that could be one, products on the ordinary units, layers formed again,
// GPUs that are not filled.
#include <headroom/calibrate/diagnosis/trace_causes.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace headroom {
namespace {

double sum_of_steps(const TracedRun& run) {
  double steps = 0.0;
  for (std::size_t r = 0; r < run.replay.ranks(); ++r) {
    steps += real(static_cast<std::int64_t>(run.graph(r).steps.size()));
  }
  return std::max(1.0, steps);
}

/// Takes a kernel out, and with it what its host did to send it.
void take_out(RunChanges& changes, const RankGraph& graph, std::size_t rank, std::size_t which) {
  changes[rank].work[which] = 0;
  if (const std::int32_t call = graph.work[which].call; call >= 0) {
    changes[rank].call[static_cast<std::size_t>(call)] = 0;
    changes[rank].gap[static_cast<std::size_t>(call)] = 0;
  }
}

/// What the host took to send some work.
TraceTime sending(const RankGraph& graph, const GraphWork& work) {
  if (work.call < 0) {
    return 0;
  }
  const GraphCall& call = graph.calls[static_cast<std::size_t>(work.call)];
  return call.gap + std::min<TraceTime>(call.end - call.begin, 30'000);
}

/// Passes over one tensor, one after the other: written as one they would read and write it once.
void add_passes(TracedRun& run) {
  RunChanges changes = run.replay.as_it_was();
  double time = 0.0;
  std::int64_t taken = 0;
  for (std::size_t r = 0; r < changes.size(); ++r) {
    const RankGraph& graph = run.graph(r);
    for (std::size_t i = 0; i < graph.work.size(); ++i) {
      const GraphWork& work = graph.work[i];
      if (work.use != WorkUse::pass || work.behind < 0) {
        continue;
      }
      const auto before = static_cast<std::size_t>(work.behind);
      const GraphWork& last = graph.work[before];
      const bool same = last.name == work.name ||
                        (4 * std::min(last.lasts(), work.lasts()) >= 3 * std::max(last.lasts(), work.lasts()));
      // A pass that is shorter than its launch is the host's matter.
      if (last.use == WorkUse::pass && last.blocks == work.blocks && same && work.lasts() > sending(graph, work)) {
        time += real(work.lasts());
        ++taken;
        take_out(changes, graph, r, i);
      }
    }
  }
  if (taken > 0) {
    run.add(CauseKind::memory_bound, run.replay.ratio(changes),
            "Passes over the same tensors follow one another at the memory's bandwidth: " +
                format_number(real(taken) / sum_of_steps(run), 3) + " a step, " +
                format(Seconds{1e-9 * time / sum_of_steps(run)}) +
                ", repeat what one kernel could read and write once.",
            "Fuse them: compile the model, or use fused norms, activations and optimizers.");
  }
}

/// Large products reach about this share of the tensor cores' rate (Gysi et al.; measured kernels of the catalog).
constexpr double reached = 0.7;

void add_products(TracedRun& run) {
  RunChanges changes = run.replay.as_it_was();
  double time = 0.0;
  double flop = 0.0;
  for (std::size_t r = 0; r < changes.size(); ++r) {
    const RankGraph& graph = run.graph(r);
    const std::optional<GpuAbility>& ability = run.ranks[r].ability;
    if (!ability) {
      return;
    }
    for (std::size_t i = 0; i < graph.work.size(); ++i) {
      const GraphWork& work = graph.work[i];
      // cuBLAS and rocBLAS call products of 32-bit numbers on the ordinary units so; without shapes their name tells.
      const bool named = work.use == WorkUse::product &&
                         graph.names[static_cast<std::size_t>(work.name)].find("sgemm") != std::string::npos;
      if (work.work != DeviceWork::compute || !((work.wide && work.flop > 0.0) || named)) {
        continue;
      }
      // Faster than the ordinary units could be: it did use the tensor cores, in tf32.
      if (work.flop > 1.05e-9 * real(work.lasts()) * ability->plain.raw()) {
        continue;
      }
      time += real(work.lasts());
      flop += work.flop;
      const double best = work.flop > 0.0 ? 1e9 * work.flop / (reached * ability->tensor.raw())
                                          : real(work.lasts()) * (ability->plain / ability->tensor);
      changes[r].work[i] = std::min(changes[r].work[i], static_cast<TraceTime>(best));
    }
  }
  if (time > 0.0) {
    run.add(CauseKind::no_tensor_cores, run.replay.ratio(changes),
            "Products of matrices run on the ordinary units: " + format(Seconds{1e-9 * time / sum_of_steps(run)}) +
                " of each step of " + format(run.step) +
                (flop > 0.0 ? ", at " + format(FlopsPerSecond{1e9 * flop / time}) : "") + ".",
            "Compute in bf16 (autocast), or allow TF32: torch.set_float32_matmul_precision('high').");
  }
}

/// Grids that leave multiprocessors without a block.
void add_batch(TracedRun& run) {
  double time = 0.0;
  double told = 0.0;  // of it with a grid
  double filled = 0.0;
  double all = 0.0;
  for (std::size_t r = 0; r < run.replay.ranks(); ++r) {
    const RankGraph& graph = run.graph(r);
    const std::int64_t units = run.ranks[r].units;
    for (const GraphWork& work : graph.work) {
      time += work.work == DeviceWork::compute ? real(work.lasts()) : 0.0;
      if (work.work == DeviceWork::compute && work.blocks > 0 && units > 0) {
        told += real(work.lasts());
        filled += real(work.lasts()) * std::min(1.0, real(work.blocks) / real(units));
      }
    }
    all += real(graph.steps.back().end - graph.steps.front().begin);
  }
  const double fill = told > 0.0 ? filled / told : 1.0;
  // What grows with the samples stays.
  double stays = 0.0;
  for (const TimePart& part : run.reading.parts) {
    stays += part.key == "idle_data" || part.key == "exposed_copies" ? part.time / run.step : 0.0;
  }
  constexpr double half = 0.5;
  if (fill < half && told >= half * time) {
    run.add(CauseKind::small_batch, fill * time / all + stays,
            "Kernels have blocks for " + percent_number(fill, 2) +
                " % of the multiprocessors: the work of a step is too small for the GPU.",
            "Compute more samples in a step: it would take the same time until the multiprocessors are filled.");
  }
}

/// Runs of kernels that the thread of the backward pass sends as the forward pass had sent them.
void add_recomputation(TracedRun& run) {
  constexpr std::size_t run_length = 6;
  using Word = std::pair<std::int32_t, std::int64_t>;  // name and blocks
  using Words = std::array<Word, run_length>;
  RunChanges changes = run.replay.as_it_was();
  double time = 0.0;
  std::int64_t taken = 0;
  for (std::size_t r = 0; r < changes.size(); ++r) {
    const RankGraph& graph = run.graph(r);
    std::vector<std::size_t> sent;
    for (std::size_t i = 0; i < graph.work.size(); ++i) {
      if (graph.work[i].work == DeviceWork::compute && graph.work[i].call >= 0) {
        sent.push_back(i);
      }
    }
    std::stable_sort(sent.begin(), sent.end(),
                     [&](std::size_t a, std::size_t b) { return graph.work[a].call < graph.work[b].call; });
    // Repetitions of one kernel count once.
    std::vector<std::size_t> groups;  // where each begins in `sent`
    std::vector<Word> words;
    for (std::size_t at = 0; at < sent.size(); ++at) {
      const std::size_t i = sent[at];
      const Word word{graph.work[i].name, graph.work[i].blocks};
      const bool again =
          !words.empty() && words.back() == word && graph.work[sent[groups.back()]].backward == graph.work[i].backward;
      if (!again) {
        groups.push_back(at);
        words.push_back(word);
      }
    }
    const auto backward = [&](std::size_t g) { return graph.work[sent[groups[g]]].backward; };
    const auto words_at = [&](std::size_t g) {
      Words w;
      std::copy_n(words.begin() + static_cast<std::ptrdiff_t>(g), run_length, w.begin());
      return w;
    };
    std::set<Words> forward;
    for (std::size_t g = 0; g + run_length <= groups.size(); ++g) {
      if (!backward(g) && !backward(g + run_length - 1)) {
        forward.insert(words_at(g));
      }
    }
    std::vector<bool> again(groups.size(), false);
    for (std::size_t g = 0; g + run_length <= groups.size(); ++g) {
      if (backward(g) && backward(g + run_length - 1) && forward.contains(words_at(g))) {
        std::fill_n(again.begin() + static_cast<std::ptrdiff_t>(g), run_length, true);
      }
    }
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::size_t end = g + 1 < groups.size() ? groups[g + 1] : sent.size();
      for (std::size_t at = groups[g]; again[g] && at < end; ++at) {
        time += real(graph.work[sent[at]].lasts());
        ++taken;
        take_out(changes, graph, r, sent[at]);
      }
    }
  }
  if (taken > 0) {
    run.add(CauseKind::recomputation, run.replay.ratio(changes),
            "Layers are formed again before their backward pass: " + format_number(real(taken) / sum_of_steps(run), 3) +
                " kernels, " + format(Seconds{1e-9 * time / sum_of_steps(run)}) + " of each step of " +
                format(run.step) + ".",
            "Keep activations where memory allows: recompute fewer layers, or attention alone.");
  }
}

}  // namespace

void add_kernel_causes(TracedRun& run) {
  add_passes(run);
  add_products(run);
  add_batch(run);
  add_recomputation(run);
}

}  // namespace headroom
