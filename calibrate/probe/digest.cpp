// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/probe/digest.hpp>

#include <array>
#include <cstdint>
#include <cstdio>

namespace headroom {

std::string digest(std::string_view text) {
  std::uint64_t sum = 14695981039346656037ULL;
  for (const char c : text) {
    sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  std::array<char, 24> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(sum));
  return digits.data();
}

}  // namespace headroom
