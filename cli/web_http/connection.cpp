// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/web_http/connection.hpp>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <utility>

namespace headroom::cli {
namespace {

/// Headers that httplib acts on; others are ours to read, and some it would follow that nobody here asks for: ranges of
/// a reply, packed bodies.
constexpr std::array<std::string_view, 4> passed_on{"host", "connection", "content-length", "content-type"};
/// Headers of which a second one could be read otherwise by a proxy.
constexpr std::array<std::string_view, 5> single{"host", "content-length", "content-type", "origin", "sec-fetch-site"};

constexpr std::size_t chunk = 16U << 10U;

std::chrono::steady_clock::duration seconds(double count) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(count));
}

/// RFC 9110, section 15.
std::string_view word_of(int status) {
  switch (status) {
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 421: return "Misdirected Request";
    case 431: return "Request Header Fields Too Large";
    case 503: return "Service Unavailable";
    default: return "Error";
  }
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view{}
                                         : text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

template <std::size_t n>
bool contains(const std::array<std::string_view, n>& all, std::string_view name) {
  return std::find(all.begin(), all.end(), name) != all.end();
}

/// "GET /path?query HTTP/1.1".
bool read_first_line(std::string_view line, HttpHead& head) {
  const std::size_t method = line.find(' ');
  const std::size_t target = line.rfind(' ');
  if (method == std::string_view::npos || target <= method + 1) {
    return false;
  }
  const std::string_view version = line.substr(target + 1);
  std::string_view path = line.substr(method + 1, target - method - 1);
  path = path.substr(0, path.find('?'));
  if (!is_token(line.substr(0, method)) || (version != "HTTP/1.1" && version != "HTTP/1.0") || !path.starts_with('/') ||
      path.find_first_of(" #%\\") != std::string_view::npos) {
    return false;
  }
  head.method = line.substr(0, method);
  head.path = path;
  return true;
}

bool read_header_line(std::string_view line, HttpHead& head) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
    return false;
  }
  std::string name{line.substr(0, colon)};
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (contains(single, name) && !head.header(name).empty()) {
    return false;
  }
  head.headers.emplace_back(std::move(name), trimmed(line.substr(colon + 1)));
  return true;
}

}  // namespace

Connection::Connection(int socket, const HttpLimits& limits, const std::atomic<bool>& stopped)
    : socket_{socket}, limits_{limits}, stopped_{stopped}, until_{Clock::now()} {}

Connection::~Connection() {
  shutdown(socket_, SHUT_RDWR);
  close(socket_);
}

bool Connection::wait(short event, Clock::time_point until) const {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) {
      return false;
    }
    pollfd one{socket_, event, 0};
    const int ready = poll(&one, 1, static_cast<int>(std::min<long long>(left, 60'000)));
    if (ready > 0) {
      return true;
    }
    if (ready < 0 && errno != EINTR) {
      return false;
    }
  }
}

std::optional<std::size_t> Connection::take() {
  std::array<char, chunk> bytes;
  ssize_t got = 0;
  do {
    got = recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    return std::nullopt;
  }
  if (got <= 0) {
    ended_ = true;
    return 0;
  }
  buffer_.append(bytes.data(), static_cast<std::size_t>(got));
  return static_cast<std::size_t>(got);
}

std::size_t Connection::more(Clock::time_point until) {
  while (wait(POLLIN, until)) {
    if (const std::optional<std::size_t> got = take()) {
      return *got;
    }
  }
  return 0;
}

HeadRead Connection::read_head(HttpHead& head) {
  buffer_.erase(0, at_);
  at_ = 0;
  const auto idle = Clock::now() + seconds(limits_.idle_seconds);
  while (buffer_.empty()) {  // in short waits, so that a server that stops is not waited for
    if (stopped_.load() || Clock::now() >= idle) {
      return HeadRead::gone;
    }
    const auto until = std::min(idle, Clock::now() + std::chrono::milliseconds{200});
    if (wait(POLLIN, until) && take() == std::size_t{0}) {
      return HeadRead::gone;
    }
  }
  until_ = Clock::now() + seconds(limits_.request_seconds);
  std::size_t end = std::string::npos;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (buffer_.size() > limits_.head_bytes) {
      return HeadRead::large;
    }
    if (more(until_) == 0) {
      return ended_ ? HeadRead::gone : HeadRead::slow;
    }
  }
  return end > limits_.head_bytes ? HeadRead::large : take_head(end, head);
}

