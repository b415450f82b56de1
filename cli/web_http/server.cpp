// SPDX-License-Identifier: Apache-2.0
// The library that `headroom web` opens: cpp-httplib between connections within their limits and whoever answers. The
// only file that includes it.
#include <headroom/cli/web_http/connection.hpp>

#include <httplib.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace headroom::cli {
namespace {

constexpr std::size_t most_requests = 1'000'000;  // of a connection
constexpr int waiting_connections = 1024;         // that the system keeps until they are taken

/// Whether this thread has a connection that there is no place for.
thread_local bool overfull = false;

/// A thread for each connection, started when it is needed, up to a number; those beyond are turned away at once.
class Threads : public httplib::TaskQueue {
 public:
  explicit Threads(std::size_t most) : most_{most} {}

  void enqueue(std::function<void()> work) override {
    {
      const std::lock_guard lock{mutex_};
      if (idle_ > work_.size() || (threads_.size() < most_ && started())) {
        work_.push_back(std::move(work));
        some_.notify_one();
        return;
      }
    }
    overfull = true;
    work();
    overfull = false;
  }

  void shutdown() override {
    {
      const std::lock_guard lock{mutex_};
      over_ = true;
    }
    some_.notify_all();
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }

 private:
  [[nodiscard]] bool started() {
    try {
      threads_.emplace_back([this] { run(); });
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }

  void run() {
    std::unique_lock lock{mutex_};
    while (true) {
      ++idle_;
      some_.wait(lock, [&] { return !work_.empty() || over_; });
      --idle_;
      if (work_.empty()) {
        return;
      }
      const std::function<void()> work = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      work();
      lock.lock();
    }
  }

  std::size_t most_;
  std::mutex mutex_;
  std::condition_variable some_;
  std::deque<std::function<void()>> work_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool over_ = false;
};

/// A connection as httplib reads and writes it.
class Bytes : public httplib::Stream {
 public:
  explicit Bytes(Connection& connection) : connection_{connection} {}
  [[nodiscard]] bool is_readable() const override { return connection_.is_readable(); }
  [[nodiscard]] bool is_writable() const override { return connection_.is_writable(); }
  [[nodiscard]] ssize_t read(char* to, size_t size) override { return connection_.read(to, size); }
  [[nodiscard]] ssize_t write(const char* from, size_t size) override { return connection_.write(from, size); }
  void get_remote_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}  // nobody asks
  void get_local_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  [[nodiscard]] socket_t socket() const override { return connection_.socket(); }

 private:
  Connection& connection_;
};

void put(const HttpReply& from, httplib::Response& to) {
  to.status = from.status;
  for (const auto& [name, value] : from.headers) {
    to.set_header(name, value);
  }
  to.set_content(*from.body, from.content_type);
}

class Server : public HttpServer, private httplib::Server {
 public:
  Server(const HttpLimits& limits, HttpAnswers answers) : limits_{limits}, answers_{std::move(answers)} {
    new_task_queue = [this] { return new Threads{limits_.clients}; };  // NOLINT(*-owning-memory): httplib deletes it
    set_payload_max_length(limits_.body_bytes);
    set_tcp_nodelay(true);
    set_keep_alive_max_count(most_requests);
    set_keep_alive_timeout(static_cast<time_t>(limits_.idle_seconds));
    // httplib would share the port with any other process of the user.
    set_socket_options([](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    // Requests without a body are answered before httplib looks for a route, of which it has one.
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      if (request.method == "POST") {
        return HandlerResponse::Unhandled;
      }
      put(answers_.answer(*head_, {}), response);
      return HandlerResponse::Handled;
    });
    Post("/[a-z0-9/_.-]{1,200}", [this](const httplib::Request& request, httplib::Response& response) {
      put(answers_.answer(*head_, request.body), response);
    });
    set_error_handler(HandlerWithResponse{[this](const httplib::Request& /*request*/, httplib::Response& response) {
      if (response.body.empty()) {
        put(answers_.broken(response.status, told(response.status)), response);
      }
      return HandlerResponse::Handled;
    }});
  }

  [[nodiscard]] std::optional<int> bind(const std::string& address, int port) override {
    if (port == 0) {
      port = bind_to_any_port(address);
      if (port < 0) {
        return std::nullopt;
      }
    } else if (!bind_to_port(address, port)) {
      return std::nullopt;
    }
    ::listen(svr_sock_.load(), waiting_connections);  // httplib asks for 5
    return port;
  }

  void serve() override { listen_after_bind(); }

  void stop() override {
    stopped_.store(true);
    httplib::Server::stop();
  }

 private:
  [[nodiscard]] std::string told(int status) const {
    switch (status) {
      case 413:
        return "the request has more than " + std::to_string(limits_.body_bytes) +
               " bytes, which is the limit here; ask a smaller question";
      case 408: return "the request did not come within its time";
      case 431: return "the request's headers are more or longer than the limits here";
      default: return "this is no request of HTTP/1.1 that this server takes; send the body's Content-Length";
    }
  }

  bool process_and_close_socket(socket_t socket) override {
    Connection connection{socket, limits_, stopped_};
    Bytes bytes{connection};
    if (overfull) {
      connection.write_reply(answers_.broken(503,
                                             "more clients are connected than this server takes; ask again in a "
                                             "second"),
                             true);
      return false;
    }
    bool goes_on = true;
    while (goes_on) {
      HttpHead head;
      const HeadRead read = connection.read_head(head);
      if (read == HeadRead::gone) {
        break;
      }
      if (read != HeadRead::whole) {
        const int status = read == HeadRead::slow    ? 408
                           : read == HeadRead::heavy ? 413
                           : read == HeadRead::large ? 431
                                                     : 400;
        connection.write_reply(answers_.broken(status, told(status)), true);
        break;
      }
      if (const std::optional<HttpReply> refused = answers_.refuse(head)) {
        connection.write_reply(*refused, head.method != "HEAD");
        break;
      }
      head_ = &head;
      bool closed = false;
      goes_on = process_request(bytes, stopped_.load(), closed, nullptr) && !closed;
      head_ = nullptr;
    }
    return true;
  }

  HttpLimits limits_;
  HttpAnswers answers_;
  std::atomic<bool> stopped_{false};
  static thread_local const HttpHead* head_;  ///< of the request that this thread answers
};

thread_local const HttpHead* Server::head_ = nullptr;

}  // namespace
}  // namespace headroom::cli

extern "C" __attribute__((visibility("default"))) headroom::cli::HttpServer* headroom_web_server(
    std::uint32_t version,
    std::uint32_t* own,
    const headroom::cli::HttpLimits& limits,
    headroom::cli::HttpAnswers answers) {
  *own = headroom::cli::web_library::abi_version;
  if (version != *own) {
    return nullptr;
  }
  return new headroom::cli::Server{limits, std::move(answers)};  // NOLINT(*-owning-memory): the caller owns it
}
