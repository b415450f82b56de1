// SPDX-License-Identifier: Apache-2.0
// A library that somebody left in the folder a program is called from. It tells that it was loaded.
#include <cstdio>

namespace {

[[gnu::constructor]] void tell() {
  if (std::FILE* file = std::fopen("loaded", "w")) {
    std::fclose(file);
  }
}

}  // namespace
