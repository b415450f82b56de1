// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/pickle/call_site.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace headroom {
namespace {

std::string frame_text(const PlainData& data, PlainData::Id frame) {
  const std::string_view file = data.text(data.find(frame, "filename"));
  std::string site{file.substr(file.find_last_of("/\\") + 1)};
  if (const std::optional<std::int64_t> line = data.whole(data.find(frame, "line"))) {
    site += ":" + std::to_string(*line);
  }
  const std::string_view name = data.text(data.find(frame, "name"));
  return name.empty() ? site : site + " " + std::string{name};
}

}  // namespace

std::string call_site(const PlainData& data, PlainData::Id frames) {
  PlainData::Id framework = PlainData::nothing;
  for (const PlainData::Id frame : data.items(frames)) {
    const std::string_view file = data.text(data.find(frame, "filename"));
    if (!file.ends_with(".py")) {
      continue;
    }
    if (file.find("/torch/") == std::string_view::npos && file.find("site-packages") == std::string_view::npos) {
      return frame_text(data, frame);
    }
    framework = framework == PlainData::nothing ? frame : framework;
  }
  return framework == PlainData::nothing ? std::string{} : frame_text(data, framework);
}

}  // namespace headroom
