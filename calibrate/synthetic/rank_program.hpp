// SPDX-License-Identifier: Apache-2.0
// What the host of one rank does from the first step to the last, in order: ops, collectives, copies, waits.
#pragma once

#include <headroom/calibrate/synthetic/synthetic_run.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace headroom {

enum class HostAct : std::uint8_t {
  launch,          ///< an op that sends a kernel
  collective,      ///< an op that sends a message on the stream of messages, behind what computes now
  copy,            ///< an op that sends a copy
  busy,            ///< the program, of which the profiler sees nothing
  named,           ///< a range that the program or the profiler names
  read_back,       ///< a number is copied back and waited for
  wait_all,        ///< the host waits for the GPU
  get_memory,      ///< the driver is asked for memory
  give_memory,     ///< and given it back, for which it waits for the GPU
  after_messages,  ///< what computes from here on waits for messages sent before
  other_thread,    ///< the thread of backward passes goes on; `blocks`: 0 the first thread again
  begin_step,
  end_step
};

/// Streams of a GPU.
enum class GpuStream : std::uint8_t { compute, messages, copies, count };

struct HostStep {
  HostAct act = HostAct::busy;
  std::string_view name;  ///< of the kernel or the range
  std::string_view op;    ///< that launches it
  double seconds = 0.0;   ///< on the GPU, of `busy` and `named` on the host
  std::int64_t blocks = 0;
  double bytes = 0.0;
  double m = 0.0, n = 0.0, k = 0.0;  ///< of a product [m, k] [k, n]; 0: of none
  GpuStream stream = GpuStream::compute;
  bool blocking = false;    ///< the host waits until the copy is done
  bool wide = false;        ///< of a product: operands of 32 bit
  std::int64_t group = -1;  ///< of a message, alike on all ranks that meet in it
  std::int64_t members = 1;
};

/// The program of a rank, written step by step, for a long one is larger than what the simulation keeps of it. The run,
/// to which names belong, must outlive it.
class RankProgram {
 public:
  RankProgram(const SyntheticRun& run, std::int64_t rank);
  ~RankProgram();
  RankProgram(RankProgram&& other) noexcept;
  RankProgram& operator=(RankProgram&& other) noexcept;

  /// What the host does in the next step, until the call after; empty: the program has ended.
  [[nodiscard]] std::span<const HostStep> next_step();

 private:
  class Writer;
  std::unique_ptr<Writer> writer_;
};

}  // namespace headroom
