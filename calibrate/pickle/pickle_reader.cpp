// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/pickle/pickle_reader.hpp>
#include <headroom/calibrate/traces/trace_text.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/json_reader.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace headroom {
namespace {

using Id = PlainData::Id;
using Kind = PlainData::Kind;

[[noreturn]] void refuse_data(const std::string& file, std::string message) {
  Diagnostics diagnostics;
  diagnostics.add(file, {}, std::move(message));
  diagnostics.throw_if_any();
  std::abort();  // not reached: there is one
}

std::string too_many_plain_values() {
  return "the file holds more than " + std::to_string(PlainData::most_values >> 20U) +
         " million values; record fewer entries";
}

class Unpickler {
 public:
  Unpickler(std::string bytes, const std::string& file) : file_{file} {
    data_.bytes() = std::move(bytes);
    end_ = data_.bytes().size();
  }

  PlainData read() {
    while (!done_) {
      if (data_.full()) {
        refuse_data(file_, too_many_plain_values());
      }
      opcode_at_ = at_;
      step(byte());
    }
    if (at_ != end_) {
      fail("the pickle ends at byte " + std::to_string(at_) + ", but " + std::to_string(end_ - at_) +
           " bytes follow; pass one pickle a file");
    }
    return std::move(data_);
  }

 private:
  [[noreturn]] void fail(std::string message) const { refuse_data(file_, std::move(message)); }
  [[nodiscard]] std::string where() const { return "byte " + std::to_string(opcode_at_); }
  [[noreturn]] void breaks_off() const {
    fail("the pickle breaks off after " + std::to_string(end_) + " bytes, within what begins at " + where() +
         "; copy it again from where it was written");
  }
  [[noreturn]] void damaged(const std::string& why) const {
    fail(where() + " " + why + "; the pickle is damaged: write it again");
  }
  [[noreturn]] void would_call(std::string_view opcode, std::string_view name) const {
    fail(where() + ": " + std::string{opcode} + " would " + (name.empty() ? "call what stands before it" : "") +
         (name.empty() ? "" : "look up or call " + quoted(name)) +
         "; only plain data is read, and nothing of a file is run. Write the record with PyTorch itself, and distrust "
         "this file");
  }

  unsigned char byte() { return static_cast<unsigned char>(take(1).front()); }

  std::string_view take(std::uint64_t count) {
    if (count > end_ - at_) {
      breaks_off();
    }
    const std::string_view taken = std::string_view{data_.bytes()}.substr(at_, static_cast<std::size_t>(count));
    at_ += static_cast<std::size_t>(count);
    return taken;
  }

  /// A number of `count` bytes, the lowest first.
  std::uint64_t little(int count) {
    const std::string_view bytes = take(static_cast<std::uint64_t>(count));
    std::uint64_t value = 0;
    for (int i = count; i-- > 0;) {
      value = (value << 8U) | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
    }
    return value;
  }

  std::string_view line() {
    const std::size_t end = std::string_view{data_.bytes()}.substr(0, end_).find('\n', at_);
    if (end == std::string_view::npos) {
      breaks_off();
    }
    const std::string_view text = std::string_view{data_.bytes()}.substr(at_, end - at_);
    at_ = end + 1;
    return text;
  }

  void push(Id id) { stack_.push_back(id); }
  Id pop() {
    if (stack_.size() <= floor()) {
      damaged("takes more than was given");
    }
    const Id id = stack_.back();
    stack_.pop_back();
    return id;
  }
  /// Below this no opcode but those that close the mark may take.
  [[nodiscard]] std::size_t floor() const noexcept { return marks_.empty() ? 0 : marks_.back(); }
  Id top() const {
    if (stack_.size() <= floor()) {
      damaged("takes more than was given");
    }
    return stack_.back();
  }
  /// What was given since the last mark, which is taken away with it.
  std::vector<Id> since_mark() {
    if (marks_.empty()) {
      damaged("closes a mark that was never set");
    }
    const auto from = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Id> items{from, stack_.end()};
    stack_.erase(from, stack_.end());
    marks_.pop_back();
    return items;
  }

  void text(std::uint64_t size) {
    constexpr std::uint64_t most = 0xffffffff;
    if (size > most) {
      breaks_off();
    }
    const std::size_t from = at_;
    take(size);
    push(data_.add_text(from, static_cast<std::size_t>(size)));
  }

