// SPDX-License-Identifier: Apache-2.0
// A step of post-training.
#include <headroom/answers/schema/answer_schema.hpp>

#include <array>

namespace headroom::answers {
namespace {

using T = MemberType;
using M = AnswerMember;

constexpr std::array post_training{
    M{"schema", T::text, "name and version of this schema"},
    M{"name", T::text, "name"},
    M{"gpu", T::text, "id of the SKU"},
    M{"gpus", T::number, "GPUs"},
    M{"model", T::text, "id of the policy's preset"},
    M{"software", T::text, "id of the software"},
    M{"algorithm", T::text, "sft, dpo, ppo, grpo, dapo or rloo"},
    M{"verdict", T::text, "feasible or infeasible"},
    M{"verdict_text", T::text, "the same in a sentence"},
    M{"step_s", T::number, "one step"},
    M{"step_low_s", T::number, "lower end of its 80 % interval"},
    M{"step_high_s", T::number, "upper end"},
    M{"samples_per_s", T::number, "samples of all GPUs"},
    M{"tokens_per_s", T::number, "tokens of prompts and answers, of all GPUs"},
    M{"samples_per_usd", T::number, "samples that a dollar buys"},
    M{"tokens_per_usd", T::number, "tokens that a dollar buys"},
    M{"usd_per_s", T::number, "price of all GPUs"},
    M{"step_usd", T::number, "cost of a step"},
    M{"run_s", T::number, "the run"},
    M{"run_usd", T::number, "cost of the run"},
    M{"step_j", T::number, "energy of a step"},
    M{"run_j", T::number, "energy of the run"},
    M{"tail_s", T::number, "rollout after 90 % of the answers are there"},
    M{"partial_saves_s", T::number, "what answers that outlast new weights save of a step that waits for its batch"},
    M{"cut_answers", T::number, "share of answers that reach the most tokens"},
    M{"layouts_priced", T::number, "layouts of trainers and engines that were priced"},
    M{"plan", T::object, "the way that is taken", "ways"},
    M{"ways", T::objects, "the best of each placement and order"},
    M{"ways/placement", T::text, "colocated, split or hybrid"},
    M{"ways/order", T::text, "synchronous, one-step-off or asynchronous"},
    M{"ways/possible", T::boolean, "whether pools hold what they have to"},
    M{"ways/why_not", T::text, "why it is not possible, or why it loses"},
    M{"ways/rollout_gpus", T::number, "GPUs that sample"},
    M{"ways/train_gpus", T::number, "GPUs that train"},
    M{"ways/engines", T::number, "engines"},
    M{"ways/engine_tp", T::number, "GPUs of an engine"},
    M{"ways/engine_slots", T::number, "answers that an engine decodes at once"},
    M{"ways/strategy", T::object, "layout of the trainer"},
    M{"ways/strategy/tp", T::number, "tensor ranks"},
    M{"ways/strategy/pp", T::number, "pipeline stages"},
    M{"ways/strategy/cp", T::number, "context ranks"},
    M{"ways/strategy/ep", T::number, "expert groups"},
    M{"ways/strategy/dp", T::number, "data ranks"},
    M{"ways/strategy/micro_batch", T::number, "sequences of a pass"},
    M{"ways/strategy/zero", T::number, "ZeRO stage"},
    M{"ways/strategy/recompute", T::text, "what is recomputed"},
    M{"ways/sync_way", T::text, "how new weights reach the engines"},
    M{"ways/step_s", T::number, "one step"},
    M{"ways/rollout_busy_s", T::number, "of it, the rollout"},
    M{"ways/train_busy_s", T::number, "of it, passes and training"},
    M{"ways/rollout_idle", T::number, "share of the step in which engines wait"},
    M{"ways/train_idle", T::number, "share of the step in which trainers wait"},
    M{"ways/rollout_half_s", T::number, "until half of the answers are there"},
    M{"ways/rollout_p90_s", T::number, "until 90 % of them are"},
    M{"ways/phases", T::objects, "phases"},
    M{"ways/phases/phase", T::text, "name"},
    M{"ways/phases/time_s", T::number, "time"},
    M{"timeline", T::objects, "phases of three steps of the way that is taken"},
    M{"timeline/phase", T::text, "name"},
    M{"timeline/pool", T::text, "rollout or train; colocated all is on rollout"},
    M{"timeline/from_s", T::number, "begin"},
    M{"timeline/to_s", T::number, "end"},
    M{"train_memory", T::objects, "memory of a GPU that trains"},
    M{"train_memory/side", T::text, "train"},
    M{"train_memory/term", T::text, "what takes it"},
    M{"train_memory/bytes", T::number, "bytes"},
    M{"rollout_memory", T::objects, "memory of a GPU that samples"},
    M{"rollout_memory/side", T::text, "rollout"},
    M{"rollout_memory/term", T::text, "what takes it"},
    M{"rollout_memory/bytes", T::number, "bytes"},
    M{"staleness", T::objects, "the step under bounds on the age of samples"},
    M{"staleness/staleness", T::number, "steps of age"},
    M{"staleness/step_s", T::number, "one step"},
    M{"flow_units_per_s", T::number, "units of the flow that stages carry"},
    M{"stages", T::objects, "stages that feed each other"},
    M{"stages/name", T::text, "name"},
    M{"stages/gpus", T::number, "GPUs"},
    M{"stages/gpus_exact", T::number, "GPUs if parts could be given"},
    M{"stages/units_per_s", T::number, "units that it can do"},
    M{"stages/idle", T::number, "share of its time without work"},
    M{"stages_s", T::number, "until the demand is done"},
    M{"notes", T::texts, "what was taken for keys that are not stated, and what else to know"},
};

}  // namespace

std::span<const AnswerMember> post_training_members() noexcept {
  return post_training;
}

}  // namespace headroom::answers
