// SPDX-License-Identifier: Apache-2.0
// Keys of [fleet] and the tables below it.
#pragma once

#include <headroom/model/serve/time/simulated_time.hpp>
#include <headroom/scenarios/keys/bounds.hpp>
#include <headroom/scenarios/keys/rows.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

namespace headroom::keys {

inline constexpr std::array fleet_rows{
    integer("replicas", 1, 1'000'000)
        .blank_is("the fewest that keep the promises")
        .says("It is the number of replicas of the layout."),
    integer("spare", 0, 1'000'000)
        .usually(0)
        .says("It is the number of replicas on top that may be down with the promises still kept: 1 is N + 1.")
        .but("It goes without [fleet.failures] only."),
    choice("routing", request_routing_names)
        .usually(static_cast<double>(RequestRouting::least_outstanding))
        .says("It says which replica a request goes to; prefix is that which holds most of its prompt, while loads are "
              "even."),
    table("prefix_routing")
        .blank_is("the defaults of SGLang's router, told")
        .says("It says when a request goes to the replica that holds most of its prompt.")
        .but("It goes with routing prefix only."),
    table("prefill")
        .or_nothing("that replicas do both")
        .says("It says that prompts are computed on replicas of their own."),
    table("failures")
        .or_nothing("that none fail but the spare ones")
        .says("It says how often replicas fail, from which the spare ones follow."),
    table("autoscale")
        .or_nothing("that the fleet stays as it is")
        .says("It says that replicas follow [traffic.over_time], or the rate of a trace over its time."),
};

inline constexpr std::array routing_rows{
    number("cache_threshold", 0.0, 1.0)
        .usually(PrefixRouting{}.cache_threshold)
        .says("It is the part of a prompt that a replica must hold to be taken for it."),
    integer("balance_abs_threshold", 0, 1'000'000)
        .usually(static_cast<double>(PrefixRouting{}.balance_abs))
        .says("It is how many requests more the busiest replica may have than the idlest before the idlest is taken."),
    number("balance_rel_threshold", 1.0, 1e6)
        .usually(PrefixRouting{}.balance_rel)
        .says("It is how many times as many requests the busiest replica may have before the idlest is taken."),
};

inline constexpr std::array prefill_rows{
    integer("replicas", 1, 1'000'000)
        .blank_is("the fewest that keep the promises")
        .says("It is the number of replicas that compute prompts."),
    integer("tp", 1, 4096).usually(1).says("It is the number of tensor-parallel ranks of such a replica."),
    quantity<BytesPerSecond>("link", slowest_link, fastest_link)
        .needed()
        .says("It is the rate of a replica to those that decode, in bytes per second.")
        .but("The cache of the longest prompt takes at most 30 days over it."),
    quantity<Seconds>("latency", Seconds{}, longest_span).usually(0).says("It is the latency of that link."),
};

inline constexpr std::array failure_rows{
    quantity<Seconds>("mtbf_per_gpu")
        .such_as("50000 h")
        .or_nothing("that GPUs do not fail")
        .says("It is the mean time between failures of one GPU.")
        .but("One of mtbf_per_gpu and preemptions_every is required."),
    quantity<Seconds>("preemptions_every")
        .such_as("6 h")
        .or_nothing("that nothing is preempted")
        .says("It is the mean time between preemptions of a replica on spot capacity."),
    quantity<Seconds>("back").needed().says("It is the time from a failure until the replica serves again."),
    number("availability", 0.5, 0.9999999).needed().says("It is the share of the time that enough replicas are up."),
};

/// A part of a cold start.
[[nodiscard]] constexpr Key start_part(std::string_view path) {
  return quantity<Seconds>(path, Seconds{}, longest_span).or_nothing("that cold_start states the whole");
}
inline constexpr std::array autoscale_rows{
    quantity<Seconds>("cold_start", Seconds{}, longest_span)
        .or_nothing("that node, image, weights, compile and graphs are stated, whose sum it is")
        .says("It is the time from the decision to a replica that serves.")
        .but("It goes without the parts; it or all of them are required."),
    start_part("node").says("It is the time until a machine is provisioned and has joined; 0 s where one waits."),
    start_part("image").says("It is the time until the container image is pulled and runs; 0 s where the node has it."),
    start_part("weights")
        .says("It is the time in which weights are read into the GPUs.")
        .but("Of weights and storage one is required with the other parts."),
    quantity<BytesPerSecond>("storage", slowest_link, fastest_link)
        .or_nothing("that weights states the time")
        .says("It is the rate at which one host reads weights: their time is what the replica's GPUs of a host hold "
              "over it."),
    start_part("compile").says(
        "It is the time that the engine compiles: vLLM does by itself, SGLang and TensorRT-LLM when told to."),
    start_part("graphs").says("It is the time in which the engine profiles, warms up and captures graphs."),
    number("target", 0.05, 0.99)
        .usually(AutoscaleQuestion{}.target)
        .says("It is the share of their saturation that replicas are held at."),
    integer("least", 1, 1'000'000)
        .usually(static_cast<double>(AutoscaleQuestion{}.least))
        .says("It is the number of replicas that are never given back."),
};

inline constexpr KeyTable fleet{"fleet", Kinds::serve, fleet_rows};
inline constexpr KeyTable prefix_routing{"fleet.prefix_routing", Kinds::serve, routing_rows};
inline constexpr KeyTable prefill{"fleet.prefill", Kinds::serve, prefill_rows};
inline constexpr KeyTable fleet_failures{"fleet.failures", Kinds::serve, failure_rows};
inline constexpr KeyTable autoscale{"fleet.autoscale", Kinds::serve, autoscale_rows};

}  // namespace headroom::keys
