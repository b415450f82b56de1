// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/collectives/moe_all_to_all.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

constexpr CurveUnit share_unit = CurveUnit::share;
constexpr CurveUnit time_unit = CurveUnit::seconds;

constexpr std::array<CurveParameter, moe_exchange_parameter_count> table{{
    {"launch", time_unit, 12e-6, 1.0, 1e-6, 100e-6},
    {"hop", time_unit, 3e-6, 1.0, 0.01e-6, 100e-6},
    {"expert", time_unit, 0.015e-6, 1.0, 0.0001e-6, 1e-6},
    {"token", time_unit, 0.005e-6, 1.5, 0.00001e-6, 1e-6},
    {"share", share_unit, 0.6, 0.5, 0.01, 1.0},
    {"worker", share_unit, 3.0, 1.5, 0.01, 1000.0},
    {"own", share_unit, 1.0, 1.0, 0.001, 100.0},
    {"head", CurveUnit::bytes, 1024.0, 1.5, 1.0, 1e6},
    {"pace", time_unit, 0.5e-9, 1.5, 1e-13, 1e-7},
    {"net_share", share_unit, 0.92, 0.2, 0.01, 1.0},
    {"wide", share_unit, 0.5, 1.0, 0.01, 3.0},
}};

/// Whether all of a group's experts lie on whole parts, or all of a part's in whole groups.
bool whole_groups(std::int64_t parts, const ExpertGroups& groups) noexcept {
  const bool some = groups.all > 1 && groups.chosen > 0 && groups.chosen < groups.all && parts > 0;
  return some && (parts <= groups.all ? groups.all % parts : parts % groups.all) == 0;
}

/// The groups as they lie on the hosts: a load balancer keeps them together only where the hosts divide them
/// (deepseek-ai/EPLB, README: hierarchical there, else global).
ExpertGroups kept_groups(const MoeExchange& exchange, std::int64_t hosts) noexcept {
  const bool dealt = exchange.places == ExpertPlaces::balanced && (hosts == 1 || exchange.groups.all % hosts != 0);
  return dealt ? ExpertGroups{} : exchange.groups;
}

/// n over k.
double choose(std::int64_t n, std::int64_t k) noexcept {
  double ways = k >= 0 && k <= n ? 1.0 : 0.0;
  for (std::int64_t i = 0; i < k && ways > 0.0; ++i) {
    ways *= static_cast<double>(n - i) / static_cast<double>(i + 1);
  }
  return ways;
}

constexpr double fp8_scaled = 1.0 + 4.0 / 128.0;   ///< a 4-byte scale per 128 elements
constexpr double nvfp4_scaled = 0.5 + 1.0 / 16.0;  ///< a 1-byte scale per 16 elements

// TensorRT-LLM's combine returns rows in 16 bit for any format of the experts; its low-precision variant in 4 bit.
// clang-format off
constexpr std::array transports{
    MoeTransport{"deepep_normal_dispatch", fp8_scaled, true, MoeWorkers::sms, true},
    MoeTransport{"deepep_normal_combine", 2.0, true, MoeWorkers::sms, true},
    MoeTransport{"deepep_ll_dispatch", fp8_scaled, false, MoeWorkers::experts, true},
    MoeTransport{"deepep_ll_combine", 2.0, false, MoeWorkers::experts, true},
    MoeTransport{"alltoall_dispatch_NVLinkOneSided_nvfp4", nvfp4_scaled, true, MoeWorkers::none, true},
    MoeTransport{"alltoall_combine_NVLinkOneSided_nvfp4", 2.0, true, MoeWorkers::none, true},
    MoeTransport{"alltoall_prepare_NVLinkTwoSided_bfloat16", 0.0, true, MoeWorkers::none, false},
    MoeTransport{"alltoall_prepare_NVLinkTwoSided_fp8", 0.0, true, MoeWorkers::none, false},
    MoeTransport{"alltoall_prepare_NVLinkTwoSided_nvfp4", 0.0, true, MoeWorkers::none, false},
    MoeTransport{"alltoall_dispatch_NVLinkTwoSided_bfloat16", 2.0, true, MoeWorkers::none, true},
    MoeTransport{"alltoall_dispatch_NVLinkTwoSided_fp8", 1.0, true, MoeWorkers::none, true},
    MoeTransport{"alltoall_dispatch_NVLinkTwoSided_nvfp4", nvfp4_scaled, true, MoeWorkers::none, true},
    MoeTransport{"alltoall_combine_NVLinkTwoSided_bfloat16", 2.0, true, MoeWorkers::none, true},
    MoeTransport{"alltoall_combine_NVLinkTwoSided_fp8", 2.0, true, MoeWorkers::none, true},
    MoeTransport{"alltoall_combine_NVLinkTwoSided_nvfp4", 2.0, true, MoeWorkers::none, true},
    MoeTransport{"alltoall_combine_low_precision_NVLinkTwoSided_nvfp4", nvfp4_scaled, true, MoeWorkers::none, true},
};
// clang-format on

}  // namespace

