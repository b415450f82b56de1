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
    M{"kernels", T::objects, "names with the most time"},
    M{"kernels/name", T::text, "name"},
    M{"kernels/work", T::text, "compute, communication, copy or fill"},
    M{"kernels/time_s", T::number, "time over all that was read"},
    M{"kernels/count", T::number, "how often"},
    M{"notes", T::texts, "remarks"},
    M{"against", T::object, "the run beside the plan of a scenario"},
    M{"against/scenario", T::text, "its file"},
    M{"against/verdict", T::text, "how far the step is from the plan, and the part that takes the most of it"},
    M{"against/within", T::boolean, "whether the run's step lies in the plan's interval"},
    M{"against/run_step_s", T::number, "time of a step of the run"},
    M{"against/plan_step_s", T::number, "time of a step of the plan"},
    M{"against/gap_s", T::number, "the run's less the plan's"},
    M{"against/parts", T::objects, "parts of the run beside the plan's terms, the largest gap first"},
    M{"against/parts/part", T::text, "what the GPU did, or waited for"},
    M{"against/parts/run_s", T::number, "time of the run's step; absent: its files do not tell"},
    M{"against/parts/plan_s", T::number, "time of the plan's terms"},
    M{"against/parts/gap_s", T::number, "the run's less the plan's"},
    M{"against/parts/of_gap", T::number, "share of the whole gap"},
    M{"against/parts/terms", T::texts, "terms of the plan, the longest first"},
    M{"against/parts/says", T::text, "the gap in a sentence"},
    M{"against/planned", T::object, "use of the GPU that the plan knows, shares of 1"},
    M{"against/planned/mfu", T::number, "model FLOP over the dense peak"},
    M{"against/planned/tensor_active", T::number, "all products' FLOP over the dense peak"},
    M{"against/planned/memory_passes", T::number, "of the memory's bandwidth, by passes and the optimizer alone"},
    M{"against/reached", T::object, "the same work in the run's time", "against/planned"},
    M{"against/notes", T::texts, "remarks"},
};

}  // namespace

std::span<const AnswerMember> diagnose_members() noexcept {
  return diagnose;
}

}  // namespace headroom::answers
