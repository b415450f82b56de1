// SPDX-License-Identifier: Apache-2.0
// Verdicts in words: the numbers that broke a rule, and the nearest values that obey it.
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/scenarios/words/schedule_words.hpp>
#include <headroom/scenarios/words/verdict_text.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace headroom {
namespace {

/// "4 or 8": the nearest divisors of `number` around `near`.
std::string nearest_divisors(std::int64_t number, std::int64_t near) {
  std::int64_t below = near;
  while (below > 1 && number % below != 0) {
    --below;
  }
  std::int64_t above = near;
  while (above < number && number % above != 0) {
    ++above;
  }
  const std::string smaller = format_count(static_cast<double>(below));
  return above >= number || above == below ? smaller : smaller + " or " + format_count(static_cast<double>(above));
}

/// "992 or 1008": the nearest multiples of `step` around `number`.
std::string nearest_multiples(std::int64_t number, std::int64_t step) {
  const std::int64_t below = number / step * step;
  const std::string above = format_count(static_cast<double>(below + step));
  return below == 0 ? above : format_count(static_cast<double>(below)) + " or " + above;
}

/// What a rule of a schedule's order asks, and who asks it.
class ScheduleWords {
 public:
  explicit ScheduleWords(std::optional<Schedule> schedule) : model_{schedule ? &model_of(*schedule) : nullptr} {}

  /// "DualPipe needs".
  [[nodiscard]] std::string needs() const {
    return (model_ != nullptr ? std::string{model_->title} : "the schedule") + " needs";
  }

  /// "the 2 x pp = 8".
  [[nodiscard]] std::string least_micro_batches(double least) const {
    const std::int64_t each = model_ != nullptr ? model_->rules.micro_batches_a_stage : 0;
    const std::string times = each > 1 ? std::to_string(each) + " x " : "";
    return each > 0 ? "the " + times + "pp = " + format_count(least) : "the " + format_count(least);
  }

  /// ", or schedule \"1f1b\" or \"zb-v\"".
  [[nodiscard]] std::string others() const {
    return model_ != nullptr && !model_->instead.empty() ? ", or schedule " + either_of(model_->instead) : "";
  }

  /// ", or pp 2": the most stages that as many micro-batches are enough for.
  [[nodiscard]] std::string fewer_stages(std::int64_t micro_batches) const {
    const std::int64_t each = model_ != nullptr ? model_->rules.micro_batches_a_stage : 0;
    if (each == 0) {
      return {};
    }
    const std::int64_t step = model_->rules.stages_multiple;
    return ", or pp " + std::to_string(std::max(step, micro_batches / each / step * step));
  }

