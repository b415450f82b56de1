// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/step/job_groups.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/training/offload.hpp>

#include <algorithm>

namespace headroom {
namespace {

std::string way_text(Bytes way, const std::optional<Seconds>& time, std::string_view unit) {
  return "offload: " + format(way) + " cross the host link each way and " + std::string{unit} +
         (time ? ", " + format(*time) + " before any overlap" : "; the link's rate is not known: not in the step");
}

}  // namespace

Bytes host_need(const TrainScenario& t, const Estimate& e) noexcept {
  return static_cast<double>(std::min(t.gpus_per_node, t.work.shape.gpus)) * e.host.total();
}

bool host_is_short(const TrainScenario& t, const Estimate& e) noexcept {
  return !t.offload_to_nvme && t.host_memory && host_need(t, e) > *t.host_memory;
}

std::optional<OffloadPlan> plan_offload(const TrainScenario& t, const Estimate& e) {
  if (e.host.total().raw() <= 0.0) {
    return std::nullopt;
  }
  OffloadPlan plan;
  plan.to_nvme = t.offload_to_nvme;
  plan.gpu = e.host.total();
  plan.node = host_need(t, e);
  plan.room = t.host_memory;
  plan.short_of_room = host_is_short(t, e);
  // Gradients go and weights come back in the compute format, paged moments come and go.
  plan.step_way = Bytes{row_of(t.work.precision).compute_bytes * e.host.updated} + e.host.paged;
  plan.pass_way = e.host.per_pass + e.host.weights;
  if (const auto link = host_link_of(t.device, t.host ? &*t.host : nullptr)) {
    plan.step_time = offload_time(plan.step_way, *link);
    plan.pass_time = offload_time(plan.pass_way, *link);
    plan.exposed = e.time[Term::offload];
  }
  if (plan.to_nvme) {
    const double m = e.micro_batches;
    const Bytes frozen = t.work.options.method == Method::full ? Bytes{} : e.host.weights;
    plan.read = e.host.states - e.host.weights + m * (e.host.per_pass + 2.0 * e.host.weights);
    plan.written = e.host.states - frozen + m * e.host.per_pass;
  }
  return plan;
}

std::vector<std::string> offload_notes(const OffloadPlan& o) {
  std::vector<std::string> notes;
  std::string place = "offload: " + format(o.gpu) + (o.to_nvme ? " of NVMe per GPU, " : " of host memory per GPU, ") +
                      format(o.node) + " per node";
  if (!o.to_nvme) {
    place += !o.room           ? "; whether the host has it is not known: state hardware.host_memory"
             : o.short_of_room ? ", more than the " + format(*o.room) + " the host has"
                               : " of the host's " + format(*o.room);
  }
  notes.push_back(std::move(place));
  if (o.to_nvme) {
    notes.push_back("offload: NVMe reads " + format(o.read) + " and writes " + format(o.written) +
                    " per GPU and step; whether it has room and keeps pace is not checked");
  }
  if (o.step_way.raw() > 0.0) {
    notes.push_back(way_text(o.step_way, o.step_time, "step"));
  }
  if (o.pass_way.raw() > 0.0) {
    notes.push_back(way_text(o.pass_way, o.pass_time, "micro-batch"));
  }
  if (o.exposed && o.step_time) {
    notes.push_back("offload: " + format(*o.exposed) + " of a step show: term offload" +
                    std::string{o.to_nvme ? ", without what NVMe takes" : ""});
  }
  return notes;
}

}  // namespace headroom
