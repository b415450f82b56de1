// SPDX-License-Identifier: Apache-2.0
// Pickles as plain data: all protocols read, and nothing that would call anything.
#include <headroom/calibrate/pickle/call_site.hpp>
#include <headroom/calibrate/pickle/pickle_reader.hpp>
#include <headroom/core/diagnostic.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include "../support/scratch_folder.hpp"
#include "pickle_writer.hpp"
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace headroom {
namespace {

using namespace std::string_literals;
using test::little;
using test::pickle_file;
using test::pickled;
using test::pickled_list;
using test::pickled_table;
using test::says;

/// What is said of a pickle that is refused; empty: it was read.
std::string refusal(std::string bytes) {
  try {
    static_cast<void>(read_pickle(std::move(bytes), "f"));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

TEST_CASE("pickle: numbers, texts, flags, lists and tables of every protocol are what Python wrote") {
  // pickle.dumps({"a": [1, -2, 2.5, True, None], "b": ("x", 300, 70000)}, protocol=N), CPython 3.11.
  const std::vector<std::string> files{
      "(dp0\nVa\np1\n(lp2\nI1\naI-2\naF2.5\naI01\naNasVb\np3\n(Vx\np4\nI300\nI70000\ntp5\ns."s,
      "}q\0(X\1\0\0\0aq\1]q\2(K\1J\xfe\xff\xff\xffG@\4\0\0\0\0\0\0I01\nNeX\1\0\0\0bq\3(X\1\0\0\0xq\4M,\1Jp\x11\1\0tq\5u."s,
      "\x80\2}q\0(X\1\0\0\0aq\1]q\2(K\1J\xfe\xff\xff\xffG@\4\0\0\0\0\0\0\x88NeX\1\0\0\0bq\3X\1\0\0\0xq\4M,\1Jp\x11\1\0"
      "\x87q\5u."s,
      "\x80\4\x95\x31\0\0\0\0\0\0\0}\x94(\x8c\1a\x94]\x94(K\1J\xfe\xff\xff\xffG@\4\0\0\0\0\0\0\x88Ne\x8c\1b\x94\x8c\1x"
      "\x94M,\1Jp\x11\1\0\x87\x94u."s};
  for (const std::string& file : files) {
    CAPTURE(file);
    CHECK(begins_as_pickle(file));
    const PlainData data = read_pickle(file, "f");
    const auto a = data.items(data.find(data.root(), "a"));
    const auto b = data.items(data.find(data.root(), "b"));
    REQUIRE(a.size() == 5);
    REQUIRE(b.size() == 3);
    CHECK(data.whole(a[0]) == 1);
    CHECK(data.whole(a[1]) == -2);
    CHECK(data.number(a[2]) == 2.5);
    CHECK(data.flag(a[3]) == true);
    CHECK(data.kind(a[4]) == PlainData::Kind::none);
    CHECK(data.text(b[0]) == "x");
    CHECK(data.whole(b[1]) == 300);
    CHECK(data.whole(b[2]) == 70000);
    CHECK(data.find(data.root(), "c") == PlainData::nothing);
  }
}

TEST_CASE("pickle: wide whole numbers keep their value, as far as a double does") {
  const PlainData data = read_pickle(
      "\x80\2](\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x8a\x01\xff\x8a\x09\0\0\0\0\0\0\0\0\1L12345L\ne."s, "f");
  const auto all = data.items(data.root());
  REQUIRE(all.size() == 4);
  CHECK(data.whole(all[0]) == INT64_MAX);
  CHECK(data.whole(all[1]) == -1);
  CHECK(data.number(all[2]) == 0x1p64);
  CHECK(!data.whole(all[2]));
  CHECK(data.whole(all[3]) == 12345);
}

TEST_CASE("pickle: what would look up or call something is refused with its offset and name, and nothing is run") {
  const test::ScratchFolder scratch;
  const std::string mark = (scratch.path() / "owned").string();
  const std::string call = "(S'touch " + mark + "'\ntR.";
  struct Hostile {
    std::string bytes, says, name;
  };
  const std::vector<Hostile> all{
      {"cos\nsystem\n" + call, "byte 0: GLOBAL", "'os.system'"},
      {"\x80\2cposix\nsystem\n" + call, "byte 2: GLOBAL", "'posix.system'"},
      {"(S'touch " + mark + "'\nios\nsystem\n.", ": INST", "'os.system'"},
      {"\x80\4\x8c\2os\x8c\6system\x93" + call, "byte 14: STACK_GLOBAL", "'os.system'"},
      {"(N)R.", "byte 3: REDUCE", ""},
      {"(No.", "byte 2: OBJ", ""},
      {"\x80\2N)\x81.", "byte 4: NEWOBJ", ""},
      {"\x80\4N)}\x92.", "byte 5: NEWOBJ_EX", ""},
      {"}}b.", "byte 2: BUILD", ""},
      {"Pshelf\n.", "byte 0: PERSID", "'shelf'"},
      {"NQ.", "byte 1: BINPERSID", ""},
      {"\x80\2\x82\7.", "byte 2: EXT1", "'extension 7'"},
      {"\x80\2\x83\7\1.", "byte 2: EXT2", "'extension 263'"},
      {"\x80\2\x84\7\0\0\0."s, "byte 2: EXT4", "'extension 7'"},
      {"\x80\5\x97.", "byte 2 takes a buffer", ""},
  };
  for (const Hostile& hostile : all) {
    const std::string told = refusal(hostile.bytes);
    CAPTURE(hostile.says);
    CHECK(says(told, hostile.says));
    CHECK(says(told, hostile.name));
  }
  CHECK(!std::filesystem::exists(mark));
}

TEST_CASE("pickle: damage and lengths that no file holds are refused with their place") {
  const std::string whole = pickle_file(pickled_table({{"a", pickled(1)}, {"b", pickled_list({pickled("x")})}}));
  CHECK(refusal(whole).empty());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK(says(refusal(whole.substr(0, size)), "breaks off after " + std::to_string(size) + " bytes"));
  }
  CHECK(says(refusal(whole + "more"), "4 bytes follow"));
  CHECK(says(refusal("X\xff\xff\xff\xffx."s), "breaks off"));
  CHECK(says(refusal("\x80\4\x8d\xff\xff\xff\xff\xff\xff\xff\xffx."s), "breaks off"));
  CHECK(says(refusal("\x80\2\x8b\xff\xff\xff\x7fx."s), "a whole number of 2147483647 bytes"));
  CHECK(says(refusal("\x80\x06N."s), "protocol 6"));
  CHECK(says(refusal("."), "takes more than was given"));
  CHECK(says(refusal("Ne."), "closes a mark that was never set"));
  CHECK(says(refusal("]NNs."), "sets members of what is no table"));
  CHECK(says(refusal("}(Nu."), "sets members of what is no table"));
  CHECK(says(refusal("h\5."), "refers to value 5"));
  CHECK(says(refusal("Nr\xff\xff\xff\x7f."), "notes value 2147483647 after 0"));
  CHECK(says(refusal("I12x\n."), "is no whole number: '12x'"));
  CHECK(says(refusal("Fone\n."), "is no number: 'one'"));
  CHECK(says(refusal("\xff."), "is no opcode of a pickle: 255"));
  CHECK(says(refusal(std::string(most_pickle_depth + 1, '(')), "nests deeper than 1024"));
}

TEST_CASE("pickle: a list that is doubled forty times takes forty lists, and one that holds itself is read") {
  // Each list holds the one before twice: 2^40 texts when it is walked, 40 lists when it is not.
  std::string bomb = "\x80\2" + pickled_list({pickled("x")}) + "q"s + '\0';
  for (int i = 0; i < 40; ++i) {
    bomb += "]q"s + static_cast<char>(i + 1) + "h" + static_cast<char>(i) + "ah" + static_cast<char>(i) + "a";
  }
  const PlainData data = read_pickle(bomb + ".", "f");
  CHECK(data.size() < 100);
  CHECK(data.items(data.root()).size() == 2);
  const PlainData circle = read_pickle("\x80\2]q\0h\0a."s, "f");
  CHECK(circle.items(circle.root()).front() == circle.root());
}

TEST_CASE("pickle: the site of a stack is the innermost line of the program, else of a framework") {
  const auto frame = [](const char* file, int line, const char* name) {
    return pickled_table({{"filename", pickled(file)}, {"line", pickled(line)}, {"name", pickled(name)}});
  };
  const auto site = [&](const std::vector<std::string>& frames) {
    const PlainData data = read_pickle(pickle_file(pickled_list(frames)), "f");
    return call_site(data, data.root());
  };
  const std::string torch = frame("/usr/lib/python3/site-packages/torch/nn/modules/linear.py", 114, "forward");
  CHECK(site({frame("??", 0, "c10"), torch, frame("/home/me/train.py", 40, "step")}) == "train.py:40 step");
  CHECK(site({frame("??", 0, "c10"), torch}) == "linear.py:114 forward");
  CHECK(site({frame("??", 0, "c10")}).empty());
}

}  // namespace
}  // namespace headroom
