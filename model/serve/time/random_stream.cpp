// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/time/random_stream.hpp>

#include <bit>
#include <cmath>

namespace headroom {

RandomStream::RandomStream(std::uint64_t seed, std::uint64_t stream) noexcept {
  std::uint64_t x = scatter(seed) ^ scatter(~stream);
  for (std::uint64_t& word : state_) {
    word = scatter(x);
    x += 0x9e3779b97f4a7c15ULL;
  }
}

std::uint64_t RandomStream::bits() noexcept {
  auto& s = state_;
  const std::uint64_t result = std::rotl(s[0] + s[3], 23) + s[0];
  const std::uint64_t t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = std::rotl(s[3], 45);
  return result;
}

std::int64_t RandomStream::below(std::int64_t count) noexcept {
  // Counts are far below 2^53, so that every value occurs; the bias is below count / 2^53.
  return static_cast<std::int64_t>(uniform() * static_cast<double>(count));
}

double RandomStream::exponential() noexcept {
  return -std::log1p(-uniform());
}

double RandomStream::normal() noexcept {
  for (;;) {
    const double x = 2.0 * uniform() - 1.0;
    const double y = 2.0 * uniform() - 1.0;
    const double r = x * x + y * y;
    if (r > 0.0 && r < 1.0) {
      return x * std::sqrt(-2.0 * std::log(r) / r);
    }
  }
}

double RandomStream::gamma(double shape) noexcept {
  if (shape < 1.0) {
    return gamma(shape + 1.0) * std::pow(1.0 - uniform(), 1.0 / shape);
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = normal();
    const double root = 1.0 + c * x;
    if (root <= 0.0) {
      continue;
    }
    const double v = root * root * root;
    if (std::log1p(-uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) {
      return d * v;
    }
  }
}

}  // namespace headroom
