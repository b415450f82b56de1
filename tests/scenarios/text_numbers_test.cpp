// SPDX-License-Identifier: Apache-2.0
// Texts of which little is kept.
#include <headroom/scenarios/validation/text_numbers.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace headroom;

TEST_CASE("texts have numbers in the order of their first mention, and mentions are counted") {
  TextNumbers numbers;
  const auto check = [&](std::string_view text, std::uint32_t number, std::uint32_t times) {
    CAPTURE(text);
    const TextNumbers::Mention mention = numbers.mention(text);
    CHECK(mention.number == number);
    CHECK(mention.times == times);
  };
  check("a", 0, 1);
  check("", 1, 1);
  check("b", 2, 1);
  check("a", 0, 2);
  check(std::string(1, '\0'), 3, 1);
  check("", 1, 2);
  check("a", 0, 3);
  CHECK(numbers.times(0) == 3);
  CHECK(numbers.times(1) == 2);
  CHECK(numbers.times(2) == 1);
}

TEST_CASE("texts that differ little are told apart, however many they are") {
  TextNumbers numbers;
  constexpr std::uint32_t texts = 50'000;
  std::uint32_t wrong = 0;
  for (const std::uint32_t times : {1U, 2U}) {
    for (std::uint32_t i = 0; i < texts; ++i) {
      const TextNumbers::Mention mention = numbers.mention(std::to_string(i));
      wrong += mention.number == i && mention.times == times ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("kept texts stay where they are") {
  KeptTexts texts;
  std::vector<std::string_view> kept;
  for (int i = 0; i < 1'000; ++i) {
    kept.push_back(texts.keep(std::string(static_cast<std::size_t>(i), 'x') + std::to_string(i)));
  }
  CHECK(texts.keep("").empty());
  for (int i = 0; i < 1'000; ++i) {
    CHECK(kept[static_cast<std::size_t>(i)] == std::string(static_cast<std::size_t>(i), 'x') + std::to_string(i));
  }
}
