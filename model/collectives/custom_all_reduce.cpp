// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/collectives/custom_all_reduce.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

constexpr CurveUnit share_unit = CurveUnit::share;
constexpr CurveUnit time_unit = CurveUnit::seconds;

constexpr std::array<CurveParameter, custom_parameter_count> table{{
    {"launch", time_unit, 4e-6, 1.0, 0.2e-6, 30e-6},
    {"hop", time_unit, 0.15e-6, 1.0, 0.001e-6, 5e-6},
    {"one_shot", share_unit, 0.7, 0.4, 0.02, 4.0},
    {"two_shot", share_unit, 0.8, 0.3, 0.02, 4.0},
    {"barrier", time_unit, 5e-6, 0.5, 0.1e-6, 50e-6},
    {"limit", CurveUnit::bytes, 0x1p21, 0.0, 1.0, 1e12},
    {"limit_fall", share_unit, 1.0, 0.0, 0.1, 1e6},
    {"library_2", share_unit, 1.0, 0.6, 0.2, 4.0},
    {"library_4", share_unit, 1.0, 0.6, 0.2, 4.0},
    {"library_8", share_unit, 1.0, 0.6, 0.2, 4.0},
    {"host", time_unit, 20e-6, 0.7, 1e-6, 200e-6},
    {"host_hop", time_unit, 1e-6, 1.0, 0.01e-6, 50e-6},
}};

}  // namespace

const std::array<CurveParameter, custom_parameter_count>& custom_parameters() noexcept {
  return table;
}

Seconds CustomAllReduceModel::time(Bytes bytes, const GroupView& view) const noexcept {
  const CollectiveTime library = collective_time(Collective::all_reduce, bytes, view, library_, NetworkCurve{});
  return time(bytes, view, library.time);
}

Seconds CustomAllReduceModel::time(Bytes bytes, const GroupView& view, Seconds library) const noexcept {
  const auto p = [&](CustomParameter parameter) { return curve_[static_cast<std::size_t>(parameter)]; };
  const auto n = static_cast<double>(view.ranks);
  if (n <= 1.0) {
    return {};
  }
  const double limit = p(CustomParameter::limit) * std::pow(p(CustomParameter::limit_fall), 1.0 - std::log2(n));
  double kernel = 0.0;
  if (bytes.raw() >= limit) {
    kernel = library.raw() * p(n <= 2.0   ? CustomParameter::library_2
                               : n <= 4.0 ? CustomParameter::library_4
                                          : CustomParameter::library_8);
  } else {
    const double link = ring_rate(library_, library_.all_reduce, view).raw();
    const double start = p(CustomParameter::launch) + (n - 1.0) * p(CustomParameter::hop);
    const double one = start + (n - 1.0) * bytes.raw() / (p(CustomParameter::one_shot) * link);
    const double two =
        start + p(CustomParameter::barrier) + 2.0 * (n - 1.0) / n * bytes.raw() / (p(CustomParameter::two_shot) * link);
    kernel = n <= 2.0 ? one : std::min(one, two);
  }
  if (!eager_) {
    return Seconds{kernel};
  }
  const double host = p(CustomParameter::host) + (std::log2(n) - 1.0) * p(CustomParameter::host_hop);
  return Seconds{norm8(kernel, host)};
}

}  // namespace headroom
