// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/collectives/collective_library.hpp>
#include <headroom/model/serve/replica/expert_exchange.hpp>

#include <algorithm>
#include <utility>

namespace headroom {
namespace {

/// As the names of measured kernels spell the format of activations.
std::string_view spelling_of(Precision activations) noexcept {
  switch (activations) {
    case Precision::fp8:
    case Precision::mxfp8: return "fp8";
    case Precision::nvfp4: return "nvfp4";
    default: return "bfloat16";
  }
}

std::string filled(std::string name, Precision activations) {
  const std::size_t at = name.find("{}");
  return at == std::string::npos ? name : name.replace(at, 2, spelling_of(activations));
}

bool holds(const AllToAllRule& rule, const GroupView& view, std::int64_t domain, double top_k) noexcept {
  const bool over = (rule.over == ExchangeOver::hosts) == (view.domains > 1);
  return over && domain > rule.domain_above && (!rule.beyond_top_k || real(view.ranks) > top_k);
}

GroupCollectives collectives_of(const ModelData& data, const ChosenCollectives& chosen, const GroupView& view) {
  return {chosen.curves(), find_transport(data, "infiniband").curve, view};
}

}  // namespace

ExpertExchange::ExpertExchange(const ModelData& data,
                               const Device& device,
                               const GroupView& view,
                               std::span<const AllToAllRule> rules,
                               const Layer& layer,
                               const ChosenCollectives& chosen)
    : collectives_{collectives_of(data, chosen, view)}, view_{view}, layer_{layer} {
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const AllToAllRule& rule) {
    return holds(rule, view, device.scale_up.domain, layer.top_k);
  });
  if (found == rules.end()) {
    source_ = "exchange of experts: all-gather of all tokens, reduce-scatter of results; " + chosen.why;
    return;
  }
  rule_ = *found;
  source_ = "exchange of experts: tokens to the ranks of their experts alone";
  decodes_ = kernels(data, device, rule_->decodes, "decodes");
  prompts_ = kernels(data, device, rule_->prompts, "prompts");
  if (decodes_.models.empty() || prompts_.models.empty()) {
    source_ += "; " + chosen.why;
  }
}

/// All of them, or none where one was not measured.
ExpertExchange::Kernels ExpertExchange::kernels(const ModelData& data,
                                                const Device& device,
                                                std::span<const std::string> names,
                                                std::string_view of) {
  Kernels found;
  found.measured = true;
  std::string why;
  for (const std::string& name : names) {
    auto chosen = choose_exchange(data, device, view_, filled(name, layer_.activations));
    if (!chosen) {
      source_ += "; of " + std::string{of} + " as sends, for nobody measured " + filled(name, layer_.activations) +
                 " on " + device.id;
      return {};
    }
    why += (why.empty() ? "; of " + std::string{of} + " by " : ", then ") + chosen->why;
    found.models.push_back(std::move(chosen->model));
    found.measured = found.measured && chosen->measured;
  }
  source_ += why;
  return found;
}

bool ExpertExchange::measured(bool prompts) const noexcept {
  return (prompts ? prompts_ : decodes_).measured;
}

double ExpertExchange::seconds(const ExchangedTokens& tokens) const noexcept {
  const double row = layer_.hidden;
  const auto time = [&](Collective collective, double bytes) {
    return collectives_.time(collective, Bytes{bytes}).time.raw();
  };
  if (!rule_) {
    return time(Collective::all_gather, layer_.sent * tokens.all * row) +
           time(Collective::reduce_scatter, 2.0 * tokens.all * row);
  }
  const Kernels& kernels = tokens.prompts ? prompts_ : decodes_;
  if (kernels.models.empty()) {
    const double rows = tokens.own * ranks_reached(real(view_.ranks), layer_.top_k) * row;
    return time(Collective::all_to_all, layer_.sent * rows) + time(Collective::all_to_all, 2.0 * rows);
  }
  const MoeExchange exchange{layer_.hidden, tokens.own, layer_.top_k, layer_.experts, rule_->sms};
  double sum = 0.0;
  for (const MoeExchangeModel& kernel : kernels.models) {
    sum += kernel.time(exchange, view_).raw();
  }
  return sum;
}

}  // namespace headroom
