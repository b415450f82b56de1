// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and the end of a batch job's time (SIGTERM, as mpirun and Slurm send it), and what a command makes of them.
#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>

namespace headroom::cli {

/// What an interrupt does while a guard stands.
enum class OnInterrupt : std::uint8_t {
  note,   ///< it is noted, for work that ends early with what it has; a second one ends the program as without a guard
  leave,  ///< it says that there is no answer, and ends the program
};

/// While one stands, an interrupt does this; an inner one has precedence. A signal that the program was started to
/// ignore (`trap '' INT`, a script's background) stays ignored.
class InterruptGuard {
 public:
  explicit InterruptGuard(OnInterrupt does);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  static constexpr std::array signals{SIGINT, SIGTERM};
  std::array<struct sigaction, signals.size()> before_{};
};

/// Set by an interrupt that is noted, and from then on.
[[nodiscard]] const std::atomic<bool>& interrupt_noted() noexcept;

/// 128 and the signal that was noted last, as shells tell of it: 130 after SIGINT, 143 after SIGTERM.
[[nodiscard]] int interrupted_code() noexcept;

}  // namespace headroom::cli
