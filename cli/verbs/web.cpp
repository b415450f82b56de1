// SPDX-License-Identifier: Apache-2.0
// `headroom web`: the page in a browser, and questions of programs over HTTP.
#include <headroom/cli/frame/command.hpp>
#include <headroom/cli/frame/interrupt.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/cli/frame/scenario_options.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/cli/verbs/quick_form.hpp>
#include <headroom/cli/web/http.hpp>
#include <headroom/cli/web/site.hpp>
#include <headroom/cli/web/workers.hpp>
#include <headroom/core/on_threads.hpp>
#include <headroom/core/printable.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

namespace headroom::cli {

extern const Verb web_verb;

namespace web_parts {
namespace {

constexpr std::int64_t usual_port = 8080;
constexpr std::int64_t most_port = 65535;
constexpr std::int64_t most_clients = 8192;
constexpr double usual_seconds = 20.0;   // of an answer
constexpr double usual_patience = 10.0;  // seconds
constexpr double light_patience = 1.0;   // seconds for which a light question waits for its turn
constexpr double usual_cache = 64.0 * 1024.0 * 1024.0;
constexpr double usual_body = 1024.0 * 1024.0;
constexpr std::size_t worker_memory = std::size_t{4} << 30U;
constexpr double stop_patience = 5.0;  // seconds for the answers under way

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool bounds_memory = false;  // sanitizers reserve more addresses than any limit leaves them
#else
constexpr bool bounds_memory = true;
#endif

constexpr std::array options{
    Option{"--port", OptionKind::one, "N", "port that it listens at; default 8080; 0 takes a free one"},
    Option{"--bind", OptionKind::one, "ADDRESS",
           "address that it listens at; default 127.0.0.1, which this machine alone reaches"},
    Option{"--hosts", OptionKind::one, "NAMES",
           "names under which others reach it, such as a proxy's, with commas between; requests to others are refused"},
    Option{"--workers", OptionKind::one, "N",
           "processes that answer light questions; default as many as the machine has threads"},
    Option{"--clients", OptionKind::one, "N", "connections at a time; default 1024"},
    Option{"--within", OptionKind::one, "TIME", "the most that an answer may take; default '20 s'"},
    Option{"--patience", OptionKind::one, "TIME", "the most that a request may take to come; default '10 s'"},
    Option{"--body", OptionKind::one, "BYTES", "the largest request; default '1 MiB'"},
    Option{"--keys", OptionKind::one, "N", "the most values of a request; default 20000"},
    Option{"--cache", OptionKind::one, "BYTES", "memory for answers that are kept; default '64 MiB'"},
    Option{"--stop-after", OptionKind::one, "TIME", "stops by itself, e.g. '8 h'"},
};

/// A count within bounds; problems are told with the others.
std::int64_t count_of(const Arguments& arguments,
                      std::string_view option,
                      std::int64_t usual,
                      std::int64_t low,
                      std::int64_t high,
                      Diagnostics& diagnostics) {
  const std::int64_t count = integer_option(arguments, option, diagnostics).value_or(usual);
  if (count < low || count > high) {
    diagnostics.add("", {},
                    std::string{option} + " is " + std::to_string(count) + "; it must be " + std::to_string(low) +
                        " to " + std::to_string(high));
    return usual;
  }
  return count;
}

/// Names that requests may address: those of this machine where it is bound to it, and those that are given.
std::vector<std::string> hosts_of(const Arguments& arguments, const std::string& address, Diagnostics& diagnostics) {
  std::vector<std::string> hosts{"localhost", "127.0.0.1", "[::1]"};
  const bool every = address == "0.0.0.0" || address == "::";
  const auto add = [&](std::string host) {
    if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) {
      hosts.push_back(std::move(host));
    }
  };
  if (!every) {
    add(address.find(':') == std::string::npos ? address : "[" + address + "]");
  }
  for (const std::string& host :
       arguments.has("--hosts") ? listed_values(arguments.one("--hosts")) : std::vector<std::string>{}) {
    const bool plain = !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
             c == ':' || c == '[' || c == ']';
    });
    if (!plain) {
      diagnostics.add("", {}, "--hosts " + quoted(host) + " is no name of a host; give e.g. plan.example.org");
    }
    std::string small = host;
    std::transform(small.begin(), small.end(), small.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    add(std::move(small));
  }
  return hosts;
}

struct Asked {
  int port = 0;
  std::string address;
  WorkerOptions workers;
  HttpLimits http;
  SiteOptions site;
  std::optional<Seconds> stop_after;
};

Asked asked_of(const Arguments& arguments) {
  Diagnostics diagnostics;
  Asked asked;
  asked.port = static_cast<int>(count_of(arguments, "--port", usual_port, 0, most_port, diagnostics));
  asked.address = arguments.one("--bind", "127.0.0.1");
  if (asked.address.find_first_not_of("0123456789abcdefABCDEF.:") != std::string::npos) {
    diagnostics.add("", {}, "--bind " + quoted(asked.address) + " is no address; give e.g. 127.0.0.1, ::1 or 0.0.0.0");
  }
  asked.site.hosts = hosts_of(arguments, asked.address, diagnostics);
  asked.site.cache_bytes = static_cast<std::size_t>(
      quantity_option<Bytes>(arguments, "--cache", diagnostics).value_or(Bytes{usual_cache}).raw());
  const std::int64_t clients = count_of(arguments, "--clients", 1024, 1, most_clients, diagnostics);
  asked.http.clients = static_cast<std::size_t>(clients);
  const Bytes body = quantity_option<Bytes>(arguments, "--body", diagnostics).value_or(Bytes{usual_body});
  if (body > Bytes{64.0 * usual_body}) {
    diagnostics.add("", {}, "--body is " + format(body) + "; it must be at most 64 MiB");
  }
  asked.http.body_bytes = static_cast<std::size_t>(std::min(body, Bytes{64.0 * usual_body}).raw());
  asked.http.request_seconds =
      quantity_option<Seconds>(arguments, "--patience", diagnostics).value_or(Seconds{usual_patience}).raw();
  const Seconds within = quantity_option<Seconds>(arguments, "--within", diagnostics).value_or(Seconds{usual_seconds});
  WorkerOptions& workers = asked.workers;
  workers.workers =
      static_cast<std::size_t>(count_of(arguments, "--workers", thread_count(0), 1, most_threads, diagnostics));
  workers.limits.bytes = asked.http.body_bytes;
  workers.limits.keys =
      static_cast<std::size_t>(count_of(arguments, "--keys", 20'000, 1, most_document_values, diagnostics));
  workers.limits.seconds = within.raw();
  workers.limits.threads = 1;
  workers.patience = within.raw();
  workers.light_patience = std::min(light_patience, within.raw());
  workers.waiting = asked.http.clients;
  workers.opens_files = !own_folders().folders.empty();
  workers.memory_bytes = bounds_memory ? worker_memory : 0;
  asked.stop_after = quantity_option<Seconds>(arguments, "--stop-after", diagnostics);
  diagnostics.throw_if_any();
  return asked;
}

std::string address_text(const std::string& address, int port) {
  const std::string host = address == "0.0.0.0" || address == "::"  ? "localhost"
                           : address.find(':') == std::string::npos ? address
                                                                    : "[" + address + "]";
  return "http://" + host + ":" + std::to_string(port) + "/";
}

Outcome run(const Arguments& arguments) {
  const Asked asked = asked_of(arguments);
  Workers workers{asked.workers, own_library};  // before any thread
  Site site{asked.site, [&workers](WireVerb verb, std::string_view request) { return workers.ask(verb, request); }};
  HttpAnswers answers;
  answers.refuse = [&site](const HttpHead& head) { return site.refuse(head); };
  answers.answer = [&site](const HttpHead& head, std::string_view body) { return site.answer(head, body); };
  answers.broken = [](int status, const std::string& why) { return Site::refusal(status, why); };
  const std::unique_ptr<HttpServer> server = open_http_server(asked.http, answers);
  const std::optional<int> port = server->bind(asked.address, asked.port);
  if (!port) {
    throw ConfigError{"port " + std::to_string(asked.port) + " of " + asked.address +
                      " cannot be listened at: another program does, or it is not for this user; give another with "
                      "--port, or --port 0"};
  }
  const InterruptGuard guard{OnInterrupt::note};
  std::fputs(shown_lines("headroom: " + address_text(asked.address, *port) + " answers until Ctrl-C\n").c_str(),
             stderr);
  double left = asked.stop_after ? asked.stop_after->raw() : 0.0;
  constexpr double tick = 0.05;
  bool stopped = false;
  const Timer stop{tick, [&] {
                     left -= tick;
                     if (!interrupt_noted().load() && (!asked.stop_after || left > 0.0)) {
                       return true;
                     }
                     server->stop();  // again until it has: it may not have begun
                     if (!std::exchange(stopped, true)) {
                       workers.stop(stop_patience);
                     }
                     return true;
                   }};
  server->serve();
  return {"", "headroom: stopped\n", 0, true};
}

constexpr std::string_view examples =
    "  headroom web\n"
    "  headroom web --port 0 --within '5 s' --workers 2\n"
    "  headroom web --bind 0.0.0.0 --hosts plan.example.org\n"
    "  curl -s http://127.0.0.1:8080/api/v1/plan -H 'Content-Type: application/json' -d '{\"scenario\": {...}}'\n";

}  // namespace
}  // namespace web_parts

const Verb web_verb{"web",
                    "the page in a browser, and questions of programs over HTTP",
                    "",
                    0,
                    web_parts::options,
                    web_parts::examples,
                    web_parts::run};

}  // namespace headroom::cli
