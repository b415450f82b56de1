// SPDX-License-Identifier: Apache-2.0
// Keys of kind classic: the host beside the GPUs, one table for each algorithm, and units that a rate asks for.
#pragma once

#include <headroom/model/classic/media.hpp>
#include <headroom/model/classic/recommender.hpp>
#include <headroom/model/classic/vector_search.hpp>
#include <headroom/scenarios/keys/rows.hpp>
#include <headroom/scenarios/keys/words.hpp>

namespace headroom::keys {

inline constexpr double most_items = 1e15;

[[nodiscard]] constexpr Key large_number(std::string_view path, double high = most_items) {
  return number(path, 1.0, high);
}

inline constexpr std::array host_rows{
    text("cpu")
        .usually_named("xeon-8488c")
        .says("It is the id of a processor of the catalog (docs/classic.md), whose time stands beside the GPU's."),
    integer("sockets", 1, 8).usually(1).says("It is how many of them one host has."),
    integer("cores", 1, 4096)
        .blank_is("all cores of the sockets")
        .says("It is how many of their cores are the host's, such as 8 of an instance of 16 virtual CPUs."),
    quantity<DollarsPerSecond>("price")
        .such_as("4.28 $/h")
        .blank_is("the catalog's price of the sockets, where it has one")
        .says("It is what the host costs without GPUs."),
    quantity<Bytes>("memory")
        .or_nothing("that tables and vectors beyond the GPUs have no other place")
        .says("It is the host's memory, which may hold what GPUs cannot."),
    quantity<Bytes>("nvme")
        .or_nothing("that the host has no fast disks")
        .says("It is the capacity of the host's NVMe drives."),
    quantity<BytesPerSecond>("network").usually(12.5e9).says(
        "It is what one host sends to others, in bytes per second."),
};

inline constexpr std::array trees_rows{
    choice("library", tree_library_names).usually(0).says("It is the library that trains."),
    large_number("rows").needed().says("It is the number of rows."),
    large_number("features", 1e7).needed().says("It is the number of columns."),
    number("density", 0.0, 1.0)
        .above(0.0, 1.0)
        .usually(1)
        .says("It is the share of a row's entries that are no zero.")
        .refused_as("it is a share, above 0 and at most 1; of dense columns leave it out"),
    integer("bins", 2, 65'536).usually(256).says("It is the number of bins of a column's histogram."),
    integer("rounds", 1, 1'000'000).usually(100).says("It is the number of boosting rounds."),
    integer("depth", 1, 30).usually(6).says("It is the depth of a tree."),
    integer("classes", 1, 100'000).usually(1).says("It is the number of trees a round, one a class."),
};

inline constexpr std::array kmeans_rows{
    large_number("points").needed().says("It is the number of points."),
    large_number("dims", 1e6).needed().says("It is the number of dimensions of a point."),
    large_number("clusters", 1e9).needed().says("It is the number of clusters."),
    integer("iterations", 1, 1'000'000).usually(20).says("It is the number of Lloyd's iterations."),
    boolean("half").usually(0).says("It says whether products run in 16 bit."),
    boolean("resident")
        .usually(1)
        .says("It says whether points stay on the GPUs, as cuML keeps them; faiss sends them each iteration."),
};

inline constexpr std::array vectors_rows{
    choice("index", classic::index_names).needed().says("It is the kind of index."),
    large_number("vectors").needed().says("It is the number of vectors."),
    large_number("dims", 1e6).needed().says("It is the number of dimensions of a vector."),
    number("element_bytes", 0.125, 8.0).usually(4).says("It is the size of one element in bytes."),
    large_number("batch", 1e12).usually(10'000).says("It is the number of queries that are searched together."),
    integer("k", 1, 2048).usually(10).says("It is the number of nearest vectors that a query asks for."),
    large_number("lists", 1e9)
        .blank_is("of an inverted file 4 times the root of the vectors")
        .says("It is the number of lists of an inverted file (nlist)."),
    large_number("probes", 1e9).usually(32).says("It is the number of lists that a query looks into (nprobe)."),
    large_number("code", 65'536)
        .blank_is("of ivf-pq half a byte a dimension")
        .says("It is the length of a product code in bytes."),
    integer("degree", 2, 1024).usually(64).says("It is the number of neighbours of a node of a graph."),
    integer("width", 1, 65'536)
        .usually(64)
        .says("It is the number of candidates that a search of a graph keeps (itopk, efSearch)."),
    number("passing", 0.0, 1.0)
        .above(0.0, 1.0)
        .usually(1)
        .says("It is the share of vectors that a filter lets through.")
        .refused_as("it is a share, above 0 and at most 1; without a filter leave it out"),
    integer("shards", 1, 4096)
        .blank_is("the fewest GPUs whose memory holds the index")
        .says("It is the number of GPUs that hold a part of the index each."),
    boolean("ids_on_host").usually(0).says("It says whether the vectors' ids stay in host memory."),
    number("recall", 0.0, 0.999999)
        .above(0.0, 0.999999)
        .or_nothing("that no recall is told")
        .says("It is the recall that was measured with these probes or this width.")
        .refused_as("it is a share of the nearest vectors that are found, above 0 and below 1"),
    number("wanted_recall", 0.0, 0.999999)
        .above(0.0, 0.999999)
        .or_nothing("that the stated probes or width are taken")
        .says("It is the recall to reach, from which probes or width follow.")
        .refused_as("it is a share of the nearest vectors that are found, above 0 and below 1"),
    number("recall_power", 0.05, 5.0).usually(1).says("It is the power by which misses fall as probes or width grow."),
    quantity<Hertz>("rate", Hertz{1e-6}, Hertz{1e12})
        .such_as("100000 req/s")
        .or_nothing("that one group of GPUs is asked about")
        .says("It is the rate of queries to answer, from which replicas follow."),
};

inline constexpr std::array selection_rows{
    large_number("items").needed().says("It is the number of items that stream by."),
    integer("k", 1, 2048).needed().says("It is the number of largest items to keep."),
    number("item_bytes", 1.0, 4096.0).usually(4).says("It is the size of an item's value in bytes."),
};

inline constexpr std::array grouping_rows{
    large_number("rows").needed().says("It is the number of rows."),
    large_number("keys").needed().says("It is the number of distinct keys."),
    large_number("workers", 1e6).usually(1).says("It is the number of hosts that hold a part of the rows each."),
    number("row_bytes", 1.0, 65'536.0).usually(16).says("It is the size of a key and its value in bytes."),
    boolean("partial").usually(1).says("It says whether each worker sums its rows by key before it sends."),
};

inline constexpr std::array recommender_rows{
    choice("model", classic::crossing_names).usually(0).says("It is how the tables' rows meet."),
    choice("mode", recommender_mode_names).usually(0).says("It says whether the model trains or answers requests."),
    large_number("parameters").needed().says("It is the number of parameters of all tables."),
    large_number("tables", 1e6).usually(26).says("It is the number of tables."),
    large_number("lookups", 1e6).blank_is("one a table").says("It is the number of rows that a sample reads."),
    integer("dims", 1, 65'536).usually(128).says("It is the number of elements of a row."),
    number("row_bytes", 0.5, 8.0).usually(4).says("It is the size of one element in bytes."),
    large_number("batch", 1e9)
        .usually(65'536)
        .says("It is the number of samples of a step on all GPUs together, or of one request."),
    boolean("half").usually(0).says("It says whether dense layers run in 16 bit."),
    choice("optimizer", recommender_optimizer_names)
        .usually(0)
        .says("It is the optimizer, whose moments take as much memory as the tables each."),
    number("popularity", 0.0, 3.0)
        .usually(1)
        .says("It is the exponent of Zipf's law by which rows are asked for; 0: all alike."),
};

inline constexpr std::array video_rows{
    choice("codec", video_codec_names).usually(0).says("It is the codec of the streams that come in."),
    integer("width", 16, 65'536).usually(1920).says("It is the width of their frames in pixels."),
    integer("height", 16, 65'536).usually(1080).says("It is the height of their frames in pixels."),
    number("fps", 0.01, 10'000.0).usually(30).says("It is the number of frames a second of each stream."),
    boolean("decode").usually(1).says("It says whether the GPU's engines decode them."),
    choice("encode", video_encode_names).usually(0).says("It is the codec of what goes out, none where nothing is."),
    choice("preset", video_preset_names).usually(1).says("It is the encoder's preset, p1 the fastest."),
    choice("tuning", video_tuning_names).usually(0).says("It is what the encoder is tuned for."),
    integer("out_width", 16, 65'536).blank_is("the width of what comes in").says("It is the width of encoded frames."),
    integer("out_height", 16, 65'536)
        .blank_is("the height of what comes in")
        .says("It is the height of encoded frames."),
    text("effect")
        .or_nothing("that no effect is computed")
        .says("It is an effect of the model's data on each frame (docs/classic.md), priced by its pixels."),
    quantity<Seconds>("frame_time")
        .such_as("4 ms")
        .or_nothing("that frames are not computed on")
        .says("It is the GPU's time for one frame that it computes, as measured or as kind batch prices it."),
    integer("every", 1, 100'000).usually(1).says("It says that one frame of so many is computed."),
    integer("batch", 1, 4096).usually(1).says("It is the number of frames that are computed together."),
    integer("surfaces", 1, 64).usually(8).says("It is the number of raw frames that a stream keeps on the GPU."),
    quantity<Bytes>("model_memory")
        .or_nothing("that no network's memory is counted")
        .says("It is what all streams of a GPU share: weights and workspace."),
    quantity<Bytes>("stream_memory")
        .or_nothing("that frames alone are counted")
        .says("It is what a stream takes beside its frames."),
    boolean("through_host").usually(0).says("It says whether raw frames come from and go to the host."),
    number("streams", 1.0, 1e9)
        .or_nothing("that those of the GPUs are counted")
        .says("It is the number of streams to carry, from which GPUs follow."),
};

inline constexpr std::array simulator_rows{
    text("task")
        .or_nothing("that the keys below say what a step does")
        .says("It is a task of the model's data (docs/classic.md)."),
    integer("substeps", 1, 10'000).blank_is("those of the task").says("It is the number of physics substeps a step."),
    quantity<Seconds>("contact")
        .such_as("2 us")
        .blank_is("that of the task, else none")
        .says("It is what a substep of one environment takes of a GPU whose memory moves 1 TB/s."),
    number("cameras", 0.0, 1000.0)
        .blank_is("those of the task, else none")
        .says("It is the pictures a step and environment."),
    number("envs", 1.0, 1e9).usually(4096).says("It is the number of environments on each GPU."),
    choice("phase", classic::simulator_phase_names)
        .usually(2)
        .says("It says what a step holds: physics, the policy's sampling with it, learning too."),
    number("steps", 1.0, 1e18)
        .or_nothing("that no run is timed")
        .says("It is the steps of a run, of all environments."),
    quantity<Hertz>("demand", Hertz{1e-3}, Hertz{1e15})
        .such_as("84000 req/s")
        .or_nothing("that no rate is to be reached")
        .says("It is the steps a second that are wanted, from which GPUs follow."),
    quantity<Bytes>("env_memory")
        .or_nothing("that environments' memory is not counted")
        .says("It is what one environment takes of the GPU's memory."),
    quantity<Bytes>("memory")
        .or_nothing("that the simulator's own memory is not counted")
        .says("It is what the simulator takes without environments."),
};

inline constexpr std::array control_rows{
    text("model").usually_named("pi0").says("It is a policy of the model's data (docs/classic.md)."),
    integer("views", 1, 64).usually(2).says("It is the number of pictures of a call."),
    number("vision", 0.0, 1e13).blank_is("that of the model").says("It is the parameters of the vision encoder."),
    number("language", 0.0, 1e13)
        .blank_is("that of the model")
        .says("It is those of the language model, without embeddings."),
    number("action", 0.0, 1e13).blank_is("that of the model").says("It is those of the action expert."),
    number("view_tokens", 1.0, 1e6).blank_is("that of the model").says("It is the tokens of a picture."),
    number("prompt", 0.0, 1e6).blank_is("that of the model").says("It is the tokens of the instruction and the state."),
    integer("chunk", 1, 100'000).usually(50).says("It is the number of actions that a call returns."),
    integer("flow_steps", 1, 10'000).usually(10).says("It is the number of steps of the flow."),
    quantity_or_zero<Seconds>("network").usually(0).says("It is the time of the network there and back."),
    quantity<Hertz>("rate", Hertz{1e-3}, Hertz{1e6})
        .such_as("30 req/s")
        .or_nothing("that no loop is to be held")
        .says("It is the calls a second that the control loop wants."),
};

inline constexpr std::array units_rows{
    quantity<Hertz>("rate", Hertz{1e-6}, Hertz{1e12})
        .such_as("100000 req/s")
        .needed()
        .says("It is the rate that all units together must reach."),
    quantity<Hertz>("unit_rate", Hertz{1e-6}, Hertz{1e12})
        .such_as("5035 req/s")
        .blank_is("what the GPUs of the question reach")
        .says("It is the rate of one unit, as measured."),
    quantity<Dollars>("price").or_nothing("that units are counted alone").says("It is what one unit costs to buy."),
    quantity<Joules>("energy")
        .blank_is("what the GPUs of the question draw")
        .says("It is the energy of one query or sample, as measured."),
    number("years", 0.01, 50.0).usually(4).says("It is how long the units run."),
    quantity<DollarsPerJoule>("electricity").usually(0.10 / 3.6e6).says("It is the price of electricity."),
};

inline constexpr KeyTable classic_host{"host", Kinds::classic, host_rows};
inline constexpr KeyTable trees{"trees", Kinds::classic, trees_rows};
inline constexpr KeyTable kmeans{"kmeans", Kinds::classic, kmeans_rows};
inline constexpr KeyTable vectors{"vectors", Kinds::classic, vectors_rows};
inline constexpr KeyTable selection{"selection", Kinds::classic, selection_rows};
inline constexpr KeyTable grouping{"grouping", Kinds::classic, grouping_rows};
inline constexpr KeyTable recommender{"recommender", Kinds::classic, recommender_rows};
inline constexpr KeyTable video{"video", Kinds::classic, video_rows};
inline constexpr KeyTable simulator{"simulator", Kinds::classic, simulator_rows};
inline constexpr KeyTable control{"control", Kinds::classic, control_rows};
inline constexpr KeyTable units{"units", Kinds::classic, units_rows};

}  // namespace headroom::keys
