// SPDX-License-Identifier: Apache-2.0
// Classic machine learning on GPUs and on cores.
#include <headroom/answers/schema/answer_schema.hpp>

#include <array>

namespace headroom::answers {
namespace {

using T = MemberType;
using M = AnswerMember;

constexpr std::array classic{
    M{"schema", T::text, "name and version of this schema"},
    M{"name", T::text, "name"},
    M{"algorithm", T::text, "what is computed"},
    M{"verdict", T::text, "feasible or infeasible"},
    M{"verdict_text", T::text, "what to take, in a sentence"},
    M{"faster", T::text, "gpu or cpu, of those that hold it"},
    M{"size_name", T::text, "what the size counts"},
    M{"size", T::number, "rows, points, vectors, queries, items or samples"},
    M{"work_flop", T::number, "floating-point operations, or additions and comparisons"},
    M{"moved_bytes", T::number, "bytes that the algorithm reads and writes"},
    M{"crossover_size", T::number, "size from which GPUs are faster; absent where one is at all sizes"},
    M{"gpu", T::object, "the GPUs of the question"},
    M{"gpu/machine", T::text, "gpu or cpu"},
    M{"gpu/id", T::text, "id of the SKU or the processor"},
    M{"gpu/count", T::number, "GPUs, or hosts"},
    M{"gpu/time_s", T::interval, "time; 80 % of measured rows lie within"},
    M{"gpu/parts", T::objects, "what the time is made of"},
    M{"gpu/parts/name", T::text, "part"},
    M{"gpu/parts/time_s", T::number, "its time"},
    M{"gpu/items_per_s", T::number, "queries, samples or items a second"},
    M{"gpu/memory_bytes", T::number, "what one machine holds"},
    M{"gpu/capacity_bytes", T::number, "what it may fill"},
    M{"gpu/needed", T::number, "machines that memory asks for"},
    M{"gpu/fits", T::boolean, "whether its memory holds its part"},
    M{"gpu/exchange_bytes", T::number, "what one machine sends to others"},
    M{"gpu/power_w", T::number, "rated power of one machine"},
    M{"gpu/energy_j", T::number, "energy of all at their rated power"},
    M{"gpu/cost_usd", T::number, "price of all for that time"},
    M{"cpu", T::object, "the host's cores alone", "gpu"},
    M{"memory", T::objects, "what all machines together hold"},
    M{"memory/what", T::text, "part"},
    M{"memory/memory_bytes", T::number, "its size"},
    M{"sweep", T::objects, "the question at other sizes"},
    M{"sweep/size", T::number, "size"},
    M{"sweep/gpu_s", T::number, "time on the GPUs"},
    M{"sweep/cpu_s", T::number, "time on the cores"},
    M{"search", T::object, "of a vector search"},
    M{"search/shards", T::number, "GPUs that hold a part of the index each"},
    M{"search/replicas", T::number, "times that the index stands"},
    M{"search/probes", T::number, "lists that a query looks into, or the width of a graph's search"},
    M{"search/scanned_bytes", T::number, "what a batch reads of one shard"},
    M{"search/build_s", T::number, "time to build the index"},
    M{"search/recall", T::number, "share of the nearest vectors that are found, as stated or asked"},
    M{"recommender", T::object, "of a recommender"},
    M{"recommender/table_bytes", T::number, "tables with the optimizer's moments"},
    M{"recommender/exchange_bytes", T::number, "an all-to-all of rows that one GPU sends"},
    M{"recommender/on_gpus", T::number, "lookups that GPUs answer"},
    M{"recommender/on_host", T::number, "lookups that host memory answers"},
    M{"recommender/on_nvme", T::number, "lookups that disks answer"},
    M{"recommender/latency_p99_s", T::number, "of requests, what 99 of 100 take at most"},
    M{"grouping", T::object, "of sums by key"},
    M{"grouping/rows_without", T::number, "rows that would be sent without partial sums"},
    M{"grouping/rows_sent", T::number, "rows that are sent"},
    M{"grouping/sent_bytes", T::number, "their bytes"},
    M{"units", T::object, "what reaches a rate over years"},
    M{"units/units", T::number, "units"},
    M{"units/unit_items_per_s", T::number, "rate of one"},
    M{"units/capital_usd", T::number, "what they cost to buy"},
    M{"units/energy_j", T::number, "energy over those years"},
    M{"units/electricity_usd", T::number, "its price"},
    M{"units/total_usd", T::number, "both together"},
    M{"cures", T::objects, "changes that make it faster, the best first"},
    M{"cures/what", T::text, "change"},
    M{"cures/time_ratio", T::number, "time with it over time without"},
    M{"cures/why", T::text, "why it helps"},
    M{"assumptions", T::texts, "what was taken for keys that are not stated"},
    M{"notes", T::texts, "what else to know"},
    M{"sources", T::texts, "where the laws come from"},
};

}  // namespace

std::span<const AnswerMember> classic_members() noexcept {
  return classic;
}

}  // namespace headroom::answers
