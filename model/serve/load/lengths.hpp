// SPDX-License-Identifier: Apache-2.0
// Distributions of the lengths of prompts and answers.
#pragma once

#include <headroom/model/serve/time/random_stream.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// All equal; uniform around the mean; lognormal or exponential with the mean.
enum class LengthShape : std::uint8_t { fixed, uniform, lognormal, exponential };

/// A distribution of whole numbers of tokens in [1, most]. Draws are rounded to the nearest, so the mean is kept if the
/// limits are far away.
struct LengthLaw {
  LengthShape shape = LengthShape::fixed;
  double mean = 1.0;
  double low = 1.0;  ///< uniform: lengths in [low, 2 - low] x mean; 0 to 1
  double cv = 0.0;   ///< lognormal: standard deviation over mean
  std::int64_t most = 1 << 20;
};

/// Every problem of the law called `name`, with its value and the way out.
[[nodiscard]] std::vector<std::string> problems(const LengthLaw& law, std::string_view name);

/// Standard deviation over mean, the limit at `most` aside.
[[nodiscard]] double cv_of(const LengthLaw& law) noexcept;

/// About the longest of `draws` lengths: the quantile 1 - 1 / draws.
[[nodiscard]] double longest_of(const LengthLaw& law, double draws) noexcept;

/// Draws one length. Precondition: problems() is empty.
[[nodiscard]] std::int32_t draw(const LengthLaw& law, RandomStream& random) noexcept;

}  // namespace headroom
