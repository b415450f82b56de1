// SPDX-License-Identifier: Apache-2.0
// Requests and replies on their way between the server's processes.
#pragma once

#include <headroom/answers/wire/request.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace headroom::cli {

/// Each is false or nothing where the other end is gone.
[[nodiscard]] bool send_request(int socket, WireVerb verb, std::string_view request);
struct FramedRequest {
  WireVerb verb = WireVerb::health;
  std::string text;
};
[[nodiscard]] std::optional<FramedRequest> receive_request(int socket);

[[nodiscard]] bool send_reply(int socket, const WireReply& reply);
[[nodiscard]] std::optional<WireReply> receive_reply(int socket);

/// A socket handed to the process at the other end, and taken from it; -1: none comes any more.
[[nodiscard]] bool send_socket(int through, int socket);
[[nodiscard]] int receive_socket(int through);

}  // namespace headroom::cli