 private:
  const ScheduleModel* model_;
};

/// The nearest values that obey a broken rule.
std::string way_out(const Legality& rule, const ScheduleWords& schedule) {
  const auto number = static_cast<std::int64_t>(rule.broke);
  const auto limit = static_cast<std::int64_t>(rule.limit);
  switch (rule.verdict) {
    case Verdict::gpus_not_divisible: return "use " + nearest_multiples(number, limit) + " GPUs, or other ranks";
    case Verdict::heads_not_divisible:
    case Verdict::kv_heads_not_divisible: return "use tp " + nearest_divisors(number, limit);
    case Verdict::layers_too_few: return "keep pp x vpp at or below " + std::to_string(number + 2);
    case Verdict::sequence_not_divisible: return "use seq_len " + nearest_multiples(number, limit);
    case Verdict::batch_not_divisible: return "use global_batch " + nearest_multiples(number, limit);
    case Verdict::local_batch_misfit: return "use local_batch " + nearest_divisors(number, limit);
    case Verdict::local_batch_of_parts: return "use local_batch " + nearest_multiples(number, limit);
    case Verdict::micro_batches_too_few:
      return "use vpp 1, or a global_batch of " + nearest_multiples(number, limit) + " micro-batches";
    case Verdict::experts_not_divisible: return number <= 1 ? "use ep 1" : "use ep " + nearest_divisors(number, limit);
    case Verdict::expert_groups_misfit: return "use ep x etp " + nearest_divisors(number, limit);
    case Verdict::expert_width_not_divisible:
      return number <= 1 ? "use etp 1" : "use etp " + nearest_divisors(number, limit);
    case Verdict::tensor_ranks_not_divisible: return "use etp " + nearest_divisors(number, std::min(limit, number));
    case Verdict::shard_ranks_misfit: return "use shard_ranks " + nearest_divisors(number, limit);
    case Verdict::shard_ranks_straddle:
      return "use shard_ranks " + nearest_divisors(limit, std::min(number, limit)) + ", a multiple of " +
             std::to_string(limit) + ", or order \"" + std::string{rank_order_names[0]} + "\"";
    case Verdict::experts_straddle_stages:
      return "use ep and etp that fill the ranks inside the stages, or order \"" + std::string{rank_order_names[0]} +
             "\"";
    case Verdict::context_heads_not_divisible:
      return "use tp x cp " + nearest_divisors(number, limit) + ", or cp_form \"ring\" or \"all-gather\"";
    case Verdict::stage_layers_misfit:
      return limit > 0 ? "state layers that leave " + nearest_multiples(std::max<std::int64_t>(number, 1), limit)
                       : "state layers that add up to the model's, or leave a stage unstated";
    case Verdict::schedule_stages_odd: return "use pp " + nearest_multiples(number, limit) + schedule.others();
    case Verdict::schedule_micro_batches_odd:
      return "use a global_batch of " + nearest_multiples(number, limit) + " micro-batches";
    case Verdict::schedule_micro_batches_too_few:
      return "use a global_batch of at least " + std::to_string(limit) + " micro-batches" +
             schedule.fewer_stages(number);
    case Verdict::schedule_has_no_chunks:
      return "use vpp 1, or schedule " + either_where([](const ScheduleModel& m) { return m.takes_chunks(); });
    case Verdict::feasible:
    case Verdict::out_of_memory:
    case Verdict::may_not_fit:
    case Verdict::host_memory_too_small:
    case Verdict::kv_cache_too_small:
    case Verdict::kv_cache_uncertain:
    case Verdict::misses_target:
    case Verdict::count: break;
  }
  return {};
}

}  // namespace

