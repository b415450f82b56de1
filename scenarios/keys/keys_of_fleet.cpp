// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/time/simulated_time.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/keys/bounds.hpp>
#include <headroom/scenarios/keys/rows.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <array>

namespace headroom {
namespace {

using namespace rows;

constexpr std::array fleet_rows{
    integer("replicas", 1, 1'000'000)
        .blank_is("the fewest that keep the promises")
        .says("It is the number of replicas of the layout."),
    integer("spare", 0, 1'000'000)
        .blank_is("0")
        .says("It is the number of replicas on top that may be down with the promises still kept.")
        .but("It goes without [fleet.failures] only."),
    choice("routing", request_routing_names)
        .blank_is("least-outstanding")
        .says("It says which replica a request goes to."),
    table("prefix_routing")
        .blank_is("the defaults of SGLang's router")
        .says("It says when a request goes to the replica that holds most of its prompt.")
        .but("It goes with routing prefix only."),
    table("prefill")
        .blank_is("that replicas do both")
        .says("It says that prompts are computed on replicas of their own."),
    table("failures")
        .blank_is("that none fail but the spare ones")
        .says("It says how often replicas fail, from which the spare ones follow."),
    table("autoscale")
        .blank_is("that the fleet stays as it is")
        .says("It says that replicas follow [traffic.over_time]."),
};

constexpr std::array routing_rows{
    number("cache_threshold", 0.0, 1.0)
        .blank_is("0.3")
        .says("It is the part of a prompt that a replica must hold to be taken for it."),
    integer("balance_abs_threshold", 0, 1'000'000)
        .blank_is("64")
        .says("It is how many requests more the busiest replica may have than the idlest before the idlest is taken."),
    number("balance_rel_threshold", 1.0, 1e6)
        .blank_is("1.5")
        .says("It is how many times as many requests the busiest replica may have before the idlest is taken."),
};

constexpr std::array prefill_rows{
    integer("replicas", 1, 1'000'000)
        .blank_is("the fewest that keep the promises")
        .says("It is the number of replicas that compute prompts."),
    integer("tp", 1, 4096).blank_is("1").says("It is the number of tensor-parallel ranks of such a replica."),
    quantity<BytesPerSecond>("link", slowest_link, fastest_link)
        .needed()
        .says("It is the rate of a replica to those that decode, in bytes per second."),
    quantity<Seconds>("latency", Seconds{}, longest_span).blank_is("0 s").says("It is the latency of that link."),
};

constexpr std::array failure_rows{
    quantity<Seconds>("mtbf_per_gpu")
        .blank_is("that GPUs do not fail")
        .says("It is the mean time between failures of one GPU.")
        .but("One of mtbf_per_gpu and preemptions_every is required."),
    quantity<Seconds>("preemptions_every")
        .blank_is("that nothing is preempted")
        .says("It is the mean time between preemptions of a replica on spot capacity."),
    quantity<Seconds>("back").needed().says("It is the time from a failure until the replica serves again."),
    number("availability", 0.5, 0.9999999).needed().says("It is the share of the time that enough replicas are up."),
};

constexpr std::array autoscale_rows{
    quantity<Seconds>("cold_start", Seconds{}, longest_span)
        .needed()
        .says("It is the time from the decision to a replica that serves."),
    number("target", 0.05, 0.99).blank_is("0.7").says("It is the share of their saturation that replicas are held at."),
    integer("least", 1, 1'000'000).blank_is("1").says("It is the number of replicas that are never given back."),
};

constexpr std::array tables{
    KeyTable{"fleet", Kinds::serve, fleet_rows},
    KeyTable{"fleet.prefix_routing", Kinds::serve, routing_rows},
    KeyTable{"fleet.prefill", Kinds::serve, prefill_rows},
    KeyTable{"fleet.failures", Kinds::serve, failure_rows},
    KeyTable{"fleet.autoscale", Kinds::serve, autoscale_rows},
};

}  // namespace

std::span<const KeyTable> keys_of_fleet() noexcept {
  return tables;
}

}  // namespace headroom
