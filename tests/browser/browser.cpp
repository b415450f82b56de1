// SPDX-License-Identifier: Apache-2.0
#include "browser.hpp"

#include <headroom/core/json_reader.hpp>
#include <headroom/core/json_writer.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace headroom::test {
namespace {

namespace fs = std::filesystem;

constexpr int patience_ms = 30000;  // a loaded machine starts a browser slowly

std::string quoted_json(const std::string& text) {
  JsonWriter json;
  json.text(text);
  std::string quoted = json.take();
  quoted.pop_back();
  return quoted;
}

std::string text_at(const ConfigValue& root, std::initializer_list<std::string_view> path) {
  const ConfigValue* value = &root;
  for (const std::string_view key : path) {
    value = value == nullptr ? nullptr : value->find(key);
  }
  return value == nullptr ? std::string{} : value->text;
}

/// The browser's side of the pipes is 3 and 4 (--remote-debugging-pipe); all else of ours is closed in it.
[[noreturn]] void become_browser(const std::string& program, const fs::path& profile, int read_end, int write_end) {
  // Above the two numbers first, so that neither end is closed by the other's place.
  const int in = fcntl(read_end, F_DUPFD, 10);
  const int out = fcntl(write_end, F_DUPFD, 10);
  dup2(in, 3);
  dup2(out, 4);
  const int nowhere = ::open("/dev/null", O_RDWR);
  for (const int fd : {0, 1, 2}) {
    dup2(nowhere, fd);
  }
  closefrom(5);
  const std::string folder = "--user-data-dir=" + profile.string();
  const std::array<const char*, 11> arguments{program.c_str(),
                                              "--headless",
                                              "--no-sandbox",
                                              "--disable-gpu",
                                              "--disable-dev-shm-usage",
                                              "--disable-background-networking",
                                              "--no-first-run",
                                              "--hide-scrollbars",
                                              "--remote-debugging-pipe",
                                              folder.c_str(),
                                              nullptr};
  execv(program.c_str(), const_cast<char* const*>(arguments.data()));
  _exit(127);
}

}  // namespace

Browser::Browser(const std::string& program) {
  std::array<int, 2> down{}, up{};
  if (pipe2(down.data(), O_CLOEXEC) != 0 || pipe2(up.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error{"no pipe"};
  }
  std::signal(SIGPIPE, SIG_IGN);
  process_ = fork();
  if (process_ == 0) {
    become_browser(program, profile_.path(), down[0], up[1]);
  }
  close(down[0]);
  close(up[1]);
  to_ = down[1];
  from_ = up[0];
  call("Browser.getVersion", "{}", false);
}

Browser::~Browser() {
  close(to_);  // it ends when nobody speaks to it any more
  close(from_);
  constexpr int tries = 50;
  for (int i = 0; i < tries && waitpid(process_, nullptr, WNOHANG) == 0; ++i) {
    usleep(100000);
    if (i == tries / 2) {
      kill(process_, SIGKILL);
    }
  }
}

void Browser::new_tab() {
  if (!tab_.empty()) {
    call("Target.closeTarget", R"({"targetId": )" + quoted_json(tab_) + "}", false);
  }
  tab_ = text_at(call("Target.createTarget", R"({"url": "about:blank"})", false), {"result", "targetId"});
  session_ =
      text_at(call("Target.attachToTarget", R"({"flatten": true, "targetId": )" + quoted_json(tab_) + "}", false),
              {"result", "sessionId"});
  for (const std::string domain : {"Page", "Runtime", "Log", "Network"}) {
    call(domain + ".enable", "{}");
  }
  call("Performance.enable", R"({"timeDomain": "threadTicks"})");
}

void Browser::open(const fs::path& file, const View& view) {
  new_tab();
  complaints_.clear();
  requests_.clear();
  call("Emulation.setDeviceMetricsOverride",
       R"({"deviceScaleFactor": 1, "mobile": )" + std::string{view.phone ? "true" : "false"} +
           ", \"width\": " + std::to_string(view.width) + ", \"height\": " + std::to_string(view.height) + "}");
  call("Emulation.setEmulatedMedia", std::string{R"({"features": [{"name": "prefers-color-scheme", "value": ")"} +
                                         (view.dark ? "dark" : "light") + "\"}]}");
  page_ = "file://" + file.string();
  loaded_ = false;
  call("Page.navigate", R"({"url": )" + quoted_json(page_) + "}");
  while (!loaded_) {
    note(next());
  }
  if (view.print) {
    call("Emulation.setEmulatedMedia", R"({"media": "print"})");
    evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(''))))");
  }
}

