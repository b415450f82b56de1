// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/frame/interrupt.hpp>

#include <unistd.h>

#include <string_view>

namespace headroom::cli {
namespace {

constexpr int code_base = 128;

std::atomic<bool> interrupted{false};
std::atomic<int> by_signal{SIGINT};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "set in a signal handler");

extern "C" void note_interrupt(int signal) {
  by_signal.store(signal);
  interrupted.store(true);
}

extern "C" void tell_and_leave(int signal) {
  constexpr std::string_view told = "headroom: interrupted before there was an answer\n";
  const ssize_t written = write(STDERR_FILENO, told.data(), told.size());
  static_cast<void>(written);  // who reads it may be gone
  _exit(code_base + signal);
}

void catch_with(void (*handler)(int), int signal, struct sigaction& before) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(signal, &action, &before);
}

void catch_unless_ignored(int signal, struct sigaction& before) {
  sigaction(signal, nullptr, &before);
  if (before.sa_handler != SIG_IGN) {
    catch_with(tell_and_leave, signal, before);
  }
}

}  // namespace

InterruptGuard::InterruptGuard() {
  catch_with(note_interrupt, SIGINT, interrupt_);
  catch_with(note_interrupt, SIGTERM, term_);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &interrupt_, nullptr);
  sigaction(SIGTERM, &term_, nullptr);
}

const std::atomic<bool>& InterruptGuard::noted() noexcept {
  return interrupted;
}

InterruptNotice::InterruptNotice() {
  catch_unless_ignored(SIGINT, interrupt_);
  catch_unless_ignored(SIGTERM, term_);
}

InterruptNotice::~InterruptNotice() {
  sigaction(SIGINT, &interrupt_, nullptr);
  sigaction(SIGTERM, &term_, nullptr);
}

int interrupted_code() noexcept {
  return code_base + by_signal.load();
}

}  // namespace headroom::cli
