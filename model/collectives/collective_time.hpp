// SPDX-License-Identifier: Apache-2.0
// The time of a collective on a placed group: NCCL's cost table selects algorithm and protocol, and curves fitted to
// measured collectives give the time.
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

/// Parameters of all-reduce, all-gather and reduce-scatter. Times are in seconds; hops are of one ring step. share_N is
/// the share of the link's rate in one direction between N ranks (8: eight or more).
enum class RingParameter : std::uint8_t {
  launch,      ///< time of one call before its first step
  ll_hop,      ///< latency of an LL step with few threads
  crowd,       ///< relative increase of ll_hop with a full set of threads
  ll_rate,     ///< rate of LL over the ring's Simple rate
  ll128_hop,   ///< latency of an LL128 step
  ll128_rate,  ///< rate of LL128 over the ring's Simple rate
  simple_hop,  ///< latency of a Simple step
  share_2,
  share_4,
  share_8,
  pipeline,       ///< latency of one segment of the pipeline
  nvls_latency,   ///< latency of a whole NVLS all-reduce
  nvls_rate,      ///< share of the link's rate while the switch reduces
  nvls_pipeline,  ///< latency of one segment of the NVLS pipeline
  count
};
inline constexpr std::size_t ring_parameter_count = static_cast<std::size_t>(RingParameter::count);
using RingCurve = std::array<double, ring_parameter_count>;
[[nodiscard]] const std::array<CurveParameter, ring_parameter_count>& ring_parameters() noexcept;

/// Parameters of all-to-all, which NCCL builds from sends and receives. Times are in seconds; share_N is as for rings.
enum class PairParameter : std::uint8_t {
  launch,
  ll_hop,    ///< latency of LL per other rank
  chunk,     ///< time of an LL chunk of 16 KiB to one rank over one channel
  ll_rate,   ///< rate of LL over the Simple rate, all ranks together
  ll_limit,  ///< bytes to one rank up to which NCCL uses LL
  simple_latency,
  simple_hop,  ///< latency of Simple per other rank
  share_2,
  share_4,
  share_8,
  pipeline,
  count
};
inline constexpr std::size_t pair_parameter_count = static_cast<std::size_t>(PairParameter::count);
using PairCurve = std::array<double, pair_parameter_count>;
[[nodiscard]] const std::array<CurveParameter, pair_parameter_count>& pair_parameters() noexcept;

/// A class of scale-out network as NCCL uses it: EFA, InfiniBand, RoCE.
struct NetworkCurve {
  std::array<Seconds, nccl::protocol_count> hop{};  ///< latency between neighbouring nodes, by protocol
  double ring_share = 1.0;                          ///< share of the NICs' rate that rings sustain
  double tree_share = 1.0;                          ///< share of the NICs' rate that trees over NVLS domains sustain
  double pair_share = 1.0;                          ///< share of the NICs' rate that all-to-all sustains
  Seconds pipeline{};                               ///< latency of one segment of the pipeline
};

/// Channels and rates that NCCL's topology search finds on this SKU's boards, and when it uses NVLS.
struct NcclGraphs {
  nccl::Generation generation = nccl::Generation::hopper;
  int ring_channels = 1;
  BytesPerSecond ring_channel{};
  int nvls_channels = 1;
  BytesPerSecond nvls_channel{};
  BytesPerSecond net_channel{};  ///< rate per NVLS channel between nodes; 0: the ring channel's
  std::int64_t nvls_ranks = 0;   ///< smallest number of ranks in a domain that uses NVLS; 0: never
  bool ll128 = true;
};

/// All fitted parameters for groups of GPUs of one SKU.
struct CollectiveCurves {
  RingCurve all_reduce{}, all_gather{}, reduce_scatter{};
  PairCurve all_to_all{};
  NcclGraphs graphs;
  bool staged_shares = false;  ///< share_4 and share_8 were measured with copies staged in host memory
  /// Link rate that the shares refer to, if it is not the rate that the group sees (PCIe: the GPU's own link); else 0.
  /// Both the measured shares and the group's view include sharing above the GPUs' links; the slower applies.
  BytesPerSecond link{};
};

