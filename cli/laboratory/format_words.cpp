// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/laboratory/format_words.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

#include <vector>

namespace headroom::cli {

const StoredFormat& stored_format_of(FormReader& reader, const std::string& name) {
  if (const StoredFormat* const found = find_stored_format(name)) {
    return *found;
  }
  std::vector<std::string_view> names;
  for (const StoredFormat& format : stored_formats()) {
    names.push_back(format.name);
  }
  reader.problem("--dtype " + quoted(name) + " is not known" + suggestion(name, names) + "; known are " +
                 listed(names));
  return *find_stored_format("fp16");
}

std::string rates_of(const Device& device) {
  std::string told;
  for (std::size_t i = 0; i < rate_count; ++i) {
    if (device.peak[i]) {
      told += (told.empty() ? "" : ", ") + std::string{rate_names[i]} + " " + format(device.peak[i]->value);
    }
  }
  return told;
}

FlopsPerSecond rate_of(const Device& device, Rate rate, std::string_view name) {
  const auto& found = device.peak[static_cast<std::size_t>(rate)];
  if (!found) {
    throw ConfigError{device.id + " does not multiply in " + std::string{name} + "; it has " + rates_of(device)};
  }
  return found->value;
}

FlopsPerSecond rate_of(const Device& device, const StoredFormat& format) {
  if (!format.rate) {
    throw ConfigError{"the catalog has no rate of " + std::string{format.name} +
                      ", in which values are stored and cast before they multiply; " + device.id + " has " +
                      rates_of(device)};
  }
  return rate_of(device, *format.rate, format.name);
}

}  // namespace headroom::cli
