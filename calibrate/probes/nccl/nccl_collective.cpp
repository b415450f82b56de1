// SPDX-License-Identifier: Apache-2.0
// Time of a collective among the GPUs of this process: each rank's calls are a CUDA graph, the graphs are replayed
// together (as nccl-tests does with -G), and the slowest rank's spans count. Every element is checked before timing.
#include <headroom/calibrate/probes/nccl/nccl_group.hpp>
#include <headroom/calibrate/probes/nccl/nccl_kernels.hpp>
#include <headroom/calibrate/probes/session.hpp>
#include <headroom/calibrate/probes/spans.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace headroom::probes {
namespace {

constexpr std::int64_t element_bytes = 2;
constexpr ncclDataType_t element = ncclHalf;

/// Buffers of one rank on its device.
struct RankBuffers {
  DeviceMemory from, to, wrong;
};

class Problem {
 public:
  Problem(const Nccl& nccl, NcclGroup& group, CollectiveOp op, std::int64_t bytes)
      : nccl_{&nccl}, group_{&group}, op_{op}, counts_{counts_of(op, bytes / element_bytes, group.ranks())} {
    for (int rank = 0; rank < group.ranks(); ++rank) {
      const OnDevice scope{group.device(rank)};
      RankBuffers buffers{DeviceMemory{counts_.sent * element_bytes}, DeviceMemory{counts_.received * element_bytes},
                          DeviceMemory{static_cast<std::int64_t>(sizeof(unsigned long long))}};
      check(fill_rank(buffers.from.at(), counts_.sent, rank, group.stream(rank).get()), "fill kernel");
      check(cudaMemsetAsync(buffers.wrong.at(), 0, sizeof(unsigned long long), group.stream(rank).get()), "cudaMemset");
      // All bits set is NaN, so elements that do not arrive are detected.
      check(cudaMemsetAsync(buffers.to.at(), 0xFF, static_cast<std::size_t>(counts_.received * element_bytes),
                            group.stream(rank).get()),
            "cudaMemset");
      ranks_.push_back(std::move(buffers));
    }
    group_->wait();
  }

  /// Enqueues one call of every rank.
  void enqueue() const {
    nccl_->check(nccl_->group_start(), "ncclGroupStart");
    call_all();
    nccl_->check(nccl_->group_end(), "ncclGroupEnd");
  }

  /// Throws Refused when an element is wrong.
  void check_results() const {
    enqueue();
    group_->wait();
    for (int rank = 0; rank < group_->ranks(); ++rank) {
      if (op_ == CollectiveOp::reduce && rank != 0) {
        continue;  // only the root receives
      }
      const OnDevice scope{group_->device(rank)};
      const RankBuffers& buffers = ranks_[static_cast<std::size_t>(rank)];
      auto* counter = static_cast<unsigned long long*>(buffers.wrong.at());
      check(check_rank(buffers.to.at(), counts_.received, op_, rank, group_->ranks(), counts_.chunk, counter,
                       group_->stream(rank).get()),
            "check kernel");
      unsigned long long wrong = 0;
      check(cudaMemcpyAsync(&wrong, counter, sizeof(wrong), cudaMemcpyDeviceToHost, group_->stream(rank).get()),
            "cudaMemcpyAsync");
      group_->wait();
      if (wrong > 0) {
        throw Refused{std::to_string(wrong) + " of " + std::to_string(counts_.received) +
                      " elements came out wrong on rank " + std::to_string(rank) + ": it was not timed"};
      }
    }
  }

  /// Seconds of a call by NCCL's own tables; zero without one (there is none for sends and receives).
  [[nodiscard]] double predicted() const {
    if (nccl_->simulate_end == nullptr || op_ == CollectiveOp::all_to_all || op_ == CollectiveOp::send_recv) {
      return 0.0;
    }
    constexpr double micro = 1e-6;
    ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
    nccl_->check(nccl_->group_start(), "ncclGroupStart");
    call_all();
    const bool told = nccl_->simulate_end(&info) == ncclSuccess;
    return told && info.estimatedTime > 0.0F ? static_cast<double>(info.estimatedTime) * micro : 0.0;
  }

 private:
  void call_all() const {
    for (int rank = 0; rank < group_->ranks(); ++rank) {
      const OnDevice scope{group_->device(rank)};
      call(rank);
    }
  }

