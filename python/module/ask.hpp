// SPDX-License-Identifier: Apache-2.0
// Calls as answers with their faces: those of the library, and those that a verb of the command line writes.
#pragma once

#include <headroom/answers/door/answer.hpp>
#include <headroom/answers/door/library.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/python/module/keywords.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace headroom::python {

/// An answer. Its faces are written when they are asked for; safe to call from several threads.
class Found {
 public:
  Found() = default;
  Found(const Found&) = delete;
  Found& operator=(const Found&) = delete;
  virtual ~Found() = default;

  /// The bytes that the command line prints for --format json.
  [[nodiscard]] virtual std::string json() const = 0;
  [[nodiscard]] virtual std::string text(bool brief) const = 0;
  /// ConfigError where the answer has no page, or no rows.
  [[nodiscard]] virtual std::string html() const = 0;
  [[nodiscard]] virtual std::string csv() const = 0;
  [[nodiscard]] virtual bool good() const = 0;
  [[nodiscard]] virtual bool complete() const { return true; }
  /// The question as it was asked, for another question about it; nullptr: there is none.
  [[nodiscard]] virtual std::shared_ptr<const ConfigValue> document() const { return nullptr; }
  [[nodiscard]] virtual std::string file() const { return ""; }
};

/// How work that may take long is done: `work` looks at `stop` in turn.
struct Stopping {
  const std::atomic<bool>* stop = nullptr;
  std::function<bool()> time_over;
  std::function<void(const std::function<void()>& work)> run;
};

/// Answers a call against a library. ConfigError with every problem at once.
[[nodiscard]] std::shared_ptr<const Found> ask(const Call& call,
                                               const Sorted& sorted,
                                               const std::shared_ptr<const QuestionLibrary>& library,
                                               const Stopping& stopping);

/// Answers a verb of the command line. `words` are its positionals. ConfigError for a verb, an option or a choice that
/// there is not, and for what the verb refuses.
[[nodiscard]] std::shared_ptr<const Found> command(const std::string& verb,
                                                   const std::vector<std::string>& words,
                                                   const std::vector<Keyword>& options);

/// A number of seconds, or a time with its unit. ConfigError for what is neither, or is not above 0.
[[nodiscard]] double seconds_of(const std::string& text, const std::string& keyword);

}  // namespace headroom::python
