// SPDX-License-Identifier: Apache-2.0
// Collectives over links as stated, by the algorithms of the textbook: steps, bytes of the busiest rank and NIC, time,
// and the sizes at which the fastest of them changes.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/collectives/collective.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace headroom {

enum class TextbookAlgorithm : std::uint8_t {
  ring,
  rings,
  double_tree,
  tree,
  recursive_doubling,
  halving_doubling,
  hierarchical,
  nvls,
  sharp,
  pairwise,
  bruck,
  chain,
  scattered,
  one_message,
  count
};
inline constexpr std::size_t textbook_algorithm_count = static_cast<std::size_t>(TextbookAlgorithm::count);

/// What people type, what an answer calls it, and where the equation comes from.
struct TextbookName {
  std::string_view word, name, source;
};
inline constexpr std::array<TextbookName, textbook_algorithm_count> textbook_names{{
    {"ring", "ring", "Patarasuk and Yuan 2009"},
    {"rings", "ring through every NIC", "Patarasuk and Yuan 2009, a channel a NIC"},
    {"double-tree", "two trees", "Sanders, Speck and Traeff 2009"},
    {"tree", "binomial tree", "Thakur, Rabenseifner and Gropp 2005, section 4"},
    {"recursive-doubling", "recursive doubling", "Thakur, Rabenseifner and Gropp 2005, section 4.1 and 4.5"},
    {"halving-doubling", "halving and doubling", "Rabenseifner 2004"},
    {"hierarchical", "hierarchical", "Thakur, Rabenseifner and Gropp 2005, their steps inside a node and across"},
    {"nvls", "NVLS, in the scale-up switch", "Klenk et al. 2020"},
    {"sharp", "SHARP, in the network's switches", "Graham et al. 2016"},
    {"pairwise", "pairwise exchange", "Thakur, Rabenseifner and Gropp 2005, section 4.3"},
    {"bruck", "Bruck", "Bruck et al. 1997"},
    {"chain", "pipelined chain", "van de Geijn 1994"},
    {"scattered", "scatter, all-gather", "Thakur, Rabenseifner and Gropp 2005, section 4.2"},
    {"one-message", "one message", "Hockney 1994"},
}};
[[nodiscard]] constexpr const TextbookName& name_of(TextbookAlgorithm algorithm) noexcept {
  return textbook_names[static_cast<std::size_t>(algorithm)];
}

/// Ranks on nodes of equal size. A rank leaves its node by a NIC of its own at `link`; within a node ranks reach each
/// other at `inside`. With one rank a node every rank is on one switch that all links enter.
struct TextbookGroup {
  std::int64_t ranks = 2;
  std::int64_t per_node = 1;  ///< divides the ranks
  BytesPerSecond link{};      ///< of a rank's NIC, one direction
  BytesPerSecond inside{};    ///< used where a node has several ranks
  Seconds message{};          ///< fixed time of a message between nodes
  Seconds inside_message{};   ///< within a node
  [[nodiscard]] std::int64_t nodes() const noexcept { return ranks / per_node; }
};

struct TextbookTime {
  TextbookAlgorithm algorithm = TextbookAlgorithm::ring;
  std::int64_t steps = 0;  ///< messages one after another, of one piece where pieces follow each other
  Seconds time{};
  Bytes sent{};  ///< by the busiest rank
  Bytes nic{};   ///< by the busiest NIC of a node; zero where the ranks share one node
  /// Where nobody names one, an answer takes the fastest of the usual: those that NCCL has on plain links, two levels
  /// where nodes are stated, and of broadcast and reduce also a tree and a scatter.
  bool usual = true;
  bool in_switch = false;  ///< switches that reduce are needed
};

/// Times by every algorithm that serves the collective, fastest first; empty for fewer than two ranks. n ranks, k nodes
/// of g, buffer S, link B and message a (inside: Bi, ai), levels L = ceil(log2):
/// @code
/// all-reduce     ring                2 (n-1) (a + S/(n B)): a chunk's steps at the slowest hop; one NIC a node
///                ring, every NIC     ring_time(): g rings at once
///                two trees           tree_time() in the best number of pieces
///                binomial tree       2 (Li (ai + S/Bi) + Lo (a + S/B))
///                recursive doubling  Li (ai + S/Bi) + Lo (a + S/B), two steps more where not a power of two
///                halving, doubling   2 Li ai + 2 (g-1)/g S/Bi + 2 Lo a + 2 (k-1)/k S/g / B, two steps more likewise
///                hierarchical        hierarchical_time()
///                NVLS                2 ai + (1 + 1/g) S/Bi; piece by piece with S/g across nodes by ring or trees
///                SHARP               halves of a ring inside, piece by piece with 2 a + S/g / B across
/// scatter,       ring                (n-1) (a + S/(n B))
/// gather         recursive doubling  Li ai + (g-1)/g S/Bi + Lo a + (k-1)/n S/B
///                hierarchical        (g-1) (ai + S/(g Bi)) + (k-1) (a + S/(n B))
///                NVLS                one message of (n-1)/n S to every rank of one node
/// all-to-all     pairwise            (g-1) (ai + S/(n Bi)) + (n-g) (a + S/(n B))
///                hierarchical        (g-1) (ai + S/(g Bi)) + (k-1) (a + S/(k B)): messages of g ranks together (PXN)
///                Bruck               L (a + S/2 / B), on one level
/// broadcast,     chain               (n-2+p) (a + S/(p B)) in the best number p of pieces, one chain a NIC
///                binomial tree       Li (ai + S/Bi) + Lo (a + S/B)
/// reduce         scattered           (L + n-1) a + 2 (n-1)/n S/B, or the mirror
/// @endcode
[[nodiscard]] std::vector<TextbookTime> textbook_times(Collective collective, Bytes buffer, const TextbookGroup& group);

/// The one named `only` where it is given and serves, else the fastest of the usual ones. `times`: not empty.
[[nodiscard]] const TextbookTime& taken_of(std::span<const TextbookTime> times,
                                           std::optional<TextbookAlgorithm> only) noexcept;

/// Below `bytes` the one is the fastest, above it the other.
struct TextbookCrossover {
  TextbookAlgorithm below = TextbookAlgorithm::ring, above = TextbookAlgorithm::ring;
  Bytes bytes{};
};
/// Where the fastest changes between 64 B and 1 TiB, of the usual algorithms or of all that need no switch that
/// reduces.
[[nodiscard]] std::vector<TextbookCrossover> textbook_crossovers(Collective collective,
                                                                 const TextbookGroup& group,
                                                                 bool usual);

}  // namespace headroom
