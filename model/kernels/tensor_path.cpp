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

int row_halvings(const GemmShape& shape, const GemmFormat& format) noexcept {
  constexpr int widest_alignment = 8;  // elements of 16 bytes that products off it run with at all
  if (!tensor_path(shape, format).tensor || format.alignment > widest_alignment) {
    return 0;
  }
  int halvings = 0;
  for (int elements = format.alignment;
       elements > 1 && (std::fmod(shape.n, elements) != 0.0 || std::fmod(shape.k, elements) != 0.0); elements /= 2) {
    ++halvings;
  }
  return halvings;
}

UnalignedTiles unaligned_tiles(const GemmShape& shape, const GemmFormat& format) noexcept {
  constexpr double least = 1.48;
  constexpr double median = 5.54;
  constexpr double most = 6.91;
  const int halvings = row_halvings(shape, format);
  UnalignedTiles tiles;
  tiles.bytes = 16 >> halvings;
  const double steps = static_cast<double>(halvings) / most_row_halvings;
  tiles.low = std::pow(least, steps);
  tiles.mid = std::pow(median, steps);
  tiles.high = std::pow(most, steps);
  return tiles;
}

}  // namespace headroom
