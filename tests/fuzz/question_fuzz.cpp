// SPDX-License-Identifier: Apache-2.0
// Any text as a document of any kind (plan, search, fleet, box, network): read as a question, or refused by
// ConfigError.
#include <headroom/answers/door/question.hpp>
#include <headroom/core/config_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const QuestionLibrary library = QuestionLibrary::of({});
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  try {
    static_cast<void>(read_question(parse_toml(text, "f.toml"), "f.toml", library));
  } catch (const ConfigError&) {
    return 0;
  }
  return 0;
}
