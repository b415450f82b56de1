// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/load/prompt_prefixes.hpp>

#include <algorithm>
#include <limits>

namespace headroom {

std::int64_t PromptPrefixes::whole_tokens(std::size_t request,
                                          std::size_t ids,
                                          std::int64_t block_tokens) const noexcept {
  return ids == 0 ? 0 : end_of(of(request)[ids - 1], ids - 1) / block_tokens * block_tokens;
}

std::vector<std::int32_t> PromptPrefixes::blocks(std::int64_t block_tokens) const {
  std::vector<std::int32_t> each;
  each.reserve(tokens.size());
  for (const Tokens& one : tokens) {
    each.push_back(static_cast<std::int32_t>(one.end / block_tokens - one.begin / block_tokens));
  }
  return each;
}

PromptPrefixes PromptPrefixes::of_first(std::size_t requests) const {
  if (empty() || count.empty()) {
    return empty() ? PromptPrefixes{} : repeated(1, requests);
  }
  PromptPrefixes some;
  some.id_tokens = id_tokens;
  some.first = {first.begin(), first.begin() + static_cast<std::ptrdiff_t>(std::min(first.size(), requests))};
  some.count = {count.begin(), count.begin() + static_cast<std::ptrdiff_t>(some.first.size())};
  some.answer = {answer.begin(), answer.begin() + static_cast<std::ptrdiff_t>(some.first.size())};
  // Caches have memory for each distinct id, so that only those stay that a request of these still has.
  std::vector<std::uint32_t> numbers(distinct, none);
  const auto number = [&](std::uint32_t id) {
    if (numbers[id] == none) {
      numbers[id] = static_cast<std::uint32_t>(some.tokens.size());
      some.tokens.push_back(tokens[id]);
    }
    return numbers[id];
  };
  std::vector<std::uint32_t> length(ids.size() + 1, 0);  // of the list that starts there
  for (std::size_t i = 0; i < some.first.size(); ++i) {
    length[first[i]] = std::max(length[first[i]], count[i]);
  }
  std::vector<std::uint32_t> start(ids.size() + 1, 0);
  for (std::size_t at = 0; at < ids.size(); ++at) {
    start[at] = static_cast<std::uint32_t>(some.ids.size());
    for (std::size_t i = at; i < at + length[at]; ++i) {
      some.ids.push_back(number(ids[i]));
    }
  }
  for (std::size_t i = 0; i < some.first.size(); ++i) {
    some.first[i] = count[i] > 0 ? start[first[i]] : 0;
    some.answer[i] = answer[i] == none ? none : number(answer[i]);
  }
  some.distinct = static_cast<std::uint32_t>(some.tokens.size());
  return some;
}

PromptPrefixes PromptPrefixes::repeated(std::int64_t times, std::size_t count) const {
  PromptPrefixes all;
  all.id_tokens = id_tokens;
  all.first.push_back(0);
  const std::size_t size = first.empty() ? 0 : first.size() - 1;
  for (std::int64_t copy = 0; copy < times; ++copy) {
    for (std::size_t i = 0; i < size && all.first.size() <= count; ++i) {
      for (const std::uint32_t id : of(i)) {
        all.ids.push_back(id + static_cast<std::uint32_t>(copy) * distinct);
      }
      all.first.push_back(static_cast<std::uint32_t>(all.ids.size()));
    }
  }
  all.distinct = static_cast<std::uint32_t>(times) * distinct;
  return all;
}

void PrefixNumbering::add(std::int64_t prompt_tokens, std::span<const std::int64_t> hashes) {
  const auto whole = std::min(hashes.size(), static_cast<std::size_t>(prompt_tokens / id_tokens_));
  std::int64_t before = -1;
  for (const std::int64_t hash : hashes.first(whole)) {
    const auto [found, fresh] = met_.try_emplace(hash, Met{static_cast<std::uint32_t>(uses_.size()), before});
    if (fresh) {
      uses_.push_back(0);
    } else if (found->second.before != before) {
      break;
    }
    const std::uint32_t number = found->second.number;
    ++uses_[number];
    ids_.push_back(number);
    before = number;
  }
  first_.push_back(static_cast<std::uint32_t>(ids_.size()));
}

PromptPrefixes PrefixNumbering::take() const {
  constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  PromptPrefixes prefixes;
  prefixes.id_tokens = id_tokens_;
  std::vector<std::uint32_t> numbers(uses_.size(), none);
  for (std::size_t i = 0; i < uses_.size(); ++i) {
    numbers[i] = uses_[i] > 1 ? prefixes.distinct++ : none;
  }
  prefixes.first.reserve(first_.size());
  prefixes.first.push_back(0);
  for (std::size_t request = 0; request + 1 < first_.size(); ++request) {
    // After an id that only one request has, all its ids are its own.
    for (std::size_t i = first_[request]; i < first_[request + 1] && numbers[ids_[i]] != none; ++i) {
      prefixes.ids.push_back(numbers[ids_[i]]);
    }
    prefixes.first.push_back(static_cast<std::uint32_t>(prefixes.ids.size()));
  }
  return prefixes;
}

}  // namespace headroom
