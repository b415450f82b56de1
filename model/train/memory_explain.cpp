// SPDX-License-Identifier: Apache-2.0
// The memory of a stage, line by line, for `headroom explain`.
#include <headroom/model/train/memory.hpp>

namespace headroom {
namespace {

constexpr std::string_view zero_source = "Rajbhandari et al. 2020, figure 1";

std::string ranks_of(const Strategy& s) {
  return s.shard_ranks > 0 ? "ranks that share the states (HSDP)" : "dp cp";
}

}  // namespace

void record_memory(const CompiledMemory& c,
                   const std::string& architecture_source,
                   const std::string& capacity_source,
                   const Strategy& s,
                   const Estimate& e,
                   ExplainRecorder& r) {
  const MemoryBreakdown& m = e.memory;
  const auto bytes = [&](MemoryTerm term) { return m[term].raw(); };
  const double all = static_cast<double>(s.dp) * s.cp;
  const double ranks = s.shard_ranks > 0 ? static_cast<double>(s.shard_ranks) : all;
  const std::string software = c.stack.name + ": " + c.stack.source;
  r.line("weights", "w P (z3: / n)", zero_source, bytes(MemoryTerm::weights), Shown::bytes,
         {{"w", c.states.weights, Shown::count, "bytes per parameter of the recipe"},
          {"parameters", count_parameters(c.architecture).total, Shown::count, architecture_source},
          {"n", ranks, Shown::count, ranks_of(s)},
          {"z", static_cast<double>(s.zero), Shown::count, "ZeRO stage"}});
  r.line("gradients", "g P (z2: / n)", zero_source, bytes(MemoryTerm::gradients), Shown::bytes,
         {{"g", c.states.gradients, Shown::count, "bytes per parameter of the recipe"},
          {"n", ranks, Shown::count, ranks_of(s)}});
  r.line("optimizer", "o P (z1: / n)", zero_source, bytes(MemoryTerm::optimizer), Shown::bytes,
         {{"o", c.states.optimizer, Shown::count,
           c.states.apart.embedding > 0.0 ? "bytes per parameter of the recipe, but for what the optimizer treats apart"
                                          : "bytes per parameter of the recipe"},
          {"n", ranks, Shown::count, ranks_of(s)}});
  r.line("activations", "sum over the stage's layers x micro-batches in flight",
         "Korthikanti et al. 2022, equations 1 to 4; Narayanan et al. 2021, section 2.2",
         bytes(MemoryTerm::activations), Shown::bytes,
         {{"in flight", e.in_flight, Shown::count, "1F1B or interleaved schedule, in full stages"},
          {"x", c.input_bytes, Shown::count, "bytes of a saved GEMM input"}});
  if (bytes(MemoryTerm::logits) > 0.0) {
    r.line("logits", "B V T/t + 3 (2 h T) + what is gathered and reduced", software, bytes(MemoryTerm::logits),
           Shown::bytes,
           {{"B", c.logit_bytes, Shown::count, "bytes of a logit in all its copies"},
            {"V", c.vocab, Shown::count, architecture_source}});
  }
  r.line("workspace", "gradients inside one layer's backward, the layer formed again, fixed", software,
         bytes(MemoryTerm::workspace), Shown::bytes, {{"fixed", c.stack.fixed.raw(), Shown::bytes, c.stack.name}});
  if (bytes(MemoryTerm::dummy_gradients) > 0.0) {
    r.line("dummy gradients", "2 bytes x each distinct weight shape", software, bytes(MemoryTerm::dummy_gradients),
           Shown::bytes, {});
  }
  if (bytes(MemoryTerm::gather_buffers) > 0.0) {
    r.line("gather buffers", "compute copy and fp32 gradients of the stage, documented buffers", software,
           bytes(MemoryTerm::gather_buffers), Shown::bytes, {});
  }
  r.line("live", "sum of the above", "torch.cuda.max_memory_allocated", m.allocated().raw(), Shown::bytes, {});
  r.line("fragmentation", "reserved - live, never above what the device has left", software,
         bytes(MemoryTerm::fragmentation), Shown::bytes,
         {{"ratio", s.tp > 1 ? c.stack.reserve_ratio_tp : c.stack.reserve_ratio, Shown::count,
           "of live without states; 0: shares of activations and workspace"}});
  if (bytes(MemoryTerm::framework) > 0.0) {
    r.line("framework", "context, communicators, buckets", software, bytes(MemoryTerm::framework), Shown::bytes, {});
  }
  r.line("memory of the fullest stage", "sum, against the capacity", "", m.total().raw(), Shown::bytes,
         {{"capacity", c.capacity.raw(), Shown::bytes, capacity_source},
          {"stage", static_cast<double>(e.stage), Shown::count, "0 is the first"}});
}

}  // namespace headroom
