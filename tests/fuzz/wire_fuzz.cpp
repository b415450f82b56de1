// SPDX-License-Identifier: Apache-2.0
// Any text as a request: answered, or refused with "headroom.error/1", and nothing else. The first letter says the
// verb.
#include <headroom/answers/wire/request.hpp>
#include <headroom/core/json_reader.hpp>

#include "require.hpp"
#include <cstddef>
#include <cstdint>

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const QuestionLibrary library = QuestionLibrary::of({});
  const auto routes = wire_routes();
  const fuzz::Chosen chosen{data, size, routes.size()};
  const WireRoute& route = routes[chosen.which];
  WireLimits limits;
  limits.seconds = 0.2;
  limits.bytes = 1U << 16U;
  if (route.verb == WireVerb::simulate) {
    return 0;  // no clock stops a simulation, and its reader is that of a plan
  }
  const WireReply reply = wire_reply(library, route.verb, chosen.text, limits);
  fuzz::require(reply.status != 500);
  fuzz::require(!reply.good || reply.status == 200);
  if (reply.content_type == "application/json") {
    static_cast<void>(parse_json(reply.body, "reply"));  // ConfigError: a defect
  }
  return 0;
}
