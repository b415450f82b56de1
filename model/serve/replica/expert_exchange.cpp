// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/collectives/collective_library.hpp>
#include <headroom/model/serve/replica/expert_exchange.hpp>

#include <utility>

namespace headroom {
namespace {

std::string filled(std::string name, Precision activations) {
  const std::size_t at = name.find("{}");
  return at == std::string::npos ? name : name.replace(at, 2, exchange_spelling(activations));
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
  const AllToAllRule* const found =
      rule_of(rules, {view.ranks, view.domains > 1, device.scale_up.domain, layer.top_k, layer.activations});
  if (found == nullptr) {
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
  const MoeExchange exchange{layer_.hidden, tokens.own,    layer_.top_k,  layer_.experts,
                             rule_->sms,    layer_.groups, layer_.places, false};
  if (kernels.models.empty()) {
    const double rows = tokens.own * ranks_reached(exchange, view_) * row;
    return time(Collective::all_to_all, layer_.sent * rows) + time(Collective::all_to_all, 2.0 * rows);
  }
  double sum = 0.0;
  for (const MoeExchangeModel& kernel : kernels.models) {
    sum += kernel.time(exchange, view_).raw();
  }
  return sum;
}

}  // namespace headroom