/// Rate that a ring with the Simple protocol sustains among the ranks of one domain.
[[nodiscard]] BytesPerSecond ring_rate(const CollectiveCurves& curves,
                                       const RingCurve& curve,
                                       const GroupView& view) noexcept;

enum class CollectiveBound : std::uint8_t { latency, inside_link, nic, tier };
inline constexpr std::array<std::string_view, 4> collective_bound_names{"latency", "link inside the node", "NIC",
                                                                        "network tier"};

struct CollectiveTime {
  Seconds time{};
  Seconds launch{};
  Seconds latency{};   ///< latency of all steps alone
  Seconds transfer{};  ///< time of all bytes alone; steps and bytes overlap within a node
  nccl::Algorithm algorithm = nccl::Algorithm::ring;
  nccl::Protocol protocol = nccl::Protocol::simple;
  CollectiveBound bound = CollectiveBound::latency;
  int channels = 1;  ///< number of channels, each of which takes one streaming multiprocessor from compute
};

struct CollectiveOptions {
  bool nvls = true;      ///< NCCL_NVLS_ENABLE
  bool floating = true;  ///< element type that the switch can add: fp32, fp16, bf16
};

/// The collectives of one placed group. Construct once per group; time() is closed form, no heap, tens of ns.
class GroupCollectives {
 public:
  GroupCollectives(const CollectiveCurves& curves,
                   const NetworkCurve& network,
                   const GroupView& view,
                   CollectiveOptions options = {}) noexcept;

  /// T = launch + network hops + norm(hops, x + 2 sqrt(c x)), norm(a, b) = sqrt(a^2 + b^2), for n ranks in k domains of
  /// g ranks and a buffer of S bytes. x is the time of the bytes at the share of the link that the protocol sustains; c
  /// is the latency of one pipeline segment (optimal segmentation: van de Geijn 1994, pipelined broadcast).
  /// @code
  /// ring        x = f S / min(e inside, g e_net outside); hops = steps x latency of the protocol
  /// NVLS        x = S (1 + 1/n) / (nvls_rate inside)
  /// tree        network hops = 2 log2 k; x = max(S (1 + 1/g) inside, 2 (k-1)/k S/g outside)
  /// all-to-all  x = max(S (g-1)/n inside, S (n-g)/n outside); LL: chunks of one channel per peer
  /// @endcode
  /// NVLS: every rank sends its buffer into the switch once and its reduced part to all others (Klenk et al. 2020,
  /// in-network reduction). Trees: Sanders et al. 2009. Broadcast uses the steps and rates of all-gather with S on
  /// every link, reduce those of reduce-scatter, dispatch and combine those of all-to-all, send_recv those of an
  /// all-to-all of two, because no separate measurements exist. The time never falls when bytes grow: where NCCL
  /// switches protocol too late, the time is held. Zero for one rank or no bytes.
  [[nodiscard]] CollectiveTime time(Collective collective, Bytes bytes) const noexcept;

  /// Lower bound: every byte is sent once at the datasheet's rate.
  [[nodiscard]] Seconds link_bound(Collective collective, Bytes bytes) const noexcept;

  [[nodiscard]] const GroupView& view() const noexcept { return view_; }

 private:
  /// A range of buffer sizes, up to `below`, for which NCCL uses one algorithm and protocol.
  struct Segment {
    Bytes below{};
    Seconds least{};  ///< time at the end of the preceding segment
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
    double inside = 0.0;   ///< time of the bytes over the links of a domain
    double outside = 0.0;  ///< time of the bytes over the NICs
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
  /// Sends to every other rank: the shares of a buffer that stay in the domain and that leave it.
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
  std::array<BytesPerSecond, plans> rate_{};  ///< rate of Simple inside a domain, by plan
  BytesPerSecond pair_rate_{};                ///< rate of all-to-all inside a domain
};

/// The time of a single collective, for callers that do not keep a GroupCollectives.
[[nodiscard]] CollectiveTime collective_time(Collective collective,
                                             Bytes bytes,
                                             const GroupView& view,
                                             const CollectiveCurves& curves,
                                             const NetworkCurve& network,
                                             CollectiveOptions options = {}) noexcept;

}  // namespace headroom
