// SPDX-License-Identifier: Apache-2.0
// The answer for a network of ops: memory by item and by part, FLOP, traffic; its times stand in
// render_network_time.cpp.
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_money.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/model/estimate/spread.hpp>
#include <headroom/model/train/memory/load_peak.hpp>
#include <headroom/scenarios/plan/network_plan.hpp>
#include <headroom/scenarios/read/change_text.hpp>

#include <algorithm>

namespace headroom {
namespace {

std::string recompute_text(const SegmentRecompute& recompute) {
  if (recompute.every == 0) {
    return "none";
  }
  std::string text = recompute.every == 1 ? "full" : "segments of " + std::to_string(recompute.every) + " blocks";
  for (const std::string& part : recompute.parts) {
    text += (&part == &recompute.parts.front() ? " of " : ", ") + part;
  }
  return text;
}

std::string verdict_of(const NetworkPlan& p) {
  if (!p.problems.empty()) {
    return "impossible: " + p.problems.front();
  }
  return std::string{p.fits() ? "fits: " : "does not fit: needs "} + format(p.total()) + " of " + format(p.capacity) +
         " per GPU (" + format(p.interval.low) + " to " + format(p.interval.high) + ")" +
         (p.fits() ? ", " : "; it fits ") + "with probability " +
         probability_text(chance_of_at_most(p.interval, p.capacity));
}

struct MemoryItem {
  std::string_view name;  ///< with underscores, as in JSON
  Bytes bytes;
};

std::vector<MemoryItem> items_of(const NetworkPlan& p) {
  const NetworkMemory& m = p.memory;
  return {{"weights", m.states.weights},
          {"gradients", m.states.gradients},
          {"optimizer", m.states.optimizer},
          {"gather_buffers", m.gathered},
          {"inputs", m.inputs},
          {"activations", m.activations},
          {"recomputed_segment", m.recomputed},
          {"activation_gradients", m.gradients},
          {"fragmentation", p.fragmentation},
          {"framework", p.framework}};
}

std::string memory_text(const NetworkPlan& p) {
  Table table{{"memory at the peak, " + p.memory.moment, "", "share"}};
  for (const MemoryItem& item : items_of(p)) {
    if (item.bytes.raw() > 0.0) {
      std::string name{item.name};
      std::replace(name.begin(), name.end(), '_', ' ');
      table.row({name, format(item.bytes), percent(item.bytes / p.capacity)});
    }
  }
  table.row({"total", format(p.total()), percent(p.total() / p.capacity)});
  table.row({"capacity", format(p.capacity), ""});
  return table.text();
}

std::string parts_text(const NetworkPlan& p) {
  Table table{{"part", "parameters", "forward per sample", "inputs", "activations kept", "share"}};
  for (const PartMemory& part : p.memory.parts) {
    table.row({part.name, format_number(part.parameters / 1e6) + " M", format(part.forward), format(part.inputs),
               format(part.activations), percent(part.share)});
  }
  const Network& n = p.scenario.network;
  table.row({"all", format_number(n.parameters / 1e6) + " M", format(n.forward), format(p.memory.inputs),
             format(p.memory.kept), p.memory.kept.raw() > 0.0 ? "100 %" : "-"});
  return table.text();
}

std::string remedies_text(const NetworkPlan& p) {
  std::string text;
  for (const NetworkRemedy& remedy : p.remedies) {
    text += &remedy == &p.remedies.front() ? "smallest change that fits:  " : "                       or:  ";
    text += joined(texts_of(remedy.changes)) + "  (" + format(remedy.memory) + ")\n";
  }
  return text.empty() ? "no change of micro-batch, recompute or ZeRO fits: a GPU with more memory\n" : text;
}

std::string head_text(const NetworkPlan& p) {
  const NetworkScenario& s = p.scenario;
  return s.network.name + " on " + std::to_string(s.gpus) + " x " + s.device.id + ", " +
         std::string{name_of(s.precision)} + ", global batch " + format_count(static_cast<double>(s.global_batch)) +
         "\ndp " + std::to_string(s.dp) + ", micro-batch " + std::to_string(s.training.micro_batch) + ", ZeRO " +
         std::to_string(s.training.zero) + ", recompute " + recompute_text(s.training.recompute) + "\n\n";
}

std::string notes_text(const NetworkPlan& p) {
  std::string text = "\nassumed\n";
  for (const std::string& note : p.notes) {
    text += "  " + note + "\n";
  }
  text += p.times ? energy_text(p.times->energy) + price_text(p.scenario.money) : std::string{};
  return text + (p.times ? network_confidence_text(*p.times) : "") +
         (p.problems.empty()
              ? "\nmemory: no measured row scores op lists; the interval is that of the rough training form, " +
                    p.interval_source + "\n"
              : "");
}

Value question_value(const NetworkPlan& p) {
  const NetworkScenario& s = p.scenario;
  const SegmentRecompute& recompute = s.training.recompute;
  return object("schema"_m = "headroom.plan/1", "kind"_m = "train", "name"_m = s.name, "model"_m = s.network.id,
                "gpu"_m = s.device.id, "gpus"_m = s.gpus, "precision"_m = name_of(s.precision),
                "global_batch"_m = s.global_batch,
                "strategy"_m = row("dp"_m = s.dp, "zero"_m = s.training.zero, "micro_batch"_m = s.training.micro_batch,
                                   "recompute"_m = recompute.every == 0   ? "none"
                                                   : recompute.every == 1 ? "full"
                                                                          : "segments",
                                   "recompute_every"_m = recompute.every, "recompute_parts"_m = recompute.parts),
                "verdict"_m = !p.problems.empty() ? "impossible"
                              : p.fits()          ? "feasible"
                                                  : "out_of_memory",
                "verdict_text"_m = verdict_of(p),
                "fits_probability"_m = when(p.problems.empty(), share(chance_of_at_most(p.interval, p.capacity))),
                "problems"_m = list(p.problems, [](const std::string& text) { return row("text"_m = text); }),
                "remedies"_m = list(p.remedies, [](const NetworkRemedy& remedy) {
                  return row("changes"_m = texts_of(remedy.changes), "memory_bytes"_m = remedy.memory);
                }));
}

Value memory_value(const NetworkPlan& p) {
  Value terms = object();
  for (const MemoryItem& item : items_of(p)) {
    terms.add({std::string{item.name}, item.bytes});
  }
  return object("memory_bytes"_m = p.interval, "memory_interval_source"_m = p.interval_source,
                "capacity_bytes"_m = p.capacity, "states_bytes"_m = p.memory.states.total(),
                "peak_moment"_m = p.memory.moment, "memory_terms_bytes"_m = std::move(terms),
                "parts"_m = list(p.memory.parts, [](const PartMemory& part) {
                  return row("part"_m = part.name, "parameters"_m = part.parameters,
                             "forward_flop_per_sample"_m = part.forward, "input_bytes"_m = part.inputs,
                             "activation_bytes"_m = part.activations, "activation_share"_m = share(part.share));
                }));
}

}  // namespace

std::string network_plan_text(const NetworkPlan& p) {
  std::string text = head_text(p);
  if (!p.problems.empty()) {
    for (const std::string& problem : p.problems) {
      text += "impossible: " + problem + "\n";
    }
    return text + notes_text(p);
  }
  text += verdict_of(p) + "\n" + (p.fits() ? "" : remedies_text(p)) + network_times_text(p);
  const Network& n = p.scenario.network;
  Table answer{{"", "<"}};
  answer.row({"parameters", format_number(n.parameters / 1e9, 4) + " G"});
  answer.row({"states per GPU", format(p.memory.states.total()) + " of weights, gradients and optimizer"});
  answer.row({"forward per sample", format(n.forward)});
  answer.row({"backward per sample", format(n.backward)});
  if (p.memory.recompute_flops.raw() > 0.0) {
    answer.row({"recomputed per sample", format(p.memory.recompute_flops)});
  }
  answer.row(
      {"step, all GPUs", format(p.step_flops) + " in " + counted(p.accumulation, "micro-batch", "micro-batches")});
  answer.row({"sent per GPU and step", format(p.traffic) + " for data parallelism"});
  text += answer.text() + (p.load ? load_text(*p.load) + "\n" : "") + "\n" + memory_text(p) + "\n" + parts_text(p);
  text += "\ninference, no graph: weights " + format(p.inference.weights) + " and " + format(p.inference.per_sample) +
          " a sample (input and the two largest adjacent tensors); largest batch " + std::to_string(p.inference_batch) +
          "\n";
  return text + notes_text(p);
}

std::string network_explain_text(const NetworkPlan& p) {
  std::string text =
      network_plan_text(p) + (p.explain.empty() ? "" : explain_lines(p.explain)) + "\nops, of one block and pass\n";
  Table table{{"op", "<kind", "blocks", "parameters", "forward", "backward", "reads", "writes"}};
  const Network& n = p.scenario.network;
  for (const Stage& stage : n.stages) {
    for (std::size_t i = stage.first; i < stage.first + stage.count; ++i) {
      const Op& op = n.ops[i];
      table.row({op.name, std::string{name_of(op.kind)}, std::to_string(stage.repeat), format_count(op.parameters),
                 format(op.forward), format(op.backward), format_count(op.input_elements),
                 format_count(op.output_elements)});
    }
  }
  return text + table.text();
}

Value network_document(const NetworkPlan& p) {
  const Network& n = p.scenario.network;
  return object(
      question_value(p), "parameters"_m = n.parameters, "forward_flop_per_sample"_m = n.forward,
      "backward_flop_per_sample"_m = n.backward, "recompute_flop_per_sample"_m = p.memory.recompute_flops,
      "step_flop"_m = p.step_flops, "micro_batches"_m = p.accumulation, "sent_bytes_per_gpu_and_step"_m = p.traffic,
      "load"_m = p.load ? load_value(*p.load) : Value{}, network_times(p), memory_value(p),
      "inference"_m = object("weights_bytes"_m = p.inference.weights, "bytes_per_sample"_m = p.inference.per_sample,
                             "largest_batch"_m = p.inference_batch),
      "notes"_m = p.notes);
}

}  // namespace headroom
