// SPDX-License-Identifier: Apache-2.0
// What a long answer shows while it is made: one line on a terminal's stderr, and the end of its time.
#pragma once

#include <headroom/cli/frame/verb.hpp>
#include <headroom/core/on_threads.hpp>

#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace headroom::cli {

/// While it lives and stderr is a terminal, a line that begins two seconds after the start and is removed at the end:
/// what is done, how far it is, and since when. Written raw, whereas messages have control characters made visible.
class ProgressLine {
 public:
  /// `far` says how far the work is, "" where nobody knows; it is asked from another thread.
  explicit ProgressLine(std::string doing, std::function<std::string()> far = {});
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  [[nodiscard]] bool shown() const noexcept { return shown_; }
  /// A line of the work's own in place of the timed one, from now on.
  void show(const std::string& line);
  void erase();

 private:
  static void write(const std::string& line);

  bool shown_;
  bool own_ = false;  ///< a line of the work's own stands there, not the timed one
  int seconds_ = 0;
  std::string doing_;
  std::function<std::string()> far_;
  std::mutex mutex_;
  std::optional<Timer> timer_;
};

/// `--within TIME` of the verbs that search: an answer with what was found until then.
inline constexpr std::string_view within_option = "--within";

/// While it lives, the time of --within runs; once it is over interrupt_noted() is true. Nothing without the option.
/// ConfigError for no time.
class TimeLimit {
 public:
  explicit TimeLimit(const Arguments& arguments);

 private:
  std::optional<Timer> timer_;
};

}  // namespace headroom::cli
