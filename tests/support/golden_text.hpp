// SPDX-License-Identifier: Apache-2.0
// When a printed text is the one that was kept, although numbers that were fitted to measurements have moved.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headroom::test {

/// What a kept text says of its own numbers, in lines before all others: "! MARK TEXT", which holds of every line with
/// TEXT in it, and without TEXT of all lines.
struct GoldenMarks {
  std::vector<std::string> exact;      ///< each number is an input or follows from inputs alone; before all other marks
  std::vector<std::string> fitted;     ///< integers too are fitted
  std::vector<std::string> form;       ///< fitted numbers agree by their form: of residuals, which lie anywhere near 0
  std::vector<std::string> unordered;  ///< the rows below the line, as deep as the first of them, may change places
};

/// The marks that `text` begins with; what follows them is left in `text`.
[[nodiscard]] GoldenMarks take_marks(std::string_view& text);

/// Where `actual` stops being what `expected` shows, as a sentence and the two lines; empty: nowhere.
///
/// Lines, words, punctuation and the cells of tables are the same; how many spaces stand between cells is not compared.
/// A line "..." of `expected` stands for any lines.
///
/// A number is exact or fitted. Exact: an integer without a unit, as of GPUs, ranks, ids, exit codes. Fitted: a number
/// with decimals or a unit; one rounded to three digits and written in thousands; one in a row or column of a rate; how
/// many rows, runs or sources a fit had.
///
/// Two fitted numbers agree when they have the same sign, dimension (ms and s are one) and number of digits, and lie
/// within a factor of two; shares of a whole also within a tenth of it. What is below a twentieth of the whole, or of
/// the largest number of its dimension in its table, agrees by dimension and digits. Days of a calendar agree within
/// 400 days, bars of '#' whatever their length, and what "binds" whatever its names.
[[nodiscard]] std::string golden_difference(std::string_view expected,
                                            std::string_view actual,
                                            const GoldenMarks& marks = {});

/// `expected` with the numbers of `actual`: each line takes that of the next printed one which has the same words, and
/// stays where none has. A line "..." stays.
[[nodiscard]] std::string golden_rewritten(std::string_view expected, std::string_view actual);

}  // namespace headroom::test
