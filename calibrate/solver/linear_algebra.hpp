// SPDX-License-Identifier: Apache-2.0
// Linear algebra for the fits over plain vectors, so that only one file includes the library behind it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace headroom {

/// n x n numbers, row by row, initially zero.
class SquareMatrix {
 public:
  SquareMatrix() = default;
  explicit SquareMatrix(std::size_t size) : size_{size}, entries_(size * size, 0.0) {}
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] double& operator()(std::size_t row, std::size_t column) noexcept {
    return entries_[row * size_ + column];
  }
  [[nodiscard]] double operator()(std::size_t row, std::size_t column) const noexcept {
    return entries_[row * size_ + column];
  }
  [[nodiscard]] std::span<double> entries() noexcept { return entries_; }
  [[nodiscard]] std::span<const double> entries() const noexcept { return entries_; }

 private:
  std::size_t size_ = 0;
  std::vector<double> entries_;
};

/// Solves A x = b by a pivoted LDL^T. Precondition: A symmetric and semidefinite, b as long as A is wide.
[[nodiscard]] std::vector<double> solve_symmetric(const SquareMatrix& a, std::span<const double> b);

/// A^-1 by a pivoted LDL^T. Precondition: A symmetric and definite.
[[nodiscard]] SquareMatrix inverse_symmetric(const SquareMatrix& a);

/// Moore-Penrose inverse: the inverse where A has one, and zero along its null space.
[[nodiscard]] SquareMatrix pseudo_inverse(const SquareMatrix& a);

}  // namespace headroom
