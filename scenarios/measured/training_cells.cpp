// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/schedules/schedule_model.hpp>
#include <headroom/scenarios/measured/row_cells.hpp>
#include <headroom/scenarios/measured/row_options.hpp>
#include <headroom/scenarios/measured/training_cells.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace headroom {

std::vector<std::string_view> missing_training_cells(const RunConfiguration& run) {
  std::vector<std::string_view> missing;
  const auto need = [&](bool there, std::string_view name) {
    if (!there) {
      missing.push_back(name);
    }
  };
  need(!run.gpu.empty(), "gpu");
  need(run.gpus.has_value(), "gpus");
  need(run.dp.has_value(), "dp");
  need(run.tp.has_value(), "tp");
  need(run.pp.has_value(), "pp");
  need(run.cp.has_value(), "cp");
  need(run.seq_len.has_value(), "seq_len");
  need(run.global_batch.has_value(), "global_batch");
  need(!run.precision.empty(), "precision");
  need(run.sizes_of_preset || run.layers.has_value(), "layers");
  need(run.sizes_of_preset || run.hidden.has_value(), "hidden");
  need(run.sizes_of_preset || run.heads.has_value(), "heads");
  need(!run.framework.empty(), "framework");
  return missing;
}

bool leaves_layout_open(const RunConfiguration& run) {
  constexpr std::int64_t most_gpus = 128;  // how far off the fastest layout is was measured up to there
  // Runs whose sequences are known to be split so or not at all state the context ranks alone.
  std::vector<std::string_view> layout{"dp", "tp", "pp"};
  if (!run.cp) {
    layout.emplace_back("cp");
  }
  return run.gpus.value_or(0) <= most_gpus && missing_training_cells(run) == layout;
}

std::vector<RunConfiguration> possible_layouts(const RunConfiguration& run, bool stages) {
  std::vector<RunConfiguration> layouts;
  const std::int64_t gpus = filled(run.gpus);
  const std::int64_t host = std::clamp<std::int64_t>(run.gpus_per_node.value_or(8), 1, 8);
  for (std::int64_t tp = 1; tp <= host; tp *= 2) {
    // Where nothing is cut into stages, sequences are cut further.
    const std::int64_t most_cp = run.cp.value_or(stages ? 4 : 8);
    for (std::int64_t cp = std::max<std::int64_t>(1, run.cp.value_or(1)); cp <= most_cp; cp *= 2) {
      for (std::int64_t pp = 1; pp <= (stages ? 4 : 1); pp *= 2) {
        const std::int64_t ranks = tp * cp * pp;
        if (gpus % ranks != 0 || filled(run.global_batch) % (gpus / ranks) != 0) {
          continue;
        }
        RunConfiguration layout = run;
        layout.tp = tp;
        layout.cp = cp;
        layout.pp = pp;
        layout.dp = gpus / ranks;
        // Experts are dealt over a host's ranks at most, where the row does not say.
        const std::int64_t most_ep = run.experts.value_or(0) > 1 && !run.ep ? host : 1;
        for (std::int64_t ep = 1; ep <= most_ep; ep *= 2) {
          layout.ep = run.ep ? run.ep : ep;
          if (most_ep == 1 || (gpus / pp % ep == 0 && filled(run.experts) % ep == 0)) {
            layouts.push_back(layout);
          }
        }
      }
    }
  }
  return layouts;
}

BlankAxes blank_axes(const RunConfiguration& run) noexcept {
  return {!run.micro_batch, run.recompute.empty(), !run.vpp && run.pp.value_or(1) > 1, false};
}

std::optional<RunConfiguration> without_axis(const RunConfiguration& run, BlankAxis axis) {
  RunConfiguration blank = run;
  switch (axis) {
    case BlankAxis::micro_batch: blank.micro_batch.reset(); break;
    case BlankAxis::recompute: blank.recompute.clear(); break;
    case BlankAxis::vpp:
      if (run.pp.value_or(1) < 2) {
        return std::nullopt;
      }
      blank.vpp.reset();
      break;
    case BlankAxis::experts: blank.usual_experts = run.experts.value_or(0) > 1; break;
  }
  return blank == run ? std::nullopt : std::optional{blank};
}

