// SPDX-License-Identifier: Apache-2.0
// What `headroom web` asks of the library that speaks HTTP, libheadroom_web.so, and what that asks in turn. Only the
// library uses cpp-httplib (docs/decisions/0023-cpp-httplib.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::cli {

/// The first lines of a request, up to the blank one.
struct HttpHead {
  std::string method;                                        ///< "GET"
  std::string path;                                          ///< without what follows a '?'
  std::vector<std::pair<std::string, std::string>> headers;  ///< names in lower case
  /// The value of a header that stands once; empty: it does not.
  [[nodiscard]] std::string_view header(std::string_view name) const noexcept {
    for (const auto& [known, value] : headers) {
      if (known == name) {
        return value;
      }
    }
    return {};
  }
};

struct HttpReply {
  int status = 200;
  std::string content_type;
  std::shared_ptr<const std::string> body;
  std::vector<std::pair<std::string, std::string>> headers;
};

/// Who answers. Called from several threads.
struct HttpAnswers {
  /// A reply without looking at the body, after which the connection ends; nullopt: go on.
  std::function<std::optional<HttpReply>(const HttpHead& head)> refuse;
  std::function<HttpReply(const HttpHead& head, std::string_view body)> answer;
  /// What is said of a request that breaks a rule of HTTP or a limit here.
  std::function<HttpReply(int status, const std::string& why)> broken;
};

struct HttpLimits {
  std::size_t head_bytes = 16U << 10U;
  std::size_t headers = 64;
  std::size_t body_bytes = 1U << 20U;
  double request_seconds = 10.0;  ///< from its first byte to its last
  double idle_seconds = 20.0;     ///< between requests of a connection
  double reply_seconds = 30.0;    ///< for a client to take a reply
  std::size_t clients = 1024;     ///< connections at a time
};

class HttpServer {
 public:
  HttpServer() = default;
  virtual ~HttpServer() = default;
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// The port that it is bound to, a free one for 0; nullopt: it cannot be.
  [[nodiscard]] virtual std::optional<int> bind(const std::string& address, int port) = 0;
  /// Returns once it was stopped and every connection has ended.
  virtual void serve() = 0;
  /// Takes no more connections, and ends those that wait; requests under way are answered. From any thread.
  virtual void stop() = 0;
};

namespace web_library {
inline constexpr std::uint32_t abi_version = 1;
inline constexpr const char* entry_name = "headroom_web_server";
/// nullptr: the library speaks the version `*own` of this interface.
using Entry = HttpServer* (*)(std::uint32_t version, std::uint32_t* own, const HttpLimits& limits, HttpAnswers answers);
}  // namespace web_library

/// From the library beside this program, or that HEADROOM_WEB_LIBRARY names. ConfigError, with the way to get it.
[[nodiscard]] std::unique_ptr<HttpServer> open_http_server(const HttpLimits& limits, HttpAnswers answers);

}  // namespace headroom::cli
