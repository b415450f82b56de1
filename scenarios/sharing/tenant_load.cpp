// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/inference/call_book.hpp>
#include <headroom/scenarios/read/batch_reader.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/sharing/tenant_load.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headroom {
namespace {

/// Calls of 1 to the largest batch that is made, and the share of the largest in which kernels run.
struct NetworkCalls {
  CallCurve curve;
  double busy = 1.0;
  Bytes memory{};
};

NetworkCalls network_calls(const BatchScenario& scenario) {
  const CallBook book = make_call_book(scenario);
  if (book.points.empty() || !book.points.front().fits) {
    throw ConfigError{"not even a call of one sample fits its memory"};
  }
  const std::int64_t most =
      std::min(scenario.max_batch.value_or(book.curve.best(book.curve.largest())), book.curve.largest());
  std::vector<Seconds> times;
  for (std::int64_t batch = 1; batch <= most; ++batch) {
    times.push_back(book.curve.of(batch));
  }
  NetworkCalls calls{CallCurve{std::move(times)}};
  for (const CallPoint& point : book.points) {
    if (point.batch <= most || point.batch == book.points.front().batch) {
      calls.memory = point.memory;
      if (point.parts) {
        calls.busy = std::clamp(point.parts->gpu() / point.parts->total(), 0.01, 1.0);
      }
    }
  }
  return calls;
}

/// Kernels alone go at the clock.
CallCurve at_clock(const CallCurve& curve, double stretch) {
  std::vector<Seconds> times;
  for (std::int64_t batch = 1; batch <= curve.largest(); ++batch) {
    times.push_back(stretch * curve.of(batch));
  }
  return CallCurve{std::move(times)};
}

/// The engine's document on a device, with its memory as a share of the device's.
Scenario served_on(const SharingQuestion& q, const Tenant& tenant, const PartitionProfile* profile) {
  if (profile == nullptr) {
    return *tenant.served;
  }
  ConfigValue document = workload_on(*tenant.workload, q.card.id + "/" + profile->name);
  if (ConfigValue* const serving = document.find("serving"); serving != nullptr && tenant.memory) {
    const Device& slice = q.sources->catalog.device(q.card.id + "/" + profile->name);
    serving->entries.erase_if([](const ConfigEntry& entry) { return entry.key == "memory_fraction"; });
    serving->entries.emplace_back(
        "memory_fraction", number_value(std::clamp(*tenant.memory / slice.visible_capacity().value, 0.01, 0.98)));
  }
  return read_scenario(std::move(document), q.file, *q.sources);
}

}  // namespace

EngineTimes engine_times(const SharingQuestion& q,
                         const Tenant& tenant,
                         const PartitionProfile* profile,
                         double speed) {
  const Scenario scenario = served_on(q, tenant, profile);
  const ServingSimulation run = simulate_serving(std::get<ServeScenario>(scenario.question), {}, 1.0 / speed);
  const double longer = 1.0 / speed;
  EngineTimes times;
  times.e2e = {longer * run.e2e.mid.p50, longer * run.e2e.mid.p95, longer * run.e2e.mid.p99, Seconds{}};
  times.ttft_p95 = longer * run.ttft.mid.p95;
  times.tpot_p95 = longer * run.tpot.mid.p95;
  times.busy = run.metrics.pool.busy;
  times.offered = speed * run.offered;
  times.overloaded = run.overloaded();
  for (const JudgedPromise& each : run.promises) {
    times.promises.emplace_back(key_of(each.promise), std::pair{each.promise.limit, longer * each.reached});
  }
  return times;
}

TenantLoad load_on_card(const SharingQuestion& q, const Tenant& tenant) {
  const Bytes context = sharing_form(q.sources->data).process;
  if (tenant.network) {
    NetworkCalls calls = network_calls(*tenant.network);
    TenantLoad on{{tenant.rate, std::move(calls.curve), tenant.spread, tenant.busy.value_or(calls.busy)},
                  tenant.memory ? *tenant.memory + context : calls.memory,
                  {},
                  {}};
    on.notes.push_back(tenant.name + ": calls of up to " + std::to_string(on.load.curve.largest()) +
                       " samples, whatever waits at once; kernels run " + percent(on.load.busy) + " of a call");
    return on;
  }
  if (tenant.served) {
    const EngineTimes alone = engine_times(q, tenant, nullptr, 1.0);
    const double each = std::max(alone.busy, 1e-6) / alone.offered.raw();
    TenantLoad on{{alone.offered.raw(), CallCurve{{Seconds{each}}}, 1.0, tenant.busy.value_or(1.0)},
                  *tenant.memory + context,
                  alone,
                  {}};
    on.notes.push_back(tenant.name + ": the engine iterates " + percent(alone.busy) + " of the time alone on the card" +
                       (tenant.busy ? "" : "; kernels are taken to run all of it (busy = 1)"));
    return on;
  }
  return {{tenant.rate, CallCurve{{tenant.call.value_or(tenant.step.value_or(Seconds{1.0}))}}, tenant.spread,
           tenant.busy.value_or(1.0)},
          *tenant.memory + context,
          {},
          {}};
}

std::optional<TenantLoad> load_on_slice(const SharingQuestion& q,
                                        const Tenant& tenant,
                                        const TenantLoad& on_card,
                                        const PartitionProfile& profile,
                                        double clock,
                                        std::string& why) {
  try {
    const Device slice = partition_device(q.card, *q.scheme, profile);
    if (on_card.need > slice.capacity().value) {
      why = profile.name + " shows " + format(slice.capacity().value) + ", and " + format(on_card.need) + " is asked";
      return std::nullopt;
    }
    TenantLoad on = on_card;
    on.notes.clear();
    if (tenant.network) {
      const BatchScenario scenario = read_batch_scenario(workload_on(*tenant.workload, q.card.id + "/" + profile.name),
                                                         q.file, *q.sources, *q.networks);
      NetworkCalls calls = network_calls(scenario);
      const double busy = tenant.busy.value_or(calls.busy);
      on.load.curve = at_clock(calls.curve, slice_stretch(busy, clock));
      on.load.busy = busy;
    } else if (tenant.served) {
      on.engine = engine_times(q, tenant, &profile, clock);
      on.load.curve = CallCurve{{Seconds{std::max(on.engine->busy, 1e-6) / on.engine->offered.raw()}}};
    } else {
      const double share =
          slice.slice ? std::min(slice.slice->compute, slice.slice->memory) : q.scheme->memory_share(profile);
      on.load.curve = at_clock(on.load.curve, slice_stretch(on.load.busy, clock * share));
    }
    return on;
  } catch (const ConfigError& error) {
    why = profile.name + ": " + (error.diagnostics().empty() ? error.what() : error.diagnostics().front().message);
    return std::nullopt;
  }
}

}  // namespace headroom
