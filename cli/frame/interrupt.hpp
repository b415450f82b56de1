// SPDX-License-Identifier: Apache-2.0
// Handling of interrupts: Ctrl-C, and SIGTERM as mpirun and Slurm send it at the end of a job's time.
#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <string_view>

namespace headroom::cli {

/// Effect of an interrupt while a guard exists.
enum class OnInterrupt : std::uint8_t {
  note,   ///< noted, so that work can stop early with its result so far; a second interrupt ends the program
  leave,  ///< reports that there is no answer, and ends the program
};

/// What programs read on stdout of a command that an interrupt ends, by signal; empty: nothing.
struct InterruptedTexts {
  std::string_view sigint, sigterm;
};

/// Sets the effect of interrupts during its lifetime; an inner guard has precedence. A signal that was ignored at start
/// (`trap '' INT`, a script's background job) stays ignored.
class InterruptGuard {
 public:
  /// `texts` outlive the guard; they are for those that leave.
  explicit InterruptGuard(OnInterrupt does, InterruptedTexts texts = {});
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  static constexpr std::array signals{SIGINT, SIGTERM};
  std::array<struct sigaction, signals.size()> before_{};
};

/// True once an interrupt was noted.
[[nodiscard]] const std::atomic<bool>& interrupt_noted() noexcept;

/// Exit code of an answer that ends at its time limit, as timeout(1) has it.
inline constexpr int time_over_code = 124;

/// As an interrupt that is noted: the time limit of the answer has passed.
void note_time_over() noexcept;

/// Exit code after what was noted last, 128 + signal (130 for SIGINT, 143 for SIGTERM), or time_over_code.
[[nodiscard]] int interrupted_code() noexcept;

}  // namespace headroom::cli
