// SPDX-License-Identifier: Apache-2.0
// Many clients of `headroom web` at a time: how long light questions take, and whether one fails.
//
//   web_load PORT [--clients N] [--seconds S] [--think S] [--questions N] [--fresh FIRST] [--heavy N] [--most-p99 S]
//
// Each client keeps one connection, asks, waits for the answer and thinks for a while, twice THINK at the most. Asked
// is one of so many unlike training plans, all of which were asked once before; with --fresh a plan, of training or of
// a server, that nobody asked before: those from number FIRST on. --heavy N clients more ask for searches without a
// pause, whose times are told apart. Prints requests, errors and quantiles; exit code 1 where a request failed or the
// 99th percentile is above the bound.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Asked {
  int port = 0;
  std::size_t clients = 500;
  double seconds = 10.0;
  double think = 1.0;
  std::size_t questions = 200;
  bool fresh = false;
  std::size_t first_fresh = 0;
  std::size_t heavy = 0;
  double most_p99 = 1e9;
};

struct Client {
  int socket = -1;
  std::string reply;
  Clock::time_point asked;
  Clock::time_point next;
  bool waits = false;
  bool heavy = false;
};

std::string posted(const std::string& body, int port) {
  return "POST /api/v1/plan HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
         "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

constexpr std::array<std::string_view, 4> gpus{"h100-sxm-80gb", "h200-sxm-141gb", "a100-sxm-80gb", "b200-sxm-180gb"};

/// A request whose plan differs from those of other numbers in length, batch, layout and GPU.
std::string request_of(std::size_t number, int port) {
  const std::string body = "{\"scenario\": {\"kind\": \"train\", \"model\": \"llama3-8b\", \"hardware\": {\"gpu\": \"" +
                           std::string{gpus[number % gpus.size()]} +
                           "\", \"gpus\": 8}, \"training\": {\"seq_len\": " + std::to_string(1024 + 64 * (number / 8)) +
                           ", \"global_batch\": 64, \"precision\": \"bf16\"}, \"strategy\": {\"tp\": " +
                           std::to_string(number % 8 < 4 ? 1 : 2) + ", \"pp\": 1, \"zero\": 3, \"micro_batch\": 1}}}";
  return posted(body, port);
}

/// One of plans without an end: four presets, four SKUs, two layouts; every other one of a server, whose lengths and
/// load differ, else of a training, whose batch and length do.
std::string fresh_request(std::size_t number, int port) {
  constexpr std::array<std::string_view, 4> models{"llama3-8b", "qwen3-8b", "mistral-7b", "llama2-7b"};
  const std::size_t kind = number / 2;
  const std::size_t length = kind / 32;
  const std::string tp = std::to_string(kind / 16 % 2 + 1);
  const std::string head = "{\"scenario\": {\"kind\": \"" + std::string{number % 2 == 0 ? "train" : "serve"} +
                           "\", \"model\": \"" + std::string{models[kind / 4 % models.size()]} +
                           "\", \"hardware\": {\"gpu\": \"" + std::string{gpus[kind % gpus.size()]} +
                           "\", \"gpus\": " + (number % 2 == 0 ? "8" : tp) + "}, ";
  const std::string body = number % 2 == 0
                               ? head + "\"training\": {\"seq_len\": " + std::to_string(1024 + 64 * (length % 48)) +
                                     ", \"global_batch\": " + std::to_string(64 + 8 * (length / 48)) +
                                     ", \"precision\": \"bf16\"}, \"strategy\": {\"tp\": " + tp +
                                     ", \"pp\": 1, \"zero\": 3, \"micro_batch\": 1}}}"
                               : head + "\"serving\": {\"isl\": " + std::to_string(256 + 16 * (length % 96)) +
                                     ", \"osl\": " + std::to_string(64 + length / 96) +
                                     ", \"concurrency\": 8}, \"strategy\": {\"tp\": " + tp + "}}}";
  return posted(body, port);
}

/// A search over every layout on 64 GPUs, unlike others.
std::string heavy_request(std::size_t number, int port) {
  return posted(
      "{\"scenario\": {\"kind\": \"train\", \"model\": \"llama3-70b\", \"hardware\": {\"gpu\": \"h100-sxm-80gb\", "
      "\"gpus\": 512}, \"training\": {\"seq_len\": " +
          std::to_string(4096 + 64 * number) +
          ", \"global_batch\": 1024, \"precision\": \"bf16\"}, \"search\": {\"tp\": \"any\", \"pp\": \"any\", \"cp\": "
          "\"any\", \"zero\": \"any\", \"micro_batch\": \"any\", \"recompute\": \"any\", \"vpp\": \"any\"}}}",
      port);
}

int connected(int port) {
  const int made = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    close(made);
    return -1;
  }
  const int yes = 1;
  setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  return made;
}

