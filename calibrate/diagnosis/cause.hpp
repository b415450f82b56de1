// SPDX-License-Identifier: Apache-2.0
// What a run's files say of why it is slow: facts from whatever was read, causes that explain lost time, and what the
// cure of each would bring.
#pragma once

#include <headroom/core/quantity.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace headroom {

/// Why time is lost, in the words of docs/diagnose.md.
enum class CauseKind : std::uint8_t {
  data_loading,           ///< the GPU waits for samples
  host_sync,              ///< the host waits for the GPU before it sends more
  launch_bound,           ///< kernels are shorter than what it takes the host to send one
  host_bound,             ///< the host runs the program between launches
  exposed_communication,  ///< collectives with no computing beside them
  small_messages,         ///< collectives too small for their links
  straggler,              ///< one rank is slower than the others, which wait
  imbalance,              ///< ranks differ from step to step, none always
  exposed_copies,         ///< copies between host and GPU with no computing beside them
  memory_bound,           ///< kernels at the bandwidth of the memory
  no_tensor_cores,        ///< products on the ordinary units
  small_batch,            ///< too little work for the units
  low_clock,              ///< heat, power or a cap hold the clock down
  wrong_device,           ///< the process is not on the GPU that is looked at
  cold_cache,             ///< the first calls after idleness are slow
  long_prompts,           ///< prompts hold decodes up
  collector,              ///< the host's garbage collector, or another periodic stop
  fragmentation,          ///< memory is held in pieces that no request fits
  checkpointing,          ///< steps wait while a checkpoint is written
  format_range,           ///< numbers leave the range of their format
  mismatched_collective,  ///< ranks issued different collectives
  dead_rank,              ///< a rank stopped, the others wait
  starved,                ///< the GPU waits for its host; these files do not tell for what
  cache_full,             ///< the KV cache of an engine is full: requests wait or are computed again
  failed_jobs,            ///< jobs or their nodes failed
  opposite_order,         ///< ranks enter groups in opposite orders and wait for each other
  slow_transport,         ///< collectives go a slower way than the hardware has
  network_fault,          ///< a link, an adapter or the way between hosts failed
  out_of_memory,          ///< a request found no memory
  device_fault,           ///< the GPU or its links failed, whatever the program did
  program_fault,          ///< the program's own error stopped the GPU's work
  host_fault,             ///< the host: its memory, its limits
  recomputation,          ///< layers are formed again before their backward pass
  client_bound,           ///< the client does not send the load that it was asked for
  saturated,              ///< the server ends fewer requests than come: its queue grows
  queued,                 ///< requests wait before their prefill
  failed_requests,        ///< requests ended with an error
  evaluation,             ///< a training waits for its evaluations
  initialisation,         ///< time before a training's first step
  count
};
inline constexpr std::size_t cause_count = static_cast<std::size_t>(CauseKind::count);
inline constexpr std::array<std::string_view, cause_count> cause_names{"data_loading",
                                                                       "host_sync",
                                                                       "launch_bound",
                                                                       "host_bound",
                                                                       "exposed_communication",
                                                                       "small_messages",
                                                                       "straggler",
                                                                       "imbalance",
                                                                       "exposed_copies",
                                                                       "memory_bound",
                                                                       "no_tensor_cores",
                                                                       "small_batch",
                                                                       "low_clock",
                                                                       "wrong_device",
                                                                       "cold_cache",
                                                                       "long_prompts",
                                                                       "collector",
                                                                       "fragmentation",
                                                                       "checkpointing",
                                                                       "format_range",
                                                                       "mismatched_collective",
                                                                       "dead_rank",
                                                                       "starved",
                                                                       "cache_full",
                                                                       "failed_jobs",
                                                                       "opposite_order",
                                                                       "slow_transport",
                                                                       "network_fault",
                                                                       "out_of_memory",
                                                                       "device_fault",
                                                                       "program_fault",
                                                                       "host_fault",
                                                                       "recomputation",
                                                                       "client_bound",
                                                                       "saturated",
                                                                       "queued",
                                                                       "failed_requests",
                                                                       "evaluation",
                                                                       "initialisation"};

