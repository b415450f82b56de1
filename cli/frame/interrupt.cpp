// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/frame/interrupt.hpp>

#include <unistd.h>

#include <string_view>

namespace headroom::cli {
namespace {

constexpr int code_base = 128;

std::atomic<bool> interrupted{false};
std::atomic<int> code_noted{code_base + SIGINT};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "set in a signal handler");

InterruptedTexts texts_told;  ///< set before the handler that reads them

extern "C" void note_interrupt(int signal) {
  code_noted.store(code_base + signal);
  interrupted.store(true);
}

extern "C" void tell_and_leave(int signal) {
  constexpr std::string_view told = "headroom: interrupted before there was an answer\n";
  const std::string_view answer = signal == SIGTERM ? texts_told.sigterm : texts_told.sigint;
  ssize_t written = write(STDERR_FILENO, told.data(), told.size());
  written = answer.empty() ? written : write(STDOUT_FILENO, answer.data(), answer.size());
  static_cast<void>(written);  // the reader may be gone
  _exit(code_base + signal);
}

}  // namespace

InterruptGuard::InterruptGuard(OnInterrupt does, InterruptedTexts texts) {
  if (does == OnInterrupt::leave) {
    texts_told = texts;
  }
  struct sigaction action {};
  action.sa_handler = does == OnInterrupt::note ? note_interrupt : tell_and_leave;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (std::size_t i = 0; i < signals.size(); ++i) {
    sigaction(signals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) {
      sigaction(signals[i], &action, nullptr);
    }
  }
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < signals.size(); ++i) {
    sigaction(signals[i], &before_[i], nullptr);
  }
}

const std::atomic<bool>& interrupt_noted() noexcept {
  return interrupted;
}

void note_time_over() noexcept {
  code_noted.store(time_over_code);
  interrupted.store(true);
}

int interrupted_code() noexcept {
  return code_noted.load();
}

}  // namespace headroom::cli
