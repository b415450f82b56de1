// SPDX-License-Identifier: Apache-2.0
// What is parsed once for all jobs of a process is parsed anew where another folder of data is named.
#include <headroom/model/collectives/collective_library.hpp>
#include <headroom/model/train/software/memory_stack.hpp>

#include <doctest/doctest.h>

#include "../cli/run_headroom.hpp"
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace headroom;

namespace {

/// A folder of data with one file, in force for as long as it lives.
class OwnData {
 public:
  OwnData(const std::string& kind, const std::string& id, const std::string& text) {
    std::filesystem::create_directories(folder_.path() / kind);
    std::ofstream{folder_.path() / kind / (id + ".toml")} << "schema = 1\nid = \"" << id << "\"\nbase = \"" << id
                                                          << "\"\n"
                                                          << text;
    setenv("HEADROOM_DATA_DIR", folder_.path().c_str(), 1);
  }
  ~OwnData() { unsetenv("HEADROOM_DATA_DIR"); }
  OwnData(const OwnData&) = delete;
  OwnData& operator=(const OwnData&) = delete;

 private:
  test::ScratchFolder folder_;
};

std::string name_of_stack() {
  return MemoryStacks::standard().find("megatron-bridge").name;
}

std::string file_of_collectives() {
  const Catalog catalog = Catalog::standard();
  const Device& h100 = catalog.device("h100-sxm-80gb");
  return choose_collectives(h100, hosts_view(h100, &catalog.node("dgx-h100"), 8)).set.file;
}

}  // namespace

TEST_CASE("a user's stack hides the one that was read before, as long as its folder is named") {
  const std::string shipped = name_of_stack();
  CHECK(shipped != "one");
  {
    const OwnData one{"stacks/train", "megatron-bridge", "name = \"one\"\n"};
    CHECK(name_of_stack() == "one");
  }
  {
    const OwnData other{"stacks/train", "megatron-bridge", "name = \"other\"\n"};
    CHECK(name_of_stack() == "other");
  }
  CHECK(name_of_stack() == shipped);
}

TEST_CASE("a user's collectives hide those that were read before, as long as their folder is named") {
  const std::string shipped = file_of_collectives();
  CHECK(shipped == "collectives/h100-sxm-80gb.toml");
  {
    const OwnData own{"collectives", "h100-sxm-80gb", ""};
    const std::string file = file_of_collectives();
    CHECK(file != shipped);
    CHECK(file.ends_with(shipped));
  }
  CHECK(file_of_collectives() == shipped);
}
