// SPDX-License-Identifier: Apache-2.0
// How long a collective takes on a placed group: NCCL's table picks algorithm and protocol, curves fitted to measured
// collectives give their times.
#pragma once

#include <headroom/hardware/fabric/fabric.hpp>
#include <headroom/model/collectives/collective.hpp>
#include <headroom/model/collectives/nccl_tuning.hpp>
#include <headroom/model/kernels/curve.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headroom {

/// Of all-reduce, all-gather and reduce-scatter. Hops are of one ring step; shares are of the link's rate in one
/// direction, between two ranks, four, and eight or more.
enum class RingParameter : std::uint8_t {
  launch,   ///< one call, before its first step
  ll_hop,   ///< LL with few threads
  crowd,    ///< what a full set of threads adds to an LL hop, as a share of it
  ll_rate,  ///< of the ring's Simple rate that LL carries
  ll128_hop,
  ll128_rate,  ///< of the ring's Simple rate that LL128 carries
  simple_hop,
  share_2,
  share_4,
  share_8,
  pipeline,      ///< latency of one segment of the pipeline
  nvls_latency,  ///< of a whole NVLS all-reduce
  nvls_rate,     ///< share of the link while the switch reduces
  nvls_pipeline,
  count
};
inline constexpr std::size_t ring_parameter_count = static_cast<std::size_t>(RingParameter::count);
using RingCurve = std::array<double, ring_parameter_count>;
[[nodiscard]] const std::array<CurveParameter, ring_parameter_count>& ring_parameters() noexcept;

/// Of all-to-all, which NCCL makes of sends and receives.
enum class PairParameter : std::uint8_t {
  launch,
  ll_hop,    ///< for each other rank
  chunk,     ///< LL: 16 KiB to one rank over one channel
  ll_rate,   ///< of the Simple rate that LL carries, all ranks together
  ll_limit,  ///< bytes to one rank up to which NCCL takes LL
  simple_latency,
  simple_hop,  ///< for each other rank
  share_2,
  share_4,
  share_8,
  pipeline,
  count
};
inline constexpr std::size_t pair_parameter_count = static_cast<std::size_t>(PairParameter::count);
using PairCurve = std::array<double, pair_parameter_count>;
[[nodiscard]] const std::array<CurveParameter, pair_parameter_count>& pair_parameters() noexcept;

/// A class of scale-out network as NCCL meets it: EFA, InfiniBand, RoCE.
struct NetworkCurve {
  std::array<Seconds, nccl::protocol_count> hop{};  ///< between neighbouring nodes, by protocol
  double ring_share = 1.0;                          ///< of the NICs' rate that rings sustain
  double tree_share = 1.0;                          ///< of the NICs' rate that trees over NVLS domains sustain
  double pair_share = 1.0;                          ///< of the NICs' rate that all-to-all sustains
  Seconds pipeline{};                               ///< latency of one segment
};

/// Channels and rates that NCCL's search finds on this SKU's boards, and when it takes NVLS.
struct NcclGraphs {
  nccl::Generation generation = nccl::Generation::hopper;
  int ring_channels = 1;
  BytesPerSecond ring_channel{};
  int nvls_channels = 1;
  BytesPerSecond nvls_channel{};
  BytesPerSecond net_channel{};  ///< per NVLS channel between nodes; 0: that of the ring
  std::int64_t nvls_ranks = 0;   ///< fewest ranks of a domain that use NVLS; 0: never
  bool ll128 = true;
};

/// Everything fitted that a group of GPUs of one SKU needs.
struct CollectiveCurves {
  RingCurve all_reduce{}, all_gather{}, reduce_scatter{};
  PairCurve all_to_all{};
  NcclGraphs graphs;
  bool staged_shares = false;  ///< shares between more than two ranks are of copies staged in the host
  /// What the shares are of, where that is not what the group sees: of PCIe the GPU's own link. Measured shares hold
  /// what GPUs of a box share above their links, and so does a placed group's view; the slower of both counts.
  BytesPerSecond link{};
};

/// What a ring of Simple blocks sustains among the ranks of one domain.
[[nodiscard]] BytesPerSecond ring_rate(const CollectiveCurves& curves,
                                       const RingCurve& curve,
                                       const GroupView& view) noexcept;

/// What the time of a collective waits for.
enum class CollectiveBound : std::uint8_t { latency, inside_link, nic, tier };
inline constexpr std::array<std::string_view, 4> collective_bound_names{"latency", "link inside the node", "NIC",
                                                                        "network tier"};

struct CollectiveTime {
  Seconds time{};
  Seconds launch{};
  Seconds latency{};   ///< of all steps, alone
  Seconds transfer{};  ///< of all bytes, alone; steps and bytes overlap inside a node
  nccl::Algorithm algorithm = nccl::Algorithm::ring;
  nccl::Protocol protocol = nccl::Protocol::simple;
  CollectiveBound bound = CollectiveBound::latency;
  int channels = 1;  ///< streaming multiprocessors that it takes from compute
};

struct CollectiveOptions {
  bool nvls = true;      ///< NCCL_NVLS_ENABLE
  bool floating = true;  ///< elements that the switch can add: fp32, fp16, bf16
};

