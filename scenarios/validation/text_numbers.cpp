// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/fingerprint.hpp>
#include <headroom/scenarios/validation/text_numbers.hpp>

#include <functional>

namespace headroom {

TextNumbers::Mention TextNumbers::mention(std::string_view text) {
  if (4 * (digests_.size() + 1) > 3 * slots_.size()) {
    grow();
  }
  // Two independent hashes: a collision in one does not make one in the other more likely.
  const Digest digest{std::hash<std::string_view>{}(text), fingerprint(empty_fingerprint, text.data(), text.size())};
  std::uint32_t& place = slots_[slot(digest)];
  if (place == 0) {
    digests_.push_back(digest);
    times_.push_back(0);
    place = static_cast<std::uint32_t>(digests_.size());
  }
  const std::uint32_t number = place - 1;
  return {number, ++times_[number]};
}

std::size_t TextNumbers::slot(const Digest& digest) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = digest.first & mask;
  while (slots_[at] != 0 && digests_[slots_[at] - 1] != digest) {
    at = (at + 1) & mask;
  }
  return at;
}

void TextNumbers::grow() {
  constexpr std::size_t least = 64;
  slots_.assign(std::max(least, 2 * slots_.size()), 0);
  for (std::size_t number = 0; number < digests_.size(); ++number) {
    slots_[slot(digests_[number])] = static_cast<std::uint32_t>(number + 1);
  }
}

}  // namespace headroom
