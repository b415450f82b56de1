// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/measured/row_options.hpp>
#include <headroom/scenarios/measured/training_cells.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace headroom {
namespace {

/// The word's place among `names`, or nothing.
template <class Word, std::size_t N>
std::optional<Word> option_word(const RunConfiguration& run,
                                std::string_view key,
                                const std::array<std::string_view, N>& names) {
  const auto* const found = std::find(names.begin(), names.end(), option(run, key));
  return found == names.end() ? std::nullopt : std::optional{static_cast<Word>(found - names.begin())};
}

/// A number above zero; else 0.
double option_number(const RunConfiguration& run, std::string_view key) {
  const std::string_view text = option(run, key);
  const double number = whole_real(text).value_or(0.0);
  return number > 0.0 && number < 1e6 ? number : 0.0;
}

/// Token dropping as published tables name it: capacity 1, padded (Megatron-Bridge, moe_token_drop.py).
bool drops_tokens(const RunConfiguration& run) {
  return run.model.find("(tokendrop)") != std::string::npos;
}

}  // namespace

std::string_view option(const RunConfiguration& run, std::string_view key) {
  const auto found = run.options.find(key);
  return found == run.options.end() ? std::string_view{} : std::string_view{found->second};
}

std::optional<std::int64_t> option_count(const RunConfiguration& run, std::string_view key) {
  const std::string_view text = option(run, key);
  std::int64_t number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = !text.empty() && status == std::errc{} && end == text.data() + text.size();
  return whole && number > 0 && number < 1'000'000 ? std::optional{number} : std::nullopt;
}

std::optional<Watts> power_cap_of(const RunConfiguration& run) {
  const double watts = option_number(run, "power_cap_w");
  return watts > 0.0 ? std::optional{Watts{watts}} : std::nullopt;
}

std::optional<OwnKernels> own_kernels_of(const RunConfiguration& run) {
  const double products = option_number(run, "own_products");
  const double attention = option_number(run, "own_attention");
  if (products <= 0.0 && attention <= 0.0) {
    return std::nullopt;
  }
  OwnKernels own;
  own.products = products > 0.0 ? products : 1.0;
  own.attention = attention > 0.0 ? attention : own.products;  // at the clock of the products
  return own;
}

StepParameters with_own_kernels(StepParameters parameters, const Device& sku, const OwnKernels& own) {
  const auto scale = [&](std::string_view key, double factor) {
    for (const std::string_view id :
         {std::string_view{sku.id}, std::string_view{sku.generation}, std::string_view{"any"}}) {
      const auto found = parameters.levels.stated().find(id);
      if (found == parameters.levels.stated().end()) {
        continue;
      }
      if (const std::optional<double> number = step_number(found->second, key)) {
        parameters.levels.set(id, key, *number * factor);
        return;
      }
    }
  };
  scale("products_16_bit", own.products);
  scale("attention", own.products / own.attention);  // a rate relative to the products'
  return parameters;
}

JobPlace job_place_of(const RunConfiguration& run, double blank, std::int64_t hidden) {
  const auto axis = [](std::optional<std::int64_t> cell) {
    return std::log(static_cast<double>(std::max<std::int64_t>(1, cell.value_or(1))));
  };
  JobPlace place;
  place.axes = {axis(run.hidden ? run.hidden : std::optional{hidden}),
                axis(run.seq_len),
                axis(run.tp),
                axis(run.pp),
                axis(run.cp),
                axis(run.micro_batch),
                axis(run.gpus)};
  place.recipe = static_cast<int>(training_precision(run.precision).value_or(Precision::bf16));
  place.blank = blank;
  return place;
}

ExpertTraffic expert_traffic_of(const RunConfiguration& run) {
  ExpertTraffic experts;
  experts.narrow_dispatch = option(run, "dispatch") == "fp8";
  experts.domains = option_count(run, "dispatch_domains").value_or(0);
  experts.units = option_count(run, "dispatch_sms").value_or(0);
  experts.dispatcher = option_word<ExpertDispatcher>(run, "moe_dispatcher", expert_dispatcher_names);
  experts.capacity = option_number(run, "moe_capacity_factor");
  experts.rank_capacity = option_number(run, "moe_rank_capacity");
  experts.paged = option(run, "paged_stash") == "1";
  // What a name alone says fixes shapes too, and leaves it to the recipe whether graphs hold them.
  const bool fixed = experts.capacity > 0.0 || experts.rank_capacity > 0.0;
  if (drops_tokens(run) && experts.capacity <= 0.0) {
    experts.capacity = 1.0;
  }
  const std::string_view graphs = option(run, "cuda_graphs");
  if (graphs == "1" && (fixed || option(run, "optimizer_in_graph") == "1")) {
    experts.launch = ExpertLaunch::full_graphs;
  } else if (fixed) {
    experts.launch = ExpertLaunch::static_shapes;
  } else if (graphs == "0") {
    experts.launch = ExpertLaunch::eager;
  }
  if (option(run, "moe_ep_overlap") == "1") {
    experts.delays_weight_gradients = option(run, "delay_wgrad") == "1";
  }
  return experts;
}

std::string without_remark(const std::string& model) {
  const std::size_t bracket = model.find(" (");
  return bracket == std::string::npos || model.back() != ')' ? model : model.substr(0, bracket);
}

std::int64_t prediction_modules(const RunConfiguration& run, const ExpertHabits& recipe, const Architecture* preset) {
  if (const auto stated = option_count(run, "mtp_layers")) {
    return *stated;
  }
  const std::string_view said = option(run, "mtp");
  if (!said.empty()) {
    return said == "1" ? 1 : 0;
  }
  const bool without = run.model.find("(w/o MTP)") != std::string::npos;
  const bool with = run.model.find("(w/ MTP)") != std::string::npos;
  return without || (!with && !recipe.predicts) ? 0 : preset == nullptr ? (with ? 1 : 0) : preset->mtp_layers;
}

std::uint8_t layers_beside_modules(const Architecture& arch, const Strategy& s) noexcept {
  const std::int64_t chunks = std::int64_t{s.pp} * s.vpp;
  const std::int64_t each = (arch.layers + arch.mtp_layers + 1 + chunks - 1) / chunks;
  const std::int64_t last = arch.layers - each * (chunks - s.vpp);
  return static_cast<std::uint8_t>(last > 0 && last <= each * s.vpp && last < 256 ? last : 0);
}

}  // namespace headroom
