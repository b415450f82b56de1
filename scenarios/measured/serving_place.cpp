// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/hardware/catalog/partition.hpp>
#include <headroom/model/power/power.hpp>
#include <headroom/model/serve/engine/draft_acceptance.hpp>
#include <headroom/model/serve/engine/engine_kernels.hpp>
#include <headroom/model/serve/engine/scheduler.hpp>
#include <headroom/model/workload/parameters.hpp>
#include <headroom/scenarios/measured/serving_launches.hpp>
#include <headroom/scenarios/measured/serving_place.hpp>
#include <headroom/scenarios/measured/serving_row.hpp>
#include <headroom/scenarios/read/serve_reader.hpp>
#include <headroom/scenarios/words/verdict_text.hpp>

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <utility>

namespace headroom {

std::string row_option(const ServingConfiguration& run, std::string_view key) {
  const auto found = run.options.find(key);
  return found == run.options.end() ? std::string{} : found->second;
}

std::optional<double> row_number(const ServingConfiguration& run, std::string_view key) {
  const double value = whole_real(row_option(run, key)).value_or(0.0);
  return value > 0.0 && value < 1e12 ? std::optional{value} : std::nullopt;
}

namespace {

std::optional<Precision> precision_named(std::string_view name) {
  const auto* found = std::find(precision_names.begin(), precision_names.end(), name == "fp4" ? "nvfp4" : name);
  return found == precision_names.end() ? std::nullopt
                                        : std::optional{static_cast<Precision>(found - precision_names.begin())};
}

/// Format of activations in products: as published; else that of the weights where the GPU multiplies it directly, and
/// 16 bit for formats that are unpacked first.
Precision activations_of(const ServingConfiguration& run, Precision weights) {
  if (const auto stated = precision_named(run.act_dtype)) {
    return *stated;
  }
  switch (weights) {
    case Precision::int4:
    case Precision::int8: return Precision::bf16;
    case Precision::mxfp4: return Precision::bf16;
    default: return weights;
  }
}

/// Weights on the GPU that holds the most of them.
Bytes weights_of(const CompiledServingMemory& memory) noexcept {
  Bytes most{};
  for (int i = 0; i < memory.stage_count; ++i) {
    most = std::max(most, memory.stages[static_cast<std::size_t>(i)].weights);
  }
  return most;
}

/// Whether the engine's dispatch of tokens over so many ranks runs whole experts on each of them, whatever it was told:
/// SGLang sets ep to all ranks where DeepEP serves (srt/server_args.py, _handle_a2a_moe), so that a table that shows
/// ep 1 shows what the launch said, not what ran.
bool dispatches_always(const ServingStack& stack, const Device& device, std::int64_t ranks, bool gathers) {
  return stack.engine == Engine::sglang && !gathers &&
         std::any_of(stack.all_to_all.begin(), stack.all_to_all.end(), [&](const AllToAllRule& rule) {
           const bool domain = rule.over == ExchangeOver::domain && ranks <= device.scale_up.domain;
           const bool hosts = rule.over == ExchangeOver::hosts && ranks > device.scale_up.domain;
           return (domain || hosts) && device.scale_up.domain > rule.domain_above;
         });
}

/// The network as run by an engine whose layers all attend to the whole sequence.
Architecture without_windows(Architecture arch) {
  arch.window = 0;
  for (LayerVariant& variant : arch.variants) {
    variant.block.window = 0;
  }
  return arch;
}

}  // namespace

RowPool pool_of(const ServingConfiguration& run) {
  const std::string named = row_option(run, "pool");
  return named == "prefill"                       ? RowPool::prefill
         : named == "decode" || run.disaggregated ? RowPool::decode
                                                  : RowPool::whole;
}

ServingLayout row_layout(const ServingConfiguration& run) {
  const std::string groups = row_option(run, "attention_dp");
  const bool data_parallel = !groups.empty() && groups != "0";
  const std::int64_t tp = filled(run.tp);
  const std::int64_t pp = run.pp.value_or(1);
  ServingLayout layout = data_parallel && !run.ep ? ServingLayout{1, pp, std::max(tp, run.dp.value_or(1))}
                                                  : ServingLayout{tp, pp, run.ep.value_or(1)};
  const auto stated = [&](std::string_view key) {
    const std::string value = row_option(run, key);
    return !value.empty() && value != "0";
  };
  layout.redundant = static_cast<std::int64_t>(row_number(run, "redundant_experts").value_or(0.0));
  layout.balanced = layout.ep > 1 && stated("eplb");
  layout.two_batches = layout.attention_groups() > 1 && stated("two_batch_overlap");
  return layout;
}

double mean_of_nominal(const ServingConfiguration& run) {
  return 0.5 * (1.0 + row_number(run, "range_ratio").value_or(1.0));
}

std::optional<Watts> power_cap_of(const ServingConfiguration& run) {
  const std::optional<double> watts = row_number(run, "power_cap_w");
  return watts ? std::optional{Watts{*watts}} : std::nullopt;
}

bool prompts_first(const ServingStack& stack, const ServingConfiguration& run) {
  return stack.scheduler.order == PromptOrder::before_decodes && row_number(run, "mixed_chunks").value_or(0.0) == 0.0;
}

ClientFacts client_facts(const ServingConfiguration& run) {
  ClientFacts facts;
  facts.stream_interval = row_number(run, "stream_interval").value_or(facts.stream_interval);
  facts.recv_interval = row_number(run, "recv_interval").value_or(facts.recv_interval);
  facts.batch_wait = row_number(run, "batch_wait").value_or(facts.batch_wait);
  facts.batch_wait_share = row_number(run, "batch_wait_share").value_or(facts.batch_wait_share);
  facts.decode_steps = row_number(run, "decode_steps").value_or(facts.decode_steps);
  facts.decode_steps_from = row_number(run, "decode_steps_from").value_or(facts.decode_steps_from);
  facts.front_ends = row_number(run, "front_end_processes").value_or(facts.front_ends);
  facts.balance_timeout = row_number(run, "attention_dp_timeout").value_or(facts.balance_timeout);
  facts.balance_batching = row_number(run, "attention_dp_batching").value_or(facts.balance_batching);
  return facts;
}

namespace {

/// Drafts by the modules of multi-token prediction that a network was trained with, or by EAGLE's heads, of which a row
/// or its launch says so; nullopt: by another method, or nobody published how many tokens are drafted, or how many are
/// accepted. Of drafts as a tree the acceptance is that of a chain as deep.
std::optional<RowDrafts> drafts_of(const ServingConfiguration& run, const Architecture& arch, const ModelData& data) {
  const std::string method = row_option(run, "speculative");
  const std::string heads = row_option(run, "draft_method");
  const auto drafted = static_cast<std::int64_t>(row_number(run, "draft_tokens").value_or(0.0));
  const bool by_heads = method == "1" && (heads == "eagle" || heads == "eagle3");
  const bool by_modules = ((method == "1" && heads.empty()) || method == "mtp") && arch.mtp_layers >= 1;
  if ((!by_heads && !by_modules) || drafted < 1) {
    return std::nullopt;
  }
  const std::optional<AssumedAcceptance> accepted =
      published_drafts(data).assumed(arch.id, by_heads ? heads : "mtp", drafted);
  if (!accepted) {
    return std::nullopt;
  }
  RowDrafts drafts;
  drafts.drafted = drafted;
  const auto yields = [drafted](double probability) {
    return RowDrafts::Accepted{probability, Speculation{drafted, probability, 0}.tokens_per_step()};
  };
  drafts.accepted = yields(accepted->mid);
  drafts.low = yields(accepted->low);
  drafts.high = yields(accepted->high);
  const double head = real(arch.hidden) * real(arch.vocab);
  const double layers = count_parameters(arch).total - (arch.tied_embeddings ? 1.0 : 2.0) * head;
  const double layer = 1.0 / real(arch.layers);
  drafts.share = real(drafted) * (by_heads ? (layers * layer + head) / (layers + head) : layer);
  drafts.verified = static_cast<std::int64_t>(row_number(run, "verified_tokens").value_or(0.0));
  drafts.overlapped = row_number(run, "overlap_drafts").value_or(0.0) > 0.0;
  drafts.of = accepted->of;
  return drafts;
}

}  // namespace

ServingPlaces::ServingPlaces(const Sources& sources)
    : sources_{sources}, devices_{sources.catalog}, stacks_{serving_stacks(sources.data)} {}

const Architecture* ServingPlaces::architecture(const ServingConfiguration& run, bool windows) {
  std::string key = run.model + (windows ? "" : "/whole") + "/" + std::to_string(run.params_b.value_or(0.0));
  for (const std::optional<std::int64_t>& cell : {run.layers, run.hidden, run.heads, run.kv_heads, run.head_dim,
                                                  run.ffn_hidden, run.vocab, run.experts, run.top_k, run.moe_ffn}) {
    key += "/" + std::to_string(cell.value_or(0));
  }
  const bool blocks = row_number(run, "weight_blocks").value_or(0.0) > 0.0;
  key += blocks ? "/blocks" : "";
  auto [at, fresh] = architectures_.try_emplace(key);
  if (fresh) {
    if (!run.model.empty() && sources_.models.knows(run.model)) {
      Architecture preset = sources_.models.find(run.model);
      const bool agrees = run.layers.value_or(preset.layers) == preset.layers &&
                          run.hidden.value_or(preset.hidden) == preset.hidden &&
                          run.heads.value_or(preset.heads) == preset.heads;
      if (agrees) {
        at->second = std::make_shared<Architecture>(windows ? std::move(preset) : without_windows(std::move(preset)));
      }
    }
    if (!at->second && run.layers && run.hidden && run.heads && run.kv_heads && run.vocab &&
        (run.ffn_hidden || run.moe_ffn)) {
      Architecture columns = architecture_of(run);
      columns.fp8_blocks = blocks;
      at->second = std::make_shared<Architecture>(std::move(columns));
    }
  }
  return at->second.get();
}

const Node* ServingPlaces::usual_node(const Device& device) const {
  const Node* node = sources_.catalog.reference_node(device);
  const bool staged = node != nullptr && node->topology == LinkTopology::pcie && !node->peer_access;
  return staged ? nullptr : node;
}

const ServingPlaces::Kernels& ServingPlaces::kernels(const Architecture& arch,
                                                     const Device& device,
                                                     const ServingStack& stack,
                                                     std::string_view version,
                                                     const ServingLayout& layout,
                                                     const ReplicaFormats& formats,
                                                     const RowKernels& run) {
  EngineKernels curves = engine_kernels(stack, iteration_physics(sources_.data), version);
  curves.filter_bytes = run.filters ? stack.time.filter : 0.0;
  if (run.gathers) {
    curves.all_to_all.clear();
  }
  // Identifies the network by its address, because networks from columns have no id.
  const std::string key = std::to_string(reinterpret_cast<std::uintptr_t>(&arch)) + "/" + device.id + "/" + stack.id +
                          "/" + std::to_string(layout.tp) + "/" + std::to_string(layout.pp) + "/" +
                          std::to_string(layout.ep) + "/" + std::to_string(layout.redundant) +
                          (layout.balanced ? "b" : "") + (layout.cut_experts ? "c" : "") +
                          (layout.two_batches ? "t" : "") + "/" + std::string{name_of(formats.weights)} + "/" +
                          std::string{name_of(formats.activations)} + "/" + std::string{name_of(formats.cache)} + "/" +
                          (formats.kernels == WeightKernels::gptq ? "q" : "") + (run.filters ? "f" : "") +
                          std::to_string(curves.families.size()) + "/" + std::to_string(curves.all_to_all.size()) +
                          "/" + std::to_string(curves.shared_beside) + (curves.joined_norms ? "j" : "");
  auto [at, fresh] = kernels_.try_emplace(key);
  if (fresh) {
    try {
      at->second.replica =
          std::make_shared<Replica>(sources_.data, arch, device, usual_node(device), curves, layout, formats);
      at->second.least = std::make_shared<LeastIteration>(arch, device, layout, formats);
    } catch (const ConfigError& error) {
      at->second.refused = error.what();
    }
  }
  return at->second;
}

std::optional<PlacedRow> ServingPlaces::place(const ServingConfiguration& run, RowPrediction& refusal) {
  const auto refuse = [&](const std::string& why) {
    refusal = unsupported(why);
    return std::nullopt;
  };
  PlacedRow p;
  p.stack = stack_of_release(stacks_, run.engine, run.engine_version);
  if (p.stack == nullptr) {
    const std::string_view why = published_launches(sources_.data).refusal(run.engine);
    return refuse("engine " + quoted(run.engine) + (why.empty() ? " is of no stack" : " " + std::string{why}));
  }
  const RowPool pool = pool_of(run);
  const std::optional<double> workers = row_number(run, "decode_workers");  // all requests spread over them
  const std::string missing = blank_cells({{!run.gpu.empty(), "gpu"},
                                           {run.tp.has_value(), "tp"},
                                           {!run.weight_dtype.empty(), "weight_dtype"},
                                           {run.osl.has_value() || pool == RowPool::prefill, "osl"},
                                           {pool != RowPool::decode || workers, "decode_workers"}});
  if (!missing.empty()) {
    return refuse("not published: " + missing);
  }
  p.arch = architecture(run, p.stack->time.windows);
  if (p.arch == nullptr) {
    return refuse("the network is neither a preset nor whole in the columns");
  }
  if (!row_option(run, "speculative").empty() && row_option(run, "speculative") != "0") {
    const std::optional<RowDrafts> drafts = drafts_of(run, *p.arch, sources_.data);
    if (!drafts) {
      return refuse("speculative decoding without a published acceptance");
    }
    p.drafts = *drafts;
  }
  const auto prompt = p.stack->prompts.find(p.arch->id);
  if (!run.isl && prompt == p.stack->prompts.end()) {
    return refuse("not published: isl");
  }
  p.isl = mean_of_nominal(run) * (run.isl ? *run.isl : prompt->second);
  p.osl = mean_of_nominal(run) * run.osl.value_or(1.0);  // rows that only process prompts have no osl
  p.beams = static_cast<std::int64_t>(row_number(run, "beams").value_or(1.0));
  const std::optional<Precision> weights = precision_named(run.weight_dtype);
  const std::optional<Precision> cache =
      weights && run.kv_dtype.empty() ? default_kv_cache(*p.stack, *weights) : precision_named(run.kv_dtype);
  if (!weights || !cache) {
    return refuse("format " + quoted(weights ? run.kv_dtype : run.weight_dtype) + " is not known");
  }
  const RowDevices::Answer& found = devices_.find(run.gpu);
  if (found.device == nullptr) {
    return refuse(found.why);
  }
  const Device& device = *found.device;
  p.pool = pool;
  p.layout = row_layout(run);
  if (const std::string why = why_no_group(device); !why.empty() && p.layout.gpus() > 1) {
    return refuse(why);
  }
  const bool gathers = row_option(run, "all_to_all") == "none";
  if (run.dp.value_or(1) > 1 && run.ep.value_or(1) == 1 && row_number(run, "decode_moe_tp").value_or(1.0) > 1.0) {
    if (static_cast<std::int64_t>(*row_number(run, "decode_moe_tp")) != p.layout.tp * *run.dp) {
      return refuse("experts cut over some ranks of attention-DP (decode_moe_tp), which no layout here does");
    }
    p.layout.ep = p.layout.tp * *run.dp;
    p.layout.cut_experts = !dispatches_always(*p.stack, device, p.layout.ep, gathers);
  }
  const std::int64_t gpus = p.pool == RowPool::whole
                                ? run.gpus.value_or(p.layout.gpus())
                                : static_cast<std::int64_t>(workers.value_or(1.0)) * p.layout.gpus();
  if (const LayoutProblem broken = check(*p.arch, p.layout, gpus); broken.verdict != Verdict::feasible) {
    return refuse(verdict_text(broken.verdict, real(broken.broke), real(broken.limit)));
  }
  p.replicas = gpus / p.layout.gpus();
  const bool by_gptq =
      row_option(run, "quantization") == weight_kernel_names[static_cast<std::size_t>(WeightKernels::gptq)];
  const Kernels& kernels_here =
      kernels(*p.arch, device, *p.stack, run.engine_version, p.layout,
              {*weights, activations_of(run, *weights), *cache, by_gptq ? WeightKernels::gptq : WeightKernels::fused},
              {gathers, row_number(run, "top_p").value_or(1.0) < 1.0});
  if (!kernels_here.refused.empty()) {
    return refuse(kernels_here.refused);
  }
  p.clock = matrix_clock(device, power_cap_of(run), power_form(sources_.data));
  p.replica = kernels_here.replica;
  p.least = kernels_here.least;
  p.memory = compile_serving_memory(*p.arch, device, p.stack->memory, p.layout, *weights, *cache);
  if (const Bytes heaviest = weights_of(p.memory); heaviest > p.memory.device) {
    const std::string sizes =
        "the weights alone take " + format(heaviest) + " of " + format(p.memory.device) + " per GPU";
    if (!row_option(run, "offload").empty()) {
      return refuse(sizes + ": part of them lies in the host's memory, which is not modelled");
    }
    refusal = rejected(sizes + ": no engine ran this layout; 'tp', 'gpus' or 'weight_dtype' is another");
    return std::nullopt;
  }
  p.limits.memory_fraction = row_number(run, "memory_fraction").value_or(p.stack->default_fraction(p.layout.tp));
  p.limits.max_num_seqs = run.max_batch.value_or(p.stack->default_max_num_seqs(device));
  p.limits.max_num_tokens = static_cast<std::int64_t>(
      row_number(run, "max_num_tokens").value_or(real(p.stack->default_max_num_tokens(device))));
  return p;
}

bool leaves_layout_open(const ServingConfiguration& run) noexcept {
  return !run.tp && !run.ep && run.gpus && !run.disaggregated && run.options.find("pool") == run.options.end();
}

std::vector<ServingConfiguration> possible_layouts(const ServingConfiguration& run, const Architecture& network) {
  constexpr std::int64_t most_ranks = 16;  // two nodes of eight: no published layout of one replica has more
  std::vector<ServingConfiguration> layouts;
  const std::int64_t gpus = run.gpus.value_or(1);
  for (std::int64_t ranks = 1; ranks <= most_ranks && ranks <= gpus; ranks *= 2) {
    if (gpus % ranks != 0) {
      continue;
    }
    ServingConfiguration layout = run;
    layout.pp = run.pp.value_or(1);
    layout.tp = ranks;
    layout.dp.reset();
    if (network.heads % ranks == 0) {
      layouts.push_back(layout);
    }
    if (ranks > 1 && network.mla && network.moe && network.moe->experts % ranks == 0) {
      layout.options["attention_dp"] = "1";
      layouts.push_back(layout);
    }
  }
  return layouts;
}

}  // namespace headroom
