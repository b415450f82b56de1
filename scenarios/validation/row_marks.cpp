// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/embedded.hpp>
#include <headroom/scenarios/facts/publication_facts.hpp>
#include <headroom/scenarios/validation/row_marks.hpp>

#include <algorithm>
#include <utility>

namespace headroom {
namespace embedded {
EmbeddedIndex embedded_accuracy() noexcept;  // NOLINT(misc-use-internal-linkage)
}

namespace {

RowMarks read_embedded_marks() {
  for (const EmbeddedFile& file : embedded::embedded_accuracy().files) {
    if (file.id == "marks") {
      return read_marks(parse_toml(file.text, std::string{file.name}));
    }
  }
  return RowMarks{{}};
}

}  // namespace

std::string_view RowMarks::why(std::string_view publication, std::string_view id) const noexcept {
  for (const RowMark& mark : marks_) {
    if (mark.publication == publication &&
        std::any_of(mark.rows.begin(), mark.rows.end(), [&](const std::string& name) { return names_row(name, id); })) {
      return mark.why;
    }
  }
  return {};
}

bool RowMarks::know(std::string_view publication) const noexcept {
  return std::any_of(marks_.begin(), marks_.end(),
                     [&](const RowMark& mark) { return mark.publication == publication; });
}

RowMarks read_marks(const ConfigValue& document) {
  Diagnostics diagnostics;
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  std::vector<RowMark> marks;
  for (ConfigTable& entry : root.tables("mark")) {
    RowMark mark;
    mark.publication = entry.text("publication");
    mark.rows = entry.texts("rows");
    if (mark.rows.empty()) {
      entry.problem("rows",
                    "which rows? ids without their last part, the metric, e.g. rows = [\"run-7\"], or their beginning, "
                    "[\"run-*\"]");
    }
    mark.why = entry.text("why");
    mark.source = entry.text("source");
    entry.finish();
    marks.push_back(std::move(mark));
  }
  root.finish();
  diagnostics.throw_if_any();
  return RowMarks{std::move(marks)};
}

const RowMarks& row_marks() {
  static const RowMarks marks = read_embedded_marks();
  return marks;
}

}  // namespace headroom