std::optional<Schedule> schedule_of(const RunConfiguration& run) {
  // AMD-AGI/Primus @ fd1eeabb, docs_deprecated/tech_blogs/primus_pipeline/primus_pipeline.md: its table of schedules.
  constexpr std::array<std::array<std::string_view, 2>, 4> others{
      {{"1f1b-interleaved", "1f1b"}, {"zero-bubble", "zb-h1"}, {"zbv", "zb-v"}, {"zbv-formatted", "zb-v"}}};
  std::string_view stated = option(run, "schedule");
  for (const auto& [other, ours] : others) {
    stated = stated == other ? ours : stated;
  }
  const auto* const known = std::find(schedule_names.begin(), schedule_names.end(), stated);
  return known == schedule_names.end() ? std::nullopt
                                       : std::optional{static_cast<Schedule>(known - schedule_names.begin())};
}

std::string impossible_cell(const RunConfiguration& run) {
  constexpr std::int64_t large = std::int64_t{1} << 40;
  if (run.zero && (*run.zero < 0 || *run.zero > 3)) {
    return "zero is none of 0, 1, 2, 3";
  }
  return impossible_size({{"gpus", run.gpus, 10'000'000},
                          {"layers", run.layers, 100'000},
                          {"hidden", run.hidden, 10'000'000},
                          {"heads", run.heads, 100'000},
                          {"tp", run.tp, 4096},
                          {"pp", run.pp, 4096},
                          {"cp", run.cp, 4096},
                          {"ep", run.ep, 4096},
                          {"vpp", run.vpp, 1024},
                          {"dp", run.dp, 10'000'000},
                          {"seq_len", run.seq_len, large},
                          {"global_batch", run.global_batch, large},
                          {"micro_batch", run.micro_batch, 60'000},
                          {"kv_heads", run.kv_heads, 100'000},
                          {"head_dim", run.head_dim, 1'000'000},
                          {"ffn_hidden", run.ffn_hidden, large},
                          {"vocab", run.vocab, large},
                          {"experts", run.experts, 1'000'000},
                          {"top_k", run.top_k, 1'000'000},
                          {"moe_ffn", run.moe_ffn, large}});
}

std::optional<Precision> training_precision(std::string_view name) {
  const auto found = std::find(training_precision_names.begin(), training_precision_names.end(), name);
  if (found == training_precision_names.end()) {
    return std::nullopt;
  }
  return static_cast<Precision>(found - training_precision_names.begin());
}

Architecture architecture_of(const RunConfiguration& run, std::int64_t vocabulary) {
  Architecture arch;
  arch.id = run.model;
  arch.kind = run.arch == "bert" || run.arch == "vit" ? ArchitectureKind::encoder : ArchitectureKind::decoder;
  arch.source = "row";
  arch.layers = filled(run.layers);
  arch.hidden = filled(run.hidden);
  arch.heads = filled(run.heads);
  arch.kv_heads = run.kv_heads.value_or(arch.heads);
  arch.head_dim = run.head_dim.value_or(std::max<std::int64_t>(1, arch.hidden / arch.heads));
  arch.ffn_hidden = run.ffn_hidden.value_or(4 * arch.hidden);
  arch.gated_mlp = run.gated_mlp.value_or(0) == 1;
  arch.vocab = run.vocab.value_or(option_count(run, "vocabulary").value_or(vocabulary));
  if (option(run, "vocabulary_cut") == "1") {  // tables of vocab // tp rows
    arch.vocab -= arch.vocab % std::max<std::int64_t>(1, run.tp.value_or(1));
  }
  arch.tied_embeddings = run.tied_embeddings.value_or(0) == 1;
  arch.norm = arch.gated_mlp ? Norm::rmsnorm : Norm::layernorm;
  arch.biases = !arch.gated_mlp;
  if (run.experts.value_or(0) > 1) {
    Moe moe;
    moe.experts = filled(run.experts);
    moe.top_k = run.top_k.value_or(1);
    moe.expert_ffn_hidden = run.moe_ffn.value_or(arch.ffn_hidden);
    moe.shared_ffn_hidden = run.shared_experts.value_or(0) * moe.expert_ffn_hidden;
    moe.dense_layers = std::min(run.dense_layers.value_or(0), arch.layers);
    arch.moe = moe;
  }
  return arch;
}

Strategy strategy_of(const RunConfiguration& run, const StackDefaults& defaults) {
  Strategy s;
  s.tp = static_cast<std::uint16_t>(filled(run.tp));
  s.pp = static_cast<std::uint16_t>(filled(run.pp));
  s.cp = static_cast<std::uint16_t>(filled(run.cp));
  s.vpp = static_cast<std::uint16_t>(run.vpp.value_or(1));
  s.ep = static_cast<std::uint16_t>(run.ep.value_or(1));
  s.dp = static_cast<std::uint32_t>(filled(run.dp));
  if (run.experts.value_or(0) > 1) {
    // No column states etp. The run was legal, so experts stay whole where the software's usual split does not fit the
    // ranks.
    s.etp = defaults.expert_tensor_ranks(s.tp, s.ep);
    const std::int64_t ranks = std::int64_t{s.tp} * s.cp * s.dp;
    s.etp = ranks % (std::int64_t{s.ep} * s.etp) == 0 ? s.etp : std::uint16_t{1};
  }
  s.micro_batch = static_cast<std::uint16_t>(run.micro_batch.value_or(1));
  s.zero = static_cast<std::uint8_t>(run.zero.value_or(defaults.zero));
  if (option(run, "hsdp") == "node") {
    const std::int64_t node = std::clamp<std::int64_t>(run.gpus_per_node.value_or(8), 1, 1024);
    s.shard_ranks = static_cast<std::uint16_t>(std::min<std::int64_t>(node, std::int64_t{s.dp} * s.cp));
  }
  s.cp_form = defaults.cp_form;
  s.schedule = schedule_of(run).value_or(s.schedule);
  s.vpp = model_of(s.schedule).takes_chunks() ? s.vpp : std::uint16_t{1};  // a schedule's own chunks are no choice
  s.overlap_experts = model_of(s.schedule).overlaps_passes && s.ep > 1;
  s.first_stage_layers =
      static_cast<std::uint8_t>(std::min<std::int64_t>(255, option_count(run, "first_stage_layers").value_or(0)));
  s.last_stage_layers =
      static_cast<std::uint8_t>(std::min<std::int64_t>(255, option_count(run, "last_stage_layers").value_or(0)));
  s.cuda_graphs = option(run, "cuda_graphs") == "1";
  s.local_batch =
      static_cast<std::uint16_t>(std::clamp<std::int64_t>(option_count(run, "local_batch").value_or(0), 0, 60'000));
  s.overlap_experts = s.overlap_experts || (s.ep > 1 && option(run, "moe_ep_overlap") == "1");
  if (const std::string_view group = option(run, "zero_group"); group != "all") {
    std::uint16_t ranks = 0;
    const auto [end, status] = std::from_chars(group.data(), group.data() + group.size(), ranks);
    ranks = status == std::errc{} && end == group.data() + group.size() ? ranks : defaults.zero_group;
    const std::int64_t data = std::int64_t{s.dp} * s.cp;
    s.shard_ranks = ranks > 0 && ranks < data && data % ranks == 0 ? ranks : s.shard_ranks;
  }
  // What a recipe states goes before a cell that a reader of its table filled in.
  const std::int64_t stated = run.seq_parallel.value_or(defaults.sequence_parallel ? 1 : 0);
  s.sequence_parallel = s.tp > 1 && option_count(run, "sequence_parallel").value_or(stated) == 1;
  s.recompute = run.recompute == "full"        ? Recompute::full
                : run.recompute == "selective" ? Recompute::selective
                                               : Recompute::none;
  return s;
}

std::string without_slice(const std::string& model) {
  const std::size_t dash = model.rfind('-');
  if (dash == std::string::npos || dash + 2 >= model.size() || model.back() != 'L') {
    return model;
  }
  const auto digits = std::string_view{model}.substr(dash + 1, model.size() - dash - 2);
  const bool all = std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  return all ? model.substr(0, dash) : model;
}

RunConfiguration with_sizes_of(const Architecture& preset, RunConfiguration run) {
  run.sizes_of_preset = true;
  if (preset.moe) {
    run.experts = preset.moe->experts;
  }
  return run;
}

namespace {

/// Whether tensor-parallel collectives run in pieces beside the products of dense layers: torchtitan's asynchronous
/// tensor parallelism, or the user buffers of Transformer Engine (--tp-comm-overlap).
bool cuts_tensor_traffic(const RunConfiguration& run) {
  return option(run, "async_tp") == "1" || (option(run, "tp_comm_overlap") == "1" && run.experts.value_or(0) < 2);
}

}  // namespace

MemoryOptions options_of(const RunConfiguration& run, const StackDefaults& defaults) {
  MemoryOptions o;
  const std::string_view method = option(run, "method");
  o.method = method == "lora" ? Method::lora : method == "qlora" ? Method::qlora : Method::full;
  o.flash_attention = run.flash_attn.value_or(defaults.flash_attention ? 1 : 0) == 1;
  if (option(run, "attention") == "fp8" || !option(run, "fp8_dpa").empty()) {
    o.narrow_attention = option(run, "attention") == "fp8" || option(run, "fp8_dpa") == "1";
  }
  if (!method.empty()) {
    o.document_tokens = static_cast<double>(option_count(run, "document_tokens").value_or(0));
    o.document_tokens = o.document_tokens > 0.0 ? o.document_tokens : defaults.tuning_documents;
  }
  if (const std::string_view fused = option(run, "fused_cross_entropy"); !fused.empty()) {
    o.fused_loss = fused == "1";
  }
  o.vocab_multiple = option_count(run, "vocab_multiple").value_or(defaults.vocab_multiple);
  // Transformer Engine's op fuser joins norms, casts, activations and products of an MLP as a compiler does.
  o.compiled = option(run, "compile") == "1" || option(run, "op_fuser") == "1";
  o.row_scales = option(run, "float8") == "rowwise";
  o.async_tp = cuts_tensor_traffic(run);
  o.overlapped = option(run, "overlap") != "none";
  o.offload_optimizer = option(run, "offload") == "optimizer";
  o.offload_activations = option(run, "offload") == "activations";
  o.offload_parameters = option(run, "offload") == "parameters";
  o.offload_checkpoints = option(run, "offload").empty() && defaults.offload_checkpoints;
  for (std::string_view parts = option(run, "recompute_parts"); !parts.empty();) {  // "layernorm+moe_act"
    const std::string_view part = parts.substr(0, parts.find('+'));
    parts.remove_prefix(std::min(parts.size(), part.size() + 1));
    const auto* const known = std::find(recompute_part_names.begin(), recompute_part_names.end(), part);
    if (known != recompute_part_names.end()) {
      o.recompute_parts.add(static_cast<RecomputePart>(known - recompute_part_names.begin()));
    }
  }
  if (const std::string_view saved = option(run, "saved_activations"); !saved.empty()) {
    o.narrow_saved = saved == "fp8";
  }
  o.average = option(run, "weight_average") == "host"  ? WeightAverage::host
              : option(run, "weight_average") == "gpu" ? WeightAverage::gpu
                                                       : WeightAverage::none;
  o.experts = expert_traffic_of(run);
  // Adapters are gathered in 16 bit, and nothing beside them.
  o.narrow_gather = o.method == Method::full && option(run, "fp8_param_gather") == "1";
  return o;
}

StateBytes states_of(const RunConfiguration& run,
                     const MemoryStack& software,
                     Precision precision,
                     const Device& device) {
  const StateBytes adam = adam_states(precision);
  StateBytes states = adam.weights >= 4.0 ? adam : software.states_of(precision, device.generation);
  const auto* const stated = std::find(optimizer_names.begin(), optimizer_names.end(), option(run, "optimizer"));
  if (stated != optimizer_names.end()) {
    const auto optimizer = static_cast<Optimizer>(stated - optimizer_names.begin());
    states.optimizer += moment_bytes(optimizer) - moment_bytes(Optimizer::adamw);
    states.apart = moments_apart(optimizer);
  }
  return states;
}

}  // namespace headroom
