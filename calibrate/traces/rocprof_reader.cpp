// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/traces/kineto_reader.hpp>
#include <headroom/calibrate/traces/rocprof_reader.hpp>
#include <headroom/calibrate/traces/trace_text.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/json_reader.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headroom {
namespace {

/// Numbers of a record by their names; names are few and short.
struct Record {
  double id = -1.0, type = 0.0, index = -1.0, units = 0.0, kernel = -1.0;
  double begin = -1.0, end = -1.0, agent = -1.0, stream = 0.0, queue = 0.0, correlation = -1.0, bytes = 0.0;
  std::array<double, 3> group{1.0, 1.0, 1.0}, grid{1.0, 1.0, 1.0};
  std::string name, other_name;
};

class RocprofHandler : public JsonListener {
 public:
  explicit RocprofHandler(Timeline& timeline) : timeline_{timeline} {}
  [[nodiscard]] bool saw_tool() const noexcept { return saw_tool_; }

  void key(std::string_view name) override { key_ = name; }

  bool opened(bool /*object*/) override {
    path_.push_back(key_);
    key_.clear();
    saw_tool_ = saw_tool_ || path_.back() == "rocprofiler-sdk-tool";
    if (is_record()) {
      record_ = {};
    }
    constexpr std::size_t deepest = 256;
    return path_.size() < deepest;
  }

  bool closed() override {
    if (is_record()) {
      take();
    }
    path_.pop_back();
    key_.clear();
    return true;
  }

  void value(std::string_view text) override {
    if (path_.size() < record_depth || kind() == Kind::none) {
      return;
    }
    const std::string_view inner = path_.size() > record_depth ? std::string_view{path_.back()} : std::string_view{};
    if (key_ == "formatted_kernel_name" || key_ == "product_name") {
      record_.name = text;
      return;
    }
    if (key_ == "kernel_name") {
      record_.other_name = text;
      return;
    }
    const std::optional<double> number = whole_real(text);
    if (!number) {
      return;
    }
    if (key_ == "handle") {
      double* const to = inner == "id"                                    ? &record_.id
                         : inner == "agent_id" || inner == "dst_agent_id" ? &record_.agent
                         : inner == "queue_id"                            ? &record_.queue
                         : inner == "stream_id"                           ? &record_.stream
                                                                          : nullptr;
      if (to != nullptr) {
        *to = *number;
      }
    } else if (inner == "workgroup_size" || inner == "grid_size") {
      auto& sizes = inner == "grid_size" ? record_.grid : record_.group;
      const std::size_t at = key_ == "x" ? 0 : key_ == "y" ? 1 : 2;
      sizes[at] = std::max(1.0, *number);
    } else if (kind() == Kind::agent && !is_record()) {
      return;  // caches and links of an agent have types, too
    } else if (key_ == "type") {
      record_.type = *number;
    } else if (key_ == "gpu_index") {
      record_.index = *number;
    } else if (key_ == "cu_count") {
      record_.units = *number;
    } else if (key_ == "kernel_id") {
      record_.kernel = *number;
    } else if (key_ == "start_timestamp") {
      record_.begin = *number;
    } else if (key_ == "end_timestamp") {
      record_.end = *number;
    } else if (key_ == "internal") {
      record_.correlation = *number;
    } else if (key_ == "bytes") {
      record_.bytes = *number;
    }
  }

 private:
  enum class Kind : std::uint8_t { none, agent, symbol, dispatch, copy };
  /// root, the list of processes, a process, the lists in it: {} "rocprofiler-sdk-tool": [ { "agents": [ {
  static constexpr std::size_t record_depth = 5;

