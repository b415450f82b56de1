// SPDX-License-Identifier: Apache-2.0
// Keys of [sharing] and [[tenant]]: who shares one card, and how.
#pragma once

#include <headroom/model/sharing/shared_card.hpp>
#include <headroom/scenarios/keys/batch_keys.hpp>
#include <headroom/scenarios/keys/rows.hpp>
#include <headroom/scenarios/keys/words.hpp>

namespace headroom::keys {

inline constexpr std::array sharing_rows{
    choice("mode", sharing_mode_names)
        .usually(0)
        .says("It is how the tenants share the card: in slices of MIG, under MPS, in time slices, or each on a card of "
              "its own (none); any: the way that keeps every promise on the fewest cards."),
    integer("simulated", 1'000, 10'000'000)
        .usually(200'000)
        .says("It is the number of requests of all tenants that are simulated for each way to share."),
    integer("seed", 0, std::int64_t{1} << 52).usually(1).says("It is the seed of arrivals."),
};
inline constexpr std::array tenant_rows{
    text("name").needed().says("It names the tenant in answers."),
    choice("kind", tenant_kind_names)
        .usually(0)
        .says("It says what the tenant does: it answers requests, or it trains and takes what it gets."),
    of_type("workload", KeyType::model)
        .or_nothing("that busy, memory and call say all that is known")
        .says("It is what the tenant runs: a scenario of kind serve or batch without [hardware], as a table or as the "
              "path of a file."),
    number("busy", 0.0, 1.0)
        .above(0.0, 1.0)
        .blank_is("1, of a network what its calls say")
        .says("It is the share of its time in which the tenant's kernels run while it has work and the card alone: "
              "what DCGM calls SM activity (DCGM_FI_PROF_SM_ACTIVE).")
        .refused_as("it is a share of the time, above 0 and at most 1; of \"62 %\" write 0.62"),
    quantity<Bytes>("memory")
        .blank_is("of a network what its calls fill")
        .says("It is what the tenant may fill of the card's memory, its context aside: of an engine its memory "
              "fraction."),
    quantity<Hertz>("rate", Hertz{1e-6}, Hertz{1e12})
        .such_as("12 req/s")
        .or_nothing("a call behind the other, without end")
        .says("It is the mean rate of its requests, which come at random.")
        .but("It goes with call."),
    quantity<Seconds>("call")
        .such_as("8 ms")
        .or_nothing("that shares of its speed alone are told")
        .says("It is the time of one request's call with the card alone."),
    number("spread", 0.0, 5.0).usually(0).says("It is the standard deviation of a call's time over its mean."),
    quantity<Seconds>("step")
        .such_as("400 ms")
        .or_nothing("that no steps are counted")
        .says("It is the time of one step of a training with the card alone."),
    choice("isolation", isolation_names)
        .usually(0)
        .says("It is what the tenant is kept apart from: nothing, the memory of the others, or their faults as well, "
              "as somebody asks who does not trust them."),
    number("weight", 0.0, 1e6)
        .usually(1)
        .says("It is the tenant's part of what nobody uses when the card is paid for."),
    text("hours").or_nothing("the whole day").says("It is when the tenant runs, such as \"20:00-06:00\", every day."),
    table("slo").or_nothing("that nothing is promised").says("It promises times to its requests."),
};
inline constexpr KeyTable sharing{"sharing", Kinds::sharing, sharing_rows};
inline constexpr KeyTable tenant{"tenant", Kinds::sharing, tenant_rows};
inline constexpr KeyTable tenant_slo{"tenant.slo", Kinds::sharing, latency_rows};

}  // namespace headroom::keys
