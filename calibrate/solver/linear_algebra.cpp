// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/solver/linear_algebra.hpp>

#include <Eigen/Dense>

namespace headroom {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const Rows> view(const SquareMatrix& a) {
  const auto n = static_cast<Eigen::Index>(a.size());
  return {a.entries().data(), n, n};
}

template <class Expression>
SquareMatrix matrix_of(std::size_t size, const Expression& expression) {
  SquareMatrix result{size};
  const auto n = static_cast<Eigen::Index>(size);
  Eigen::Map<Rows>{result.entries().data(), n, n} = expression;
  return result;
}

}  // namespace

std::vector<double> solve_symmetric(const SquareMatrix& a, std::span<const double> b) {
  std::vector<double> x(a.size());
  const auto n = static_cast<Eigen::Index>(a.size());
  Eigen::Map<Eigen::VectorXd>{x.data(), n} = view(a).ldlt().solve(Eigen::Map<const Eigen::VectorXd>{b.data(), n});
  return x;
}

SquareMatrix inverse_symmetric(const SquareMatrix& a) {
  const auto n = static_cast<Eigen::Index>(a.size());
  return matrix_of(a.size(), view(a).ldlt().solve(Eigen::MatrixXd::Identity(n, n)));
}

SquareMatrix pseudo_inverse(const SquareMatrix& a) {
  return matrix_of(a.size(), view(a).completeOrthogonalDecomposition().pseudoInverse());
}

}  // namespace headroom
