// SPDX-License-Identifier: Apache-2.0
// A file is whole or as it was.
#include <headroom/core/config_reader.hpp>
#include <headroom/core/whole_file.hpp>

#include <doctest/doctest.h>
#include <unistd.h>

#include "../cli/run_headroom.hpp"

using namespace headroom;
namespace fs = std::filesystem;

TEST_CASE("a file is replaced whole, nothing is left beside it, links and modes stay") {
  const test::ScratchFolder scratch;
  const fs::path file = scratch.path() / "a.txt";
  write_whole_file(file.string(), "one");
  CHECK(read_file(file.string()).text == "one");
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write | fs::perms::owner_exec);
  fs::create_symlink("a.txt", scratch.path() / "link");
  write_whole_file((scratch.path() / "link").string(), "two");
  CHECK(fs::is_symlink(scratch.path() / "link"));
  CHECK(read_file(file.string()).text == "two");
  CHECK((fs::status(file).permissions() & fs::perms::owner_exec) != fs::perms::none);
  CHECK(std::distance(fs::directory_iterator{scratch.path()}, fs::directory_iterator{}) == 2);
}

TEST_CASE("a link that leads nowhere yet gets its file, one that leads to itself is refused") {
  const test::ScratchFolder scratch;
  const fs::path& at = scratch.path();
  fs::create_directory(at / "sub");
  fs::create_symlink("sub/target", at / "link");
  fs::create_symlink("../a.txt", at / "sub/target");
  require_writable((at / "link").string());
  write_whole_file((at / "link").string(), "one");
  CHECK(read_file((at / "a.txt").string()).text == "one");
  CHECK(fs::is_symlink(at / "link"));
  CHECK(fs::is_symlink(at / "sub/target"));
  fs::create_symlink("loop", at / "loop");
  CHECK_THROWS_WITH_AS(require_writable((at / "loop").string()), doctest::Contains("leads back to itself"),
                       ConfigError);
  CHECK_THROWS_WITH_AS(write_whole_file((at / "loop").string(), "x"), doctest::Contains("leads back to itself"),
                       ConfigError);
}

TEST_CASE("a file that may not be written to is replaced where its folder allows it, and keeps its mode") {
  const test::ScratchFolder scratch;
  const std::string file = (scratch.path() / "a.txt").string();
  write_whole_file(file, "one");
  constexpr fs::perms read_only = fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read;
  fs::permissions(file, read_only);
  write_whole_file(file, "two");
  CHECK(read_file(file).text == "two");
  CHECK(fs::status(file).permissions() == read_only);
}

TEST_CASE("what a killed writer left beside a file is removed, and nothing else") {
  const test::ScratchFolder scratch;
  const std::string file = (scratch.path() / "a.txt").string();
  for (const char* name : {"a.txt.17.part", "a.txt.4294967295.part", "b.txt.17.part", "a.txt.part", "a.txt..part",
                           "a.txt.notes.part", "a.txt.17"}) {
    scratch.write(name, "x");
  }
  remove_drafts(file);  // with no file of the name itself
  CHECK_FALSE(fs::exists(scratch.path() / "a.txt.17.part"));
  CHECK_FALSE(fs::exists(scratch.path() / "a.txt.4294967295.part"));
  for (const char* name : {"b.txt.17.part", "a.txt.part", "a.txt..part", "a.txt.notes.part", "a.txt.17"}) {
    CAPTURE(name);
    CHECK(fs::exists(scratch.path() / name));
  }
  remove_drafts((scratch.path() / "no" / "a.txt").string());  // a folder that is not there holds none
}

TEST_CASE("names of one file are told from names of two") {
  const test::ScratchFolder scratch;
  const fs::path& at = scratch.path();
  const std::string file = (at / "a.txt").string();
  const std::string other = (at / "b.txt").string();
  write_whole_file(file, "one");
  fs::create_symlink("a.txt", at / "link");
  fs::create_symlink("b.txt", at / "dangling");
  fs::create_hard_link(file, at / "second");
  for (const fs::path& same : {at / "a.txt", at / "link", at / "second", at / "." / "a.txt"}) {
    CHECK(same_file(file, same.string()));
  }
  CHECK(same_file(other, (at / "dangling").string()));
  CHECK(same_file(other, (at / "." / "b.txt").string()));
  CHECK_FALSE(same_file(file, other));
  write_whole_file(other, "one");
  CHECK_FALSE(same_file(file, other));
}

TEST_CASE("what cannot be written is an error and leaves what was there") {
  const test::ScratchFolder scratch;
  CHECK_THROWS_WITH_AS(write_whole_file((scratch.path() / "no" / "a.txt").string(), "x"),
                       doctest::Contains("cannot be written: No such file or directory"), ConfigError);
  fs::create_directory(scratch.path() / "folder");
  CHECK_THROWS_AS(write_whole_file((scratch.path() / "folder").string(), "x"), ConfigError);
  CHECK(fs::is_empty(scratch.path() / "folder"));
  write_whole_file("/dev/null", "x");
  CHECK(fs::exists("/dev/null"));
}

TEST_CASE("what certainly cannot be written is known before there is anything to write") {
  const test::ScratchFolder scratch;
  const std::string folder = scratch.path().string();
  CHECK_THROWS_WITH_AS(require_writable(folder + "/no/a.txt"), doctest::Contains("there is no folder"), ConfigError);
  CHECK_THROWS_WITH_AS(require_writable(folder), doctest::Contains("it is a folder"), ConfigError);
  require_writable(folder + "/a.txt");
  CHECK(fs::is_empty(scratch.path()));
  require_writable("a-file-beside-this-test.txt");
  CHECK(!fs::exists("a-file-beside-this-test.txt"));
  require_writable("/dev/null");
  if (geteuid() != 0) {  // a folder's mode binds everyone else
    fs::create_directory(scratch.path() / "shut");
    fs::permissions(scratch.path() / "shut", fs::perms::owner_read | fs::perms::owner_exec);
    CHECK_THROWS_WITH_AS(require_writable(folder + "/shut/a.txt"), doctest::Contains("may not be written to"),
                         ConfigError);
  }
}
