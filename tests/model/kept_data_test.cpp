// SPDX-License-Identifier: Apache-2.0
// What is read once belongs to one library: another one reads its own folders.
#include <headroom/model/collectives/collective_library.hpp>
#include <headroom/model/train/software/memory_stack.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <doctest/doctest.h>

#include "../cli/run_headroom.hpp"
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace headroom;

namespace {

/// A folder of data with one file.
class OwnData {
 public:
  OwnData(const std::string& kind, const std::string& id, const std::string& text) {
    std::filesystem::create_directories(folder_.path() / kind);
    std::ofstream{folder_.path() / kind / (id + ".toml")} << "schema = 1\nid = \"" << id << "\"\nbase = \"" << id
                                                          << "\"\n"
                                                          << text;
  }
  [[nodiscard]] ModelData data() const { return ModelData{{folder_.path().string()}}; }

 private:
  test::ScratchFolder folder_;
};

const std::string& name_of_stack(const ModelData& data) {
  return memory_stacks(data).find("megatron-bridge").name;
}

std::string file_of_collectives(const ModelData& data) {
  const Catalog catalog = Catalog::standard();
  const Device& h100 = catalog.device("h100-sxm-80gb");
  return choose_collectives(data, h100, hosts_view(h100, &catalog.node("dgx-h100"), 8)).set.file;
}

}  // namespace

TEST_CASE("a stack is read once for a library and its copies, and anew for another library") {
  const ModelData shipped{{}};
  const ModelData copy = shipped;
  CHECK(&name_of_stack(shipped) == &name_of_stack(copy));
  const OwnData other{"stacks/train", "megatron-bridge", "name = \"other\"\n"};
  CHECK(name_of_stack(other.data()) == "other");
  CHECK(name_of_stack(shipped) != "other");
}

TEST_CASE("a user's collectives hide those that ship in that user's library alone") {
  const ModelData shipped{{}};
  CHECK(file_of_collectives(shipped) == "collectives/h100-sxm-80gb.toml");
  const OwnData own{"collectives", "h100-sxm-80gb", ""};
  const std::string file = file_of_collectives(own.data());
  CHECK(file.ends_with("/collectives/h100-sxm-80gb.toml"));
  CHECK(file_of_collectives(shipped) == "collectives/h100-sxm-80gb.toml");
}
