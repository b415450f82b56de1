// SPDX-License-Identifier: Apache-2.0
// The mean of fitted curves over the SKUs that measured them: the prior of a SKU that nobody measured.
#pragma once

#include <headroom/model/kernels/curve_library.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace headroom {

/// Means of curves of the same engine, format, kernel and routing, parameter by parameter in the logarithm. SKUs of one
/// generation share their silicon, so that each generation counts once: it gives the mean of its SKUs.
template <std::size_t N>
class CurveMean {
 public:
  /// `curve` of a SKU of `generation`.
  void add(const std::string& generation, const FittedCurve<N>& curve) {
    Group& group = group_of(curve.provenance);
    const auto found = std::find_if(group.generations.begin(), group.generations.end(),
                                    [&](const Generation& g) { return g.name == generation; });
    Generation& own = found != group.generations.end() ? *found : group.generations.emplace_back();
    own.name = generation;
    own.skus += 1.0;
    group.skus += 1;
    group.provenance.rows += curve.provenance.rows;
    for (std::size_t i = 0; i < N; ++i) {
      own.logarithms[i] += std::log(curve.values[i]);
    }
  }

  /// In the order in which their engines and formats were first added.
  [[nodiscard]] std::vector<FittedCurve<N>> means() const {
    std::vector<FittedCurve<N>> means;
    for (const Group& group : groups_) {
      FittedCurve<N>& mean = means.emplace_back();
      mean.provenance = group.provenance;
      mean.provenance.sku = std::to_string(group.skus) + (group.skus == 1 ? " SKU of " : " SKUs of ") +
                            std::to_string(group.generations.size()) +
                            (group.generations.size() == 1 ? " generation" : " generations");
      for (std::size_t i = 0; i < N; ++i) {
        double sum = 0.0;
        for (const Generation& g : group.generations) {
          sum += g.logarithms[i] / g.skus;
        }
        mean.values[i] = std::exp(sum / static_cast<double>(group.generations.size()));
      }
    }
    return means;
  }

 private:
  struct Generation {
    std::string name;
    double skus = 0.0;
    std::array<double, N> logarithms{};  ///< of its SKUs, summed
  };
  struct Group {
    CurveProvenance provenance;
    std::int64_t skus = 0;
    std::vector<Generation> generations;
  };

  Group& group_of(const CurveProvenance& p) {
    const auto found = std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) {
      const CurveProvenance& o = g.provenance;
      return o.engine == p.engine && o.format == p.format && o.kernel == p.kernel && o.routing == p.routing;
    });
    if (found != groups_.end()) {
      return *found;
    }
    Group& group = groups_.emplace_back();
    group.provenance.engine = p.engine;
    group.provenance.version = "mean of the";
    group.provenance.format = p.format;
    group.provenance.kernel = p.kernel;
    group.provenance.routing = p.routing;
    group.provenance.source = "mean of the measured generations";
    return group;
  }

  std::vector<Group> groups_;
};

}  // namespace headroom
