// SPDX-License-Identifier: Apache-2.0
// The memory of a stage, line by line, for `headroom explain`.
#include <headroom/model/train/memory/memory.hpp>
#include <headroom/model/train/schedules/schedule_model.hpp>

#include <algorithm>

namespace headroom {
namespace {

constexpr std::string_view zero_source = "Rajbhandari et al. 2020, figure 1";

std::string ranks_of(const Strategy& s) {
  return s.shard_ranks > 0 ? "ranks that share the states (HSDP)" : "dp cp";
}

/// Who says how many micro-batches a schedule keeps.
std::string_view schedule_source(const Strategy& s) noexcept {
  const ScheduleModel& model = model_of(s.schedule);
  return model.takes_chunks() && s.vpp > 1 ? model.in_flight_source_chunked : model.in_flight_source;
}

/// What is gathered and reduced at the moment of the peak.
std::string_view gathers_formula(const CompiledMemory& c, const Strategy& s, PeakMoment moment) noexcept {
  if (s.zero < 3) {
    return "reduce buckets";
  }
  if (s.pp > 1 && c.stack.pipeline_keeps_gradients) {
    return "compute copy and fp32 gradients of the whole stage";
  }
  if (!c.stack.gathers) {
    return "documented buffers for live parameters and reduction";
  }
  return moment == PeakMoment::update ? "embedding and head, which stay gathered between passes"
                                      : "two layers gathered, one reduced in fp32; at the loss the head and one layer";
}

/// The states of the stage; what each is spread over stands with the weights.
void record_states(const CompiledMemory& c,
                   const std::string& architecture_source,
                   const Strategy& s,
                   const StageMemory& m,
                   ExplainRecorder& r) {
  const auto bytes = [&](MemoryTerm term) { return m.bytes[term].raw(); };
  const double all = static_cast<double>(s.dp) * s.cp;
  const double ranks = s.shard_ranks > 0 ? static_cast<double>(s.shard_ranks) : all;
  const StageParameters& p = m.parameters;
  const bool adapted = c.options.method != Method::full;
  r.line("weights", "w P (z3: / n), P: layers and ends of the stage over tp", zero_source, bytes(MemoryTerm::weights),
         Shown::bytes,
         {{"w", c.states.weights, Shown::count, "bytes per parameter of the recipe"},
          {"P", p.dense + p.experts, Shown::count, "of this rank: " + format_count(m.layers) + " layers"},
          {"network", count_parameters(c.architecture).total, Shown::count, architecture_source},
          {"tp", static_cast<double>(s.tp), Shown::count, "strategy"},
          {"pp", static_cast<double>(s.pp), Shown::count, "strategy"},
          {"n", ranks, Shown::count, ranks_of(s)},
          {"z", static_cast<double>(s.zero), Shown::count, "ZeRO stage"}});
  if (p.experts > 0.0) {
    const double groups = static_cast<double>(s.ep) * s.etp;
    r.line(
        "experts", "all routed ones of the stage / (ep etp), within P", zero_source, p.experts, Shown::count,
        {{"ep", static_cast<double>(s.ep), Shown::count, "strategy"},
         {"etp", static_cast<double>(s.etp), Shown::count, "strategy"},
         {"n", std::max(1.0, ranks * s.tp / groups), Shown::count, "ranks that share their states: n tp / (ep etp)"}});
  }
  if (adapted) {
    r.line("adapters", "r (in + out) on every matrix, within weights, gradients and optimizer",
           c.stack.adapters ? c.stack.adapters->source : "Hu et al. 2022, section 4.1",
           p.dense_adapters + p.expert_adapters, Shown::count,
           {{"r", static_cast<double>(c.options.lora_rank), Shown::count, "lora_rank"},
            {"bytes", c.adapter_states.total(), Shown::count, "of weight, gradient and optimizer a parameter"}});
  }
  const StateBytes& trained = adapted ? c.adapter_states : c.states;
  if (c.options.method == Method::qlora) {
    r.line("4-bit base", "4 bits and the scales of blocks of 64; ends in the compute format, norms in fp32",
           "Dettmers et al. 2023, sections 2 and 3", c.states.weights, Shown::count,
           {{"w", c.states.weights, Shown::count, "bytes a parameter, 0.516 doubly quantised, else 0.5625"}});
  }
  if (m.host.paged > Bytes{}) {
    r.line("paged to the host", "moments that the device surely has no room for", "Dettmers et al. 2023, section 3",
           m.host.paged.raw(), Shown::bytes, {});
  }
  r.line("gradients", adapted ? "g x adapters (z2: / n)" : "g P (z2: / n)", zero_source, bytes(MemoryTerm::gradients),
         Shown::bytes,
         {{"g", trained.gradients, Shown::count, "bytes per parameter of the recipe"},
          {"n", ranks, Shown::count, ranks_of(s)}});
  r.line("optimizer", adapted ? "o x adapters (z1: / n)" : "o P (z1: / n)", zero_source, bytes(MemoryTerm::optimizer),
         Shown::bytes,
         {{"o", trained.optimizer, Shown::count,
           trained.apart.embedding > 0.0 ? "bytes per parameter of the recipe, but for what the optimizer treats apart"
                                         : "bytes per parameter of the recipe"},
          {"n", ranks, Shown::count, ranks_of(s)}});
}

/// What a pass keeps and what its two moments take on top.
void record_passes(const CompiledMemory& c,
                   const std::string& architecture_source,
                   const Strategy& s,
                   const StageMemory& m,
                   ExplainRecorder& r) {
  const auto bytes = [&](MemoryTerm term) { return m.bytes[term].raw(); };
  const std::string software = c.stack.name + ": " + c.stack.source;
  const bool updates = m.moment == PeakMoment::update;
  if (updates) {
    r.line("activations", "none: no pass stands while the optimizer updates", software, bytes(MemoryTerm::activations),
           Shown::bytes, {});
  } else {
    r.line("activations", "sum over the stage's layers x micro-batches in flight",
           "Korthikanti et al. 2022, equations 1 to 4", bytes(MemoryTerm::activations), Shown::bytes,
           {{"in flight", m.in_flight, Shown::count, schedule_source(s)},
            {"e", c.element_bytes, Shown::count, "bytes of an activation"},
            {"x", c.input_bytes, Shown::count, "bytes of a saved GEMM input"}});
  }
  if (bytes(MemoryTerm::logits) > 0.0) {
    r.line("logits", "B V T/t + 3 (e h T) + what sequence parallelism reduces", software, bytes(MemoryTerm::logits),
           Shown::bytes,
           {{"B", logit_bytes_of(c, s.tp), Shown::count, "bytes of a logit in all its copies"},
            {"V", c.vocab, Shown::count, architecture_source}});
  }
  if (updates) {
    r.line("workspace", "u U + fixed", software, bytes(MemoryTerm::workspace), Shown::bytes,
           {{"u", update_bytes_of(c, s), Shown::count,
             s.zero < 3 && c.stack.update.flat > 0.0
                 ? "bytes of fp32 gradients, of a flat copy of them and of what the optimizer takes between"
                 : "bytes of fp32 gradients and of what the optimizer takes between"},
            {"U", m.parameters.updated, Shown::count, "parameters that this rank updates"},
            {"fixed", c.stack.fixed.raw(), Shown::bytes, c.stack.name}});
  } else {
    r.line("workspace", "gradients inside one layer's backward, the layer formed again, fixed", software,
           bytes(MemoryTerm::workspace), Shown::bytes, {{"fixed", c.stack.fixed.raw(), Shown::bytes, c.stack.name}});
  }
  if (bytes(MemoryTerm::dummy_gradients) > 0.0) {
    r.line("dummy gradients", "e bytes x each distinct weight shape", software, bytes(MemoryTerm::dummy_gradients),
           Shown::bytes, {});
  }
  if (bytes(MemoryTerm::gather_buffers) > 0.0) {
    const std::string_view formula = gathers_formula(c, s, m.moment);
    const double kept = bytes(MemoryTerm::gather_buffers);
    const ExplainInput width{"bytes", c.gather_bytes, Shown::count, "of a gathered parameter"};
    if (updates && s.zero < 3) {
      r.line("gather buffers", formula, software, kept, Shown::bytes, {});
    } else if (updates) {
      r.line("gather buffers", formula, software, kept, Shown::bytes, {width});
    } else {
      r.line(
          "gather buffers", formula, software, kept, Shown::bytes,
          {width, {"layer", m.parameters.largest_layer, Shown::count, "parameters of the largest layer on this rank"}});
    }
  }
}

}  // namespace

void record_memory(const CompiledMemory& c,
                   const std::string& architecture_source,
                   const std::string& capacity_source,
                   const Strategy& s,
                   const FullestStage& fullest,
                   ExplainRecorder& r) {
  const StageMemory& m = fullest.memory;
  const std::string software = c.stack.name + ": " + c.stack.source;
  record_states(c, architecture_source, s, m, r);
  record_passes(c, architecture_source, s, m, r);
  r.line("live", "sum of the above", "torch.cuda.max_memory_allocated", m.live().raw(), Shown::bytes, {});
  r.line("fragmentation", "reserved - live, never above what the device has left", software,
         m.bytes[MemoryTerm::fragmentation].raw(), Shown::bytes,
         {{"ratio", s.tp > 1 ? c.stack.reserve_ratio_tp : c.stack.reserve_ratio, Shown::count,
           "of live without states; 0: shares of activations and workspace"},
          {"wanted", m.wanted_slack.raw(), Shown::bytes, "on a device without limit"}});
  if (m.bytes[MemoryTerm::framework].raw() > 0.0) {
    r.line("framework", "context, communicators, buckets", software, m.bytes[MemoryTerm::framework].raw(), Shown::bytes,
           {});
  }
  r.line("memory of the fullest stage", "sum, against the capacity", "", m.device().raw(), Shown::bytes,
         {{"capacity", c.capacity.raw(), Shown::bytes, capacity_source},
          {"stage", static_cast<double>(fullest.stage), Shown::count, "0 is the first"}});
}

}  // namespace headroom
