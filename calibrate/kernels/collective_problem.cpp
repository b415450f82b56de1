// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/kernels/collective_problem.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <numbers>
#include <utility>

namespace headroom {
namespace {

template <std::size_t N>
std::array<double, N> as_curve(std::span<const double> values) {
  std::array<double, N> curve{};
  std::copy(values.begin(), values.end(), curve.begin());
  return curve;
}

/// A measured call of NCCL.
struct Call {
  Collective collective = Collective::all_reduce;
  Bytes bytes{};
  std::size_t view = 0;
  bool floating = true;
};

/// Views of the groups in a file, one per number of ranks.
class Views {
 public:
  Views(const Device& device, const Node* node) : device_{&device}, node_{node} {}
  std::size_t of(std::int64_t ranks) {
    const auto [at, added] = index_.try_emplace(ranks, views_.size());
    if (added) {
      views_.push_back(hosts_view(*device_, node_, ranks));
    }
    return at->second;
  }
  [[nodiscard]] const std::vector<GroupView>& all() const noexcept { return views_; }

 private:
  const Device* device_;
  const Node* node_;
  std::map<std::int64_t, std::size_t> index_;
  std::vector<GroupView> views_;
};

CollectiveCurves bare_curves(const CollectiveSet& set) {
  CollectiveCurves curves;
  curves.graphs = set.graphs;
  curves.staged_shares = set.staged_shares;
  const std::vector<double> ring = priors_of(ring_parameters());
  curves.all_reduce = curves.all_gather = curves.reduce_scatter = as_curve<ring_parameter_count>(ring);
  curves.all_to_all = as_curve<pair_parameter_count>(priors_of(pair_parameters()));
  return curves;
}

/// A step of LL128 takes four times as long on Blackwell as on Hopper. The cost has a barrier in between, hence two
/// starts.
std::vector<std::vector<double>> ring_starts() {
  std::vector<std::vector<double>> starts;
  for (const double hop : {2.5e-6, 11e-6}) {
    starts.push_back(priors_of(ring_parameters()));
    starts.back()[static_cast<std::size_t>(RingParameter::ll128_hop)] = hop;
  }
  return starts;
}

/// The size at which an engine switches to NCCL is discrete: every size is tried, with limits that shrink with the
/// ranks and with one that leaves custom kernels to pairs alone. Ties go to the largest limit, because a kernel kept
/// too long costs less than one left too early.
std::vector<std::vector<double>> custom_starts() {
  std::vector<std::vector<double>> starts;
  constexpr double between = std::numbers::sqrt2;  // limits lie between measured powers of two
  for (const double limit : {0x1p36, 0x1p27, 0x1p25, 0x1p24, 0x1p23, 0x1p22, 0x1p21, 0x1p20, 0x1p19, 0x1p18, 0x1p17}) {
    for (const double fall : {1.0, 2.0, 4.0, 3e4}) {
      starts.push_back(priors_of(custom_parameters()));
      starts.back()[static_cast<std::size_t>(CustomParameter::limit)] = between * limit;
      starts.back()[static_cast<std::size_t>(CustomParameter::limit_fall)] = fall;
    }
  }
  return starts;
}

const MoeTransport& known_transport(const std::string& name) {
  const MoeTransport* transport = find_moe_transport(name);
  if (transport == nullptr) {
    const std::string known = joined(moe_transports(), [&](const MoeTransport& t) { return t.name; });
    throw ConfigError{"exchange " + quoted(name) + " is not known; known are " + known};
  }
  return *transport;
}

/// The shared rows were routed as DeepEP's own benchmark does, each token to four hosts at most: num_topk_groups =
/// min(num_nodes, 4) of num_nodes groups (ai-dynamo/aiconfigurator @ 97c28ba,
/// collector/deep_collector/test_internode.py).
MoeExchange exchange_of(const KernelRow& row, const GroupView& view) {
  const ExpertGroups groups{view.domains, std::min<std::int64_t>(view.domains, 4)};
  return {row.shape[2], row.shape[3], row.shape[4], row.shape[5], row.shape[6], groups, ExpertPlaces::balanced, true};
}

}  // namespace

Collective nccl_collective(const std::string& op) {
  if (op == "alltoall") {
    return Collective::all_to_all;
  }
  if (op == "sendrecv") {
    return Collective::send_recv;
  }
  const auto* const at = std::find(collective_names.begin(), collective_names.end(), op);
  if (at == collective_names.end()) {
    std::string known = "alltoall, sendrecv";
    for (const std::string_view name : collective_names) {
      known += ", " + std::string{name};
    }
    throw ConfigError{"collective " + quoted(op) + " is not known; known are " + known};
  }
  return static_cast<Collective>(at - collective_names.begin());
}

bool is_floating(std::string_view dtype) noexcept {
  return dtype.find("int") == std::string_view::npos;
}

bool is_eager(std::string_view implementation) noexcept {
  return implementation.find("eager") != std::string_view::npos;
}

GroupView exchange_view(const KernelRow& row, const Device& device, const Node* node) {
  const auto ep = static_cast<std::int64_t>(row.shape[1]);
  if (ep > 0) {
    return hosts_view(device, node, ep);
  }
  const std::int64_t nodes = std::max<std::int64_t>(1, static_cast<std::int64_t>(row.shape[0]));
  const std::int64_t each = node != nullptr ? node->gpus : device.scale_up.domain;
  return hosts_view(device, node, nodes * each, nodes);
}

std::string_view collective_table(const KernelGroup& group) noexcept {
  if (group.kind == KernelKind::custom_all_reduce) {
    return "custom-all-reduce";
  }
  if (group.kind == KernelKind::moe_all_to_all) {
    return "moe-all-to-all";
  }
  return is_pairwise(group) ? "all-to-all" : "ring";
}

bool is_pairwise(const KernelGroup& group) noexcept {
  return group.kind == KernelKind::nccl && (group.format == "alltoall" || group.format == "sendrecv");
}

CurveProblem nccl_problem(const ModelData& data, const KernelGroup& group, const Device& device, const Node* node) {
  const Collective collective = nccl_collective(group.format);
  const bool pairwise = is_pairwise(group);
  const CollectiveCurves base = bare_curves(find_collective_set(data, device.curves));
  CurveProblem problem;
  problem.parameters = pairwise ? std::span<const CurveParameter>{pair_parameters()} : ring_parameters();
  Views views{device, node};
  std::vector<Call> calls;
  bool nvls = false;
  for (const KernelRow* row : group.rows) {
    calls.push_back({collective, Bytes{row->shape[1]}, views.of(static_cast<std::int64_t>(row->shape[0])),
                     is_floating(row->variant)});
    const GroupCollectives placed{base, NetworkCurve{}, views.all()[calls.back().view], {true, calls.back().floating}};
    problem.roofline.push_back(placed.link_bound(collective, calls.back().bytes));
    nvls = nvls || placed.time(collective, calls.back().bytes).algorithm == nccl::Algorithm::nvls;
  }
  problem.fixed.assign(problem.parameters.size(), false);
  if (pairwise) {
    for (const double limit : {11585.0, 23170.0, 46341.0, 92682.0}) {  // between measured powers of two
      problem.starts.push_back(priors_of(pair_parameters()));
      problem.starts.back()[static_cast<std::size_t>(PairParameter::ll_limit)] = limit;
    }
  } else {
    problem.starts = ring_starts();
    for (const RingParameter p :
         {RingParameter::nvls_latency, RingParameter::nvls_rate, RingParameter::nvls_pipeline}) {
      problem.fixed[static_cast<std::size_t>(p)] = !nvls;
    }
    for (const RingParameter p : {RingParameter::ll128_hop, RingParameter::ll128_rate}) {
      problem.fixed[static_cast<std::size_t>(p)] = !base.graphs.ll128;
    }
  }
  problem.predict = [calls = std::move(calls), views = views.all(), base, pairwise](
                        std::span<const double> values, std::span<const std::size_t> which, std::span<double> seconds) {
    CollectiveCurves curves = base;
    if (pairwise) {
      curves.all_to_all = as_curve<pair_parameter_count>(values);
    } else {
      curves.all_reduce = curves.all_gather = curves.reduce_scatter = as_curve<ring_parameter_count>(values);
    }
    std::vector<std::array<GroupCollectives, 2>> placed;
    placed.reserve(views.size());
    for (const GroupView& view : views) {
      placed.push_back({GroupCollectives{curves, NetworkCurve{}, view, {true, false}},
                        GroupCollectives{curves, NetworkCurve{}, view, {true, true}}});
    }
    for (std::size_t i = 0; i < which.size(); ++i) {
      const Call& call = calls[which[i]];
      seconds[i] = placed[call.view][call.floating ? 1 : 0].time(call.collective, call.bytes).time.raw();
    }
  };
  return problem;
}

CurveProblem custom_all_reduce_problem(const ModelData& data,
                                       const KernelGroup& group,
                                       const Device& device,
                                       const Node* node) {
  const CollectiveCurves library = at_clock_of(find_collective_set(data, device.curves), device).curves();
  const bool eager = is_eager(group.format);
  CurveProblem problem;
  problem.parameters = custom_parameters();
  problem.fixed.assign(problem.parameters.size(), false);
  problem.fixed[static_cast<std::size_t>(CustomParameter::host)] = !eager;
  problem.fixed[static_cast<std::size_t>(CustomParameter::host_hop)] = !eager;
  problem.starts = custom_starts();
  struct Sample {
    GroupView view;
    Bytes bytes{};
    Seconds nccl{};  ///< time of NCCL, which it replaces
  };
  std::vector<Sample> samples;
  for (const KernelRow* row : group.rows) {
    const GroupView view = hosts_view(device, node, static_cast<std::int64_t>(row->shape[0]));
    const Bytes bytes{row->shape[1]};
    const GroupCollectives placed{library, NetworkCurve{}, view};
    samples.push_back({view, bytes, placed.time(Collective::all_reduce, bytes).time});
    problem.roofline.push_back(placed.link_bound(Collective::all_reduce, bytes));
  }
  problem.predict = [samples = std::move(samples), library, eager](
                        std::span<const double> values, std::span<const std::size_t> which, std::span<double> seconds) {
    const CustomAllReduceModel model{as_curve<custom_parameter_count>(values), library, eager};
    for (std::size_t i = 0; i < which.size(); ++i) {
      const Sample& s = samples[which[i]];
      seconds[i] = model.time(s.bytes, s.view, s.nccl).raw();
    }
  };
  return problem;
}

CurveProblem moe_all_to_all_problem(const KernelGroup& group, const Device& device, const Node* node) {
  const MoeTransport& transport = known_transport(group.format);
  const double units = kernel_device(device, Rate::bf16).units;
  CurveProblem problem;
  problem.parameters = moe_exchange_parameters();
  problem.starts = {priors_of(moe_exchange_parameters())};
  struct Sample {
    GroupView view;
    MoeExchange exchange;
  };
  std::vector<Sample> samples;
  bool across = false;
  for (const KernelRow* row : group.rows) {
    const GroupView view = exchange_view(*row, device, node);
    samples.push_back({view, exchange_of(*row, view)});
    const Sample& s = samples.back();
    across = across || s.view.domains > 1;
    problem.hosts = std::max(problem.hosts, s.view.domains);
    const Bytes sent = MoeExchangeModel{{}, transport, units}.sent(s.exchange, s.view);
    problem.roofline.push_back(s.view.domains > 1 ? Seconds{} : sent / s.view.inside_all);
  }
  problem.fixed.assign(problem.parameters.size(), false);
  const auto fix = [&](MoeExchangeParameter p, bool fixed) { problem.fixed[static_cast<std::size_t>(p)] = fixed; };
  const bool alone = transport.workers == MoeWorkers::none;
  fix(MoeExchangeParameter::hop, !across && !alone);
  fix(MoeExchangeParameter::expert, alone);
  fix(MoeExchangeParameter::share, !transport.rows);
  fix(MoeExchangeParameter::worker, alone);
  fix(MoeExchangeParameter::own, alone);
  fix(MoeExchangeParameter::head, alone);
  fix(MoeExchangeParameter::pace, !transport.rows);
  fix(MoeExchangeParameter::net_share, !across);
  fix(MoeExchangeParameter::wide, !across || !transport.once_a_rank);
  problem.predict = [samples = std::move(samples), transport, units](
                        std::span<const double> values, std::span<const std::size_t> which, std::span<double> seconds) {
    const MoeExchangeModel model{as_curve<moe_exchange_parameter_count>(values), transport, units};
    for (std::size_t i = 0; i < which.size(); ++i) {
      const Sample& s = samples[which[i]];
      seconds[i] = model.time(s.exchange, s.view).raw();
    }
  };
  return problem;
}

}  // namespace headroom