  /// A whole number in two's complement of `size` bytes.
  void whole(std::uint64_t size) {
    constexpr std::uint64_t most = 128;
    if (size > most) {
      fail(where() + " is a whole number of " + std::to_string(size) + " bytes; no record holds one beyond " +
           std::to_string(most));
    }
    const std::string_view bytes = take(size);
    double value = 0.0;
    std::uint64_t low = 0;
    const bool negative = !bytes.empty() && (static_cast<unsigned char>(bytes.back()) & 0x80U) != 0;
    for (std::size_t i = bytes.size(); i-- > 0;) {
      value = 256.0 * value + static_cast<unsigned char>(bytes[i]);
    }
    for (std::size_t i = 0; i < 8; ++i) {
      const std::uint64_t digit = i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : (negative ? 0xffU : 0U);
      low |= digit << (8U * i);
    }
    if (bytes.size() <= 8) {
      push(data_.add_whole(static_cast<std::int64_t>(low)));
    } else {
      double beyond = negative ? 1.0 : 0.0;
      for (std::size_t i = 0; negative && i < bytes.size(); ++i) {
        beyond *= 256.0;
      }
      push(data_.add_number(value - beyond));
    }
  }

  /// A whole number as protocol 0 writes it: "12", "12L"; "00" and "01" are flags.
  void written_whole(std::string_view written, bool flags) {
    if (flags && (written == "00" || written == "01")) {
      push(data_.add_flag(written == "01"));
      return;
    }
    if (!written.empty() && written.back() == 'L') {
      written.remove_suffix(1);
    }
    std::int64_t value = 0;
    const auto [last, error] = std::from_chars(written.data(), written.data() + written.size(), value);
    if (error == std::errc{} && last == written.data() + written.size()) {
      push(data_.add_whole(value));
    } else if (const std::optional<double> wide = whole_real(written)) {
      push(data_.add_number(*wide));
    } else {
      damaged("is no whole number: " + quoted(written));
    }
  }

  /// A text of protocol 0, whose escapes are kept as they are written: no record of PyTorch has any.
  void written_text(std::string_view written, bool in_quotes) {
    if (in_quotes) {
      const bool closed =
          written.size() >= 2 && written.front() == written.back() && (written[0] == '\'' || written[0] == '"');
      if (!closed) {
        damaged("is no text in quotes");
      }
      written = written.substr(1, written.size() - 2);
    }
    push(data_.add_text(static_cast<std::size_t>(written.data() - data_.bytes().data()), written.size()));
  }

  void put(std::uint64_t index) {
    // Writers number what they may refer to in order, from 0 or from 1.
    if (index > memo_.size() + 1) {
      damaged("notes value " + std::to_string(index) + " after " + std::to_string(memo_.size()));
    }
    const Id id = top();
    memo_.resize(std::max(memo_.size(), static_cast<std::size_t>(index) + 1), PlainData::nothing);
    memo_[static_cast<std::size_t>(index)] = id;
  }
  void get(std::uint64_t index) {
    if (index >= memo_.size() || memo_[static_cast<std::size_t>(index)] == PlainData::nothing) {
      damaged("refers to value " + std::to_string(index) + ", which was not noted");
    }
    push(memo_[static_cast<std::size_t>(index)]);
  }
  std::uint64_t written_index() {
    const std::string_view written = line();
    std::uint64_t index = 0;
    const auto [last, error] = std::from_chars(written.data(), written.data() + written.size(), index);
    if (error != std::errc{} || last != written.data() + written.size()) {
      damaged("is no number of a value: " + quoted(written));
    }
    return index;
  }

  void list_of(std::vector<Id> items, Kind kind = Kind::list) {
    if (kind == Kind::table && items.size() % 2 != 0) {
      damaged("gives a key without its value");
    }
    const Id list = data_.add_list(kind);
    data_.append(list, items);
    push(list);
  }
  void tuple_of(std::size_t count) {
    std::vector<Id> items(count);
    for (std::size_t i = count; i-- > 0;) {
      items[i] = pop();
    }
    list_of(std::move(items));
  }
  void add_to(Kind kind, const std::vector<Id>& items) {
    const Id list = top();
    if (data_.kind(list) != kind || (kind == Kind::table && items.size() % 2 != 0)) {
      damaged(kind == Kind::table ? "sets members of what is no table" : "appends to what is no list");
    }
    data_.append(list, items);
  }

