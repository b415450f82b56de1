// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/validation/row_filter.hpp>

#include <algorithm>
#include <array>
#include <filesystem>

namespace headroom {
namespace {}  // namespace

bool passes(const RowFilter& filter, const RunFile& file, const RunRow& row) {
  const std::string value = cell(file, row, filter.column).value_or("");
  const auto holds = [&](const std::string& text) {
    return std::find(filter.values.begin(), filter.values.end(), text) != filter.values.end();
  };
  const auto listed = [&] {
    return holds(value) || (filter.column == "file" && holds(std::filesystem::path{value}.filename().string()));
  };
  switch (filter.op) {
    case RowFilter::Op::equal: return listed();
    case RowFilter::Op::unequal: return !listed();
    case RowFilter::Op::at_most: {
      const auto number = whole_real(value);
      return number && *number <= filter.bound;
    }
    case RowFilter::Op::at_least: {
      const auto number = whole_real(value);
      return number && *number >= filter.bound;
    }
  }
  return false;
}

std::string unknown_column(std::span<const RunFile> files, std::string_view column) {
  const bool known = column.starts_with("options.") || column == "file" ||
                     std::any_of(files.begin(), files.end(), [&](const RunFile& file) {
                       return std::find(file.header.begin(), file.header.end(), column) != file.header.end();
                     });
  if (known) {
    return {};
  }
  std::vector<std::string_view> names;
  for (const RunFile& file : files) {
    names.insert(names.end(), file.header.begin(), file.header.end());
  }
  return "no file has a column " + quoted(column) + suggestion(column, names);
}

bool passes_all(std::span<const RowFilter> filters, const RunFile& file, const RunRow& row) {
  return std::all_of(filters.begin(), filters.end(), [&](const RowFilter& f) { return passes(f, file, row); });
}

bool belongs(const RowGroup& group, const RunFile& file, const RunRow& row) {
  return passes_all(group.where, file, row) && (group.except.empty() || !passes_all(group.except, file, row));
}

RowFilter parse_filter(std::string_view expression, std::string_view option) {
  struct Spelling {
    std::string_view text;
    RowFilter::Op op;
  };
  constexpr std::array spellings{Spelling{"!=", RowFilter::Op::unequal}, Spelling{"<=", RowFilter::Op::at_most},
                                 Spelling{">=", RowFilter::Op::at_least}, Spelling{"=", RowFilter::Op::equal}};
  for (const Spelling& spelling : spellings) {
    const std::size_t at = expression.find(spelling.text);
    if (at == std::string_view::npos || at == 0) {
      continue;
    }
    RowFilter filter{std::string{expression.substr(0, at)}, spelling.op, {}, 0.0};
    std::string_view rest = expression.substr(at + spelling.text.size());
    if (spelling.op == RowFilter::Op::at_most || spelling.op == RowFilter::Op::at_least) {
      const auto bound = whole_real(rest);
      if (!bound) {
        throw ConfigError{std::string{option} + " " + quoted(expression) + ": " + quoted(rest) + " is no number"};
      }
      filter.bound = *bound;
      return filter;
    }
    while (true) {
      const std::size_t bar = rest.find('|');
      filter.values.emplace_back(rest.substr(0, bar));
      if (bar == std::string_view::npos) {
        return filter;
      }
      rest.remove_prefix(bar + 1);
    }
  }
  throw ConfigError{std::string{option} + " " + quoted(expression) +
                    " is no condition; write column=a|b, column!=a, column<=8 or column>=8"};
}

RowGroup parse_group(std::span<const std::string> expressions, std::span<const std::string> except) {
  RowGroup group;
  for (const std::string& expression : expressions) {
    group.name += (group.name.empty() ? "where " : " and ") + expression;
    group.where.push_back(parse_filter(expression, "where:"));
  }
  for (const std::string& expression : except) {
    group.name += (group.except.empty() ? " except " : " and ") + expression;
    group.except.push_back(parse_filter(expression, "except:"));
  }
  return group;
}

}  // namespace headroom