  [[nodiscard]] Kind kind() const {
    if (path_.size() < record_depth || path_[1] != "rocprofiler-sdk-tool") {
      return Kind::none;
    }
    if (path_[3] == "agents") {
      return Kind::agent;
    }
    if (path_[3] == "kernel_symbols") {
      return Kind::symbol;
    }
    if (path_[3] == "buffer_records" && path_.size() > record_depth) {
      return path_[4] == "kernel_dispatch" ? Kind::dispatch : path_[4] == "memory_copy" ? Kind::copy : Kind::none;
    }
    return Kind::none;
  }
  [[nodiscard]] bool is_record() const {
    const Kind of = kind();
    const bool deeper = of == Kind::dispatch || of == Kind::copy;
    return of != Kind::none && path_.size() == record_depth + (deeper ? 1 : 0);
  }

  void take() {
    ++timeline_.events;
    constexpr double most = 9e15;  // of a whole number in a double; nanoseconds since the machine's start
    switch (kind()) {
      case Kind::agent:
        if (record_.type == 2.0) {  // a GPU
          const auto index = static_cast<std::int64_t>(std::max(0.0, record_.index));
          devices_.emplace(record_.id, static_cast<std::int32_t>(index));
          timeline_.devices.push_back({index, record_.name, static_cast<std::int64_t>(record_.units), 0.0});
        }
        break;
      case Kind::symbol:
        symbols_[record_.kernel] = timeline_.names.number(record_.name.empty() ? record_.other_name : record_.name);
        break;
      case Kind::dispatch:
      case Kind::copy: {
        if (record_.begin < 0.0 || record_.end < record_.begin || record_.end > most) {
          ++timeline_.passed_over;
          break;
        }
        const bool copies = kind() == Kind::copy;
        const auto symbol = symbols_.find(record_.kernel);
        const std::uint32_t name = copies                     ? timeline_.names.number("Memcpy")
                                   : symbol != symbols_.end() ? symbol->second
                                                              : timeline_.names.number("kernel without a name");
        const auto device = devices_.find(record_.agent);
        double blocks = 1.0;
        for (std::size_t i = 0; i < record_.grid.size(); ++i) {
          blocks *= std::ceil(record_.grid[i] / record_.group[i]);
        }
        const DeviceWork work = copies                                         ? DeviceWork::copy
                                : is_communication(timeline_.names.name(name)) ? DeviceWork::communication
                                                                               : DeviceWork::compute;
        const double stream = record_.stream > 0.0 ? record_.stream : record_.queue;
        timeline_.work.push_back({static_cast<TraceTime>(record_.begin), static_cast<TraceTime>(record_.end), name,
                                  device != devices_.end() ? device->second : 0,
                                  static_cast<std::int32_t>(std::clamp(stream, 0.0, 1e9)), work,
                                  static_cast<std::int64_t>(std::clamp(record_.correlation, -1.0, most)),
                                  copies ? 0 : static_cast<std::int64_t>(std::min(blocks, 1e15)), record_.bytes});
        break;
      }
      case Kind::none: break;
    }
  }

  Timeline& timeline_;
  Record record_;
  std::string key_;
  std::vector<std::string> path_;
  bool saw_tool_ = false;
  std::unordered_map<double, std::int32_t> devices_;   // by agent
  std::unordered_map<double, std::uint32_t> symbols_;  // names by kernel
};

}  // namespace

Timeline read_rocprof(const std::string& file) {
  Timeline timeline;
  timeline.file = file;
  TraceText text{file};
  RocprofHandler handler{timeline};
  stream_json([&] { return text.next(); }, file, handler,
              "A profiler that was killed leaves such a file; let it stop by itself");
  if (!handler.saw_tool()) {
    Diagnostics diagnostics;
    diagnostics.add(file, {}, "the file holds no \"rocprofiler-sdk-tool\", as rocprofv3 writes it");
    diagnostics.throw_if_any();
  }
  std::stable_sort(timeline.work.begin(), timeline.work.end(),
                   [](const DeviceSpan& a, const DeviceSpan& b) { return a.begin < b.begin; });
  return timeline;
}

}  // namespace headroom
