// SPDX-License-Identifier: Apache-2.0
// Tenants of one card.
#include <headroom/answers/schema/answer_schema.hpp>

#include <array>

namespace headroom::answers {
namespace {

using T = MemberType;
using M = AnswerMember;

constexpr std::array sharing{
    M{"schema", T::text, "name and version of this schema"},
    M{"name", T::text, "name"},
    M{"gpu", T::text, "id of the card"},
    M{"verdict", T::text, "feasible or infeasible"},
    M{"verdict_text", T::text, "the same in a sentence"},
    M{"taken", T::text, "the way that is taken; null: none is possible"},
    M{"why", T::text, "why it is taken, or why none is"},
    M{"capacity_bytes", T::number, "memory of the card"},
    M{"plan", T::object, "the way that is taken", "ways"},
    M{"ways", T::objects, "each way to share"},
    M{"ways/way", T::text, "none, time-slice, mps or mig"},
    M{"ways/possible", T::boolean, "whether the tenants can share so"},
    M{"ways/holds", T::boolean, "whether it is possible and every promise is kept"},
    M{"ways/why_not", T::texts, "what makes it impossible, or what it misses"},
    M{"ways/missed", T::number, "promises and queues that it misses"},
    M{"ways/cards", T::number, "cards"},
    M{"ways/mean_speed", T::number, "of the tenants' speeds alone, by their weights"},
    M{"ways/together", T::number, "work of all tenants with work under way over that of one alone"},
    M{"ways/together_bound", T::number, "what no way to share exceeds: one over the mean busy share, or their number"},
    M{"ways/slowdown", T::number, "of MIG, what a slice loses when all others are busy"},
    M{"ways/asked_bytes", T::number, "memory of the tenants that run at one time, contexts included"},
    M{"ways/stranded_bytes", T::number, "memory of the cards that nobody asks for"},
    M{"ways/stranded_memory", T::number, "the same as a share"},
    M{"ways/stranded_by_name_bytes", T::number, "of MIG the same by the names of the profiles, contexts apart"},
    M{"ways/used", T::number, "share of the cards' day that kernels take"},
    M{"ways/stranded_gpu", T::number, "share that they do not"},
    M{"ways/stranded_gpu_hours_per_day", T::number, "the same, in hours of the cards"},
    M{"ways/compute_slices", T::number, "compute slices that are given"},
    M{"ways/memory_slices", T::number, "memory slices that are given"},
    M{"ways/usd_per_s", T::number, "price of the cards"},
    M{"ways/tenants", T::objects, "what each tenant gets, in the order of the question"},
    M{"ways/tenants/name", T::text, "name"},
    M{"ways/tenants/isolation", T::text, "what it asks to be kept apart from"},
    M{"ways/tenants/weight", T::number, "its part of what nobody takes"},
    M{"ways/tenants/profile", T::text, "slice of MIG"},
    M{"ways/tenants/start", T::number, "memory slice at which that begins"},
    M{"ways/tenants/cap_bytes", T::number, "memory that its process may fill, context included"},
    M{"ways/tenants/speed", T::number, "of its speed alone on the card while it has work under way, at its worst hour"},
    M{"ways/tenants/under_way", T::number, "share of the day in which it has work under way"},
    M{"ways/tenants/used", T::number, "share of the card's day that its kernels take"},
    M{"ways/tenants/latency_p50_s", T::number, "what half of its requests take at most, at its worst hour"},
    M{"ways/tenants/latency_p95_s", T::number, "what 95 of 100 take at most"},
    M{"ways/tenants/latency_p99_s", T::number, "what 99 of 100 take at most"},
    M{"ways/tenants/latency_p999_s", T::number, "what 999 of 1000 take at most"},
    M{"ways/tenants/ttft_p95_s", T::number, "of an engine, time to the first token of 95 of 100"},
    M{"ways/tenants/tpot_p95_s", T::number, "of an engine, time per further token of 95 of 100"},
    M{"ways/tenants/promises", T::objects, "what is promised to its requests"},
    M{"ways/tenants/promises/what", T::text, "quantile"},
    M{"ways/tenants/promises/limit_s", T::number, "what is promised"},
    M{"ways/tenants/promises/reached_s", T::number, "what is reached"},
    M{"ways/tenants/promises/kept", T::boolean, "whether it is kept"},
    M{"ways/tenants/falls_behind", T::boolean, "whether its queue grows without end"},
    M{"ways/tenants/card_hours_per_day", T::number, "work a day, in hours of the card alone"},
    M{"ways/tenants/steps_per_day", T::number, "of a training"},
    M{"ways/tenants/paid", T::number, "share of the price"},
    M{"ways/tenants/usd_per_s", T::number, "price"},
    M{"assumptions", T::texts, "what was taken for keys that are not stated"},
    M{"notes", T::texts, "what else to know"},
};

}  // namespace

std::span<const AnswerMember> sharing_members() noexcept {
  return sharing;
}

}  // namespace headroom::answers
