// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/facts/run_length.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace headroom {

NumbersByBatch numbers_by_batch(std::string_view text) {
  NumbersByBatch numbers;
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    const std::size_t colon = std::min(entry.find(':'), entry.size());
    const double batch = whole_real(entry.substr(0, colon)).value_or(0.0);
    const double number = whole_real(entry.substr(std::min(entry.size(), colon + 1))).value_or(0.0);
    if (!(batch > 0.0 && number > 0.0)) {
      return {};
    }
    numbers.emplace(batch, number);
  }
  return numbers;
}

double at_batch(const NumbersByBatch& published, double batch) {
  if (published.empty()) {
    return 0.0;
  }
  const auto above = published.lower_bound(batch);
  if (above == published.begin()) {
    return above->second;
  }
  const auto below = std::prev(above);
  if (above == published.end()) {
    return below->second;
  }
  const double share = std::log(batch / below->first) / std::log(above->first / below->first);
  return below->second * std::pow(above->second / below->second, share);
}

double RunLength::steps(double batch, double passes) const noexcept {
  return trained / batch + evaluations * std::ceil(evaluated / batch) / passes;
}

std::optional<RunLength> run_length_of(const std::map<std::string, std::string, std::less<>>& options, double batch) {
  const auto text = [&](std::string_view key) {
    const auto found = options.find(key);
    return found == options.end() ? std::string_view{} : std::string_view{found->second};
  };
  RunLength length;
  length.trained = at_batch(numbers_by_batch(text("samples_to_train")), batch);
  if (length.trained <= 0.0) {
    return std::nullopt;
  }
  const double every = whole_real(text("evaluate_every")).value_or(0.0);
  length.evaluated = std::max(0.0, whole_real(text("evaluation_samples")).value_or(0.0));
  if (every > 0.0) {
    const double skipped = std::floor(at_batch(numbers_by_batch(text("first_evaluations_skipped")), batch));
    length.evaluations = std::max(1.0, std::round(length.trained / every) - skipped);
  }
  return length;
}

}  // namespace headroom