/// One explanation.
struct Cause {
  CauseKind kind = CauseKind::host_bound;
  double lost = 0.0;                  ///< share of the run's time that it explains, 0 to 1
  std::optional<double> time_ratio;   ///< time of a step with the cure over now, 0 to 1; unset: not known
  std::string says;                   ///< a sentence: what is wrong, with its number
  std::string cure;                   ///< a sentence: what to do
  std::vector<std::string> evidence;  ///< each a line with its file
};

/// Use of the hardware, side by side: a share that is busy says nothing without the other. Shares of 1; unset: the
/// files do not say.
struct Utilisation {
  std::optional<double> busy;           ///< time with any kernel resident: what nvidia-smi calls utilisation
  std::optional<double> sm_active;      ///< of the SMs that have a warp, over all time
  std::optional<double> tensor_active;  ///< cycles in which the tensor cores' pipe works
  std::optional<double> memory_active;  ///< cycles in which the memory's interface moves data
  /// FLOP of the products whose shapes are told, over the tensor cores' peak: MFU where no layer is formed again.
  std::optional<double> products;
};

/// A part of the time of a step.
struct TimePart {
  std::string_view key;  ///< "computing", "exposed_communication", "idle_sync"
  Seconds time{};
};

/// Kernels of one name, over all that was read.
struct KernelTotal {
  std::string name;
  std::string_view work;  ///< compute, communication, copy, fill
  Seconds time{};
  std::int64_t count = 0;
};

/// A cell of what was found; absent where a file does not say.
using FindingCell =
    std::variant<std::monostate, std::string, std::int64_t, double, Seconds, Bytes, BytesPerSecond, Hertz, Watts>;
struct FindingColumn {
  std::string_view key;    ///< in documents, with its unit: "clock_hz"
  std::string_view title;  ///< for people; one that starts with '<' holds text
};
/// Rows of one matter: clocks over time, who holds the memory, where ranks part.
struct FindingTable {
  std::string_view key;   ///< in documents: "clocks"
  std::string_view says;  ///< for people, a heading
  std::vector<FindingColumn> columns;
  std::vector<std::vector<FindingCell>> rows;  ///< as long as `columns`
};

/// What a rank did in one step, for a drawing: stretches that follow closely are one.
struct StepTrack {
  struct Stretch {
    Seconds begin{}, end{};  ///< from the begin of the step on the first rank's clock
    std::string_view work;   ///< compute, communication, copy
  };
  std::string name;  ///< "rank 3"
  std::vector<Stretch> stretches;
};

/// What a client tells of a server under its load, means over the requests; unset: it does not tell.
struct ToldLoad {
  std::string who;  ///< the file
  std::optional<Seconds> ttft, tpot;
  std::optional<double> requests_per_s, output_tokens_per_s;
  std::optional<double> in_flight;  ///< requests at once
};

/// A run as its files tell it.
struct RunReading {
  std::vector<std::string> files;
  std::string gpu;  ///< SKU of the catalog; empty: not known
  std::int64_t ranks = 1;
  std::optional<Seconds> step;  ///< mean of whole steps
  std::int64_t steps = 0;
  std::vector<TimePart> parts;  ///< of a step, or of the window where no step is known; they sum to it
  Utilisation use;
  std::vector<Cause> causes;         ///< most lost time first
  std::vector<KernelTotal> kernels;  ///< names with the most time, the longest first
  std::vector<FindingTable> tables;
  std::vector<ToldLoad> loads;   ///< in the order of the files
  std::vector<StepTrack> tracks;   ///< of the last step that was read, of at most 16 ranks; empty: no trace was
  std::vector<std::string> notes;  ///< what could not be read, and what is taken for granted
};

}  // namespace headroom
