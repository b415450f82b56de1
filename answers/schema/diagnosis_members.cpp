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
    M{"notes", T::texts, "remarks"},
    M{"copies", T::objects, "cures of copies between host and GPU, in the order to try"},
    M{"copies/cure", T::text, "what is done, each with those before it"},
    M{"copies/step_s", T::number, "time of a step with it"},
    M{"copies/time_ratio", T::number, "of the step now"},
    M{"waits", T::objects, "ranks in messages that they meet in, of a step"},
    M{"waits/rank", T::text, "rank, or its file"},
    M{"waits/computing_s", T::number, "time of its kernels"},
    M{"waits/waits_s", T::number, "time that it waits for the last to come"},
    M{"waits/last_share", T::number, "of the messages, those that it is the last to come to"},
    M{"waits/clock_offset_s", T::number, "its clock less the first rank's"},
    M{"part_changes", T::objects, "parts of a step before and after a change; the changes sum to the step's"},
    M{"part_changes/part", T::text, "what the GPU did or waited for; 'all': the step"},
    M{"part_changes/before_s", T::number, "time of a step before"},
    M{"part_changes/after_s", T::number, "time of a step after"},
    M{"part_changes/change_s", T::number, "after less before"},
    M{"kernel_changes", T::objects, "kernels before and after a change, of a step; 'all' is their sum"},
    M{"kernel_changes/what", T::text, "added, gone, slower, faster, more, fewer, alike, others or all"},
    M{"kernel_changes/count_before", T::number, "how often in a step before"},
    M{"kernel_changes/count_after", T::number, "how often in a step after"},
    M{"kernel_changes/before_s", T::number, "time of a step before"},
    M{"kernel_changes/after_s", T::number, "time of a step after"},
    M{"kernel_changes/change_s", T::number, "after less before"},
    M{"kernel_changes/name", T::text, "name without parameters and numbers of its template"},
};

}  // namespace

std::span<const AnswerMember> diagnose_members() noexcept {
  return diagnose;
}

}  // namespace headroom::answers
