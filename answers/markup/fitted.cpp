// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/fitted.hpp>
#include <headroom/answers/markup/table.hpp>

#include <algorithm>
#include <vector>

namespace headroom {
namespace {

/// What is not broken, and the blanks in front of it.
struct Piece {
  std::size_t blanks = 0;
  std::size_t column = 0;  ///< in the line, counted from 0
  std::string_view text;
};

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

/// "19 936", "25.6 GiB", "80 %": one blank that holds a number together or to its unit.
bool joins(std::string_view before, std::string_view after) noexcept {
  constexpr std::size_t longest_unit = 7;
  if (before.empty() || after.empty() || !is_digit(before.back())) {
    return false;
  }
  const std::size_t word = std::min(after.find(' '), after.size());
  return word <= longest_unit && !is_digit(after.front())
             ? after.front() != '('
             : word >= 3 && is_digit(after[0]) && is_digit(after[1]) && is_digit(after[2]);
}

std::vector<Piece> pieces_of(std::string_view line) {
  std::vector<Piece> pieces;
  std::size_t at = 0;
  while (at < line.size()) {
    const std::size_t begin = std::min(line.find_first_not_of(' ', at), line.size());
    std::size_t end = std::min(line.find(' ', begin), line.size());
    while (end + 1 < line.size() && line[end + 1] != ' ' &&
           joins(line.substr(begin, end - begin), line.substr(end + 1))) {
      end = std::min(line.find(' ', end + 1), line.size());
    }
    if (begin < end) {
      pieces.push_back({begin - at, shown_width(line.substr(0, begin)), line.substr(begin, end - begin)});
    }
    at = end;
  }
  return pieces;
}

/// Where a line goes on: under the last column that leaves room, else a little inside its own beginning.
std::size_t hang_of(const std::vector<Piece>& pieces, std::size_t width) {
  std::size_t cells = 0;
  std::size_t last = 0;
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    if (pieces[i].blanks > 1) {
      ++cells;
      last = pieces[i].column;
    }
  }
  const bool room = cells > 0 && 5 * last <= 3 * width;
  return room ? last : std::min(pieces.front().column + (cells > 0 ? 4 : 2), width / 2);
}

bool is_command(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(' ');
  return begin != std::string_view::npos &&
         (line.substr(begin).starts_with("headroom ") || line.find(" --set ") != std::string_view::npos);
}

void add_fitted(std::string_view line, std::size_t width, std::string& out) {
  if (shown_width(line) <= width || is_command(line)) {
    out += line;
    return;
  }
  const std::vector<Piece> pieces = pieces_of(line);
  const std::size_t hang = hang_of(pieces, width);
  std::size_t column = 0;
  bool broken = false;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    // A cell that has room on a line of its own is not cut.
    std::size_t cell = shown_width(piece.text);
    if (piece.blanks > 1) {
      for (std::size_t j = i + 1; j < pieces.size() && pieces[j].blanks == 1; ++j) {
        cell += 1 + shown_width(pieces[j].text);
      }
      cell = hang + cell <= width ? cell : shown_width(piece.text);
    }
    if (i > 0 && column + piece.blanks + cell > width && column > hang) {
      out += "\n" + std::string(hang, ' ');
      column = hang;
      broken = true;
    } else {
      const std::size_t blanks = broken ? std::min<std::size_t>(piece.blanks, 2) : piece.blanks;
      out.append(blanks, ' ');
      column += blanks;
    }
    out += piece.text;
    column += shown_width(piece.text);
  }
}

}  // namespace

std::string fitted(std::string_view text, std::size_t width) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    add_fitted(text.substr(0, end), width, out);
    out += end < text.size() ? "\n" : "";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace headroom