  /// The names that would be looked up: module and member on two lines.
  std::string two_lines() {
    const std::string module{line()};
    return module + "." + std::string{line()};
  }

  void step(unsigned char opcode);
  void step_by_protocol(unsigned char opcode);

  const std::string& file_;
  PlainData data_;
  std::size_t at_ = 0, end_ = 0, opcode_at_ = 0;
  bool done_ = false;
  std::vector<Id> stack_, memo_;
  std::vector<std::size_t> marks_;
};

void Unpickler::step(unsigned char opcode) {
  switch (opcode) {
    case '.':
      data_.set_root(pop());
      done_ = true;
      break;
    case '(':
      if (marks_.size() >= most_pickle_depth) {
        fail(where() + " nests deeper than " + std::to_string(most_pickle_depth) + "; no record does");
      }
      marks_.push_back(stack_.size());
      break;
    case '0':
      if (stack_.size() == floor() && !marks_.empty()) {
        marks_.pop_back();
      } else {
        pop();
      }
      break;
    case '1': since_mark(); break;
    case '2': push(top()); break;
    case 'N': push(data_.add_none()); break;
    case 'I': written_whole(line(), true); break;
    case 'L': written_whole(line(), false); break;
    case 'J': push(data_.add_whole(static_cast<std::int32_t>(static_cast<std::uint32_t>(little(4))))); break;
    case 'K': push(data_.add_whole(byte())); break;
    case 'M': push(data_.add_whole(static_cast<std::int64_t>(little(2)))); break;
    case 'F': {
      const std::string_view written = line();
      const std::optional<double> value = whole_real(written);
      if (!value) {
        damaged("is no number: " + quoted(written));
      }
      push(data_.add_number(*value));
      break;
    }
    case 'G': {
      std::uint64_t bits = 0;
      for (const char c : take(8)) {
        bits = (bits << 8U) | static_cast<unsigned char>(c);
      }
      push(data_.add_number(std::bit_cast<double>(bits)));
      break;
    }
    case 'S': written_text(line(), true); break;
    case 'V': written_text(line(), false); break;
    case 'T':
    case 'X':
    case 'B': text(little(4)); break;
    case 'U':
    case 'C': text(byte()); break;
    case ']': push(data_.add_list(Kind::list)); break;
    case ')': push(data_.add_list(Kind::list)); break;
    case '}': push(data_.add_list(Kind::table)); break;
    case 'l':
    case 't': list_of(since_mark()); break;
    case 'd': list_of(since_mark(), Kind::table); break;
    case 'a': {
      const Id item = pop();
      add_to(Kind::list, {item});
      break;
    }
    case 'e': add_to(Kind::list, since_mark()); break;
    case 's': {
      const Id value = pop();
      const Id key = pop();
      add_to(Kind::table, {key, value});
      break;
    }
    case 'u': add_to(Kind::table, since_mark()); break;
    case 'p': put(written_index()); break;
    case 'q': put(byte()); break;
    case 'r': put(little(4)); break;
    case 'g': get(written_index()); break;
    case 'h': get(byte()); break;
    case 'j': get(little(4)); break;
    case 'c': would_call("GLOBAL", two_lines());
    case 'i': would_call("INST", two_lines());
    case 'o': would_call("OBJ", "");
    case 'R': would_call("REDUCE", "");
    case 'b': would_call("BUILD", "");
    case 'P': would_call("PERSID", line());
    case 'Q': would_call("BINPERSID", "");
    default: step_by_protocol(opcode);
  }
}

/// Opcodes of protocols 2 and above.
void Unpickler::step_by_protocol(unsigned char opcode) {
  switch (opcode) {
    case 0x80: {
      const unsigned char protocol = byte();
      constexpr unsigned char newest = 5;
      if (protocol > newest) {
        fail("the pickle is of protocol " + std::to_string(protocol) + "; those up to " + std::to_string(newest) +
             " are read: write it with pickle.dump(..., protocol=" + std::to_string(newest) + ")");
      }
      break;
    }
    case 0x85: tuple_of(1); break;
    case 0x86: tuple_of(2); break;
    case 0x87: tuple_of(3); break;
    case 0x88: push(data_.add_flag(true)); break;
    case 0x89: push(data_.add_flag(false)); break;
    case 0x8a: whole(byte()); break;
    case 0x8b: whole(little(4)); break;
    case 0x8c: text(byte()); break;
    case 0x8d:
    case 0x8e:
    case 0x96: text(little(8)); break;
    case 0x8f: push(data_.add_list(Kind::list)); break;
    case 0x90: add_to(Kind::list, since_mark()); break;
    case 0x91: list_of(since_mark()); break;
    case 0x94: put(memo_.size()); break;
    case 0x95: little(8); break;  // the length of a frame, which its opcodes tell as well
    case 0x81: would_call("NEWOBJ", "");
    case 0x92: would_call("NEWOBJ_EX", "");
    case 0x82: would_call("EXT1", "extension " + std::to_string(little(1)));
    case 0x83: would_call("EXT2", "extension " + std::to_string(little(2)));
    case 0x84: would_call("EXT4", "extension " + std::to_string(little(4)));
    case 0x93: {
      const Id name = pop();
      const Id module = pop();
      would_call("STACK_GLOBAL", std::string{data_.text(module)} + "." + std::string{data_.text(name)});
    }
    case 0x97:
    case 0x98: fail(where() + " takes a buffer from outside the file; write the record with pickle.dump alone");
    default: damaged("is no opcode of a pickle: " + std::to_string(opcode));
  }
}

/// JSON as plain data.
class PlainListener : public JsonListener {
 public:
  explicit PlainListener(const std::string& file) : file_{file} {}

