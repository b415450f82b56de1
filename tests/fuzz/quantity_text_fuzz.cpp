// SPDX-License-Identifier: Apache-2.0
// Any text: a quantity that is read is finite, a refusal has a message.
#include <headroom/core/quantity_text.hpp>

#include <cmath>
#include <cstdint>
#include <cstdlib>

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  for (const Dimension dimension : {dimension_of<Bytes>, dimension_of<BytesPerSecond>, dimension_of<FlopsPerSecond>,
                                    dimension_of<DollarsPerSecond>, dimension_of<Seconds>}) {
    const auto parsed = parse_quantity(text, dimension);
    if (const double* value = std::get_if<double>(&parsed)) {
      if (!std::isfinite(*value)) {
        std::abort();
      }
      static_cast<void>(format(Bytes{*value}));
      static_cast<void>(format_number(*value));
    } else if (std::get<TextError>(parsed).message.empty()) {
      std::abort();
    }
  }
  return 0;
}
