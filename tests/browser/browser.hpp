// SPDX-License-Identifier: Apache-2.0
// A headless Chromium driven over a pipe by its DevTools protocol: what a page does when a browser really opens it.
#pragma once

#include <headroom/core/config_value.hpp>

#include "../support/scratch_folder.hpp"
#include <filesystem>
#include <string>
#include <vector>

namespace headroom::test {

/// How a page is looked at.
struct View {
  int width = 1280, height = 900;
  bool phone = false;
  bool dark = false;
  bool print = false;
};

class Browser {
 public:
  /// Starts `program`; std::runtime_error when it does not answer within the time that calls have.
  explicit Browser(const std::string& program);
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  /// Opens a file in a tab of its own and waits until it is loaded; what was said and asked for before is forgotten.
  void open(const std::filesystem::path& file, const View& view);
  /// The string that an expression of JavaScript yields. std::runtime_error with the message where it throws.
  std::string evaluate(const std::string& expression);
  /// The page as the printer gets it, base64.
  std::string pdf();

  /// Time that the page's main thread has worked since it was opened, whatever else the machine does.
  double working_seconds();

  /// Uncaught exceptions and everything on the console or in the log, since the page was opened.
  [[nodiscard]] const std::vector<std::string>& complaints() const noexcept { return complaints_; }
  /// Addresses that the page asked for, itself left out.
  [[nodiscard]] const std::vector<std::string>& requests() const noexcept { return requests_; }

 private:
  ConfigValue call(const std::string& method, const std::string& parameters, bool of_page = true);
  ConfigValue next();
  void new_tab();
  void note(const ConfigValue& event);

  ScratchFolder profile_;
  int process_ = -1;
  int to_ = -1, from_ = -1;
  int last_ = 0;
  bool loaded_ = false;
  std::string tab_, session_, page_, unread_;
  std::vector<std::string> complaints_, requests_;
};

}  // namespace headroom::test