std::string Browser::evaluate(const std::string& expression) {
  const ConfigValue answer =
      call("Runtime.evaluate",
           R"({"returnByValue": true, "awaitPromise": true, "expression": )" + quoted_json(expression) + "}");
  if (const ConfigValue* result = answer.find("result"); result != nullptr && result->find("exceptionDetails")) {
    throw std::runtime_error{text_at(*result, {"exceptionDetails", "exception", "description"})};
  }
  return text_at(answer, {"result", "result", "value"});
}

std::string Browser::pdf() {
  return text_at(call("Page.printToPDF", R"({"printBackground": true, "preferCSSPageSize": true})"),
                 {"result", "data"});
}

double Browser::working_seconds() {
  const ConfigValue answer = call("Performance.getMetrics", "{}");
  for (const ConfigValue& metric : answer.find("result")->find("metrics")->items) {
    if (text_at(metric, {"name"}) == "TaskDuration") {
      return metric.find("value")->number;
    }
  }
  throw std::runtime_error{"the browser does not say how long its tasks took"};
}

ConfigValue Browser::call(const std::string& method, const std::string& parameters, bool of_page) {
  const int id = ++last_;
  const std::string message = "{\"id\": " + std::to_string(id) + ", \"method\": \"" + method + "\"" +
                              (of_page ? ", \"sessionId\": " + quoted_json(session_) : std::string{}) +
                              ", \"params\": " + parameters + "}";
  // Messages end with a NUL, which c_str() has.
  std::size_t sent = 0;
  while (sent <= message.size()) {
    const ssize_t count = write(to_, message.c_str() + sent, message.size() + 1 - sent);
    if (count <= 0) {
      throw std::runtime_error{"the browser is gone"};
    }
    sent += static_cast<std::size_t>(count);
  }
  for (;;) {
    ConfigValue answer = next();
    const ConfigValue* answered = answer.find("id");
    if (answered == nullptr) {
      note(answer);
    } else if (answered->integer == id) {
      if (answer.find("error") != nullptr) {
        throw std::runtime_error{method + ": " + text_at(answer, {"error", "message"})};
      }
      return answer;
    }
  }
}

ConfigValue Browser::next() {
  std::size_t end = unread_.find('\0');
  while (end == std::string::npos) {
    pollfd waiting{from_, POLLIN, 0};
    std::array<char, 65536> buffer{};
    const ssize_t count = poll(&waiting, 1, patience_ms) > 0 ? read(from_, buffer.data(), buffer.size()) : 0;
    if (count <= 0) {
      throw std::runtime_error{"the browser does not answer"};
    }
    const std::size_t before = unread_.size();
    unread_.append(buffer.data(), static_cast<std::size_t>(count));
    end = unread_.find('\0', before);
  }
  const std::string message = unread_.substr(0, end);
  unread_.erase(0, end + 1);
  return parse_json(message, "browser");
}

void Browser::note(const ConfigValue& event) {
  const std::string method = text_at(event, {"method"});
  if (method == "Page.loadEventFired") {
    loaded_ = true;
  } else if (method == "Runtime.exceptionThrown") {
    complaints_.push_back(text_at(event, {"params", "exceptionDetails", "exception", "description"}));
  } else if (method == "Runtime.consoleAPICalled") {
    complaints_.push_back("console." + text_at(event, {"params", "type"}));
  } else if (method == "Log.entryAdded") {
    complaints_.push_back(text_at(event, {"params", "entry", "text"}));
  } else if (method == "Network.requestWillBeSent") {
    const std::string address = text_at(event, {"params", "request", "url"});
    if (address != page_) {
      requests_.push_back(address);
    }
  }
}

}  // namespace headroom::test
