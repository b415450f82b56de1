// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/cli/render/render_diagnosis.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace headroom::cli {
namespace {

std::string words_of(std::string_view key) {
  std::string words{key};
  for (char& c : words) {
    c = c == '_' ? ' ' : c;
  }
  return words;
}

/// A cell as a value of the document, or as people read it.
Value value_of(const FindingCell& cell) {
  return std::visit(
      [](const auto& held) -> Value {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
          return {};
        } else {
          return {held};
        }
      },
      cell);
}

std::string table_text(const FindingTable& found) {
  std::vector<std::string> titles;
  for (const FindingColumn& column : found.columns) {
    titles.emplace_back(column.title);
  }
  Table table{titles};
  for (const std::vector<FindingCell>& cells : found.rows) {
    std::vector<std::string> row;
    for (const FindingCell& cell : cells) {
      row.push_back(text_of_cell(cell));
    }
    table.row(std::move(row));
  }
  return std::string{found.says} + "\n" + table.text(0);
}

std::string share_of(std::optional<double> part) {
  return part ? percent_number(*part, 3) + " %" : "not in these files";
}

std::string gain_of(const Cause& cause) {
  const bool run = cause.kind == CauseKind::client_bound || cause.kind == CauseKind::saturated ||
                   cause.kind == CauseKind::evaluation || cause.kind == CauseKind::initialisation;
  const std::string what = run ? "the run" : cause.kind == CauseKind::queued ? "a request" : "a step";
  return cause.time_ratio ? what + " would take " + percent_number(*cause.time_ratio, 3) + " % of its time" : "";
}

}  // namespace

std::string text_of_cell(const FindingCell& cell) {
  return std::visit(
      [](const auto& held) -> std::string {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return "-";
        } else if constexpr (std::is_same_v<T, std::string>) {
          return held;
        } else if constexpr (std::is_same_v<T, std::int64_t>) {
          return std::to_string(held);
        } else if constexpr (std::is_same_v<T, double>) {
          return format_number(held, 3);
        } else {
          return format(held);
        }
      },
      cell);
}

std::string verdict_of(const RunReading& reading) {
  if (reading.causes.empty()) {
    return "No cause stands out: none takes 3 % of the time.";
  }
  const Cause& first = reading.causes.front();
  return first.says + (first.time_ratio ? " Without it " + gain_of(first) + "." : "");
}

std::string diagnosis_text(const RunReading& reading) {
  std::string text;
  for (const std::string& file : reading.files) {
    text += (text.empty() ? "" : ", ") + file;
  }
  text += (reading.gpu.empty() ? "" : ": " + reading.gpu) +
          (reading.steps > 0 ? ", " + std::to_string(reading.steps) + (reading.steps == 1 ? " step" : " steps") : "") +
          (reading.ranks > 1 ? " of " + std::to_string(reading.ranks) + " ranks" : "") + "\n";
  text += verdict_of(reading) + "\n\n";
  if (!reading.causes.empty()) {
    Table causes{{"cause", "of the time", "time with the cure", "<what to do"}};
    for (const Cause& cause : reading.causes) {
      causes.row({words_of(cause_names[static_cast<std::size_t>(cause.kind)]),
                  cause.lost > 0.0 ? percent_number(cause.lost, 3) + " %" : "-",
                  cause.time_ratio ? percent_number(*cause.time_ratio, 3) + " %" : "-", cause.cure});
    }
    text += causes.text(0) + "\n";
  }
  if (reading.step) {
    Table parts{{"a step", "time", "share"}};
    for (const TimePart& part : reading.parts) {
      if (part.time.raw() > 0.0) {
        parts.row({words_of(part.key), format(part.time), percent_number(part.time / *reading.step, 3) + " %"});
      }
    }
    parts.row({"all", format(*reading.step), "100 %"});
    text += parts.text(0) + "\n";
  }
  Table use{{"use of the GPU", "<"}};
  use.row({"a kernel is resident", share_of(reading.use.busy)});
  use.row({"multiprocessors with a block", share_of(reading.use.sm_active)});
  use.row({"the tensor cores' pipe works", share_of(reading.use.tensor_active)});
  use.row({"the memory moves data", share_of(reading.use.memory_active)});
  use.row({"products' FLOP over the peak (MFU)",
           reading.use.products ? share_of(reading.use.products) : "not in these files; --against a plan says it"});
  const Utilisation& told = reading.use;
  if (told.busy || told.sm_active || told.tensor_active || told.memory_active) {
    text += use.text(0) + "\n";
  }
  if (!reading.kernels.empty()) {
    Table table{{"longest work", "time", "count", "<name"}};
    constexpr std::size_t widest = 72;
    for (const KernelTotal& kernel : reading.kernels) {
      table.row({std::string{kernel.work}, format(kernel.time), std::to_string(kernel.count),
                 kernel.name.size() > widest ? kernel.name.substr(0, widest) + "..." : kernel.name});
    }
    text += table.text(0);
  }
  for (const FindingTable& found : reading.tables) {
    text += "\n" + table_text(found);
  }
  for (std::size_t i = 1; i < reading.causes.size(); ++i) {  // the first is the verdict
    text += (i == 1 ? "\n" : "") + reading.causes[i].says + "\n";
  }
  for (const Cause& cause : reading.causes) {
    for (const std::string& line : cause.evidence) {
      text += "evidence: " + line + "\n";
    }
  }
  for (const std::string& note : reading.notes) {
    text += note + "\n";
  }
  return text;
}

Value diagnosis_document(const RunReading& reading) {
  Value document = object(
      "schema"_m = "headroom.diagnose/1", "verdict"_m = verdict_of(reading), "files"_m = reading.files,
      "device"_m = when(!reading.gpu.empty(), reading.gpu), "ranks"_m = reading.ranks, "steps"_m = reading.steps,
      "step_s"_m = reading.step,
      "causes"_m = list(reading.causes,
                        [](const Cause& cause) {
                          return row("cause"_m = cause_names[static_cast<std::size_t>(cause.kind)],
                                     "lost"_m = share(cause.lost), "time_ratio"_m = cause.time_ratio,
                                     "says"_m = cause.says, "cure"_m = cause.cure, "evidence"_m = cause.evidence);
                        }),
      "parts"_m =
          list(reading.parts, [&](const TimePart& part) { return row("part"_m = part.key, "time_s"_m = part.time); }),
      "use"_m = row("busy"_m = reading.use.busy, "sm_active"_m = reading.use.sm_active,
                    "tensor_active"_m = reading.use.tensor_active, "memory_active"_m = reading.use.memory_active,
                    "products"_m = reading.use.products),
      "kernels"_m = list(reading.kernels,
                         [](const KernelTotal& kernel) {
                           return row("name"_m = kernel.name, "work"_m = kernel.work, "time_s"_m = kernel.time,
                                      "count"_m = kernel.count);
                         }),
      "notes"_m = reading.notes);
  for (const FindingTable& found : reading.tables) {
    document.add({std::string{found.key}, list(found.rows, [&](const std::vector<FindingCell>& cells) {
                    Value held = row();
                    for (std::size_t i = 0; i < cells.size(); ++i) {
                      held.add({std::string{found.columns[i].key}, value_of(cells[i])});
                    }
                    return held;
                  })});
  }
  return document;
}

}  // namespace headroom::cli