  void call(int rank) const {
    const RankBuffers& b = ranks_[static_cast<std::size_t>(rank)];
    ncclComm_t comm = group_->comm(rank);
    cudaStream_t stream = group_->stream(rank).get();
    const auto sent = static_cast<std::size_t>(counts_.sent);
    const auto chunk = static_cast<std::size_t>(counts_.chunk);
    const Nccl& n = *nccl_;
    switch (op_) {
      case CollectiveOp::all_reduce:
        n.check(n.all_reduce(b.from.at(), b.to.at(), sent, element, ncclSum, comm, stream), "ncclAllReduce");
        return;
      case CollectiveOp::reduce_scatter:
        n.check(n.reduce_scatter(b.from.at(), b.to.at(), chunk, element, ncclSum, comm, stream), "ncclReduceScatter");
        return;
      case CollectiveOp::all_gather:
        n.check(n.all_gather(b.from.at(), b.to.at(), chunk, element, comm, stream), "ncclAllGather");
        return;
      case CollectiveOp::broadcast:
        n.check(n.broadcast(b.from.at(), b.to.at(), sent, element, 0, comm, stream), "ncclBroadcast");
        return;
      case CollectiveOp::reduce:
        n.check(n.reduce(b.from.at(), b.to.at(), sent, element, ncclSum, 0, comm, stream), "ncclReduce");
        return;
      case CollectiveOp::all_to_all:
        for (int peer = 0; peer < group_->ranks(); ++peer) {
          exchange(rank, peer, peer, peer * counts_.chunk, chunk);
        }
        return;
      case CollectiveOp::send_recv:
        exchange(rank, (rank + 1) % group_->ranks(), (rank + group_->ranks() - 1) % group_->ranks(), 0, sent);
        return;
    }
    throw Refused{"unknown collective"};
  }

  /// Enqueues a send and a receive. Must be inside a group call, so that both progress together.
  void exchange(int rank, int to, int from, std::int64_t offset, std::size_t count) const {
    const RankBuffers& b = ranks_[static_cast<std::size_t>(rank)];
    ncclComm_t comm = group_->comm(rank);
    cudaStream_t stream = group_->stream(rank).get();
    nccl_->check(nccl_->send(b.from.at(offset * element_bytes), count, element, to, comm, stream), "ncclSend");
    nccl_->check(nccl_->recv(b.to.at(offset * element_bytes), count, element, from, comm, stream), "ncclRecv");
  }

  const Nccl* nccl_;
  NcclGroup* group_;
  CollectiveOp op_;
  CollectiveCounts counts_;
  std::vector<RankBuffers> ranks_;
};

/// One event per rank.
class Mark {
 public:
  explicit Mark(const NcclGroup& group) : group_{&group} {
    for (int rank = 0; rank < group.ranks(); ++rank) {
      const OnDevice scope{group.device(rank)};
      events_.emplace_back();
    }
  }
  void record() const {
    for (int rank = 0; rank < group_->ranks(); ++rank) {
      const OnDevice scope{group_->device(rank)};
      events_[static_cast<std::size_t>(rank)].record(group_->stream(rank));
    }
  }
  /// Seconds since an earlier mark, on the slowest rank.
  [[nodiscard]] double since(const Mark& earlier) const {
    double longest = 0.0;
    for (std::size_t rank = 0; rank < events_.size(); ++rank) {
      longest = std::max(longest, events_[rank].since(earlier.events_[rank]));
    }
    return longest;
  }

 private:
  const NcclGroup* group_;
  std::vector<Event> events_;
};

/// `launches` calls of every rank as one graph per rank, captured together because a call spans all ranks.
class GroupReplay {
 public:
  GroupReplay(const NcclGroup& group, std::int64_t launches, const Problem& problem) : group_{&group} {
    graphs_.assign(static_cast<std::size_t>(group.ranks()), nullptr);
    execs_.assign(static_cast<std::size_t>(group.ranks()), nullptr);
    try {
      capture(launches, problem);
      for (int rank = 0; rank < group.ranks(); ++rank) {
        const OnDevice scope{group.device(rank)};
        const auto at = static_cast<std::size_t>(rank);
        check(cudaGraphInstantiate(&execs_[at], graphs_[at], 0), "cudaGraphInstantiate");
        check(cudaGraphUpload(execs_[at], group.stream(rank).get()), "cudaGraphUpload");
      }
    } catch (...) {
      free_all();
      throw;
    }
  }
  GroupReplay(const GroupReplay&) = delete;
  GroupReplay& operator=(const GroupReplay&) = delete;
  GroupReplay(GroupReplay&&) = delete;
  GroupReplay& operator=(GroupReplay&&) = delete;
  ~GroupReplay() { free_all(); }

