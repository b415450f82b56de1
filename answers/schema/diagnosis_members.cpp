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
    M{"gpus", T::objects, "use by GPU while the run works, shares of 1"},
    M{"gpus/gpu", T::text, "index, or what else tells it apart"},
    M{"gpus/busy", T::number, "time with a kernel resident"},
    M{"gpus/sm_active", T::number, "multiprocessors with a warp"},
    M{"gpus/occupancy", T::number, "resident warps over those that fit"},
    M{"gpus/tensor_active", T::number, "cycles in which the tensor cores' pipe works"},
    M{"gpus/memory_active", T::number, "cycles in which the memory's interface moves data"},
    M{"gpus/memory_bytes", T::number, "most memory that was held"},
    M{"gpus/process", T::text, "yes: a process has memory on it; none"},
    M{"clocks", T::objects, "clocks over time while the GPUs work"},
    M{"clocks/gpu", T::text, "index, or what else tells it apart"},
    M{"clocks/begin_s", T::number, "time since the first sample"},
    M{"clocks/busy", T::number, "time with a kernel resident"},
    M{"clocks/clock_hz", T::number, "mean clock of the multiprocessors"},
    M{"clocks/most_clock_hz", T::number, "what it can be"},
    M{"clocks/clock_ratio", T::number, "clock over what it can be: the price of work that computes"},
    M{"clocks/temperature_c", T::number, "highest temperature, degrees Celsius"},
    M{"clocks/power_w", T::number, "mean power"},
    M{"clocks/reason", T::text, "what holds the clock down"},
    M{"processes", T::objects, "memory by process"},
    M{"processes/gpu", T::text, "GPU as the file names it"},
    M{"processes/process", T::number, "process id"},
    M{"processes/name", T::text, "name"},
    M{"processes/memory_bytes", T::number, "memory on the GPU"},
    M{"phases", T::objects, "phases of a step as the files name them"},
    M{"phases/phase", T::text, "name"},
    M{"phases/part", T::text, "part of the step that it counts to"},
    M{"phases/time_s", T::number, "time of a step"},
    M{"phases/share", T::number, "share of the step"},
    M{"phases/count", T::number, "how often in a step"},
    M{"copy_cures", T::objects, "what makes copies between host and GPU cheaper, in the order to try"},
    M{"copy_cures/cure", T::text, "what to do, on top of those before"},
    M{"copy_cures/step_s", T::number, "time of a step with it"},
    M{"copy_cures/step_ratio", T::number, "time of a step with it over now"},
    M{"spikes", T::objects, "latencies far above the others', by cause"},
    M{"spikes/file", T::text, "file of the latencies"},
    M{"spikes/cause", T::text, "kind of the cause"},
    M{"spikes/count", T::number, "how many"},
    M{"spikes/latency_s", T::number, "mean latency of them"},
    M{"spikes/period_s", T::number, "period at which they come"},
    M{"engines", T::objects, "load of serving engines, means over the samples"},
    M{"engines/engine", T::text, "vLLM or SGLang"},
    M{"engines/server", T::text, "which of several"},
    M{"engines/running", T::number, "requests that run"},
    M{"engines/waiting", T::number, "requests that wait"},
    M{"engines/cache_use", T::number, "share of the KV cache in use"},
    M{"engines/most_cache_use", T::number, "highest share of the KV cache in use"},
    M{"engines/generated_tokens_per_s", T::number, "tokens generated a second"},
    M{"engines/preemptions", T::number, "requests preempted or retracted"},
    M{"engines/prefix_hits", T::number, "share of prompt tokens that the cache held"},
    M{"jobs", T::objects, "jobs by the state in which they ended"},
    M{"jobs/state", T::text, "state"},
    M{"jobs/jobs", T::number, "how many"},
    M{"jobs/elapsed_s", T::number, "time of all of them"},
    M{"jobs/share", T::number, "of the time of all jobs"},
};

}  // namespace

std::span<const AnswerMember> diagnose_members() noexcept {
  return diagnose;
}

}  // namespace headroom::answers
