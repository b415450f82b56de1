// SPDX-License-Identifier: Apache-2.0
// Members of what `headroom diagnose` answers.
#include <headroom/answers/schema/answer_schema.hpp>

#include <array>

namespace headroom::answers {
namespace {

using T = MemberType;
using M = AnswerMember;

constexpr std::array diagnose{
    M{"schema", T::text, "name and version of this schema"},
    M{"verdict", T::text, "the first cause and its gain in a sentence"},
    M{"files", T::texts, "files that were read"},
    M{"device", T::text, "GPU as its driver calls it"},
    M{"ranks", T::number, "ranks that left a file"},
    M{"steps", T::number, "steps that the files name, over all ranks; 0: none, the window stands for one"},
    M{"step_s", T::number, "mean time of a step"},
    M{"causes", T::objects, "why time is lost, the most first"},
    M{"causes/cause", T::text, "kind of the cause"},
    M{"causes/lost", T::number, "share of the time that it explains"},
    M{"causes/time_ratio", T::number, "time of a step with the cure over now"},
    M{"causes/says", T::text, "what is wrong"},
    M{"causes/cure", T::text, "what to do"},
    M{"causes/evidence", T::texts, "lines of the files that say so"},
    M{"parts", T::objects, "where the time of a step went; they sum to it"},
    M{"parts/part", T::text, "what the GPU did, or waited for"},
    M{"parts/time_s", T::number, "time of a step"},
    M{"use", T::object, "use of the hardware side by side, shares of 1"},
    M{"use/busy", T::number, "time with a kernel resident"},
    M{"use/sm_active", T::number, "multiprocessors with a block, over all time"},
    M{"use/tensor_active", T::number, "cycles in which the tensor cores' pipe works"},
    M{"use/memory_active", T::number, "cycles in which the memory's interface moves data"},
    M{"kernels", T::objects, "names with the most time"},
    M{"kernels/name", T::text, "name"},
    M{"kernels/work", T::text, "compute, communication, copy or fill"},
    M{"kernels/time_s", T::number, "time over all that was read"},
    M{"kernels/count", T::number, "how often"},
    M{"process_groups", T::objects, "groups of ranks that communicate, as their records left them"},
    M{"process_groups/group", T::text, "name and description"},
    M{"process_groups/ranks", T::number, "ranks of the group"},
    M{"process_groups/complete", T::number, "number of the last collective that ended"},
    M{"process_groups/furthest", T::number, "number of the last collective that any rank issued"},
    M{"process_groups/op", T::text, "that collective"},
    M{"process_groups/absent", T::text, "ranks that did not issue it"},
    M{"rank_states", T::objects, "where each rank stands"},
    M{"rank_states/rank", T::number, "its number"},
    M{"rank_states/issued", T::number, "ops in its record"},
    M{"rank_states/number", T::number, "of the first op that did not end, or of the last one, in its group"},
    M{"rank_states/group", T::text, "name of that op's group"},
    M{"rank_states/op", T::text, "that op"},
    M{"rank_states/state", T::text, "waits or ended"},
    M{"rank_states/waits_for", T::text, "ranks that it waits for"},
    M{"rank_states/site", T::text, "line of the program that issued the op"},
    M{"memory_devices", T::objects, "memory of PyTorch's allocator when a snapshot was taken"},
    M{"memory_devices/file", T::text, "the snapshot"},
    M{"memory_devices/gpu", T::number, "number of the GPU"},
    M{"memory_devices/allocated_bytes", T::number, "handed out"},
    M{"memory_devices/reserved_bytes", T::number, "taken from the device"},
    M{"memory_devices/peak_bytes", T::number, "most that was handed out at once"},
    M{"memory_devices/peak_reserved_bytes", T::number, "taken from the device then"},
    M{"memory_devices/held_free_bytes", T::number, "free within what was taken"},
    M{"memory_devices/largest_free_bytes", T::number, "largest piece of that"},
    M{"memory_holders", T::objects, "who holds the memory at the peak, the most first"},
    M{"memory_holders/held_bytes", T::number, "memory of one line of the program"},
    M{"memory_holders/share", T::number, "of the peak"},
    M{"memory_holders/blocks", T::number, "in so many pieces"},
    M{"memory_holders/site", T::text, "the line"},
    M{"memory_holders/file", T::text, "the snapshot"},
    M{"memory_over_time", T::objects, "memory evenly over a snapshot's events"},
    M{"memory_over_time/event", T::number, "events before it"},
    M{"memory_over_time/time_s", T::number, "time from the first event"},
    M{"memory_over_time/allocated_bytes", T::number, "handed out"},
    M{"memory_over_time/reserved_bytes", T::number, "taken from the device"},
    M{"memory_over_time/file", T::text, "the snapshot"},
    M{"memory_purposes", T::objects, "memory by what it is for"},
    M{"memory_purposes/purpose", T::text, "parameters, gradients, activations"},
    M{"memory_purposes/at_peak_bytes", T::number, "when all together are at their peak"},
    M{"memory_purposes/share", T::number, "of that peak"},
    M{"memory_purposes/own_peak_bytes", T::number, "most of it by itself"},
    M{"memory_purposes/file", T::text, "the timeline"},
    M{"faults", T::objects, "faults that logs tell"},
    M{"faults/fault", T::text, "what failed"},
    M{"faults/count", T::number, "lines that say so"},
    M{"faults/line", T::number, "number of the first of them"},
    M{"faults/file", T::text, "the log"},
    M{"transports", T::objects, "ways of NCCL's connections"},
    M{"transports/transport", T::text, "the way"},
    M{"transports/connections", T::number, "how many take it"},
    M{"notes", T::texts, "remarks"},
};

}  // namespace

std::span<const AnswerMember> diagnose_members() noexcept {
  return diagnose;
}

}  // namespace headroom::answers
