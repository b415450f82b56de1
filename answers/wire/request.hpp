// SPDX-License-Identifier: Apache-2.0
// A request of a program as JSON, and its answer as what the command line prints: for a server, for a page in a
// browser, and for other languages (docs/web.md). No file is opened for it and nothing of it is kept.
#pragma once

#include <headroom/answers/door/library.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace headroom {

/// What can be asked. The first seven take a request; of the others only `catalog` and `schema` do, a word.
enum class WireVerb : std::uint8_t {
  plan,
  explain,
  search,
  simulate,
  scale,
  compare,
  import_config,  ///< a Hugging Face config.json as a table that describes the model
  catalog,
  keys,
  schema,
  openapi,
  health
};

/// A verb as programs name and reach it.
struct WireRoute {
  WireVerb verb;
  std::string_view name;     ///< "plan"
  std::string_view path;     ///< "/api/v1/plan"
  std::string_view last;     ///< what may follow the path as a last word, "kind"; empty: nothing
  bool asks;                 ///< whether it takes a request: POST; else GET
  std::string_view meaning;  ///< as a phrase
  std::string_view answers;  ///< names of its answers' schemas with blanks between: "plan search fleet"
};
[[nodiscard]] std::span<const WireRoute> wire_routes() noexcept;
/// nullptr: there is no such verb.
[[nodiscard]] const WireRoute* find_wire_route(std::string_view name) noexcept;

/// What one request may take. Requests beyond are refused with the limit in the message, but that of the time: a
/// search, a fleet's plan and a curve then hold what was found, and other answers take as long as they take.
struct WireLimits {
  std::size_t bytes = std::size_t{1} << 20U;  ///< of the request's text
  std::size_t keys = 20'000;                  ///< values of the request, tables and lists among them
  std::size_t depth = 32;                     ///< tables and lists within each other
  double seconds = 20.0;                      ///< of an answer; 0 or less: no limit
  unsigned threads = 1;                       ///< of an answer; 0: as many as the machine has
};

struct WireReply {
  int status = 200;               ///< of HTTP: 200 answered; 400, 413, 422 the request's fault; 500, 503 ours
  std::string_view content_type;  ///< of `body`
  std::string body;               ///< what the command line prints, or "headroom.error/1" with every problem at once
  bool good = false;              ///< answered, and neither refused nor a promise missed: the command's exit code 0
  bool whole = false;             ///< the same whenever it is asked: no limit of time or memory cut it short
};

/// Answers a request. Problems of its members have their JSON pointers in place of a file. Never throws, but
/// std::bad_alloc. Safe to call from several threads with one library.
[[nodiscard]] WireReply wire_reply(const QuestionLibrary& library,
                                   WireVerb verb,
                                   std::string_view request,
                                   const WireLimits& limits = {});
/// The same of a verb's name; an unknown one is refused.
[[nodiscard]] WireReply wire_reply(const QuestionLibrary& library,
                                   std::string_view verb,
                                   std::string_view request,
                                   const WireLimits& limits = {});

/// A refusal by whoever passes requests on, in the form of the others: too large, too slow, too many at a time.
[[nodiscard]] WireReply wire_refusal(int status, const std::string& message);

}  // namespace headroom
