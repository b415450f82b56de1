// SPDX-License-Identifier: Apache-2.0
// Which of several places an entry comes from.
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/embedded.hpp>

#include <doctest/doctest.h>

#include "../support/scratch_folder.hpp"
#include <array>
#include <filesystem>
#include <fstream>

using namespace headroom;
using headroom::test::ScratchFolder;
namespace fs = std::filesystem;

namespace {

constexpr std::array<EmbeddedFile, 1> files{{{"gpus", "one", "gpus/one.toml", "from = \"binary\""}}};
constexpr std::array<EmbeddedAlias, 1> aliases{{{"gpus", "one", 0}}};

/// Two folders of the user's, both with an entry of the embedded one's id.
struct TwoFolders : ScratchFolder {
  fs::path root = path();
  TwoFolders() {
    for (const std::string folder : {"upper", "lower"}) {
      write(folder + "/gpus/one.toml", "from = \"" + folder + "\"");
    }
  }
};

}  // namespace

TEST_CASE("earlier folders win, and what lies below an entry is found however its folder is spelled") {
  const TwoFolders user;
  for (const std::string end : {"", "/", "//"}) {
    CAPTURE(end);
    const DataStore store{{files, aliases},
                          {(user.root / "upper").string() + end, (user.root / "lower").string() + end}};
    const auto top = store.find("gpus", "One");
    REQUIRE(top);
    CHECK(top->text == "from = \"upper\"");
    const auto middle = store.find_below("gpus", "one", top->file);
    REQUIRE(middle);
    CHECK(middle->text == "from = \"lower\"");
    const auto bottom = store.find_below("gpus", "one", middle->file);
    REQUIRE(bottom);
    CHECK(bottom->text == "from = \"binary\"");
    CHECK_FALSE(store.find_below("gpus", "one", bottom->file));
  }
}

TEST_CASE("a file that extends its own id stands on the next place below, through every folder") {
  const TwoFolders user;
  std::ofstream{user.root / "upper" / "gpus" / "one.toml"} << "base = \"one\"\nupper = 1";
  std::ofstream{user.root / "lower" / "gpus" / "one.toml"} << "base = \"one\"\nlower = 1";
  std::ofstream{user.root / "lower" / "gpus" / "two.toml"} << "base = \"one\"\ntwo = 1";
  const DataStore store{{files, aliases}, {(user.root / "upper").string(), (user.root / "lower").string()}};
  const ConfigValue one = store.tree("gpus", *store.find("gpus", "one"));
  for (const char* key : {"upper", "lower", "from"}) {
    CHECK(one.find(key) != nullptr);
  }
  // Another entry stands on the one that its id means.
  CHECK(store.tree("gpus", *store.find("gpus", "two")).find("upper") != nullptr);
}

TEST_CASE("a folder that HEADROOM_DATA_DIR names must be there") {
  const TwoFolders user;
  const char* before = std::getenv("HEADROOM_DATA_DIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("HEADROOM_DATA_DIR", ((user.root / "upper").string() + "::" + (user.root / "lower").string()).c_str(), 1);
  CHECK(DataStore::user_folders().at(0) == (user.root / "upper").string());
  CHECK(DataStore::user_folders().at(1) == (user.root / "lower").string());
  setenv("HEADROOM_DATA_DIR", (user.root / "mistyped").c_str(), 1);
  CHECK_THROWS_AS(static_cast<void>(DataStore::user_folders()), ConfigError);
  before == nullptr ? unsetenv("HEADROOM_DATA_DIR") : setenv("HEADROOM_DATA_DIR", kept.c_str(), 1);
}

TEST_CASE("a broken file of the user's is noted once, by the stores that share its folders and by no other") {
  const TwoFolders user;
  const UserFolders folders{(user.root / "upper").string()};
  const DataStore store{{files, aliases}, folders};
  const DataStore same{{files, aliases}, folders};
  const DataStore other{{files, aliases}, {(user.root / "upper").string()}};
  const auto look = [](const DataStore& one) {
    one.each("gpus", [](const std::string& id) {
      if (id == "one") {
        throw ConfigError{"it is broken"};
      }
    });
  };
  look(store);
  look(same);
  REQUIRE(store.warnings().size() == 1);
  CHECK(store.warnings()[0].find("it is broken; 'one' is left out of the gpus") != std::string::npos);
  CHECK(same.warnings() == store.warnings());
  CHECK(other.warnings().empty());
}
