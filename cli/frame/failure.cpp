// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/frame/command.hpp>
#include <headroom/cli/frame/failure.hpp>

#include <algorithm>

namespace headroom::cli {
namespace {

constexpr std::string_view format_option = "--format";

/// The last value of --format among words as they are typed; empty: none.
std::string_view typed_format(std::span<const std::string> words) {
  std::string_view format;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == format_option && i + 1 < words.size()) {
      format = words[i + 1];
    } else if (word.starts_with(format_option) && word.substr(format_option.size()).starts_with("=")) {
      format = word.substr(format_option.size() + 1);
    }
  }
  return format;
}

}  // namespace

const DocumentFormat* asked_document_format(const Verb& verb, std::span<const std::string> words) {
  const std::string_view name = typed_format(words);
  const DocumentFormat* const format = name.empty() ? nullptr : find_document_format(name);
  const auto knows = [&](const Option& option) {
    const std::vector<std::string> choices =
        option.name == format_option ? choices_of(option.value) : std::vector<std::string>{};
    return std::find(choices.begin(), choices.end(), name) != choices.end();
  };
  return format != nullptr && std::any_of(verb.options.begin(), verb.options.end(), knows) ? format : nullptr;
}

}  // namespace headroom::cli
