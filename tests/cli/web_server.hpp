// SPDX-License-Identifier: Apache-2.0
// `headroom web` in a process of its own, and what a client says to it byte by byte.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/scratch_folder.hpp"
#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::test {

/// Whether this build has the library that speaks HTTP.
inline bool serves_http() {
  return std::filesystem::exists(std::filesystem::path{HEADROOM_BINARY}.parent_path() / "libheadroom_web.so");
}

/// A connection to a port of this machine.
class WebClient {
 public:
  explicit WebClient(int port) : socket_{::socket(AF_INET, SOCK_STREAM, 0)} {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
      throw std::runtime_error{"no server at the port"};
    }
  }
  ~WebClient() { close(socket_); }
  WebClient(const WebClient&) = delete;
  WebClient& operator=(const WebClient&) = delete;

  /// False where the server has closed.
  bool send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        return false;
      }
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  /// What comes until the connection ends, a reply is whole, or so many seconds have passed.
  std::string receive(double seconds = 30.0) {
    std::string text;
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (!is_whole(text)) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
      pollfd one{socket_, POLLIN, 0};
      if (left <= 0 || poll(&one, 1, static_cast<int>(left)) <= 0) {
        break;
      }
      std::array<char, 65536> bytes;
      const ssize_t got = recv(socket_, bytes.data(), bytes.size(), 0);
      if (got <= 0) {
        break;
      }
      text.append(bytes.data(), static_cast<std::size_t>(got));
    }
    return text;
  }

  /// No more is sent; the server may still.
  void shut() { shutdown(socket_, SHUT_WR); }

 private:
  static bool is_whole(const std::string& text) {
    const std::size_t end = text.find("\r\n\r\n");
    const std::size_t at = text.find("Content-Length: ");
    return end != std::string::npos && at < end &&
           text.size() >= end + 4 + static_cast<std::size_t>(std::atoll(text.c_str() + at + 16));
  }

  int socket_;
};

class WebServer {
 public:
  explicit WebServer(std::vector<std::string> options = {}) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) {
      throw std::runtime_error{"no pipe"};
    }
    child_ = fork();
    if (child_ == 0) {
      dup2(ends[1], STDERR_FILENO);
      close(ends[0]);
      close(ends[1]);
      std::signal(SIGINT, SIG_DFL);
      unsetenv("HEADROOM_DATA_DIR");
      unsetenv("HEADROOM_WEB_LIBRARY");
      setenv("HOME", home_.path().c_str(), 1);
      setenv("XDG_CONFIG_HOME", home_.path().c_str(), 1);
      std::vector<std::string> words{HEADROOM_BINARY, "web", "--port", "0", "--workers", "2"};
      words.insert(words.end(), options.begin(), options.end());
      std::vector<char*> arguments;
      for (std::string& word : words) {
        arguments.push_back(word.data());
      }
      arguments.push_back(nullptr);
      execv(HEADROOM_BINARY, arguments.data());
      _exit(127);
    }
    close(ends[1]);
    errors_ = ends[0];
    // "headroom: http://127.0.0.1:PORT/ answers until Ctrl-C".
    std::string line;
    char byte = 0;
    while (line.find('\n') == std::string::npos && read(errors_, &byte, 1) == 1) {
      line += byte;
    }
    const std::size_t at = line.find(":", line.find("//"));
    port_ = at == std::string::npos ? 0 : std::atoi(line.c_str() + at + 1);
    if (port_ == 0) {
      throw std::runtime_error{"no server: " + line};
    }
  }
  ~WebServer() {
    if (child_ > 0) {
      static_cast<void>(stop(SIGTERM));
    }
    close(errors_);
  }
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  [[nodiscard]] int port() const noexcept { return port_; }
  [[nodiscard]] pid_t process() const noexcept { return child_; }
  [[nodiscard]] std::string host() const { return "127.0.0.1:" + std::to_string(port_); }

  /// The reply to one request of a connection of its own.
  [[nodiscard]] std::string said(const std::string& request) const {
    WebClient client{port_};
    client.send(request);
    return client.receive();
  }
  [[nodiscard]] std::string get(const std::string& path, const std::string& headers = "") const {
    return said("GET " + path + " HTTP/1.1\r\nHost: " + host() + "\r\n" + headers + "\r\n");
  }
  [[nodiscard]] std::string post(const std::string& path,
                                 const std::string& body,
                                 const std::string& headers = "Content-Type: application/json\r\n") const {
    return said("POST " + path + " HTTP/1.1\r\nHost: " + host() + "\r\n" + headers +
                "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }

  /// Its exit code after a signal; -1: it ended otherwise.
  int stop(int signal) {
    kill(child_, signal);
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  ScratchFolder home_;
  pid_t child_ = -1;
  int errors_ = -1;
  int port_ = 0;
};

/// "200" of "HTTP/1.1 200 OK".
inline std::string status_of(const std::string& reply) {
  return reply.size() > 12 ? reply.substr(9, 3) : std::string{};
}
inline std::string body_of(const std::string& reply) {
  const std::size_t at = reply.find("\r\n\r\n");
  return at == std::string::npos ? std::string{} : reply.substr(at + 4);
}

}  // namespace headroom::test
