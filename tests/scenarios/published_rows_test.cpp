// SPDX-License-Identifier: Apache-2.0
// The measured rows that ship: where they come from, that each is answered, and how far off each publication is.
#include <headroom/scenarios/validation/accuracy_reference.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

using namespace headroom;
using headroom::test::sources;

namespace {

const std::vector<RunFile>& shipped() {
  static const std::vector<RunFile> files = published_runs();
  return files;
}

std::set<std::string> sources_of(RowForm form) {
  std::set<std::string> names;
  for (const RunFile& file : shipped()) {
    for (const RunRow& row : file.rows) {
      if (file.form == form) {
        names.insert(row.source);
      }
    }
  }
  return names;
}

/// Name of an embedded file without its folder.
std::string base_name(const std::string& file) {
  return file.substr(file.find_last_of('/') + 1);
}

}  // namespace

TEST_CASE("three hundred published rows ship, of a dozen publications of training and a dozen of serving") {
  std::size_t rows = 0;
  for (const RunFile& file : shipped()) {
    rows += file.rows.size();
    CHECK(file.broken_cells.empty());
  }
  CHECK(rows >= 300);
  CHECK(sources_of(RowForm::training).size() >= 12);
  CHECK(sources_of(RowForm::serving).size() >= 12);
}

TEST_CASE("every row that ships is predicted or tells why, and each publication lies inside its bar") {
  const Validation v = validate(shipped(), ValidationScope{}, sources());
  CHECK(v.rows.size() >= 300);
  for (const ScoredRow& row : v.rows) {
    CAPTURE(row.id);
    const RowPrediction& p = row.prediction;
    CHECK(p.status != RowStatus::rejected);
    if (p.status == RowStatus::ok) {
      CHECK(std::isfinite(p.predicted));
      CHECK(p.low <= p.predicted);
      CHECK(p.predicted <= p.high);
    } else {
      CHECK_FALSE(p.why.empty());
    }
  }
  for (const std::string& missed : missed_bars(v, accuracy_reference().published_bars)) {
    FAIL_CHECK(missed);
  }
}

TEST_CASE("every publication that ships has a bar on its error and its answers, and a larger one on its intervals") {
  for (const RowForm form : {RowForm::training, RowForm::serving}) {
    for (const std::string& source : sources_of(form)) {
      CAPTURE(source);
      const std::vector<BudgetBar>& bars = accuracy_reference().published_bars;
      const auto bar =
          std::find_if(bars.begin(), bars.end(), [&](const BudgetBar& b) { return b.group == "source=" + source; });
      REQUIRE(bar != bars.end());
      CHECK(bar->mape);
      CHECK(bar->coverage);
      std::ptrdiff_t rows = 0;
      for (const RunFile& file : shipped()) {
        rows += std::count_if(file.rows.begin(), file.rows.end(), [&](const RunRow& r) { return r.source == source; });
      }
      CHECK((rows < 4 || bar->within.has_value()));
    }
  }
}

TEST_CASE("each file of published rows stands in their README with publication, licence, rows and metrics") {
  std::ifstream stream{std::string{HEADROOM_SOURCE_DIR} + "/scenarios/published/README.md", std::ios::binary};
  const std::string readme{std::istreambuf_iterator<char>{stream}, {}};
  for (const RunFile& file : shipped()) {
    CAPTURE(file.file);
    const std::size_t begin = readme.find("\n| " + base_name(file.file) + " | ");
    REQUIRE(begin != std::string::npos);
    const std::string line = readme.substr(begin + 1, readme.find('\n', begin + 1) - begin - 1);
    CHECK(std::count(line.begin(), line.end(), '|') == 8);
    std::set<std::string> metrics;
    for (const RunRow& row : file.rows) {
      metrics.insert(row.metric);
      CHECK(cell(file, row, "source_ref").value_or("") != "");
    }
    std::string told = " | " + std::to_string(file.rows.size()) + " | ";
    for (const std::string& metric : metrics) {
      told += (metric == *metrics.begin() ? "" : ", ") + metric;
    }
    CHECK(line.ends_with(told + " |"));
    CHECK(line.find(" |  |") == std::string::npos);
  }
}
