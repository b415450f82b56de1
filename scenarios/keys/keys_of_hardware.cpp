// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/keys/rows.hpp>

#include <array>

namespace headroom {
namespace {

using namespace rows;

constexpr std::string_view gpus_meaning = "It is the number of GPUs in all.";
constexpr Key gpus = integer("gpus", 1, 10'000'000).says(gpus_meaning);

constexpr std::array hardware_rows{
    text("gpu").needed().says("It is the id or an alias of a SKU ('headroom catalog list gpus')."),
    gpus.of(Kinds::training).needed(),
    gpus.of(Kinds::serve)
        .blank_is("with [traffic] as many as the promises need")
        .but("Without [traffic] it is required."),
    text("node")
        .blank_is("the SKU's reference node")
        .says("It is the id of a node of the catalog that holds the SKU: it gives GPUs per node and host memory."),
    text("cluster")
        .blank_is("one switch without oversubscription")
        .says("It is the id of a cluster of the catalog whose node holds the SKU: it gives tiers, rails and "
              "transport."),
    quantity<Bytes>("host_memory")
        .of(Kinds::train | Kinds::serve)
        .blank_is("the node's, where it is known")
        .says("It is the memory of one node, in bytes, which must hold what is offloaded."),
    quantity<Watts>("power_cap")
        .blank_is("no cap")
        .says("It caps the power of one GPU, in watts: products run at the clock that holds it.")
        .but("It lies above the idle power and is at most 1.5 times the TDP."),
};

constexpr std::array tables{KeyTable{"hardware", Kinds::all, hardware_rows}};

}  // namespace

std::span<const KeyTable> keys_of_hardware() noexcept {
  return tables;
}

}  // namespace headroom
