// SPDX-License-Identifier: Apache-2.0
// The little linear algebra that the fits need, over plain vectors: the library behind it is seen by one file.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace headroom {

/// n x n numbers, row by row; zero at first.
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

/// x of A x = b by a pivoted LDL^T. Precondition: A symmetric and semidefinite, b as long as A is wide.
[[nodiscard]] std::vector<double> solve_symmetric(const SquareMatrix& a, std::span<const double> b);

/// A^-1 by the same.
[[nodiscard]] SquareMatrix inverse_symmetric(const SquareMatrix& a);

/// Moore and Penrose's inverse: what the inverse is, and zero along directions that A does not see.
[[nodiscard]] SquareMatrix pseudo_inverse(const SquareMatrix& a);

}  // namespace headroom
