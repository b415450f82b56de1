// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/kernels/tensor_path.hpp>

#include <cmath>

namespace headroom {

TensorPath tensor_path(const GemmShape& shape, const GemmFormat& format) noexcept {
  const double step = format.alignment;
  const auto up = [step](double size) { return std::ceil(size / step) * step; };
  TensorPath path;
  path.tensor = format.rate != Rate::fp32_vector && format.rate != Rate::fp64_vector;
  path.padded = {shape.m, up(shape.n), up(shape.k)};
  const GemmShape& p = path.padded;
  path.aligned = p.n == shape.n && p.k == shape.k;
  path.work = p.n / shape.n * (p.k / shape.k);
  return path;
}

}  // namespace headroom
