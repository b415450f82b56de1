// SPDX-License-Identifier: Apache-2.0
// Pools of unlike SKUs in one training job, and behind one router.
#include <headroom/answers/schema/answer_schema.hpp>

#include <array>

namespace headroom::answers {
namespace {

using T = MemberType;
using M = AnswerMember;

constexpr std::array mixed_training{
    M{"schema", T::text, "name and version of this schema"},
    M{"name", T::text, "name"},
    M{"model", T::text, "id of the model"},
    M{"feasible", T::boolean, "whether the mix can train"},
    M{"verdict_text", T::text, "the verdict in words"},
    M{"gpus", T::number, "number of GPUs of all pools"},
    M{"global_batch", T::number, "sequences of a step"},
    M{"seq_len", T::number, "tokens of a sequence"},
    M{"dp", T::number, "ranks of data parallelism"},
    M{"micro_batch", T::number, "samples of a micro-batch"},
    M{"recompute", T::text, "what is recomputed"},
    M{"taken_split", T::text, "the faster split of the batch; null: none can be"},
    M{"faster_alone_gpu", T::text, "SKU of the pool that trains faster by itself; null: none does"},
    M{"splits", T::objects, "splits of the batch over unlike ranks"},
    M{"splits/split", T::text, "equal or balanced"},
    M{"splits/possible", T::boolean, "whether it can be"},
    M{"splits/why", T::text, "why it cannot be"},
    M{"splits/step_time_s", T::interval, "time of a step"},
    M{"splits/tokens_per_s", T::number, "tokens of all GPUs"},
    M{"splits/loss_share", T::number, "share lost of the rate of the pools side by side, each at its own pace"},
    M{"splits/slowest_gpu", T::text, "SKU that the others wait for"},
    M{"splits/slowest_links_gpu", T::text, "SKU whose links expose most of the data-parallel traffic"},
    M{"splits/idle_micro_batches", T::number, "micro-batches that ranks have fewer than the fullest of their pool"},
    M{"splits/pools", T::objects, "ranks of each pool"},
    M{"splits/pools/gpu", T::text, "id of the SKU"},
    M{"splits/pools/micro_batches", T::number, "micro-batches of a rank in a step"},
    M{"splits/pools/own_step_s", T::number, "time of its own compute and links"},
    M{"splits/pools/idle_share", T::number, "share of the step that it waits"},
    M{"splits/duration_s", T::number, "time of the run"},
    M{"splits/lost_gpu_hours", T::number, "GPU-hours of the run that are lost to waiting"},
    M{"splits/usd_per_million_tokens", T::number, "cost of a million tokens"},
    M{"splits/cost_usd", T::number, "cost of the run"},
    M{"pools", T::objects, "pools in their order"},
    M{"pools/gpu", T::text, "id of the SKU"},
    M{"pools/node", T::text, "id of the node type"},
    M{"pools/gpus", T::number, "number of GPUs"},
    M{"pools/price_usd_per_s_per_gpu", T::number, "price of a GPU"},
    M{"pools/dp", T::number, "ranks of data parallelism"},
    M{"pools/memory_bytes", T::interval, "memory of a GPU"},
    M{"pools/fits_probability", T::number, "probability that it fits"},
    M{"pools/alone_step_time_s", T::interval, "time of a step of the whole batch on this pool by itself"},
    M{"pools/alone_tokens_per_s", T::number, "tokens of this pool by itself"},
    M{"pools/alone_verdict", T::text, "why it cannot train by itself"},
    M{"price_usd_per_s", T::number, "price of all GPUs"},
    M{"notes", T::texts, "what the plan takes as given"},
    M{"assumed", T::texts, "what was left open, and taken"},
};

constexpr std::array mixed_fleet{
    M{"schema", T::text, "name and version of this schema"},
    M{"name", T::text, "name"},
    M{"model", T::text, "id of the model"},
    M{"engine", T::text, "engine that serves"},
    M{"weights", T::text, "format of the weights"},
    M{"feasible", T::boolean, "whether the routing that is asked for keeps up and keeps every promise"},
    M{"verdict_text", T::text, "the verdict in words"},
    M{"gpus", T::number, "number of GPUs of all pools"},
    M{"offered_requests_per_s", T::number, "requests that are offered"},
    M{"together_requests_per_s", T::number, "requests that all replicas answer at the most"},
    M{"asked_routing", T::text, "by rate, or equal"},
    M{"pools", T::objects, "pools in their order"},
    M{"pools/gpu", T::text, "id of the SKU"},
    M{"pools/node", T::text, "id of the node type"},
    M{"pools/gpus", T::number, "number of GPUs"},
    M{"pools/price_usd_per_s_per_gpu", T::number, "price of a GPU"},
    M{"pools/replicas", T::number, "replicas"},
    M{"pools/gpus_per_replica", T::number, "GPUs of one replica"},
    M{"pools/saturation_requests_per_s", T::interval, "requests that the pool answers at the most"},
    M{"pools/weight", T::number, "weight of a replica in a router that splits by rate, that of the fastest 1"},
    M{"routings", T::objects, "ways to split requests over the replicas"},
    M{"routings/routing", T::text, "by rate, or equal: as many to each"},
    M{"routings/most_requests_per_s", T::number, "requests that can be offered before a pool saturates"},
    M{"routings/loss_share", T::number, "share lost of what all replicas answer"},
    M{"routings/first_to_saturate_gpu", T::text, "SKU that saturates first"},
    M{"routings/overloaded", T::boolean, "whether a pool cannot keep up"},
    M{"routings/keeps_promises", T::boolean, "whether every promise is kept at the middle"},
    M{"routings/ttft_s", T::object, "time to first token of all requests"},
    M{"routings/ttft_s/mean", T::number, "mean"},
    M{"routings/ttft_s/p50", T::number, "median"},
    M{"routings/ttft_s/p95", T::number, "95 % of the requests take at most this"},
    M{"routings/ttft_s/p99", T::number, "99 % of the requests take at most this"},
    M{"routings/tpot_s", T::object, "time per output token of all requests", "mixed_fleet:routings/ttft_s"},
    M{"routings/e2e_s", T::object, "time of a whole answer of all requests", "mixed_fleet:routings/ttft_s"},
    M{"routings/pools", T::objects, "pools under their shares"},
    M{"routings/pools/gpu", T::text, "id of the SKU"},
    M{"routings/pools/share", T::number, "share of the requests"},
    M{"routings/pools/offered_requests_per_s", T::number, "requests that are offered"},
    M{"routings/pools/load_share", T::number, "share of what the pool answers at the most"},
    M{"routings/pools/overloaded", T::boolean, "whether it cannot keep up"},
    M{"routings/pools/keeps_promises", T::boolean, "whether its own requests keep every promise at the middle"},
    M{"routings/pools/ttft_s", T::object, "time to first token", "mixed_fleet:routings/ttft_s"},
    M{"routings/pools/tpot_s", T::object, "time per output token", "mixed_fleet:routings/ttft_s"},
    M{"routings/pools/e2e_s", T::object, "time of a whole answer", "mixed_fleet:routings/ttft_s"},
    M{"routings/pools/ttft_p95_s", T::interval, "time to first token that 95 % take at most"},
    M{"routings/pools/tpot_p95_s", T::interval, "time per output token that 95 % take at most"},
    M{"routings/promises", T::objects, "promises, judged on all requests"},
    M{"routings/promises/promise", T::text, "class and promise"},
    M{"routings/promises/limit_s", T::number, "promised time"},
    M{"routings/promises/reached_s", T::number, "time that is reached"},
    M{"routings/promises/kept", T::boolean, "whether it is kept at the middle"},
    M{"routings/usd_per_million_output_tokens", T::number, "cost of a million output tokens at this load"},
    M{"price_usd_per_s", T::number, "price of all GPUs"},
    M{"times_source", T::text, "what the intervals of times rest on"},
    M{"notes", T::texts, "what the plan takes as given"},
    M{"assumed", T::texts, "what was left open, and taken"},
};

}  // namespace

std::span<const AnswerMember> mixed_training_members() noexcept {
  return mixed_training;
}

std::span<const AnswerMember> mixed_fleet_members() noexcept {
  return mixed_fleet;
}

}  // namespace headroom::answers
