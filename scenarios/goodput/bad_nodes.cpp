// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/scenarios/goodput/bad_nodes.hpp>

#include <cmath>

namespace headroom::goodput {
namespace {

constexpr double seconds_of_day = 86400.0;

/// 1 - (1 - p)^n, exact for small p.
double any_of(double p, double n) noexcept {
  return p >= 1.0 ? (n > 0.0 ? 1.0 : 0.0) : -std::expm1(n * std::log1p(-p));
}

}  // namespace

BadNodes bad_nodes(double of_node, std::int64_t nodes, Seconds run) noexcept {
  BadNodes bad;
  bad.of_node = of_node;
  bad.nodes = nodes;
  bad.of_day = any_of(of_node, real(nodes));
  bad.of_run = any_of(of_node, real(nodes) * run.raw() / seconds_of_day);
  for (std::int64_t left = 1; left < nodes; left *= 2) {
    ++bad.bisect_runs;
  }
  return bad;
}

}  // namespace headroom::goodput