std::span<const MoeTransport> moe_transports() noexcept {
  return transports;
}

const MoeTransport* find_moe_transport(std::string_view name) noexcept {
  const auto* const found =
      std::find_if(transports.begin(), transports.end(), [&](const MoeTransport& t) { return t.name == name; });
  return found == transports.end() ? nullptr : found;
}

const std::array<CurveParameter, moe_exchange_parameter_count>& moe_exchange_parameters() noexcept {
  return table;
}

double ranks_reached(double ranks, double topk) noexcept {
  return ranks * (1.0 - std::pow(1.0 - 1.0 / ranks, topk));
}

double ranks_reached(std::int64_t parts, std::int64_t each, double topk, const ExpertGroups& groups) noexcept {
  const auto inside = static_cast<double>(each);
  const double n = static_cast<double>(parts) * inside;
  if (!whole_groups(parts, groups)) {
    return ranks_reached(n, topk);
  }
  const auto chosen = static_cast<double>(groups.chosen);
  if (parts > groups.all) {
    return ranks_reached(chosen * static_cast<double>(parts / groups.all) * inside, topk);
  }
  const std::int64_t here = groups.all / parts;
  double missed = 0.0;
  for (std::int64_t j = 0; j <= std::min(here, groups.chosen); ++j) {
    const double share =
        choose(here, j) * choose(groups.all - here, groups.chosen - j) / choose(groups.all, groups.chosen);
    missed += share * std::pow(1.0 - static_cast<double>(j) / (chosen * inside), topk);
  }
  return n * (1.0 - missed);
}

double ranks_reached(const MoeExchange& exchange, const GroupView& view) noexcept {
  const std::int64_t hosts = std::max<std::int64_t>(view.domains, 1);
  const bool spread = exchange.places == ExpertPlaces::balanced && view.ranks % hosts == 0;
  const std::int64_t parts = spread ? hosts : view.ranks;
  return ranks_reached(parts, view.ranks / parts, exchange.topk, kept_groups(exchange, hosts));
}

double MoeExchangeModel::copies(const MoeExchange& exchange, const GroupView& view) const noexcept {
  return transport_.once_a_rank ? ranks_reached(exchange, view) : exchange.topk;
}

Bytes MoeExchangeModel::sent(const MoeExchange& exchange, const GroupView& view) const noexcept {
  const auto n = static_cast<double>(view.ranks);
  if (n <= 1.0 || !transport_.rows) {
    return {};
  }
  return Bytes{exchange.tokens * copies(exchange, view) * (n - 1.0) / n * exchange.hidden * transport_.element};
}

Seconds MoeExchangeModel::time(const MoeExchange& exchange, const GroupView& view) const noexcept {
  const auto p = [&](MoeExchangeParameter parameter) { return curve_[static_cast<std::size_t>(parameter)]; };
  const auto n = static_cast<double>(view.ranks);
  const auto k = static_cast<double>(std::max<std::int64_t>(view.domains, 1));
  if (n <= 1.0) {
    return {};
  }
  const double row = transport_.rows ? exchange.hidden * transport_.element : 0.0;
  const double inside = view.inside_all.raw();
  const double link = sent(exchange, view).raw() / (p(MoeExchangeParameter::share) * inside);
  double workers = 0.0;
  if (transport_.workers != MoeWorkers::none) {
    const double count = transport_.workers == MoeWorkers::experts ? std::min(exchange.experts, units_)
                         : exchange.sms > 0.0                      ? exchange.sms
                                                                   : units_;
    workers = exchange.tokens * (copies(exchange, view) + p(MoeExchangeParameter::own)) *
              (row + p(MoeExchangeParameter::head)) / (count * p(MoeExchangeParameter::worker) * 0.01 * inside);
  }
  double network = 0.0;
  if (k > 1.0) {
    const double reached = transport_.once_a_rank
                               ? ranks_reached(view.domains, 1, exchange.topk, kept_groups(exchange, view.domains))
                               : exchange.topk;
    const double crowding = transport_.once_a_rank && exchange.crowded
                                ? std::pow(std::max(1.0, k / 4.0), p(MoeExchangeParameter::wide))
                                : 1.0;
    network = exchange.tokens * reached * (k - 1.0) / k * row * crowding /
              (p(MoeExchangeParameter::net_share) * view.outside_all.raw());
  }
  const double doublings = transport_.workers == MoeWorkers::none ? std::log2(n) : std::log2(k);
  return Seconds{p(MoeExchangeParameter::launch) + p(MoeExchangeParameter::hop) * doublings +
                 p(MoeExchangeParameter::expert) * exchange.experts + p(MoeExchangeParameter::token) * exchange.tokens +
                 p(MoeExchangeParameter::pace) * row + norm4(link, workers, network)};
}

}  // namespace headroom
