// SPDX-License-Identifier: Apache-2.0
// Processes that search together, as the search sees them: numbered, and able to send each other bytes.
#pragma once

#include <headroom/core/quantity.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom {

struct RankMessage {
  int from = 0;
  std::string text;
};

/// One rank's end. Messages of one rank to another arrive whole and in the order they were sent, or, once one of the
/// two is lost, not at all.
class Ranks {
 public:
  Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  virtual ~Ranks() = default;

  /// Rank 0 asks, the others answer it.
  [[nodiscard]] virtual int count() const = 0;
  /// Never waits for the receiver.
  virtual void send(int to, std::string text) = 0;
  /// The next message; nullopt when none came for so long.
  [[nodiscard]] virtual std::optional<RankMessage> receive(Seconds wait) = 0;
  /// At rank 0: ranks that were found dead since it was last asked. Nothing comes from them any more.
  [[nodiscard]] virtual std::vector<int> lost() = 0;
  /// "rank 3 on node17"
  [[nodiscard]] virtual std::string name_of(int rank) const { return "rank " + std::to_string(rank); }
};

}  // namespace headroom
