// SPDX-License-Identifier: Apache-2.0
// What files say of a run over time, as it was read: counters of GPUs and engines, phases of steps, latencies, jobs,
// lines of logs. Raw SI; a value that a file does not tell is absent.
#pragma once

#include <headroom/calibrate/import/kernel_profile.hpp>
#include <headroom/core/quantity.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// A counter of a GPU. Shares of 1, Hz, degrees Celsius, W, bytes, bytes/s.
enum class Signal : std::uint8_t {
  busy,             ///< time in which a kernel was resident: "utilisation" of the driver
  engine_active,    ///< cycles in which the graphics or compute engine was busy
  memory_busy,      ///< time in which the memory was read or written, as the driver samples it
  sm_active,        ///< SMs with a warp, over all cycles
  occupancy,        ///< resident warps over those that fit
  tensor_active,    ///< cycles of the tensor cores' pipe
  memory_active,    ///< cycles in which the memory's interface moved data
  sm_clock,         ///< Hz
  most_sm_clock,    ///< Hz
  temperature,      ///< degrees Celsius
  power,            ///< W
  power_limit,      ///< W
  memory_used,      ///< bytes
  memory_total,     ///< bytes
  pcie_sent,        ///< bytes/s
  pcie_received,    ///< bytes/s
  power_violation,  ///< time in which power held the clock down
  xid,              ///< number of the driver's last error; 0: none
  reasons,          ///< bits of NVML's nvmlClocksEventReasons; throttle_reasons names them
  count
};
inline constexpr std::size_t signal_count = static_cast<std::size_t>(Signal::count);

/// Bits of `Signal::reasons` (NVML API reference, nvmlClocksEventReasons).
enum class ClockReason : std::uint16_t {
  idle = 0x1,
  setting = 0x2,       ///< application clocks or a locked clock
  power_cap = 0x4,     ///< software power cap
  slowdown = 0x8,      ///< hardware slowdown: heat or power
  sync_boost = 0x10,   ///< another GPU of the group holds it down
  heat = 0x20,         ///< software thermal slowdown
  heat_hard = 0x40,    ///< hardware thermal slowdown
  power_brake = 0x80,  ///< hardware power brake
  display_limit = 0x100
};

struct GpuSample {
  std::optional<Seconds> time;  ///< of the file's clock
  std::array<std::optional<double>, signal_count> values{};
  int line = 0;
  [[nodiscard]] std::optional<double> get(Signal signal) const noexcept {
    return values[static_cast<std::size_t>(signal)];
  }
  std::optional<double>& at(Signal signal) noexcept { return values[static_cast<std::size_t>(signal)]; }
};

/// Samples of one GPU from one file, in order of time.
struct GpuSignals {
  std::string file;
  std::string gpu;   ///< index, or what else tells it apart
  std::string name;  ///< as the driver calls it; empty: not told
  std::vector<GpuSample> samples;
  std::string unique;  ///< UUID or bus, where the file tells it beside the index
};

/// A process on a GPU; without a process id: the file says that the GPU has none.
struct ProcessUse {
  std::string file, gpu, name;
  std::optional<std::int64_t> process;
  std::optional<Bytes> memory;
  int line = 0;
};

/// A number of a serving engine.
enum class EngineSignal : std::uint8_t {
  running,          ///< requests
  waiting,          ///< requests
  cache_use,        ///< of the KV cache, share of 1
  prompt_rate,      ///< tokens/s
  generation_rate,  ///< tokens/s
  preemptions,      ///< since the start
  prefix_hits,      ///< share of 1 of prompt tokens, or a count beside `prefix_queries`
  prefix_queries,   ///< a count since the start
  count
};
inline constexpr std::size_t engine_signal_count = static_cast<std::size_t>(EngineSignal::count);

struct EngineSample {
  std::optional<Seconds> time;
  std::array<std::optional<double>, engine_signal_count> values{};
  int line = 0;
  [[nodiscard]] std::optional<double> get(EngineSignal signal) const noexcept {
    return values[static_cast<std::size_t>(signal)];
  }
  std::optional<double>& at(EngineSignal signal) noexcept { return values[static_cast<std::size_t>(signal)]; }
};

struct EngineSeries {
  std::string file, engine;  ///< "vLLM", "SGLang"
  std::string server;        ///< what tells it from others of the file; empty: there is one
  std::vector<EngineSample> samples;
};

/// One iteration of an engine's loop.
struct EngineIteration {
  Seconds host{};                        ///< that the host took for it
  std::optional<Seconds> device_before;  ///< that the GPU took for the iteration before
  double requests = 0.0, prompt_tokens = 0.0, generated_tokens = 0.0;
  int line = 0;
};

/// Iterations of one rank in order.
struct IterationLog {
  std::string file;
  std::vector<EngineIteration> iterations;
};

/// A phase of training steps: its time and how often it ran in a step.
struct PhaseTime {
  std::string name;  ///< as the file calls it
  Seconds time{};    ///< of a step, a mean
  double count = 1.0;
  std::optional<Bytes> bytes;  ///< that one of `count` moves
  int line = 0;                ///< of its first mention
};

struct StatedPhases {
  std::string file;
  std::vector<PhaseTime> phases;  ///< in the order of the file
  std::optional<Seconds> step;    ///< where the file tells the whole step
  std::int64_t steps = 1;
};

struct LatencyPoint {
  Seconds begin{}, latency{};
  std::optional<double> prompt;  ///< tokens
  int line = 0;
};

/// Requests or steps in order of their begin.
struct LatencySeries {
  std::string file;
  std::vector<LatencyPoint> points;
};

/// What a training log says of its numbers.
struct TrainingLog {
  std::string file, gpu;  ///< GPU as the log names it; empty: it does not
  std::string format;     ///< "fp16", "bf16", "fp32", "fp8"; empty: not told
  int format_line = 0;
  std::int64_t losses = 0;            ///< lines with a loss that is a number
  std::int64_t not_numbers = 0;       ///< with one that is none
  int first_not_number = 0;           ///< line; 0: none
  std::int64_t overflows = 0;         ///< steps that dynamic loss scaling skipped
  std::int64_t first_overflows = 0;   ///< of these, before the first loss: the scale is looked for
  int last_overflow = 0;              ///< line; 0: none
  std::optional<double> least_scale;  ///< lowest loss scale
};

/// A job or step of a job as Slurm accounts for it.
struct AccountedJob {
  std::string file, id, name, state, nodes, exit_code;
  std::optional<Seconds> elapsed;
  int line = 0;
};

struct ProfiledFile {
  std::string file;
  KernelProfiles profiles;
};

/// Kernels of a GPU as a timeline lists them, one after another.
struct KernelList {
  std::string file;
  Seconds window{};  ///< from the first begin to the last end
  Seconds busy{};    ///< with at least one of them
  std::int64_t kernels = 0;
  std::int64_t devices = 1;
};

struct Signals {
  std::vector<GpuSignals> gpus;
  std::vector<ProcessUse> processes;
  std::vector<EngineSeries> engines;
  std::vector<IterationLog> iterations;
  std::vector<StatedPhases> phases;
  std::vector<LatencySeries> latencies;
  std::vector<TrainingLog> logs;
  std::vector<AccountedJob> jobs;
  std::vector<ProfiledFile> profiles;
  std::vector<KernelList> lists;
};

}  // namespace headroom
