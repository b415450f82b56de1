// SPDX-License-Identifier: Apache-2.0
// Any text as a log: what it tells of faults, timeouts and connections is read line by line, and concluded from.
#include <headroom/calibrate/diagnosis/message_reading.hpp>
#include <headroom/calibrate/messages/run_messages.hpp>

#include "require.hpp"
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headroom;
  RunMessages messages;
  messages.file = "f";
  std::string_view text{reinterpret_cast<const char*>(data), size};
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    read_run_message(text.substr(0, end), number, messages);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  RunReading reading;
  add_message_reading({&messages, 1}, reading);
  for (const Cause& cause : reading.causes) {
    fuzz::require(cause.lost >= 0.0 && cause.lost <= 1.0 && !cause.says.empty() && !cause.cure.empty());
  }
  return 0;
}
