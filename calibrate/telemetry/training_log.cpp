// SPDX-License-Identifier: Apache-2.0
// Lines: NVIDIA Apex amp/scaler.py ("Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to");
// DeepSpeed runtime/fp16/loss_scaler.py ("OVERFLOW! Rank 0 Skipping step. Attempted loss scale:"); Megatron-LM
// training.py
// ("number of skipped iterations:", "number of nan iterations:"); Transformers ("{'loss': 2.3, 'grad_norm': nan").
#include <headroom/calibrate/telemetry/signal_text.hpp>
#include <headroom/calibrate/telemetry/training_log.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

namespace headroom {
namespace {

bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Whether a text begins with a number or with what stands for none.
bool is_number_word(std::string_view text) noexcept {
  return text.starts_with("nan") || text.starts_with("NaN") || text.starts_with("inf") ||
         text.find_first_of("0123456789") == 0;
}

/// What stands behind the word "loss", an optional quote and ':', '=' or a blank; empty: no loss is told.
std::string_view told_loss(std::string_view line) noexcept {
  for (std::size_t at = line.find("oss"); at != std::string_view::npos; at = line.find("oss", at + 1)) {
    const bool word = at > 0 && (line[at - 1] == 'l' || line[at - 1] == 'L');
    std::string_view rest = line.substr(at + 3);
    rest.remove_prefix(!rest.empty() && (rest.front() == '\'' || rest.front() == '"') ? 1 : 0);
    const bool blank = !rest.empty() && rest.front() == ' ';
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (!word || rest.empty() || (rest.front() != ':' && rest.front() != '=' && !(blank && is_number_word(rest)))) {
      continue;
    }
    rest.remove_prefix(rest.front() == ':' || rest.front() == '=' ? 1 : 0);
    rest.remove_prefix(std::min(rest.find_first_not_of(" '\""), rest.size()));
    return rest;
  }
  return {};
}

enum class ToldLoss : std::uint8_t { none, number, not_number };

ToldLoss loss_of(std::string_view line) noexcept {
  const std::string_view told = told_loss(line);
  for (const std::string_view none : {"nan", "NaN", "NAN", "inf", "Inf", "-inf", "tensor(nan", "-nan"}) {
    if (told.starts_with(none) && (told.size() == none.size() || !is_letter(told[none.size()]))) {
      return ToldLoss::not_number;
    }
  }
  const RealRead read = read_real(told);
  return read.good() && read.length > 0 ? ToldLoss::number : ToldLoss::none;
}

bool skips_step(std::string_view line) noexcept {
  return mentions(line, "skipping step") && (mentions(line, "overflow") || mentions(line, "loss scal"));
}

struct FormatWord {
  std::string_view word;  ///< in small letters
  std::string_view format;
};
constexpr std::array format_words{FormatWord{"float16", "fp16"},  FormatWord{"fp16", "fp16"},
                                  FormatWord{"bfloat16", "bf16"}, FormatWord{"bf16", "bf16"},
                                  FormatWord{"fp8", "fp8"},       FormatWord{"float32", "fp32"},
                                  FormatWord{"fp32", "fp32"}};

bool says_no(std::string_view rest) noexcept {
  rest.remove_prefix(std::min(rest.find_first_not_of(" '\"=:."), rest.size()));
  return mentions(rest.substr(0, 5), "false") || mentions(rest.substr(0, 4), "none") ||
         mentions(rest.substr(0, 3), "off");
}

/// The format that a line states: not one that it switches off ("fp16=False"), nor the "float16" within "bfloat16".
std::string_view format_of(std::string_view line) {
  const std::string small = in_small(line);
  for (const FormatWord& known : format_words) {
    for (std::size_t at = small.find(known.word); at != std::string::npos; at = small.find(known.word, at + 1)) {
      const bool within = at > 0 && (small[at - 1] == 'b' || (small[at - 1] >= '0' && small[at - 1] <= '9'));
      if (!within && !says_no(std::string_view{small}.substr(at + known.word.size()))) {
        return known.format;
      }
    }
  }
  return {};
}

/// A line that states how the run computes, not one that speaks of it.
bool states_format(std::string_view line) noexcept {
  return mentions(line, "dtype") || mentions(line, "precision") || mentions(line, "--fp16") ||
         mentions(line, "--bf16") || mentions(line, "fp16=") || mentions(line, "bf16=") || mentions(line, "fp16 ...") ||
         mentions(line, "autocast") || mentions(line, "amp") || mentions(line, "\"fp16\"") || mentions(line, "fp16:") ||
         mentions(line, "bf16:");
}

/// "NVIDIA A100-SXM4-80GB" out of a line: from the maker's word to a quote, comma or bracket.
std::string gpu_in(std::string_view line) {
  for (const std::string_view maker : {"NVIDIA ", "Tesla ", "AMD Instinct "}) {
    const std::size_t at = line.find(maker);
    if (at == std::string_view::npos) {
      continue;
    }
    const std::string_view rest = line.substr(at);
    std::string_view name = trimmed(rest.substr(0, std::min(rest.find_first_of("'\",;()[]|"), rest.size())));
    const bool number = name.find_first_of("0123456789") != std::string_view::npos;
    constexpr std::size_t longest_name = 48;
    if (number && name.size() <= longest_name) {
      return std::string{name};
    }
  }
  return {};
}

}  // namespace

bool tells_training(std::string_view line) noexcept {
  return skips_step(line) || loss_of(line) != ToldLoss::none;
}

void read_training_log(std::string_view text, const std::string& file, Signals& signals) {
  TrainingLog log;
  log.file = file;
  TextLines lines{text};
  while (lines.next()) {
    const std::string_view line = lines.line();
    if (skips_step(line)) {
      ++log.overflows;
      log.first_overflows += log.losses == 0 ? 1 : 0;
      log.last_overflow = lines.number();
    }
    for (const std::string_view before : {"reducing loss scale to ", "reducing to ", "loss scale: ", "loss_scale="}) {
      if (const std::optional<double> scale = reading_behind(line, before); scale && *scale >= 0.0) {
        log.least_scale = std::min(log.least_scale.value_or(*scale), *scale);
        break;
      }
    }
    if (const std::optional<double> skipped = reading_behind(line, "number of skipped iterations:");
        skipped && *skipped > 0.0 && *skipped < 1e9) {
      log.overflows += static_cast<std::int64_t>(*skipped);
      log.first_overflows += log.losses == 0 ? static_cast<std::int64_t>(*skipped) : 0;
      log.last_overflow = lines.number();
    }
    const ToldLoss loss = loss_of(line);
    if (loss == ToldLoss::number) {
      ++log.losses;
    } else if (loss == ToldLoss::not_number) {
      ++log.not_numbers;
      log.first_not_number = log.first_not_number == 0 ? lines.number() : log.first_not_number;
    }
    if (log.format.empty() && states_format(line)) {
      log.format = format_of(line);
      log.format_line = lines.number();
    }
    if (log.gpu.empty()) {
      log.gpu = gpu_in(line);
    }
  }
  if (log.losses + log.not_numbers + log.overflows == 0) {
    throw ConfigError{{Diagnostic{file, {}, "no line tells a loss ('loss: 2.31') or a skipped step"}}};
  }
  signals.logs.push_back(std::move(log));
}

}  // namespace headroom
