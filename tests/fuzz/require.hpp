// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace headroom::fuzz {

/// What holds of everything that is read.
inline void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

/// Bytes as a choice of `count` and a text: the first byte chooses.
struct Chosen {
  std::size_t which = 0;
  std::string text;

  Chosen(const std::uint8_t* data, std::size_t size, std::size_t count)
      : which{size == 0 ? 0 : data[0] % count},
        text{size == 0 ? std::string{} : std::string{reinterpret_cast<const char*>(data) + 1, size - 1}} {}
};

}  // namespace headroom::fuzz
