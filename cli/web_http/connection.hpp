// SPDX-License-Identifier: Apache-2.0
// A client's connection within its limits: slow, large and broken requests end it before anything is made of them.
#pragma once

#include <headroom/cli/web/http.hpp>

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headroom::cli {

/// What a connection's next request came to.
enum class HeadRead : std::uint8_t {
  whole,
  gone,   ///< nothing came in time, or the client has closed
  slow,   ///< it began and did not end in time
  large,  ///< longer, or of more lines, than the limits
  heavy,  ///< its body would be longer than the limit
  broken
};

/// A socket within its limits. It closes the socket.
class Connection {
 public:
  Connection(int socket, const HttpLimits& limits, const std::atomic<bool>& stopped);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  Connection(Connection&&) = delete;
  Connection& operator=(Connection&&) = delete;

  /// Reads the lines of the next request up to the blank one. Those that httplib is to know are read again by read().
  [[nodiscard]] HeadRead read_head(HttpHead& head);
  /// Writes a reply by itself.
  void write_reply(const HttpReply& reply, bool with_body);

  /// Whether a byte is there in time, or can be sent.
  [[nodiscard]] bool is_readable() const;
  [[nodiscard]] bool is_writable() const;
  /// As the functions of POSIX; -1 where time or bytes are over.
  [[nodiscard]] ssize_t read(char* to, std::size_t size);
  [[nodiscard]] ssize_t write(const char* from, std::size_t size);
  [[nodiscard]] int socket() const noexcept { return socket_; }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] bool wait(short event, Clock::time_point until) const;
  /// Bytes that are there; 0: the client has closed. nullopt: none yet.
  [[nodiscard]] std::optional<std::size_t> take();
  /// Bytes that came; 0: none in time, or no more.
  [[nodiscard]] std::size_t more(Clock::time_point until);
  [[nodiscard]] HeadRead take_head(std::size_t end, HttpHead& head);

  int socket_;
  const HttpLimits& limits_;
  const std::atomic<bool>& stopped_;
  std::string buffer_;       ///< what came and was not read
  std::size_t at_ = 0;       ///< of the buffer, the first character that was not read
  std::size_t left_ = 0;     ///< bytes that the request may still have beyond the buffer
  bool ended_ = false;       ///< whether the client sends no more
  Clock::time_point until_;  ///< when the request must be there
};

}  // namespace headroom::cli
