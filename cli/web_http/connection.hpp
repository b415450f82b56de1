// SPDX-License-Identifier: Apache-2.0
// A client's connection within its limits: slow, large and broken requests end it before anything is made of them.
#pragma once

#include <headroom/cli/web/http.hpp>

#include <httplib.h>

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
  broken
};

/// A socket as httplib reads and writes it. It closes the socket.
class Connection : public httplib::Stream {
 public:
  Connection(int socket, const HttpLimits& limits, const std::atomic<bool>& stopped);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  Connection(Connection&&) = delete;
  Connection& operator=(Connection&&) = delete;

  /// Reads the lines of the next request up to the blank one. Those that httplib is to know are read again by read().
  [[nodiscard]] HeadRead read_head(HttpHead& head);
  /// Writes a reply by itself.
  void write_reply(const HttpReply& reply, bool with_body);

  [[nodiscard]] bool is_readable() const override;
  [[nodiscard]] bool is_writable() const override;
  [[nodiscard]] ssize_t read(char* to, size_t size) override;
  [[nodiscard]] ssize_t write(const char* from, size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  [[nodiscard]] socket_t socket() const override { return socket_; }

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
  Clock::time_point until_;  ///< when the request must be there
};

}  // namespace headroom::cli
