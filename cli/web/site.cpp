// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/web/page_files.hpp>
#include <headroom/cli/web/site.hpp>
#include <headroom/core/diagnostic.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headroom::cli {
namespace {

constexpr std::size_t longest_word = 40;  // of a path's last word

std::string lower(std::string_view text) {
  std::string small{text};
  std::transform(small.begin(), small.end(), small.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return small;
}

/// "[::1]" of "[::1]:8080".
std::string_view without_port(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  const std::size_t bracket = host.rfind(']');
  const bool port = colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  return port ? host.substr(0, colon) : host;
}

bool is_word(std::string_view text) {
  return !text.empty() && text.size() <= longest_word && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

/// A route with the last word of the path where it has one.
struct Found {
  const WireRoute* route = nullptr;
  std::string_view word;
};

Found route_of(std::string_view path) {
  for (const WireRoute& route : wire_routes()) {
    if (path == route.path) {
      return {&route, {}};
    }
    if (!route.last.empty() && path.starts_with(route.path) && path.substr(route.path.size()).starts_with("/") &&
        is_word(path.substr(route.path.size() + 1))) {
      return {&route, path.substr(route.path.size() + 1)};
    }
  }
  return {};
}

/// Headers of every reply. Scripts and styles of the page are files of this server; its module is WebAssembly.
std::vector<std::pair<std::string, std::string>> with_security(std::vector<std::pair<std::string, std::string>> more) {
  more.insert(more.end(),
              {{"Content-Security-Policy",
                "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' "
                "data:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; "
                "frame-ancestors 'none'"},
               {"X-Content-Type-Options", "nosniff"},
               {"Referrer-Policy", "no-referrer"},
               {"Cross-Origin-Opener-Policy", "same-origin"},
               {"Cross-Origin-Resource-Policy", "same-origin"}});
  return more;
}

HttpReply reply_of(const WireReply& wire, double retry_after = 1.0) {
  std::vector<std::pair<std::string, std::string>> headers{{"Cache-Control", "no-store"}};
  if (wire.status == 503) {
    headers.emplace_back("Retry-After", std::to_string(std::max(1L, std::lround(retry_after))));
  }
  if (wire.status == 200) {
    headers.emplace_back("Headroom-Exit-Code", wire.good ? "0" : "1");
  }
  return {wire.status, std::string{wire.content_type}, std::make_shared<const std::string>(wire.body),
          with_security(std::move(headers))};
}

bool is_json(std::string_view content_type) {
  const std::string type = lower(content_type.substr(0, content_type.find(';')));
  return type == "application/json" || type == "application/json ";
}

}  // namespace

std::optional<HttpReply> ReplyCache::find(const std::string& request) {
  const std::lock_guard lock{mutex_};
  const auto found = by_request_.find(request);
  if (found == by_request_.end()) {
    return std::nullopt;
  }
  list_.splice(list_.begin(), list_, found->second);
  return found->second->reply;
}

void ReplyCache::keep(const std::string& request, const HttpReply& reply) {
  const std::lock_guard lock{mutex_};
  Kept kept{request, reply};
  if (kept.bytes() > most_ / 4 || by_request_.contains(request)) {
    return;
  }
  bytes_ += kept.bytes();
  list_.push_front(std::move(kept));
  by_request_.emplace(list_.front().request, list_.begin());
  while (bytes_ > most_) {
    bytes_ -= list_.back().bytes();
    by_request_.erase(list_.back().request);
    list_.pop_back();
  }
}

std::size_t ReplyCache::bytes() const {
  const std::lock_guard lock{mutex_};
  return bytes_;
}

HttpReply RepliesUnderWay::reply(const std::string& request, const std::function<HttpReply()>& answer) {
  const auto own = std::make_shared<Reply>();
  std::unique_lock lock{mutex_};
  while (true) {
    const auto [at, first] = replies_.try_emplace(request, own);
    if (first) {
      break;
    }
    const std::shared_ptr<Reply> other = at->second;
    ready_.wait(lock, [&] { return other->over; });
    if (other->reply) {
      return *other->reply;
    }
  }
  lock.unlock();
  const auto end = [&] {
    lock.lock();
    own->over = true;
    replies_.erase(request);
    ready_.notify_all();
  };
  try {
    own->reply = answer();
  } catch (...) {
    end();
    throw;
  }
  end();
  return *own->reply;
}

Site::Site(SiteOptions options, WireAsk ask)
    : options_{std::move(options)}, ask_{std::move(ask)}, cache_{options_.cache_bytes} {}

HttpReply Site::refusal(int status, const std::string& why) {
  return reply_of(wire_refusal(status, why));
}

bool Site::is_host(std::string_view host) const {
  const std::string name = lower(without_port(host));
  return std::find(options_.hosts.begin(), options_.hosts.end(), name) != options_.hosts.end();
}

std::optional<HttpReply> Site::refuse(const HttpHead& head) const {
  const std::string_view host = head.header("host");
  if (!is_host(host)) {
    std::string known;
    for (const std::string& name : options_.hosts) {
      known += (known.empty() ? "" : ", ") + name;
    }
    return refusal(421, "the request addresses " + (host.empty() ? "no host" : quoted(host)) +
                            ", and this server is reached as " + known + "; name another with --hosts");
  }
  const bool asks = head.method == "POST";
  const bool looks = head.method == "GET" || head.method == "HEAD";
  const Found found = route_of(head.path);
  const bool page = found.route == nullptr && find_page_file(head.path) != nullptr;
  if (found.route == nullptr && !page) {
    return refusal(404, "nothing is at " + quoted(head.path) + "; /api/v1/openapi.json tells what is");
  }
  const bool takes = found.route != nullptr && found.route->asks;
  if (takes ? !asks : !looks) {
    HttpReply reply =
        refusal(405, quoted(head.path) + " takes " + (takes ? "POST" : "GET") + ", not " + quoted(head.method));
    reply.headers.emplace_back("Allow", takes ? "POST" : "GET, HEAD");
    return reply;
  }
  if (page) {
    return std::nullopt;
  }
  // A page of another site has no business here: browsers say where a request comes from.
  const std::string_view origin = head.header("origin");
  const std::size_t scheme = origin.find("://");
  const bool own = scheme != std::string_view::npos && lower(origin.substr(scheme + 3)) == lower(host);
  const std::string_view site = head.header("sec-fetch-site");
  if ((!origin.empty() && !own) || (!site.empty() && site != "same-origin" && site != "none")) {
    return refusal(403, "the request comes from " + (origin.empty() ? "another site" : quoted(origin)) +
                            ", and this server answers its own page and programs alone");
  }
  if (!head.header("content-encoding").empty()) {
    return refusal(415, "the request's body is packed (Content-Encoding); send it as it is");
  }
  if (takes && !is_json(head.header("content-type"))) {
    return refusal(415, "the request is of the type " + quoted(head.header("content-type")) +
                            "; send JSON, Content-Type: application/json");
  }
  return std::nullopt;
}

HttpReply Site::answer(const HttpHead& head, std::string_view body) {
  if (const PageFile* const file = find_page_file(head.path)) {
    return {200, std::string{file->content_type}, std::make_shared<const std::string>(file->text),
            with_security({{"Cache-Control", "no-cache"}})};
  }
  const Found found = route_of(head.path);
  if (found.route == nullptr) {
    return refusal(404, "nothing is at " + quoted(head.path));
  }
  if (found.route->asks) {
    return asked(found.route->verb, body);
  }
  // The word holds letters, digits and dashes alone.
  const std::string request = found.word.empty()
                                  ? std::string{}
                                  : "{\"" + std::string{found.route->last} + "\": \"" + std::string{found.word} + "\"}";
  return asked(found.route->verb, request);
}

HttpReply Site::asked(WireVerb verb, std::string_view request) {
  const std::string key = std::to_string(static_cast<unsigned>(verb)) + " " + std::string{request};
  if (std::optional<HttpReply> known = cache_.find(key)) {
    return *std::move(known);
  }
  return under_way_.reply(key, [&] {
    const WorkerReply asked = ask_(verb, request);
    HttpReply reply = reply_of(asked.reply, asked.retry_after);
    if (asked.reply.whole) {
      cache_.keep(key, reply);
    }
    return reply;
  });
}

}  // namespace headroom::cli