/// The collectives of one placed group. Built once a group; time() is closed form, no heap, some tens of nanoseconds.
class GroupCollectives {
 public:
  GroupCollectives(const CollectiveCurves& curves,
                   const NetworkCurve& network,
                   const GroupView& view,
                   CollectiveOptions options = {}) noexcept;

  /// T = launch + network hops + norm(hops, x + 2 sqrt(c x)), norm(a, b) = sqrt(a^2 + b^2): what the pipeline of the
  /// steps hides. x is the time of the bytes at the share of the link that the protocol sustains, c the latency of a
  /// segment (optimal segmentation, van de Geijn 1994, pipelined broadcast; form N4 of the shared study of measured
  /// collectives). For n ranks in k domains of g:
  ///   ring       x = f S / min(e inside, g e_net outside); hops = steps (latency of the protocol), between nodes apart
  ///   NVLS       x = S (1 + 1/n) / (nvls_rate inside): every rank sends its buffer into the switch once and its
  ///              reduced part to all others (Klenk et al. 2020, in-network reduction)
  ///   tree       network hops 2 log2 k, x = max(S (1 + 1/g) inside, 2 (k-1)/k S/g outside) (Sanders et al. 2009)
  ///   all-to-all x = max(S (g-1)/n inside, S (n-g)/n outside); LL: chunks of one channel a peer
  /// Broadcast is priced by the steps and rates of all-gather, with S on every link; reduce by those of
  /// reduce-scatter; dispatch and combine as all-to-all; send_recv as an all-to-all of two: nobody measured them apart.
  /// Never falls when bytes grow: a protocol that NCCL leaves too late is held at its last time.
  /// Zero for one rank or no bytes.
  [[nodiscard]] CollectiveTime time(Collective collective, Bytes bytes) const noexcept;

  /// The least time that the links allow, every byte sent once at the datasheet's rate.
  [[nodiscard]] Seconds link_bound(Collective collective, Bytes bytes) const noexcept;

  [[nodiscard]] const GroupView& view() const noexcept { return view_; }

 private:
  /// Sizes below `below` that NCCL gives one algorithm and protocol.
  struct Segment {
    Bytes below{};
    Seconds least{};  ///< the time that the segment before ended with
    nccl::Algorithm algorithm = nccl::Algorithm::ring;
    nccl::Protocol protocol = nccl::Protocol::simple;
  };
  static constexpr std::size_t most_segments = 16;
  struct Plan {
    nccl::Communicator communicator;
    nccl::Table table;
    std::array<Segment, most_segments> segments{};
    std::size_t count = 0;
  };
  static constexpr std::size_t all_reduce = 0;
  static constexpr std::size_t all_gather = 1;
  static constexpr std::size_t reduce_scatter = 2;
  static constexpr std::size_t plans = 3;

  /// Steps and bytes of one call, in seconds.
  struct Parts {
    double hops = 0.0;
    double network_hops = 0.0;
    double inside = 0.0;   ///< bytes over the links of a domain
    double outside = 0.0;  ///< bytes over the NICs
    double segment = 0.0;  ///< latency of one segment of the pipeline
  };

  void build(std::size_t which, Collective collective) noexcept;
  [[nodiscard]] Parts tree_parts(const RingCurve& curve,
                                 BytesPerSecond simple,
                                 double buffer,
                                 nccl::Algorithm algorithm,
                                 nccl::Protocol protocol) const noexcept;
  [[nodiscard]] Parts ring_parts(const RingCurve& curve,
                                 BytesPerSecond simple,
                                 Collective collective,
                                 double buffer,
                                 nccl::Algorithm algorithm,
                                 nccl::Protocol protocol) const noexcept;
  [[nodiscard]] const RingCurve& curve_of(std::size_t which) const noexcept;
  [[nodiscard]] CollectiveTime ring(std::size_t which, Collective collective, Bytes bytes) const noexcept;
  [[nodiscard]] CollectiveTime priced(std::size_t which,
                                      Collective collective,
                                      Bytes bytes,
                                      nccl::Algorithm algorithm,
                                      nccl::Protocol protocol) const noexcept;
  /// Sends to every other rank: the parts of a buffer that stay in the domain and that leave it.
  struct Spread {
    double ranks = 2.0;
    double inside = 0.0;
    double outside = 0.0;
  };
  [[nodiscard]] CollectiveTime pairs(Bytes bytes, const Spread& spread) const noexcept;
  [[nodiscard]] CollectiveTime pairs_by(nccl::Protocol protocol, Bytes bytes, const Spread& spread) const noexcept;

  CollectiveCurves curves_;
  NetworkCurve network_;
  GroupView view_;
  std::array<Plan, plans> plans_{};
  std::array<BytesPerSecond, plans> rate_{};  ///< inside a domain, of Simple
  BytesPerSecond pair_rate_{};                ///< of all-to-all inside a domain
};

/// One question: builds the group and asks it.
[[nodiscard]] CollectiveTime collective_time(Collective collective,
                                             Bytes bytes,
                                             const GroupView& view,
                                             const CollectiveCurves& curves,
                                             const NetworkCurve& network,
                                             CollectiveOptions options = {}) noexcept;

}  // namespace headroom
