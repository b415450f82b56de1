// SPDX-License-Identifier: Apache-2.0
// What a request over HTTP is answered with: who may ask, the routes, the page, and answers that are kept.
#pragma once

#include <headroom/answers/wire/request.hpp>
#include <headroom/cli/web/http.hpp>
#include <headroom/cli/web/workers.hpp>

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::cli {

/// Replies by their requests, the oldest left out where they take too much memory. Safe from several threads.
class ReplyCache {
 public:
  /// `bytes`: of requests and replies together; 0: nothing is kept.
  explicit ReplyCache(std::size_t bytes) : most_{bytes} {}
  [[nodiscard]] std::optional<HttpReply> find(const std::string& request);
  void keep(const std::string& request, const HttpReply& reply);
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Kept {
    std::string request;
    HttpReply reply;
    [[nodiscard]] std::size_t bytes() const noexcept { return request.size() + reply.body->size() + 256; }
  };
  std::size_t most_;
  mutable std::mutex mutex_;
  std::list<Kept> list_;  ///< the last asked first
  std::map<std::string_view, std::list<Kept>::iterator> by_request_;
  std::size_t bytes_ = 0;
};

struct SiteOptions {
  std::vector<std::string> hosts;  ///< names that requests may address, in lower case, without ports
  std::size_t cache_bytes = 0;
};

/// Answers a question, in whatever process.
using WireAsk = std::function<WorkerReply(WireVerb verb, std::string_view request)>;

/// Equal requests that are asked while one of them is answered have its reply. Safe from several threads.
class RepliesUnderWay {
 public:
  /// Of the first to ask what `answer` makes; of the others the first one's. What `answer` throws the first one throws,
  /// and one of the others asks in its turn.
  [[nodiscard]] HttpReply reply(const std::string& request, const std::function<HttpReply()>& answer);

 private:
  struct Reply {
    std::optional<HttpReply> reply;
    bool over = false;
  };
  std::mutex mutex_;
  std::condition_variable ready_;
  std::map<std::string, std::shared_ptr<Reply>, std::less<>> replies_;
};

/// The page and the questions.
class Site {
 public:
  Site(SiteOptions options, WireAsk ask);

  /// Requests that are refused before their body is read: of another host or page, of an unknown path or method, of no
  /// JSON.
  [[nodiscard]] std::optional<HttpReply> refuse(const HttpHead& head) const;
  [[nodiscard]] HttpReply answer(const HttpHead& head, std::string_view body);
  /// "headroom.error/1" with the headers of every reply.
  [[nodiscard]] static HttpReply refusal(int status, const std::string& why);

 private:
  [[nodiscard]] bool is_host(std::string_view host) const;
  [[nodiscard]] HttpReply asked(WireVerb verb, std::string_view request);

  SiteOptions options_;
  WireAsk ask_;
  ReplyCache cache_;
  RepliesUnderWay under_way_;
};

}  // namespace headroom::cli
