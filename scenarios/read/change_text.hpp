// SPDX-License-Identifier: Apache-2.0
// Changes of a question as keys of its document: how they are printed, and how a document takes them.
#pragma once

#include <headroom/core/config_value.hpp>
#include <headroom/scenarios/question/change.hpp>
#include <headroom/scenarios/words/told_apart.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// "strategy.tp"; empty of what no key states.
[[nodiscard]] std::string_view path_of(Knob knob) noexcept;
/// "tp": its last part.
[[nodiscard]] std::string_view name_of(Knob knob) noexcept;
/// "strategy.tp = 8", "serving.weights = \"fp8\"": a line of TOML.
[[nodiscard]] std::string text_of(const Change& change);
[[nodiscard]] std::vector<std::string> texts_of(std::span<const Change> changes);
/// "8", "\"fp8\"".
[[nodiscard]] std::string value_text_of(const Change& change);
/// "8", "fp8": without quotes.
[[nodiscard]] std::string bare_value_of(const Change& change);
/// "tp 8", "max num seqs 64": a word of a row.
[[nodiscard]] Word word_of(const Change& change);
/// "strategy.tp=8", "serving.weights=fp8": what `--set` takes.
[[nodiscard]] std::string override_of(const Change& change);

/// A word of the knob, or any other text as it is.
[[nodiscard]] Change change_to(Knob knob, const std::string& text);
/// Whether a text stands where the knob takes words.
[[nodiscard]] bool is_no_word(const Change& change) noexcept;
/// What the knob takes; empty of numbers, flags and ids.
[[nodiscard]] std::span<const std::string_view> words_of(Knob knob) noexcept;

/// "--set strategy.tp=8": where problems of a value are told that a change put into a document.
[[nodiscard]] std::string place_of(const Change& change);
/// Sets the change's key. Precondition: is_key().
void put(const Change& change, ConfigValue& root);

}  // namespace headroom
