// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/frame/interrupt.hpp>
#include <headroom/cli/frame/progress.hpp>
#include <headroom/cli/frame/scenario_options.hpp>

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace headroom::cli {

ProgressLine::ProgressLine(std::string doing, std::function<std::string()> far)
    : shown_{isatty(STDERR_FILENO) == 1}, doing_{std::move(doing)}, far_{std::move(far)} {
  if (!shown_) {
    return;
  }
  constexpr int quiet = 2;  // seconds in which most answers are there
  timer_.emplace(1.0, [this] {
    const std::lock_guard lock{mutex_};
    if (++seconds_ >= quiet && !own_) {
      const std::string far = far_ ? far_() : std::string{};
      write(doing_ + (far.empty() ? "" : ": " + far) + ", " + std::to_string(seconds_) + " s");
    }
    return true;
  });
}

ProgressLine::~ProgressLine() {
  timer_.reset();
  erase();
}

void ProgressLine::show(const std::string& line) {
  if (shown_) {
    const std::lock_guard lock{mutex_};
    own_ = true;
    write(line);
  }
}

void ProgressLine::erase() {
  if (shown_) {
    const std::lock_guard lock{mutex_};
    write("");
  }
}

void ProgressLine::write(const std::string& line) {
  std::fprintf(stderr, "\r\033[K%s", line.c_str());
}

TimeLimit::TimeLimit(const Arguments& arguments) {
  Diagnostics diagnostics;
  const std::optional<Seconds> limit = quantity_option<Seconds>(arguments, within_option, diagnostics);
  diagnostics.throw_if_any();
  if (limit) {
    timer_.emplace(limit->raw(), [] {
      note_time_over();
      return false;
    });
  }
}

}  // namespace headroom::cli
