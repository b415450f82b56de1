// SPDX-License-Identifier: Apache-2.0
// What a profiler saw of one process: when its GPUs and its host did what. One clock for all of it.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace headroom {

/// Names, each kept once.
class NameTable {
 public:
  /// The number of a name, which is new or known.
  std::uint32_t number(std::string_view name);
  [[nodiscard]] const std::string& name(std::uint32_t number) const { return names_[number]; }
  [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> numbers_;
  std::vector<std::string> names_;
};

/// Nanoseconds from the base of the trace's clock.
using TraceTime = std::int64_t;

enum class DeviceWork : std::uint8_t { compute, communication, copy, fill };
inline constexpr std::array<std::string_view, 4> device_work_names{"compute", "communication", "copy", "fill"};

/// Work of a GPU: a kernel, a copy, a fill.
struct DeviceSpan {
  TraceTime begin = 0, end = 0;  ///< end >= begin
  std::uint32_t name = 0;        ///< of Timeline::names
  std::int32_t device = 0, stream = 0;
  DeviceWork work = DeviceWork::compute;
  std::int64_t correlation = -1;  ///< that it shares with the call which launched it; -1: none is known
  std::int64_t blocks = 0;        ///< of a kernel's grid; 0: not stated
  double bytes = 0.0;             ///< that a copy moved or a rank gave to a collective; 0: not stated
};

enum class HostWork : std::uint8_t {
  runtime,     ///< a call of CUDA's or HIP's runtime or driver
  op,          ///< an op of the framework
  annotation,  ///< a range that the program or the profiler named
  source       ///< a function of the program's own language
};

/// A stretch of a host thread. Stretches of one thread nest.
struct HostSpan {
  TraceTime begin = 0, end = 0;      ///< end >= begin
  std::uint32_t name = 0;            ///< of Timeline::names
  std::uint32_t thread : 24 = 0;     ///< of Timeline::threads
  HostWork work : 8 = HostWork::op;  // a trace holds millions of these
  std::int64_t correlation = -1;
};

/// A product of matrices that an op computes, from the shapes that it was called with.
struct TracedProduct {
  TraceTime begin = 0;                               ///< of the op
  std::uint32_t thread = 0;                          ///< of Timeline::threads
  bool wide = false;                                 ///< its operands are numbers of 32 bit
  float batch = 1.0F, m = 0.0F, n = 0.0F, k = 0.0F;  ///< of [m, k] [k, n]
  /// A multiply-add is two.
  [[nodiscard]] double flop() const noexcept { return 2.0 * double{batch} * double{m} * double{n} * double{k}; }
};

/// A range that the program named, as its work on the GPU: from its first kernel to its last.
struct DeviceRange {
  TraceTime begin = 0, end = 0;
  std::uint32_t name = 0;
  std::int32_t device = 0;
};

struct TracedDevice {
  std::int64_t id = 0;
  std::string name;        ///< as the driver says it: "NVIDIA H100 80GB HBM3"
  std::int64_t units = 0;  ///< SMs or compute units; 0: not stated
  double memory = 0.0;     ///< bytes; 0: not stated
};

struct Timeline {
  std::string file;
  NameTable names;
  std::vector<std::string> threads;  ///< "PID/TID"
  std::vector<TracedDevice> devices;
  std::vector<DeviceSpan> work;         ///< by begin
  std::vector<HostSpan> host;           ///< by begin, longer first
  std::vector<DeviceRange> ranges;      ///< by begin
  std::vector<TracedProduct> products;  ///< by begin
  std::optional<std::int64_t> rank, world_size;
  std::int64_t events = 0;       ///< that were read, of every kind
  std::int64_t passed_over = 0;  ///< of these, without a time or of a kind that says nothing of time
};

}  // namespace headroom
