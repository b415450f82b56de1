// SPDX-License-Identifier: Apache-2.0
// What JavaScript calls: a verb and a request as JSON in, the document that the command line prints out. One thread
// asks at a time; a returned text lives until the next call.
#include <headroom/answers/document/print.hpp>
#include <headroom/answers/door/library.hpp>
#include <headroom/answers/wire/failure.hpp>
#include <headroom/answers/wire/request.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/input_file.hpp>
#include <headroom/core/json_writer.hpp>

#include <emscripten/emscripten.h>

#include <new>
#include <string>
#include <utility>

namespace headroom {
namespace {

/// The data that ship: a page has no folders of a user. A file of them is read when a question first needs it.
const QuestionLibrary& library() {
  static const QuestionLibrary one = QuestionLibrary::standard();
  return one;
}

/// Whoever asks waits for nobody else and can give up at any time, so that nothing bounds the seconds. A config.json
/// may be as long as the command line reads one, and what it is quoted with comes on top.
WireLimits limits_of_page() {
  WireLimits limits;
  limits.bytes = 2 * most_text;
  limits.seconds = 0.0;
  return limits;
}

std::string import_file(const std::string& path) {
  try {
    JsonWriter request;
    request.begin_object();
    request.key("config");
    request.text(read_file(path).text);
    request.end_object();
    return wire_reply(library(), WireVerb::import_config, request.take(), limits_of_page()).body;
  } catch (const ConfigError& error) {
    return json_text(failure_document(2, FailureCode::input, error.diagnostics(), error.untold()));
  } catch (const std::bad_alloc&) {
    return wire_refusal(503, "the file takes more memory than this browser gives").body;
  }
}

/// Keeps a text for its reader.
const char* kept(std::string text) {
  static std::string last;
  last = std::move(text);
  return last.c_str();
}

}  // namespace
}  // namespace headroom

extern "C" {

/// The answer, or "headroom.error/1".
EMSCRIPTEN_KEEPALIVE const char* headroom_reply(const char* verb, const char* request) {
  return headroom::kept(headroom::wire_reply(headroom::library(), verb, request, headroom::limits_of_page()).body);
}

/// A config.json of Hugging Face that was written into the file system of this module, as a table that describes the
/// model.
EMSCRIPTEN_KEEPALIVE const char* headroom_import(const char* path) {
  return headroom::kept(headroom::import_file(path));
}
}
