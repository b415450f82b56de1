// SPDX-License-Identifier: Apache-2.0
// One collective explained: its time, bus bandwidth, what NCCL picks and what binds it; and whether a measured one is
// what it should be.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/cli/render/render_series.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/collectives/collective_knobs.hpp>
#include <headroom/model/collectives/collective_library.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {
class ModelData;
}

namespace headroom::cli {

/// What is asked.
struct CollectiveQuestion {
  Collective collective = Collective::all_reduce;
  Bytes bytes{};
  GroupView view;
  std::string placed;                  ///< in words, of a group on a cluster
  std::optional<Transport> transport;  ///< of groups that span hosts
  CollectiveOptions options;
  bool eager = false;  ///< called outside a graph
  CollectiveKnobs knobs;
  SeriesQuestion series;
  std::optional<BytesPerSecond> measured;
};

/// A transport that a group could have used, and the bus bandwidth it would show.
struct TransportGuess {
  std::string name;
  BytesPerSecond busbw{};
  enum class Kind : std::uint8_t {
    expected,    ///< the group's own links, as they can be used
    same_links,  ///< the same links with less: no reductions in the switch
    fallback     ///< PCIe or sockets instead
  };
  Kind kind = Kind::expected;
};

struct CollectiveAnswer {
  CollectiveQuestion question;
  std::string gpu, why;
  CollectiveTime time;  ///< its launch holds that of a call outside a graph
  Seconds low{}, high{};
  Seconds least{};  ///< the bytes over the links at their datasheet's rate
  BytesPerSecond algbw{}, busbw{};
  std::vector<TransportGuess> guesses;  ///< with a measured bus bandwidth: the expected one first
  std::string verdict;
  Bytes per_nic{};                 ///< of a GPU's share of the NICs; zero within a domain
  std::vector<std::string> notes;  ///< what the knobs change
  SeriesAnswer series;
  bool as_expected = true;  ///< false: what was measured is slower than the links it should use
};

/// ConfigError when nobody measured the group's link, or a knob says nothing of the collective.
[[nodiscard]] CollectiveAnswer answer_collective(const ModelData& data,
                                                 const Device& device,
                                                 const CollectiveQuestion& question);
[[nodiscard]] std::string collective_text(const CollectiveAnswer& answer);
/// Schema "headroom.collective/1": raw SI, the unit in the key.
[[nodiscard]] Value collective_document(const CollectiveAnswer& answer);

}  // namespace headroom::cli
