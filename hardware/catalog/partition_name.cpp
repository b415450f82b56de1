// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/embedded.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/hardware/catalog/partition_name.hpp>

#include <algorithm>

namespace headroom {
namespace {

/// "7x1g.10gb" as 7 and "1g.10gb"; a profile alone as one of it.
void take_count(std::string_view text, PartitionName& name) {
  const std::size_t times = text.find('x');
  const auto digits = [](std::string_view part) {
    return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (times != std::string_view::npos && digits(text.substr(0, times))) {
    name.count = static_cast<std::int64_t>(read_real(text.substr(0, times)).value);
    text.remove_prefix(times + 1);
  }
  name.profile = text;
}

/// Whether a text is a profile's name: "1g.10gb", "1g.10gb+me", "2g.48gb-me".
bool is_profile(std::string_view text) {
  const std::size_t slices = text.find_first_not_of("0123456789");
  return slices != std::string_view::npos && slices > 0 && text.substr(slices).starts_with("g.") &&
         text.find("gb") != std::string_view::npos;
}

}  // namespace

std::optional<PartitionName> partition_name(std::string_view spelling) {
  const std::string text = normalised(spelling);
  const std::string_view asked{text};
  PartitionName name;
  constexpr std::string_view begin = "mig:", open = "-(", close = "-mig)", between = "-mig-";
  if (asked.starts_with(begin)) {
    const std::size_t at = asked.find(open);
    if (at == std::string_view::npos || !asked.ends_with(close)) {
      return std::nullopt;
    }
    name.card = spelling.substr(begin.size(), at - begin.size());
    take_count(asked.substr(at + open.size(), asked.size() - at - open.size() - close.size()), name);
  } else if (const std::size_t slash = asked.find('/'); slash != std::string_view::npos) {
    name.card = spelling.substr(0, slash);
    name.profile = asked.substr(slash + 1);
    std::replace(name.profile.begin(), name.profile.end(), '/', '-');  // "mi300x/cpx/nps4"
  } else if (const std::size_t mark = asked.rfind(between);
             mark != std::string_view::npos && is_profile(asked.substr(mark + between.size()))) {
    name.card = spelling.substr(0, mark);
    name.profile = asked.substr(mark + between.size());
  }
  const bool read = !name.card.empty() && !name.profile.empty() && name.count >= 1;
  return read ? std::optional{std::move(name)} : std::nullopt;
}

}  // namespace headroom
