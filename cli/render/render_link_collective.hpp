// SPDX-License-Identifier: Apache-2.0
// A collective over links that the asker states, without a SKU: the textbook's algorithms.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/cli/render/render_series.hpp>
#include <headroom/model/collectives/textbook_times.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

struct LinkQuestion {
  Collective collective = Collective::all_reduce;
  Bytes bytes{};
  TextbookGroup group;
  std::optional<TextbookAlgorithm> algorithm;  ///< nullopt: the fastest of the usual ones
  bool all = false;                            ///< every algorithm is shown
  SeriesQuestion series;
};

struct LinkAnswer {
  LinkQuestion question;
  std::vector<TextbookTime> times;  ///< fastest first
  TextbookTime taken;
  std::vector<TextbookCrossover> crossovers;
  SeriesAnswer series;
};

/// The algorithm must serve the collective, and the ranks be two or more.
[[nodiscard]] LinkAnswer answer_link_collective(const LinkQuestion& question);
[[nodiscard]] std::string collective_text(const LinkAnswer& answer);
/// Time against size, a line an algorithm, with marks where the fastest changes.
[[nodiscard]] std::string collective_svg(const LinkAnswer& answer);
/// One HTML file: the same with the tables of the text and the document.
[[nodiscard]] std::string collective_page(const LinkAnswer& answer);
/// Schema "headroom.collective/1", of which it has the question, the bytes and the times.
[[nodiscard]] Value collective_document(const LinkAnswer& answer);

}  // namespace headroom::cli