  void start() const {
    for (int rank = 0; rank < group_->ranks(); ++rank) {
      const OnDevice scope{group_->device(rank)};
      check(cudaGraphLaunch(execs_[static_cast<std::size_t>(rank)], group_->stream(rank).get()), "cudaGraphLaunch");
    }
  }

 private:
  void capture(std::int64_t launches, const Problem& problem) {
    int begun = 0;
    std::string why;
    try {
      for (; begun < group_->ranks(); ++begun) {
        const OnDevice scope{group_->device(begun)};
        check(cudaStreamBeginCapture(group_->stream(begun).get(), cudaStreamCaptureModeThreadLocal),
              "cudaStreamBeginCapture");
      }
      for (std::int64_t i = 0; i < launches; ++i) {
        problem.enqueue();
      }
    } catch (const Refused& refused) {
      why = refused.what();
    }
    for (int rank = 0; rank < begun; ++rank) {  // a stream left capturing would refuse all later work
      const OnDevice scope{group_->device(rank)};
      const cudaError_t ended =
          cudaStreamEndCapture(group_->stream(rank).get(), &graphs_[static_cast<std::size_t>(rank)]);
      if (ended != cudaSuccess && why.empty()) {
        why = std::string{"cudaStreamEndCapture: "} + cudaGetErrorString(ended);
      }
    }
    if (!why.empty()) {
      throw Refused{why};
    }
  }
  void free_all() noexcept {
    for (cudaGraphExec_t exec : execs_) {
      if (exec != nullptr) {
        cudaGraphExecDestroy(exec);
      }
    }
    for (cudaGraph_t graph : graphs_) {
      if (graph != nullptr) {
        cudaGraphDestroy(graph);
      }
    }
  }

  const NcclGroup* group_;
  std::vector<cudaGraph_t> graphs_;
  std::vector<cudaGraphExec_t> execs_;
};

/// Approximate seconds of one call; the first call also makes connections and loads code.
double rough_seconds(NcclGroup& group, const Problem& problem) {
  constexpr int calls = 4;
  const Mark begin{group};
  const Mark end{group};
  problem.enqueue();
  group.wait();
  begin.record();
  for (int i = 0; i < calls; ++i) {
    problem.enqueue();
  }
  end.record();
  group.wait();
  return end.since(begin) / calls;
}

std::vector<double> time_spans(NcclGroup& group,
                               const GroupReplay& replay,
                               std::int64_t launches,
                               std::int64_t repeats) {
  std::vector<std::unique_ptr<Mark>> marks;
  for (std::int64_t i = 0; i <= repeats; ++i) {
    marks.push_back(std::make_unique<Mark>(group));
  }
  replay.start();
  marks.front()->record();
  for (std::size_t i = 1; i < marks.size(); ++i) {
    replay.start();
    marks[i]->record();
  }
  group.wait();
  std::vector<double> seconds;
  for (std::size_t i = 1; i < marks.size(); ++i) {
    seconds.push_back(marks[i]->since(*marks[i - 1]) / static_cast<double>(launches));
  }
  return seconds;
}

}  // namespace

Result measure_collective(Session& session, const Request& request) {
  if (request.variant < 0 || request.variant > static_cast<std::int32_t>(CollectiveOp::send_recv)) {
    throw Refused{"unknown collective"};
  }
  const auto op = static_cast<CollectiveOp>(request.variant);
  if (session.nccl == nullptr) {
    session.nccl = std::make_shared<NcclGroups>();
  }
  NcclGroup& group = session.nccl->of(session.device, request.ranks);
  if (request.array_bytes < element_bytes * request.ranks) {
    throw Refused{"the buffer has less than an element a rank"};
  }
  const Problem problem{session.nccl->nccl(), group, op, request.array_bytes};
  problem.check_results();
  const double rough = rough_seconds(group, problem);
  // Capturing takes the host about 20 us per call and rank, so a graph has no more calls than short ones need.
  constexpr std::int64_t most_launches = 256;
  const std::int64_t launches = std::min(launches_for(request.span_seconds, rough, 1), most_launches);
  const GroupReplay replay{group, launches, problem};
  Result result = summary(time_spans(group, replay, launches, request.repeats), launches);
  result.predicted_seconds = problem.predicted();
  return result;
}

std::string nccl_version() {
  std::string why;
  const Nccl* nccl = find_nccl(why);
  return nccl == nullptr ? std::string{} : nccl->version;
}

}  // namespace headroom::probes
