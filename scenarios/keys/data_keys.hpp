// SPDX-License-Identifier: Apache-2.0
// Keys of [data]: the way of a sample from storage to a GPU, and stages before and after the network.
#pragma once

#include <headroom/model/pipeline/stage_graph.hpp>
#include <headroom/model/train/step/input_pipeline.hpp>
#include <headroom/scenarios/keys/rows.hpp>

namespace headroom::keys {

inline constexpr std::array feed_rows{
    quantity<Bytes>("sample_bytes")
        .or_nothing("that storage does not bind")
        .says("It is the size of a sample as it lies in storage, in bytes."),
    quantity<BytesPerSecond>("storage_bandwidth")
        .or_nothing("that storage does not bind")
        .says("It is the rate at which one host reads from storage, in bytes per second.")
        .but("It needs sample_bytes."),
    quantity<Seconds>("cpu_time")
        .or_nothing("that the cores do not bind")
        .says("It is the time of one core for a sample: to decode, augment and tokenise it.")
        .but("It needs workers."),
    integer("workers", 1, 100'000)
        .or_nothing("that the cores do not bind")
        .says("It is the number of loader processes of a host that have a core each."),
    quantity<Bytes>("fed_bytes")
        .or_nothing("that copies do not bind; of a network of ops its inputs")
        .says("It is the size of a sample as the GPU takes it over its link to the host, in bytes."),
    number("gpu_rate", 0.001, 1e12)
        .or_nothing("what the GPUs take by the plan's own step")
        .says("It is the number of samples in a second that the GPUs of a host take where none of them waits, as "
              "measured: what a host needs is then told for it."),
    integer("prefetch", 0, 100'000)
        .usually(static_cast<double>(DataFeed{}.prefetch))
        .says("It is the number of batches that are loaded ahead; at 0 every step waits for its own."),
    boolean("pinned")
        .usually(DataFeed{}.pinned)
        .says("It says that memory is pinned: copies run beside compute; else they add to the step."),
};

inline constexpr std::array pipeline_rows{
    number("spread", 0.0, 10.0)
        .of(Kinds::batch)
        .usually(0)
        .says(
            "It is the standard deviation of the time in which a worker loads a batch, over its mean: steps that wait "
            "for a late one are simulated.")
        .but("It goes with workers."),
    quantity<BytesPerSecond>("pageable_link")
        .of(Kinds::batch)
        .such_as("5.5 GB/s")
        .or_nothing("that copies from memory that is not pinned run at the rate of the link")
        .says("It is the rate at which one GPU copies from memory that is not pinned, as measured."),
    integer("copies", 1, 1'000'000'000)
        .of(Kinds::batch)
        .usually(1)
        .says("It is the number of copies in which a batch crosses to the GPU."),
    quantity<Seconds>("copy_latency")
        .of(Kinds::batch)
        .such_as("10 us")
        .or_nothing("that a copy takes its bytes alone")
        .says("It is the time of a copy without bytes."),
    integer("host_links", 1, 1'000)
        .of(Kinds::batch)
        .or_nothing("that each GPU has a link of its own")
        .says("It is the number of links to the host that its GPUs share: root ports, switches' uplinks."),
    quantity<Bytes>("set_bytes")
        .of(Kinds::batch)
        .such_as("150 GB")
        .or_nothing("that nothing is kept of the data set")
        .says("It is the size of the data set in storage: what a cache and a GPU would hold of it is told."),
    quantity<Bytes>("cache")
        .of(Kinds::batch)
        .such_as("200 GB")
        .blank_is("the node's memory, where it is known")
        .says("It is the memory of a host that caches the data set.")
        .but("It goes with set_bytes."),
    quantity<BytesPerSecond>("cache_bandwidth")
        .of(Kinds::batch)
        .or_nothing("that the cache does not bind")
        .says("It is the rate at which one host reads what it has cached, in bytes per second.")
        .but("It goes with set_bytes."),
    integer("epochs", 1, 1'000'000'000).of(Kinds::batch).usually(1).says("It is how often the data set is read."),
    quantity<Bytes>("shard_bytes")
        .of(Kinds::batch)
        .such_as("100 MB")
        .or_nothing("that each sample is a file of its own")
        .says("It is the size of the files that hold many samples each.")
        .but("It needs sample_bytes."),
    number("iops", 0.001, 1e12)
        .of(Kinds::batch)
        .or_nothing("that reads do not bind")
        .says("It is the number of reads in a second that storage does for one host.")
        .but("It needs sample_bytes."),
    boolean("direct")
        .of(Kinds::batch)
        .usually(false)
        .says("It says that storage or the NIC writes to the GPU past the host's memory (GPUDirect Storage, RDMA).")
        .but("Nothing of the host then works on a sample."),
    quantity<BytesPerSecond>("memory_bandwidth")
        .of(Kinds::batch)
        .or_nothing("that the host's memory does not bind")
        .says("It is the rate at which the memory of one host is read and written, in bytes per second."),
    quantity<Bytes>("result_bytes")
        .of(Kinds::batch)
        .or_nothing("that results take no time to copy")
        .says("It is the size of what the network gives of a sample, in bytes."),
    of_type("stage", KeyType::tables)
        .of(Kinds::batch)
        .or_nothing("that nothing but the keys above is done to a sample")
        .says("It lists stages before and after the network, on cores, on the GPU and on its engines."),
};
inline constexpr std::array data_rows = joined(feed_rows, pipeline_rows);

inline constexpr std::array data_stage_rows{
    text("name").needed().says("It names the stage in answers and in `after`; the network is called `network`."),
    choice("on", stage_place_names)
        .blank_is("the one place whose time is stated")
        .says("It says where the stage runs: a core of the host, the GPU, or an engine of the GPU that decodes or "
              "encodes video or JPEG.")
        .but("It is required where several times are stated, and where it would run best is then told."),
    quantity<Seconds>("cpu_time")
        .such_as("2 ms")
        .or_nothing("that it does not run there")
        .says("It is the time of a sample on one core."),
    quantity<Seconds>("gpu_time")
        .such_as("100 us")
        .or_nothing("that it does not run there")
        .says("It is the time of a sample on the GPU, which the network waits for."),
    quantity<Seconds>("engine_time")
        .such_as("200 us")
        .or_nothing("that it does not run there")
        .says("It is the time of a sample on one engine."),
    number("share", 0.0, 1.0)
        .above(0.0, 1.0)
        .usually(1)
        .says("It is the share of the samples that passes through it, such as of two stages that decode side by side."),
    integer("cores", 1, 100'000)
        .blank_is("those of data.workers, which stages share")
        .says("It is the number of cores of a host that the stage has for itself."),
    integer("engines", 1, 64).usually(1).says("It is the number of engines of one GPU."),
    quantity<Bytes>("output")
        .or_nothing("that its result takes no time to copy")
        .says("It is the size of a sample as it leaves the stage, in bytes: it crosses the link where the next stage "
              "is on "
              "the other side."),
    texts("after")
        .blank_is("the stage above it; of the first nothing")
        .says("It lists the stages that it waits for; `network` among them makes it a stage after the network."),
};

inline constexpr KeyTable data{"data", Kinds::training | Kinds::batch, data_rows};
inline constexpr KeyTable data_stage{"data.stage", Kinds::batch, data_stage_rows};

}  // namespace headroom::keys
