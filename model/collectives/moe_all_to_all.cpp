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
    {"net_share", share_unit, 0.92, 0.2, 0.01, 1.0},
    {"wide", share_unit, 0.5, 1.0, 0.01, 3.0},
}};

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

Bytes MoeExchangeModel::sent(const MoeExchange& exchange, const GroupView& view) const noexcept {
  const auto n = static_cast<double>(view.ranks);
  if (n <= 1.0 || !transport_.rows) {
    return {};
  }
  const double copies = transport_.once_a_rank ? ranks_reached(n, exchange.topk) : exchange.topk;
  return Bytes{exchange.tokens * copies * (n - 1.0) / n * exchange.hidden * transport_.element};
}

Seconds MoeExchangeModel::time(const MoeExchange& exchange, const GroupView& view) const noexcept {
  const auto p = [&](MoeExchangeParameter parameter) { return curve_[static_cast<std::size_t>(parameter)]; };
  const auto n = static_cast<double>(view.ranks);
  const auto k = static_cast<double>(std::max<std::int64_t>(view.domains, 1));
  if (n <= 1.0) {
    return {};
  }
  const double row = transport_.rows ? exchange.hidden * transport_.element : 0.0;
  const double copies = transport_.once_a_rank ? ranks_reached(n, exchange.topk) : exchange.topk;
  const double inside = view.inside_all.raw();
  const double link = sent(exchange, view).raw() / (p(MoeExchangeParameter::share) * inside);
  double workers = 0.0;
  if (transport_.workers != MoeWorkers::none) {
    const double count = transport_.workers == MoeWorkers::experts ? std::min(exchange.experts, units_)
                         : exchange.sms > 0.0                      ? exchange.sms
                                                                   : units_;
    workers = exchange.tokens * copies * row / (count * p(MoeExchangeParameter::worker) * 0.01 * inside);
  }
  double network = 0.0;
  if (k > 1.0) {
    const double reached = transport_.once_a_rank ? ranks_reached(k, exchange.topk) : exchange.topk;
    const double crowding =
        transport_.once_a_rank ? std::pow(std::max(1.0, k / 4.0), p(MoeExchangeParameter::wide)) : 1.0;
    network = exchange.tokens * reached * (k - 1.0) / k * row * crowding /
              (p(MoeExchangeParameter::net_share) * view.outside_all.raw());
  }
  const double doublings = transport_.workers == MoeWorkers::none ? std::log2(n) : std::log2(k);
  return Seconds{p(MoeExchangeParameter::launch) + p(MoeExchangeParameter::hop) * doublings +
                 p(MoeExchangeParameter::expert) * exchange.experts + p(MoeExchangeParameter::token) * exchange.tokens +
                 norm4(link, workers, network)};
}

}  // namespace headroom
