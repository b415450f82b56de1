// SPDX-License-Identifier: Apache-2.0
// FNV-1a against values that its authors publish (test_fnv.c of their reference implementation).
#include <headroom/core/fingerprint.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string_view>

using namespace headroom;

TEST_CASE("a fingerprint is that of FNV-1a, and of two pieces that of the whole") {
  const auto of = [](std::string_view text, std::uint64_t so_far = empty_fingerprint) {
    return fingerprint(so_far, text.data(), text.size());
  };
  CHECK(of("") == 0xcbf29ce484222325);
  CHECK(of("a") == 0xaf63dc4c8601ec8c);
  CHECK(of("foobar") == 0x85944171f73967e8);
  CHECK(of("bar", of("foo")) == of("foobar"));
}
