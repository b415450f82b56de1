// SPDX-License-Identifier: Apache-2.0
// The progress line of a long computation on a terminal, and its time limit.
#pragma once

#include <headroom/cli/frame/verb.hpp>
#include <headroom/core/on_threads.hpp>

#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace headroom::cli {

/// Shows one line on stderr, if that is a terminal: what is computed, how far it is, and for how long. The line appears
/// two seconds after construction and is removed by the destructor.
class ProgressLine {
 public:
  /// `doing` names the work. `far` returns how far it is, or "" if that is unknown; it is called from another thread.
  explicit ProgressLine(std::string doing, std::function<std::string()> far = {});
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  [[nodiscard]] bool shown() const noexcept { return shown_; }
  /// Shows this line from now on, instead of the one that `doing` and `far` make.
  void show(const std::string& line);
  /// Removes the line, so that a message can be written; it appears again with the next update.
  void erase();

 private:
  static void write(const std::string& line);

  bool shown_;
  bool own_ = false;  ///< show() was called
  int seconds_ = 0;
  std::string doing_;
  std::function<std::string()> far_;
  std::mutex mutex_;
  std::optional<Timer> timer_;
};

/// The option `--within TIME`, which ends an answer early with what was found until then.
inline constexpr std::string_view within_option = "--within";

/// Starts the time limit of --within: when it is over, interrupt_noted() becomes true. Without the option it does
/// nothing. The constructor throws ConfigError if the option's value is not a time.
class TimeLimit {
 public:
  explicit TimeLimit(const Arguments& arguments);

 private:
  std::optional<Timer> timer_;
};

}  // namespace headroom::cli
