// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/traces/host_activity.hpp>

#include <algorithm>
#include <cctype>
#include <string>

namespace headroom {
namespace {

bool holds(std::string_view name, std::string_view word) {
  return std::search(name.begin(), name.end(), word.begin(), word.end(),
                     [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; }) != name.end();
}

}  // namespace

bool waits_for_device(std::string_view name, HostWork work) {
  if (work == HostWork::runtime) {
    return holds(name, "synchronize") || name == "cudaMemcpy" || name == "hipMemcpy" || name == "hipMemcpyWithStream";
  }
  return work == HostWork::op && (name == "aten::item" || name == "aten::_local_scalar_dense" ||
                                  name == "aten::nonzero" || name == "aten::is_nonzero");
}

bool fetches_samples(std::string_view name) {
  return holds(name, "dataloader") || holds(name, "data_loader") || holds(name, "next(iter") ||
         holds(name, "__next__") || holds(name, "data loading") || holds(name, "get_batch") ||
         holds(name, "load_batch");
}

void add_stretch(TraceStretches& stretches, TraceStretch s) {
  if (s.end <= s.begin) {
    return;
  }
  if (!stretches.empty() && s.begin <= stretches.back().end) {
    stretches.back().end = std::max(stretches.back().end, s.end);
  } else {
    stretches.push_back(s);
  }
}

HostActivity::HostActivity(const Timeline& timeline, bool launches) {
  // Asked once a name, not once a call: a trace holds millions of calls of a thousand names.
  enum : std::uint8_t { plain, op_waits, call_waits, fetches };
  std::vector<std::uint8_t> kinds;
  for (std::uint32_t i = 0; i < timeline.names.size(); ++i) {
    const std::string& name = timeline.names.name(i);
    kinds.push_back(waits_for_device(name, HostWork::runtime) ? call_waits
                    : waits_for_device(name, HostWork::op)    ? op_waits
                    : fetches_samples(name)                   ? fetches
                                                              : plain);
  }
  if (launches) {
    launches_.reserve(timeline.work.size());
    for (const DeviceSpan& span : timeline.work) {
      if (span.correlation >= 0) {
        launches_.emplace_back(span.correlation, nullptr);
      }
    }
    std::sort(launches_.begin(), launches_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    launches_.erase(std::unique(launches_.begin(), launches_.end(),
                                [](const auto& a, const auto& b) { return a.first == b.first; }),
                    launches_.end());
  }
  for (const HostSpan& span : timeline.host) {
    const std::uint8_t kind = kinds[span.name];
    const bool runtime = span.work == HostWork::runtime;
    if ((runtime && kind == call_waits) || (span.work == HostWork::op && kind == op_waits)) {
      add_stretch(syncs_[span.thread], {span.begin, span.end});
    } else if (!runtime && kind == fetches) {
      add_stretch(data_[span.thread], {span.begin, span.end});
    }
    if (launches && runtime && span.correlation >= 0) {
      const auto at = std::lower_bound(launches_.begin(), launches_.end(), span.correlation,
                                       [](const auto& launch, std::int64_t number) { return launch.first < number; });
      if (at != launches_.end() && at->first == span.correlation && at->second == nullptr) {
        at->second = &span;
      }
    }
  }
}

const HostSpan* HostActivity::launch_of(const DeviceSpan& work) const {
  const auto at = std::lower_bound(launches_.begin(), launches_.end(), work.correlation,
                                   [](const auto& launch, std::int64_t number) { return launch.first < number; });
  return work.correlation >= 0 && at != launches_.end() && at->first == work.correlation ? at->second : nullptr;
}

TraceTime HostActivity::within(const std::map<std::uint32_t, TraceStretches>& threads,
                               std::uint32_t thread,
                               TraceStretch s) {
  const auto found = threads.find(thread);
  if (found == threads.end()) {
    return 0;
  }
  TraceTime sum = 0;
  auto at = std::partition_point(found->second.begin(), found->second.end(),
                                 [&](const TraceStretch& x) { return x.end <= s.begin; });
  for (; at != found->second.end() && at->begin < s.end; ++at) {
    sum += std::min(at->end, s.end) - std::max(at->begin, s.begin);
  }
  return sum;
}

}  // namespace headroom
