// SPDX-License-Identifier: Apache-2.0
// How long requests and answers are.
#pragma once

#include <headroom/model/serve/time/random_stream.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// All equal; uniform from a share of the mean on; lognormal or exponential around it.
enum class LengthShape : std::uint8_t { fixed, uniform, lognormal, exponential };

/// A distribution of whole numbers of tokens, at least 1 and at most `most`. Rounding to the nearest, so that the mean
/// is kept where the limits are far.
struct LengthLaw {
  LengthShape shape = LengthShape::fixed;
  double mean = 1.0;
  double low = 1.0;  ///< uniform: lengths from low x mean to (2 - low) x mean; 0 to 1
  double cv = 0.0;   ///< lognormal: standard deviation over mean
  std::int64_t most = 1 << 20;
};

/// What is wrong with the law of `name`, each with its value and the way out.
[[nodiscard]] std::vector<std::string> problems(const LengthLaw& law, std::string_view name);

/// One length. Precondition: no problems().
[[nodiscard]] std::int32_t draw(const LengthLaw& law, RandomStream& random) noexcept;

}  // namespace headroom
