// SPDX-License-Identifier: Apache-2.0
// What one rank issued to its process groups, as PyTorch's flight recorder keeps it.
#pragma once

#include <headroom/calibrate/pickle/plain_data.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Ranks that communicate with each other, in the order of their numbers.
struct ProcessGroup {
  std::string name;  ///< that all its members know: "0"
  std::string says;  ///< its description: "default_pg"; may be empty
  std::vector<std::int64_t> ranks;

  friend bool operator==(const ProcessGroup& a, const ProcessGroup& b) {
    return a.name == b.name && a.ranks == b.ranks;
  }
};

/// How far an op came.
enum class OpState : std::uint8_t { scheduled, started, completed };
inline constexpr std::array<std::string_view, 3> op_state_names{"scheduled", "started", "completed"};

/// A collective or a message between two ranks that was issued.
struct IssuedOp {
  std::size_t group = 0;               ///< of RankRecord::groups
  std::int64_t number = 0;             ///< among the collectives of its group, or among its messages
  bool message = false;                ///< between two ranks
  std::int64_t from = -1, to = -1;     ///< of a message, numbers within the group
  std::string name;                    ///< "all_reduce", "send"
  double inputs = 0.0, outputs = 0.0;  ///< elements
  std::string dtype;                   ///< of the inputs: "BFloat16"
  OpState state = OpState::scheduled;
  std::int64_t created_ns = 0;
  std::optional<std::int64_t> completed_ns;
  std::optional<double> lasted_ms;
  double timeout_ms = 0.0;  ///< after which the watchdog ends the job; 0: not stated
  std::string site;         ///< line of the program that issued it: "train.py:40 step"; empty: not stated
};

struct RankRecord {
  std::string file;
  std::int64_t rank = 0;
  bool whole = true;  ///< the first op of the rank is in it; else older ones were overwritten
  std::vector<ProcessGroup> groups;
  std::vector<IssuedOp> ops;  ///< in the order in which they were issued
};

/// The number at the end of a file's name before its extensions, or behind "rank" in it: "nccl_trace_rank_3.json".
[[nodiscard]] std::optional<std::int64_t> rank_of_name(std::string_view file);

/// Whether data is a dump of the flight recorder.
[[nodiscard]] bool is_recorder_dump(const PlainData& data) noexcept;

/// Reads a dump of PyTorch's NCCL flight recorder (versions 1.x and 2.x of its format; c10d/FlightRecorder.cpp), pickle
/// or JSON. ConfigError with the entry for states and numbers that are none, for entries without a group, and where the
/// file's name does not say its rank: the dump itself does not.
[[nodiscard]] RankRecord read_recorder_dump(const PlainData& data, const std::string& file);

}  // namespace headroom