  bool opened(bool object) override {
    if (open_.size() >= most_pickle_depth) {
      refuse_data(file_, "the text nests deeper than " + std::to_string(most_pickle_depth) + "; no record does");
    }
    const Id list = data_.add_list(object ? Kind::table : Kind::list);
    add(list);
    open_.push_back(list);
    return true;
  }
  bool closed() override {
    open_.pop_back();
    return true;
  }
  void key(std::string_view name) override { key_ = name; }
  void value(std::string_view text) override { add(data_.add_text(text)); }
  PlainData made() { return std::move(data_); }

 private:
  void add(Id id) {
    if (data_.full() || data_.bytes().size() > most_pickle) {
      refuse_data(file_, too_many_plain_values());
    }
    if (open_.empty()) {
      data_.set_root(id);
    } else if (data_.is_table(open_.back())) {
      const auto [at, fresh] = keys_.try_emplace(key_, PlainData::nothing);
      if (fresh) {
        at->second = data_.add_text(key_);
      }
      data_.append(open_.back(), at->second);
      data_.append(open_.back(), id);
    } else {
      data_.append(open_.back(), id);
    }
  }

  const std::string& file_;
  PlainData data_;
  std::string key_;
  std::map<std::string, Id, std::less<>> keys_;
  std::vector<Id> open_;
};

}  // namespace

bool begins_as_pickle(std::string_view head) noexcept {
  if (head.size() < 2) {
    return false;
  }
  const auto first = static_cast<unsigned char>(head[0]);
  const auto second = static_cast<unsigned char>(head[1]);
  if (first == 0x80) {
    constexpr unsigned char beyond_any = 16;
    return second >= 2 && second < beyond_any;
  }
  // Protocols 0 and 1: "(dp0", "}q\0", "(lp0", or a call in their place.
  const bool opens = head.starts_with("(dp") || head.starts_with("(lp") || head.starts_with("}q") ||
                     head.starts_with("]q") || head.starts_with("}(") || head.starts_with("(d.") ||
                     head.starts_with("cos\n") || head.starts_with("cposix\n") || head.starts_with("c__builtin") ||
                     head.starts_with("cbuiltins\n") || head.starts_with("(ios\n");
  return opens;
}

PlainData read_pickle(std::string bytes, const std::string& file) {
  return Unpickler{std::move(bytes), file}.read();
}

PlainData read_pickle_file(const std::string& file) {
  TraceText text{file};
  std::string bytes;
  while (true) {
    const std::string_view piece = text.next();
    if (piece.empty()) {
      return read_pickle(std::move(bytes), file);
    }
    if (bytes.size() + piece.size() > most_pickle) {
      refuse_data(file, "the pickle holds more than " + std::to_string(most_pickle >> 30U) +
                            " GiB; record fewer entries (max_entries of _record_memory_history)");
    }
    bytes += piece;
  }
}

PlainData read_plain_json(const std::string& file) {
  TraceText text{file};
  PlainListener listener{file};
  stream_json([&] { return text.next(); }, file, listener, "copy the file again from where it was written");
  return listener.made();
}

}  // namespace headroom