std::string verdict_text(Verdict verdict, double broke, double limit, std::optional<Schedule> schedule) {
  const auto number = [](double value) { return format_count(value); };
  const ScheduleWords words{schedule};
  switch (verdict) {
    case Verdict::feasible: return "fits";
    case Verdict::gpus_not_divisible:
      return number(broke) + " GPUs are not dp x tp x pp x cp: tp x pp x cp is " + number(limit);
    case Verdict::heads_not_divisible: return number(broke) + " heads do not divide by tp " + number(limit);
    case Verdict::kv_heads_not_divisible:
      return number(broke) + " key-value heads and tp " + number(limit) + ": neither divides the other";
    case Verdict::layers_too_few: return number(broke) + " layers are fewer than the " + number(limit) + " stages";
    case Verdict::sequence_not_divisible:
      return "sequence length " + number(broke) + " does not divide by the " + number(limit) + " ranks that share it";
    case Verdict::batch_not_divisible:
      return "global batch " + number(broke) + " does not divide by dp x micro_batch = " + number(limit);
    case Verdict::local_batch_misfit:
      return "the " + number(broke) + " sequences of a replica do not divide by local_batch " + number(limit);
    case Verdict::local_batch_of_parts:
      return "local_batch " + number(broke) + " does not divide by micro_batch " + number(limit);
    case Verdict::micro_batches_too_few:
      return number(broke) + " micro-batches do not divide by pp " + number(limit) + ", which interleaving needs";
    case Verdict::experts_not_divisible:
      return broke <= 1.0 ? "ep " + number(limit) + " on a model without experts"
                          : number(broke) + " experts do not divide by ep " + number(limit);
    case Verdict::expert_groups_misfit:
      return "dp x cp x tp = " + number(broke) + " does not divide by ep x etp = " + number(limit);
    case Verdict::expert_width_not_divisible:
      return broke <= 1.0 ? "etp " + number(limit) + " on a model without experts"
                          : "an expert's width " + number(broke) + " does not divide by etp " + number(limit);
    case Verdict::tensor_ranks_not_divisible: return "tp " + number(broke) + " does not divide by etp " + number(limit);
    case Verdict::shard_ranks_misfit:
      return "the dp x cp = " + number(broke) + " data ranks do not divide by shard_ranks " + number(limit);
    case Verdict::shard_ranks_straddle:
      return "shard_ranks " + number(broke) + " and the " + number(limit) +
             " data ranks side by side in this order: neither divides the other";
    case Verdict::experts_straddle_stages:
      return "the order puts " + number(broke) + " ranks of the experts inside the stages and " + number(limit) +
             " of the dense layers: a rank would stand in two stages";
    case Verdict::context_heads_not_divisible:
      return number(broke) + " heads do not divide by tp x cp = " + number(limit) + ", which Ulysses needs";
    case Verdict::stage_layers_misfit:
      return "the stated stages leave " + number(broke) + " layers for " + number(limit) + " stages";
    case Verdict::schedule_stages_odd:
      return "pp " + number(broke) + " does not divide by " + number(limit) + ", which " + words.needs();
    case Verdict::schedule_micro_batches_odd:
      return number(broke) + " micro-batches do not divide by " + number(limit) + ", which " + words.needs();
    case Verdict::schedule_micro_batches_too_few:
      return number(broke) + " micro-batches are fewer than " + words.least_micro_batches(limit) + " that " +
             words.needs();
    case Verdict::schedule_has_no_chunks: return "vpp " + number(broke) + " on a schedule that chooses its own chunks";
    case Verdict::out_of_memory:
      return "does not fit: needs " + format(Bytes{broke}) + " of " + format(Bytes{limit}) + " per GPU";
    case Verdict::may_not_fit:
      return "may not fit: up to " + format(Bytes{broke}) + " of " + format(Bytes{limit}) + " per GPU";
    case Verdict::host_memory_too_small:
      return "does not fit: offloading needs " + format(Bytes{broke}) + " of host memory per node, which has " +
             format(Bytes{limit});
    case Verdict::kv_cache_too_small:
      return "the weights fit, but not one sequence: its KV cache takes " + format(Bytes{broke}) + ", and " +
             format(Bytes{limit}) + " per GPU are left for it";
    case Verdict::kv_cache_uncertain:
      return "may not fit: the KV pool is " + format(Bytes{limit}) + ", one sequence " + format(Bytes{broke}) +
             " per GPU, and the pool is less sure than that";
    case Verdict::misses_target: return "misses the target: " + number(broke) + " against " + number(limit);
    case Verdict::count: break;
  }
  return "unknown";
}

std::string what_binds(const Breakdown& time) {
  const Seconds step = time.total();
  std::array<std::pair<double, std::string_view>, term_count> shares{};
  for (std::size_t i = 0; i < term_count; ++i) {
    if (i == static_cast<std::size_t>(Term::measured_level)) {
      continue;  // the measured level scales all terms alike, so nobody can act on it
    }
    shares[i] = {time.exposed[i] / step, term_names[i]};
  }
  std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < 3 && shares[i].first > 0.005; ++i) {
    parts.push_back(std::string{shares[i].second} + " " + percent(shares[i].first, 2));
  }
  return joined(parts);
}

Problem problem_of(const Legality& rule, std::optional<Schedule> schedule) {
  return {rule.verdict, verdict_text(rule.verdict, rule.broke, rule.limit, schedule),
          way_out(rule, ScheduleWords{schedule})};
}

}  // namespace headroom