/// Whether the whole reply is there: its head, and as many bytes as that says.
bool is_whole(const std::string& reply) {
  const std::size_t end = reply.find("\r\n\r\n");
  if (end == std::string::npos) {
    return false;
  }
  const std::size_t at = reply.find("Content-Length: ");
  return at < end && reply.size() >= end + 4 + static_cast<std::size_t>(std::atoll(reply.c_str() + at + 16));
}

class Load {
 public:
  explicit Load(const Asked& asked) : asked_{asked}, clients_(asked.clients + asked.heavy) {
    for (std::size_t i = asked.clients; i < clients_.size(); ++i) {
      clients_[i].heavy = true;
    }
    for (std::size_t i = 0; i < (asked_.fresh ? 0 : asked_.questions); ++i) {
      requests_.push_back(request_of(i, asked_.port));
    }
  }

  int run() {
    warm_up();
    const int events = epoll_create1(0);
    const Clock::time_point start = Clock::now();
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      Client& client = clients_[i];
      client.socket = connected(asked_.port);
      if (client.socket < 0) {
        ++errors_;
        continue;
      }
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.u64 = i;
      epoll_ctl(events, EPOLL_CTL_ADD, client.socket, &event);
      client.next = start + (client.heavy ? Clock::duration{} : pause());
    }
    const Clock::time_point end = Clock::now() + seconds(asked_.seconds);
    std::vector<epoll_event> ready(256);
    for (std::size_t waiting = 0; Clock::now() < end || (waiting > 0 && Clock::now() < end + seconds(30.0));) {
      waiting = 0;
      for (Client& client : clients_) {
        if (client.socket >= 0 && !client.waits && Clock::now() < end && Clock::now() >= client.next) {
          ask(client);
        }
        waiting += client.waits ? 1 : 0;
      }
      const int count = epoll_wait(events, ready.data(), static_cast<int>(ready.size()), 1);
      for (int i = 0; i < count; ++i) {
        read(clients_[ready[static_cast<std::size_t>(i)].data.u64]);
      }
    }
    for (const Client& client : clients_) {
      errors_ += client.waits ? 1 : 0;
    }
    return told(std::chrono::duration<double>(Clock::now() - start).count());
  }

 private:
  static Clock::duration seconds(double count) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count));
  }
  Clock::duration pause() { return seconds(std::uniform_real_distribution<double>{0.0, 2.0 * asked_.think}(random_)); }

  /// Asks each question once, and tells what one takes that was not asked before.
  void warm_up() {
    if (requests_.empty()) {
      return;
    }
    const Clock::time_point start = Clock::now();
    Client client;
    client.socket = connected(asked_.port);
    for (const std::string& request : requests_) {
      client.reply.clear();
      if (client.socket < 0 || send(client.socket, request.data(), request.size(), MSG_NOSIGNAL) < 0) {
        break;
      }
      std::array<char, 65536> bytes;
      ssize_t got = 1;
      while (!is_whole(client.reply) && (got = recv(client.socket, bytes.data(), bytes.size(), 0)) > 0) {
        client.reply.append(bytes.data(), static_cast<std::size_t>(got));
      }
    }
    close(client.socket);
    const double passed = std::chrono::duration<double>(Clock::now() - start).count();
    std::printf("%zu unlike questions one after another: %.1f ms each\n", requests_.size(),
                1e3 * passed / static_cast<double>(requests_.size()));
  }

  void ask(Client& client) {
    const std::string request = client.heavy   ? heavy_request(heavy_asked_++, asked_.port)
                                : asked_.fresh ? fresh_request(asked_.first_fresh + fresh_asked_++, asked_.port)
                                               : requests_[random_() % requests_.size()];
    client.waits = true;
    client.asked = Clock::now();
    if (send(client.socket, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) {
      fail(client, 0);
    }
  }

  void read(Client& client) {
    std::array<char, 65536> bytes;
    const ssize_t got = recv(client.socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got <= 0) {
      if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        fail(client, 0);
      }
      return;
    }
    client.reply.append(bytes.data(), static_cast<std::size_t>(got));
    if (!is_whole(client.reply)) {
      return;
    }
    const int status = std::atoi(client.reply.c_str() + 9);
    if (status != 200) {
      fail(client, status);
      return;
    }
    (client.heavy ? heavy_took_ : took_).push_back(std::chrono::duration<double>(Clock::now() - client.asked).count());
    client.reply.clear();
    client.waits = false;
    client.next = Clock::now() + (client.heavy ? Clock::duration{} : pause());
  }

  void fail(Client& client, int status) {
    ++errors_;
    ++statuses_[status];
    close(client.socket);
    client = {};
  }

  int told(double passed) {
    std::sort(took_.begin(), took_.end());
    const auto quantile = [&](double p) {
      return took_.empty() ? 0.0 : took_[static_cast<std::size_t>(p * static_cast<double>(took_.size() - 1))];
    };
    std::printf(
        "%zu clients, %zu requests in %.1f s (%.0f/s), %zu errors; p50 %.1f ms, p95 %.1f ms, p99 %.1f ms, most "
        "%.1f ms\n",
        asked_.clients, took_.size(), passed, static_cast<double>(took_.size()) / passed, errors_, 1e3 * quantile(0.5),
        1e3 * quantile(0.95), 1e3 * quantile(0.99), 1e3 * quantile(1.0));
    if (asked_.heavy > 0) {
      double sum = 0.0;
      for (const double one : heavy_took_) {
        sum += one;
      }
      std::printf("%zu clients beside them that search: %zu answers, %.0f ms each\n", asked_.heavy, heavy_took_.size(),
                  heavy_took_.empty() ? 0.0 : 1e3 * sum / static_cast<double>(heavy_took_.size()));
    }
    for (const auto& [status, count] : statuses_) {
      std::printf("failed with status %d: %zu\n", status, count);
    }
    return errors_ > 0 || took_.empty() || quantile(0.99) > asked_.most_p99 ? 1 : 0;
  }

  Asked asked_;
  std::vector<Client> clients_;
  std::vector<std::string> requests_;
  std::vector<double> took_, heavy_took_;
  std::size_t fresh_asked_ = 0, heavy_asked_ = 0;
  std::map<int, std::size_t> statuses_;
  std::size_t errors_ = 0;
  std::mt19937 random_{1};
};

}  // namespace

int main(int argc, char** argv) {
  Asked asked;
  asked.port = argc > 1 ? std::atoi(argv[1]) : 0;
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    const double value = std::atof(argv[i + 1]);
    if (option == "--clients") {
      asked.clients = static_cast<std::size_t>(value);
    } else if (option == "--seconds") {
      asked.seconds = value;
    } else if (option == "--think") {
      asked.think = value;
    } else if (option == "--questions") {
      asked.questions = static_cast<std::size_t>(value);
    } else if (option == "--fresh") {
      asked.fresh = true;
      asked.first_fresh = static_cast<std::size_t>(value);
    } else if (option == "--heavy") {
      asked.heavy = static_cast<std::size_t>(value);
    } else if (option == "--most-p99") {
      asked.most_p99 = value;
    } else {
      std::fprintf(stderr, "unknown option %s\n", argv[i]);
      return 2;
    }
  }
  return Load{asked}.run();
}
