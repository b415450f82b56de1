// SPDX-License-Identifier: Apache-2.0
// Keys of batch inference: how a network is called, which requests come, which records lie there.
#pragma once

#include <headroom/model/estimate/precision.hpp>
#include <headroom/scenarios/keys/rows.hpp>
#include <headroom/scenarios/keys/words.hpp>

namespace headroom::keys {

inline constexpr std::array inference_rows{
    text("engine")
        .usually_named("tensorrt")
        .says("It is the id of what runs the network (model/stacks/infer): `tensorrt`, `onnxruntime`, `pytorch`, "
              "`torch-compile`, `tensorflow2`, ..."),
    choice("precision", precision_names)
        .usually(static_cast<double>(Precision::fp16))
        .says("It is the format of products."),
    integer("max_batch", 1, 4'096)
        .blank_is("chosen: the fewest GPUs that keep the promise, the fastest of a job")
        .says("It is the largest number of samples that one call takes."),
    quantity<Seconds>("window", Seconds{}, Seconds{3600.0})
        .such_as("5 ms")
        .blank_is("chosen: the longest that keeps the promise where that leaves the GPU less busy")
        .says("It is how long the oldest request waits for others at most (Triton "
              "`max_queue_delay_microseconds`)."),
    integers("preferred", 1, 4'096)
        .or_nothing("any number")
        .says("It lists sizes that a batch leaves with before its window ends (Triton `preferred_batch_size`)."),
    integer("instances", 1, 64)
        .usually(1)
        .says("It is the number of copies of the network on a GPU, which share its time and memory."),
    number("spread", 0.0, 2.0)
        .usually(0)
        .says("It is the standard deviation of a call's time over its mean: co-located work, clocks, inputs of many "
              "sizes."),
    boolean("deterministic")
        .usually(false)
        .says("It says that equal inputs give equal bits: no kernel splits a sum over blocks that add in any order."),
    quantity<Bytes>("weights_memory")
        .blank_is("the network's parameters in the precision")
        .says("It is what a GPU holds of weights."),
    quantity<Bytes>("sample_memory")
        .blank_is("a sample's input and the two largest tensors that lie side by side")
        .says("It is what a GPU holds of each sample of a batch."),
    quantity<Bytes>("workspace")
        .blank_is("a context with its libraries")
        .says("It is what a GPU holds beside weights and samples."),
    quantity<Bytes>("usable_memory")
        .blank_is("all that the driver leaves")
        .says("It is the memory of a GPU that may be filled: a limit of one's own, or what others leave."),
    of_type("call", KeyType::tables)
        .or_nothing("that no call was measured")
        .says("It lists calls that were measured; the curve goes through them.")
        .but("Without a model they are all that is known of the network."),
};
inline constexpr std::array call_rows{
    integer("batch", 1, 4'096).needed().says("It is the number of samples."),
    quantity<Seconds>("time").such_as("9 ms").needed().says(
        "It is the time of the call, from the input on the GPU to the "
        "result."),
    text("gpu")
        .or_nothing("the SKU that is asked about")
        .says("It is the SKU that it was measured on; calls on other SKUs than the one asked about are left out."),
};
inline constexpr std::array request_rows{
    quantity<Hertz>("rate", Hertz{1e-6}, Hertz{1e12})
        .such_as("12 req/s")
        .blank_is("that of the classes together; with hardware.gpus the highest that keeps the promise")
        .says("It is the mean number of requests a time, such as \"1e6 req/d\"; each is one sample."),
    number("peak", 1.0, 10'000.0).usually(1).says("It is the rate at the peak over the mean: GPUs are counted for it."),
    choice("arrivals", request_arrival_names)
        .usually(0)
        .says("It is the law of the gaps: of many clients poisson, of cameras and control loops periodic."),
    quantity<Hertz>("stream", Hertz{1e-6}, Hertz{1e12})
        .such_as("30 req/s")
        .or_nothing("that requests are not counted as streams")
        .says("It is the rate of one stream, such as the frames of a camera or a video: how many the rate makes is "
              "told, and of an open rate how many keep the promise."),
    quantity<Seconds>("round_trip")
        .such_as("30 ms")
        .or_nothing("that latencies end at the server")
        .says("It is the time of a request and its answer over the network, part of every latency."),
    table("slo").or_nothing("that nothing is promised").says("It promises times to the requests."),
    of_type("class", KeyType::tables)
        .or_nothing("one class")
        .says("It lists classes of requests; the first goes before the others in every batch."),
    integer("simulated", 1'000, 100'000'000)
        .usually(200'000)
        .says("It is the number of requests of one GPU that are simulated."),
    integer("seed", 0, std::int64_t{1} << 52).usually(1).says("It is the seed of arrivals."),
};
inline constexpr std::array request_class_rows{
    text("name").needed().says("It names the class in answers."),
    quantity<Hertz>("rate", Hertz{1e-6}, Hertz{1e12})
        .such_as("12 req/s")
        .needed()
        .says("It is the class's mean rate: of arrivals periodic one source with equal gaps."),
    quantity<Seconds>("deadline")
        .such_as("33 ms")
        .or_nothing("none but the promises of [requests.slo]")
        .says("It is when an answer is too late: a frame's time, a control loop's; one in a hundred may be."),
    boolean("rejects")
        .usually(false)
        .says("It says that a request past its deadline is dropped when its batch leaves.")
        .but("It goes with deadline only."),
};
inline constexpr std::array latency_rows{
    quantity<Seconds>("p50")
        .such_as("20 ms")
        .or_nothing("no promise of it")
        .says("Half of the requests take no longer."),
    quantity<Seconds>("p95")
        .such_as("100 ms")
        .or_nothing("no promise of it")
        .says("95 of 100 requests take no longer."),
    quantity<Seconds>("p99").such_as("150 ms").or_nothing("no promise of it").says("99 of 100 take no longer."),
    quantity<Seconds>("p999").such_as("200 ms").or_nothing("no promise of it").says("999 of 1000 take no longer."),
};
inline constexpr std::array client_rows{
    integer("clients", 1, 1'000'000).needed().says("It is the number of clients that each ask again once answered."),
    integer("samples", 1, 4'096).usually(1).says("It is the number of samples of a request."),
    quantity<Seconds>("round_trip")
        .such_as("30 ms")
        .or_nothing("that a client asks again at once")
        .says("It is the time from an answer to the client's next request: the network both ways, and what the client "
              "does."),
};
inline constexpr std::array job_rows{
    number("records", 1.0, 1e15)
        .needed()
        .says("It is the number of records, each a sample, of a language model a prompt."),
    quantity<Seconds>("deadline")
        .such_as("8 h")
        .or_nothing("that hardware.gpus says how many GPUs work")
        .says("It is the time from the start within which all records are done."),
    quantity<Dollars>("budget")
        .or_nothing("none")
        .says("It is what the job may cost.")
        .but("It needs a price in [money]."),
    number("utilisation", 0.01, 1.0)
        .usually(1)
        .says("It is the share of the GPUs' time that calls may take; the rest is left for what is not modelled."),
    quantity<Seconds>("longest_call")
        .of(Kinds::batch)
        .such_as("100 ms")
        .or_nothing("that a call may take any time")
        .says("It is the longest call: larger batches are not taken."),
    integer("chunk", 1, 1'000'000'000'000)
        .usually(10'000)
        .says("It is the number of records that are done or not: what an interruption loses is half of one."),
    quantity<Hertz>("interruptions")
        .such_as("0.05 req/h")
        .or_nothing("that no GPU is taken away")
        .says("It is how often one GPU is taken away or fails, as a rate: \"0.05 req/h\" is once in twenty hours."),
    quantity_or_zero<Seconds>("start").such_as("5 min").usually(0).says(
        "It is the time from asking for a GPU to its first record: machine, image, weights, engine."),
};

inline constexpr KeyTable inference{"inference", Kinds::batch, inference_rows};
inline constexpr KeyTable inference_call{"inference.call", Kinds::batch, call_rows};
inline constexpr KeyTable requests{"requests", Kinds::batch, request_rows};
inline constexpr KeyTable requests_class{"requests.class", Kinds::batch, request_class_rows};
inline constexpr KeyTable requests_slo{"requests.slo", Kinds::batch, latency_rows};
inline constexpr KeyTable clients{"clients", Kinds::batch, client_rows};
inline constexpr KeyTable job{"job", Kinds::batches, job_rows};

}  // namespace headroom::keys
