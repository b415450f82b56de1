// SPDX-License-Identifier: Apache-2.0
// Keys of [hardware].
#pragma once

#include <headroom/scenarios/keys/rows.hpp>

namespace headroom::keys {

inline constexpr Key gpus_row =
    integer("gpus", 1, 10'000'000).says("It is the number of GPUs in all.").typed_as("--gpus", "N", "number of GPUs");

inline constexpr Key gpu_row = text("gpu")
                                   .says("It is the id or an alias of a SKU ('headroom catalog list gpus').")
                                   .typed_as("--gpu", "ID", "SKU of the catalog");
inline constexpr std::string_view of_the_pools = "what [[hardware.pool]] states; without it the key is required";

inline constexpr std::array hardware_rows{
    gpu_row.of(Kinds::network | Kinds::batches | Kinds::classic | Kinds::post_train).needed(),
    gpu_row.of(Kinds::train | Kinds::serve).blank_is(of_the_pools),
    gpus_row.of(Kinds::network).needed(),
    gpus_row.of(Kinds::post_train).blank_is("required; of [[stage]] tables as many as their demands ask"),
    gpus_row.of(Kinds::train).blank_is(of_the_pools),
    gpus_row.of(Kinds::serve)
        .blank_is("with [traffic] as many as the promises need, of a fixed load as few as hold all requests")
        .but("A curve over fixed loads ([search], [slo]) requires it."),
    gpus_row.of(Kinds::batches).blank_is("as many as keep the promise, or end the job in time"),
    gpus_row.of(Kinds::classic).blank_is("as many as memory and the rate ask for"),
    text("node")
        .blank_is("the SKU's reference node")
        .says("It is the id of a node of the catalog that holds the SKU: it gives GPUs per node and host memory.")
        .typed_as("--node", "ID", "node type; default the SKU's reference node"),
    text("cluster")
        .blank_is("one switch without oversubscription")
        .says("It is the id of a cluster of the catalog whose node holds the SKU: it gives the node, and training its "
              "tiers, rails and transport.")
        .typed_as("--cluster", "ID", "training: a cluster of the catalog, for its tiers and transport"),
    quantity<Bytes>("host_memory")
        .of(Kinds::train | Kinds::serve)
        .blank_is("the node's, where it is known")
        .says("It is the memory of one node, in bytes, which must hold what is offloaded.")
        .but("Of serving that is [serving.kv_offload.cpu] of a node's replicas: how many it has room for is told."),
    quantity<BytesPerSecond>("host_link")
        .of(Kinds::training | Kinds::batch)
        .blank_is("the module's, else the narrower of slot and GPU")
        .says("It is what one GPU and its host exchange, in bytes per second each way, as measured: what is offloaded, "
              "loaded and saved goes over it."),
    quantity<Watts>("power_cap")
        .or_nothing("no cap")
        .says("It caps the power of one GPU, in watts: products run at the clock that holds it, passes over memory and "
              "links as without.")
        .but("It lies above the idle power and is at most 1.5 times the TDP."),
    quantity<Hertz>("clock")
        .of(Kinds::training | Kinds::serve)
        .such_as("1128 MHz")
        .or_nothing("the clock that power and heat leave, as measured")
        .says("It is the clock that the multiprocessors are held at, by a lock or by heat: products and attention run "
              "at its share of the SKU's own, passes over memory and links as without.")
        .but("It is at most the SKU's clock in the catalog."),
    of_type("pool", KeyType::tables)
        .of(Kinds::train | Kinds::serve)
        .or_nothing("that all GPUs are of one SKU")
        .says("It lists pools of unlike SKUs that train one model or serve behind one router; no other key of "
              "[hardware] stands beside it."),
};
inline constexpr std::array mixed_pool_rows{
    text("gpu").needed().says("It is the id or an alias of the pool's SKU."),
    integer("gpus", 1, 10'000'000).needed().says("It is the number of the pool's GPUs, whole replicas."),
    text("node").blank_is("the SKU's reference node").says("It is the id of a node of the catalog that holds the SKU."),
    integer("tp", 1, 4096)
        .of(Kinds::serve)
        .blank_is("strategy.tp")
        .says("It is the number of tensor-parallel ranks of the pool's replicas."),
    quantity<DollarsPerSecond>("price")
        .such_as("2.99 $/h")
        .blank_is("what [money] says of the SKU")
        .says("It is the price of one GPU of the pool.")
        .but("Its date stands in [money]."),
};

inline constexpr KeyTable hardware{"hardware", Kinds::all, hardware_rows};
inline constexpr KeyTable hardware_pool{"hardware.pool", Kinds::train | Kinds::serve, mixed_pool_rows};

}  // namespace headroom::keys
