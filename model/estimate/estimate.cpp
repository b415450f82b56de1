// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/model/estimate/estimate.hpp>

#include <algorithm>
#include <vector>

namespace headroom {

TermSet parse_terms(std::span<const std::string> names) {
  TermSet terms;
  for (const std::string& name : names) {
    const auto* const found = std::find(term_names.begin(), term_names.end(), name);
    if (found == term_names.end()) {
      const std::vector<std::string_view> known{term_names.begin(), term_names.end()};
      throw ConfigError{"--without: " + quoted(name) + " is no term of a step" + suggestion(name, known)};
    }
    terms.add(static_cast<Term>(found - term_names.begin()));
  }
  return terms;
}

std::string_view name_of(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::feasible: return "feasible";
    case Verdict::gpus_not_divisible: return "gpus_not_divisible";
    case Verdict::heads_not_divisible: return "heads_not_divisible";
    case Verdict::kv_heads_not_divisible: return "kv_heads_not_divisible";
    case Verdict::layers_too_few: return "layers_too_few";
    case Verdict::sequence_not_divisible: return "sequence_not_divisible";
    case Verdict::batch_not_divisible: return "batch_not_divisible";
    case Verdict::local_batch_misfit: return "local_batch_misfit";
    case Verdict::local_batch_of_parts: return "local_batch_of_parts";
    case Verdict::micro_batches_too_few: return "micro_batches_too_few";
    case Verdict::experts_not_divisible: return "experts_not_divisible";
    case Verdict::expert_groups_misfit: return "expert_groups_misfit";
    case Verdict::expert_width_not_divisible: return "expert_width_not_divisible";
    case Verdict::tensor_ranks_not_divisible: return "tensor_ranks_not_divisible";
    case Verdict::shard_ranks_misfit: return "shard_ranks_misfit";
    case Verdict::shard_ranks_straddle: return "shard_ranks_straddle";
    case Verdict::experts_straddle_stages: return "experts_straddle_stages";
    case Verdict::context_heads_not_divisible: return "context_heads_not_divisible";
    case Verdict::stage_layers_misfit: return "stage_layers_misfit";
    case Verdict::schedule_stages_odd: return "schedule_stages_odd";
    case Verdict::schedule_micro_batches_odd: return "schedule_micro_batches_odd";
    case Verdict::schedule_micro_batches_too_few: return "schedule_micro_batches_too_few";
    case Verdict::schedule_has_no_chunks: return "schedule_has_no_chunks";
    case Verdict::out_of_memory: return "out_of_memory";
    case Verdict::may_not_fit: return "may_not_fit";
    case Verdict::host_memory_too_small: return "host_memory_too_small";
    case Verdict::kv_cache_too_small: return "kv_cache_too_small";
    case Verdict::kv_cache_uncertain: return "kv_cache_uncertain";
    case Verdict::misses_target: return "misses_target";
    case Verdict::count: break;
  }
  return "unknown";
}

}  // namespace headroom
