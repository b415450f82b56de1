// SPDX-License-Identifier: Apache-2.0
// The answer for a network of ops: memory by item and by part, FLOP, traffic; its times stand in
// render_network_time.cpp.
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_money.hpp>
#include <headroom/core/json_writer.hpp>
#include <headroom/core/number_words.hpp>
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
         " per GPU (" + format(p.interval.low) + " to " + format(p.interval.high) + ")";
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
    text += joined(texts_of(remedy.changes));
    text += "  (" + format(remedy.memory) + ")\n";
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

void recompute_json(JsonWriter& json, const SegmentRecompute& recompute) {
  json.member("recompute", recompute.every == 0 ? "none" : recompute.every == 1 ? "full" : "segments");
  json.member("recompute_every", recompute.every);
  json.key("recompute_parts");
  json.begin_array();
  for (const std::string& part : recompute.parts) {
    json.text(part);
  }
  json.end_array();
}

void question_json(JsonWriter& json, const NetworkPlan& p) {
  const NetworkScenario& s = p.scenario;
  json.member("schema", "headroom.plan/1");
  json.member("kind", "train");
  json.member("name", std::string_view{s.network.name});
  json.member("model", std::string_view{s.network.id});
  json.member("gpu", std::string_view{s.device.id});
  json.member("gpus", s.gpus);
  json.member("precision", name_of(s.precision));
  json.member("global_batch", s.global_batch);
  json.key("strategy");
  json.compact_next();
  json.begin_object();
  json.member("dp", s.dp);
  json.member("zero", s.training.zero);
  json.member("micro_batch", s.training.micro_batch);
  recompute_json(json, s.training.recompute);
  json.end_object();
  const std::string_view verdict = !p.problems.empty() ? "impossible" : p.fits() ? "feasible" : "out_of_memory";
  json.member("verdict", verdict);
  json.member("verdict_text", std::string_view{verdict_of(p)});
  json.key("problems");
  json.begin_array();
  for (const std::string& problem : p.problems) {
    json.text(problem);
  }
  json.end_array();
  json.key("remedies");
  json.begin_array();
  for (const NetworkRemedy& remedy : p.remedies) {
    json.compact_next();
    json.begin_object();
    json.key("changes");
    json.begin_array();
    for (const Change& change : remedy.changes) {
      json.text(text_of(change));
    }
    json.end_array();
    json.member("memory_bytes", remedy.memory.raw());
    json.end_object();
  }
  json.end_array();
}

void memory_json(JsonWriter& json, const NetworkPlan& p) {
  json.key("memory_bytes");
  json.compact_next();
  json.begin_object();
  json.member("low", p.interval.low.raw());
  json.member("mid", p.interval.mid.raw());
  json.member("high", p.interval.high.raw());
  json.end_object();
  json.member("memory_interval_source", std::string_view{p.interval_source});
  json.member("capacity_bytes", p.capacity.raw());
  json.member("states_bytes", p.memory.states.total().raw());
  json.member("peak_moment", std::string_view{p.memory.moment});
  json.key("memory_terms_bytes");
  json.begin_object();
  for (const MemoryItem& item : items_of(p)) {
    json.member(item.name, item.bytes.raw());
  }
  json.end_object();
  json.key("parts");
  json.begin_array();
  for (const PartMemory& part : p.memory.parts) {
    json.compact_next();
    json.begin_object();
    json.member("part", std::string_view{part.name});
    json.member("parameters", part.parameters);
    json.member("forward_flop_per_sample", part.forward.raw());
    json.member("input_bytes", part.inputs.raw());
    json.member("activation_bytes", part.activations.raw());
    json.member("activation_share", part.share);
    json.end_object();
  }
  json.end_array();
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
  Table answer{{"", ""}};
  answer.left(1);
  answer.row({"parameters", format_number(n.parameters / 1e9, 4) + " G"});
  answer.row({"states per GPU", format(p.memory.states.total()) + " of weights, gradients and optimizer"});
  answer.row({"forward per sample", format(n.forward)});
  answer.row({"backward per sample", format(n.backward)});
  if (p.memory.recompute_flops.raw() > 0.0) {
    answer.row({"recomputed per sample", format(p.memory.recompute_flops)});
  }
  answer.row({"step, all GPUs", format(p.step_flops) + " in " + std::to_string(p.accumulation) + " micro-batch(es)"});
  answer.row({"sent per GPU and step", format(p.traffic) + " for data parallelism"});
  text += answer.text() + "\n" + memory_text(p) + "\n" + parts_text(p);
  text += "\ninference, no graph: weights " + format(p.inference.weights) + " and " + format(p.inference.per_sample) +
          " a sample (input and the two largest adjacent tensors); largest batch " + std::to_string(p.inference_batch) +
          "\n";
  return text + notes_text(p);
}

std::string network_explain_text(const NetworkPlan& p) {
  std::string text =
      network_plan_text(p) + (p.explain.empty() ? "" : explain_lines(p.explain)) + "\nops, of one block and pass\n";
  Table table{{"op", "kind", "blocks", "parameters", "forward", "backward", "reads", "writes"}};
  table.left(1);
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

std::string network_plan_json(const NetworkPlan& p) {
  const Network& n = p.scenario.network;
  JsonWriter json;
  json.begin_object();
  question_json(json, p);
  json.member("parameters", n.parameters);
  json.member("forward_flop_per_sample", n.forward.raw());
  json.member("backward_flop_per_sample", n.backward.raw());
  json.member("recompute_flop_per_sample", p.memory.recompute_flops.raw());
  json.member("step_flop", p.step_flops.raw());
  json.member("micro_batches", p.accumulation);
  json.member("sent_bytes_per_gpu_and_step", p.traffic.raw());
  network_times_members(json, p);
  memory_json(json, p);
  json.key("inference");
  json.begin_object();
  json.member("weights_bytes", p.inference.weights.raw());
  json.member("bytes_per_sample", p.inference.per_sample.raw());
  json.member("largest_batch", p.inference_batch);
  json.end_object();
  json.key("notes");
  json.begin_array();
  for (const std::string& note : p.notes) {
    json.text(note);
  }
  json.end_array();
  json.end_object();
  return json.take();
}

}  // namespace headroom