HeadRead Connection::take_head(std::size_t end, HttpHead& head) {
  const std::string text = buffer_.substr(0, end + 2);
  std::size_t lines = 0;
  std::string again;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t stop = text.find("\r\n", at);
    const std::string_view line = std::string_view{text}.substr(at, stop - at);
    const bool plain = std::none_of(line.begin(), line.end(), [](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return byte == 127 || (byte < 32 && c != '\t');
    });
    if (!plain || !(lines == 0 ? read_first_line(line, head) : read_header_line(line, head))) {
      return HeadRead::broken;
    }
    if (lines == 0 || contains(passed_on, head.headers.back().first)) {
      again += std::string{line} + "\r\n";
    } else if (head.headers.back().first == "accept-encoding" && line.find("gzip") != std::string_view::npos) {
      again += "Accept-Encoding: gzip\r\n";  // httplib's brotli packs a reply as slowly as it can
    }
    if (++lines > limits_.headers + 1) {
      return HeadRead::large;
    }
    at = stop + 2;
  }
  const std::string_view length = head.header("content-length");
  const bool counts = length.find_first_not_of("0123456789") == std::string_view::npos && length.size() < 16;
  if (!head.header("transfer-encoding").empty() || !counts) {
    return HeadRead::broken;
  }
  if (!length.empty() && std::stoull(std::string{length}) > limits_.body_bytes) {
    return HeadRead::heavy;
  }
  buffer_.replace(0, end + 4, again + "\r\n");
  const std::size_t here = buffer_.size() - again.size() - 2;
  left_ = limits_.body_bytes > here ? limits_.body_bytes - here : 0;
  return HeadRead::whole;
}

void Connection::write_reply(const HttpReply& reply, bool with_body) {
  std::string text = "HTTP/1.1 " + std::to_string(reply.status) + " " + std::string{word_of(reply.status)} +
                     "\r\nConnection: close\r\nContent-Type: " + reply.content_type +
                     "\r\nContent-Length: " + std::to_string(reply.body->size()) + "\r\n";
  for (const auto& [name, value] : reply.headers) {
    text += name + ": " + value + "\r\n";
  }
  text += "\r\n";
  if (with_body) {
    text += *reply.body;
  }
  static_cast<void>(write(text.data(), text.size()));
  shutdown(socket_, SHUT_WR);
  // What the client still sends is taken for a moment: a socket closed on unread bytes resets the reply under way.
  const auto until = Clock::now() + std::chrono::milliseconds{500};
  std::size_t taken = 0;
  while (taken < 2 * limits_.body_bytes) {
    buffer_.clear();
    at_ = 0;
    const std::size_t got = more(until);
    if (got == 0) {
      break;
    }
    taken += got;
  }
}

bool Connection::is_readable() const {
  return at_ < buffer_.size() || wait(POLLIN, until_);
}

bool Connection::is_writable() const {
  return wait(POLLOUT, Clock::now() + seconds(limits_.reply_seconds));
}

ssize_t Connection::read(char* to, std::size_t size) {
  if (at_ == buffer_.size()) {
    buffer_.clear();
    at_ = 0;
    const std::size_t got = left_ == 0 ? 0 : more(until_);
    if (got == 0) {
      return -1;
    }
    left_ -= std::min(left_, got);
  }
  const std::size_t taken = std::min(size, buffer_.size() - at_);
  std::copy_n(buffer_.data() + at_, taken, to);
  at_ += taken;
  return static_cast<ssize_t>(taken);
}

ssize_t Connection::write(const char* from, std::size_t size) {
  const auto until = Clock::now() + seconds(limits_.reply_seconds);
  std::size_t written = 0;
  while (written < size) {
    if (!wait(POLLOUT, until)) {
      return -1;
    }
    const ssize_t sent = send(socket_, from + written, size - written, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) {
      continue;
    }
    if (sent <= 0) {
      return -1;
    }
    written += static_cast<std::size_t>(sent);
  }
  return static_cast<ssize_t>(written);
}

}  // namespace headroom::cli
