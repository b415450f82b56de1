// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and the end of a batch job's time (SIGTERM, as mpirun and Slurm send it), and what a command makes of them.
#pragma once

#include <atomic>
#include <csignal>

namespace headroom::cli {

/// While one stands, the first interrupt is noted, for work that ends early with what it has; a second one ends the
/// program as it would without.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Set by an interrupt, and from then on.
  [[nodiscard]] static const std::atomic<bool>& noted() noexcept;

 private:
  struct sigaction interrupt_ {
  }, term_{};
};

/// While one stands, an interrupt says that there is no answer and ends the program. One that the program was started
/// to ignore (nohup, a shell's background) is ignored.
class InterruptNotice {
 public:
  InterruptNotice();
  ~InterruptNotice();
  InterruptNotice(const InterruptNotice&) = delete;
  InterruptNotice& operator=(const InterruptNotice&) = delete;

 private:
  struct sigaction interrupt_ {
  }, term_{};
};

/// 128 and the signal that was noted last, as shells tell of it: 130 after SIGINT, 143 after SIGTERM.
[[nodiscard]] int interrupted_code() noexcept;

}  // namespace headroom::cli
