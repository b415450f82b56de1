// SPDX-License-Identifier: Apache-2.0
// The host's attention, which kernels are checked against: by values that a pencil finds, gradients by differences.
#include <headroom/calibrate/probes/attention_reference.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

using namespace headroom::probes;

namespace {

Rows random_rows(std::int64_t count, std::int64_t width, unsigned seed) {
  std::mt19937 generator{seed};
  std::normal_distribution<float> normal;
  Rows rows;
  rows.width = width;
  for (std::int64_t i = 0; i < count * width; ++i) {
    rows.numbers.push_back(normal(generator));
  }
  return rows;
}

/// Sum over all queries of one head of dout . output, whose gradients are what is to be checked.
double loss(const Rows& q, const Rows& k, const Rows& v, const Rows& dout, bool causal) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < q.count(); ++i) {
    const AttendedRow row = attended(q.at(i), k, v, causal ? i + 1 : k.count());
    for (std::size_t d = 0; d < row.output.size(); ++d) {
      sum += row.output[d] * static_cast<double>(dout.at(i)[d]);
    }
  }
  return sum;
}

/// Central difference in one number.
template <class Loss>
double slope(Rows& rows, std::size_t at, Loss value) {
  constexpr float step = 0.0078125F;  // exact in fp32
  const float before = rows.numbers[at];
  rows.numbers[at] = before + step;
  const double above = value();
  rows.numbers[at] = before - step;
  const double below = value();
  rows.numbers[at] = before;
  return (above - below) / (2.0 * static_cast<double>(step));
}

}  // namespace

TEST_CASE("scores of 0 and log 3 share their values 1 to 3, and keys beyond those seen do not count") {
  const float query[] = {2.0F};  // of width 1, whose scale is 1
  const Rows keys{{0.0F, std::log(3.0F) / 2.0F, 9.0F}, 1};
  const Rows values{{4.0F, 8.0F, 1000.0F}, 1};
  const AttendedRow row = attended(query, keys, values, 2);
  CHECK(row.output[0] == doctest::Approx(0.25 * 4.0 + 0.75 * 8.0).epsilon(1e-6));
  CHECK(row.log_sum == doctest::Approx(std::log(4.0)).epsilon(1e-6));
}

TEST_CASE("gradients of queries, keys and values are the slopes of the loss, causal and not, over a group of heads") {
  constexpr std::int64_t tokens = 7;
  constexpr std::int64_t width = 4;
  for (const bool causal : {false, true}) {
    CAPTURE(causal);
    Rows q0 = random_rows(tokens, width, 1);
    Rows q1 = random_rows(tokens, width, 2);
    Rows k = random_rows(tokens, width, 3);
    Rows v = random_rows(tokens, width, 4);
    const Rows dout0 = random_rows(tokens, width, 5);
    const Rows dout1 = random_rows(tokens, width, 6);
    const auto both = [&] { return loss(q0, k, v, dout0, causal) + loss(q1, k, v, dout1, causal); };
    const auto head = [&](const Rows& q, const Rows& dout) {
      ForwardHead h{q, {{}, width}, dout, {}};
      for (std::int64_t i = 0; i < tokens; ++i) {
        const AttendedRow row = attended(q.at(i), k, v, causal ? i + 1 : tokens);
        h.outputs.numbers.insert(h.outputs.numbers.end(), row.output.begin(), row.output.end());
        h.log_sums.push_back(static_cast<float>(row.log_sum));
      }
      return h;
    };
    constexpr std::int64_t row = 3;
    const std::vector<double> dq = query_gradient(q0.at(row), dout0.at(row), k, v, causal ? row + 1 : tokens);
    const KeyGradients dkv = key_gradients({head(q0, dout0), head(q1, dout1)}, k.at(row), v.at(row), causal ? row : 0);
    for (std::size_t d = 0; d < width; ++d) {
      CAPTURE(d);
      const std::size_t at = static_cast<std::size_t>(row * width) + d;
      CHECK(std::abs(dq[d] - slope(q0, at, both)) < 1e-3);
      CHECK(std::abs(dkv.key[d] - slope(k, at, both)) < 1e-3);
      CHECK(std::abs(dkv.value[d] - slope(v, at, both)) < 1e-3);
    }
  }
}

TEST_CASE("bf16 is read as the upper half of a float, and errors are told relative to the size of a vector") {
  CHECK(from_bf16({0x4049, 0xBF80}) == std::vector<float>{3.140625F, -1.0F});
  CHECK(relative_error({3.0F, 4.0F}, {3.0, 4.0}) == 0.0);
  CHECK(relative_error({0.0F, 0.0F}, {3.0, 4.0}) == doctest::Approx(1.0));
  CHECK(std::isnan(relative_error({std::nanf(""), 4.0F}, {3.0, 4.0})));
  CHECK(std::isnan(relative_error({3.0F}, {3.0, 4.0})));  // a row cut short is no row
}
