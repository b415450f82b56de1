// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/synthetic/rank_program.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/serve/time/random_stream.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace headroom {
namespace {

constexpr std::string_view all_reduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
constexpr std::string_view all_gather = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
constexpr std::string_view send_recv = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";
constexpr std::string_view loader = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";

}  // namespace

/// Writes the program of one rank, step by step.
class RankProgram::Writer {
 public:
  Writer(const SyntheticRun& run, std::int64_t rank)
      : run_{run},
        rank_{rank},
        noise_{run.seed, static_cast<std::uint64_t>(2 * rank)},
        stops_{run.seed, static_cast<std::uint64_t>(2 * rank + 1)} {}

  std::span<const HostStep> next_step() {
    acts_.clear();
    if (step_ < run_.steps && !lost_) {
      write_step();
      ++step_;
    }
    return acts_;
  }

 private:
  double noisy(double seconds, double noise) { return seconds * std::exp(noise * noise_.normal()); }

  HostStep& add(HostAct act, std::string_view name = {}, double seconds = 0.0) {
    acts_.emplace_back();
    acts_.back().act = act;
    acts_.back().name = name;
    acts_.back().seconds = seconds;
    return acts_.back();
  }

  /// How long kernels of this rank take now, over what they take on a GPU at its clock.
  [[nodiscard]] double pace() const {
    const auto rank = static_cast<std::size_t>(rank_);
    const auto step = static_cast<std::size_t>(step_);
    return (run_.rank_times.empty() ? 1.0 : run_.rank_times[rank]) *
           (run_.uneven.empty() ? 1.0 : run_.uneven[rank][step]) *
           (run_.slow_clock > 1.0 && step_ >= run_.slow_from ? run_.slow_clock : 1.0);
  }

  void launch(const SyntheticKernel& kernel) {
    const auto units = std::max<std::int64_t>(1, run_.units);
    const auto waves = [&](std::int64_t blocks) { return (blocks + units - 1) / units; };
    const auto blocks = std::max<std::int64_t>(1, std::llround(real(kernel.blocks) * run_.batch));
    const double scale = run_.batch < 1.0 ? real(waves(blocks)) / real(waves(kernel.blocks)) : 1.0;
    const bool product = kernel.use == KernelUse::product;
    const std::int64_t pieces = (kernel.use == KernelUse::pass ? run_.pass_parts : 1) * run_.tiny_parts;
    const double each = kernel.time.raw() * scale * (product ? run_.product_slowdown : 1.0) / real(run_.tiny_parts);
    for (std::int64_t i = 0; i < pieces; ++i) {
      HostStep& act = add(HostAct::launch, kernel.name, noisy(each * pace(), run_.kernel_noise));
      act.op = kernel.op;
      // Pieces fill the GPU as the whole did, for a shorter time.
      act.blocks = run_.tiny_parts > 1 ? std::max(std::min(blocks, units), blocks / run_.tiny_parts) : blocks;
      act.m = std::max(kernel.m > 0.0 ? 1.0 : 0.0, std::round(kernel.m * run_.batch / real(run_.tiny_parts)));
      act.n = kernel.n;
      act.k = kernel.k;
      act.wide = product && run_.product_slowdown > 1.0;
      if (run_.python > Seconds{}) {
        add(HostAct::busy, {}, noisy(run_.python.raw(), run_.host_noise));
      }
    }
  }

  void message(std::string_view name, double seconds, double bytes, std::int64_t communicator, std::int64_t members) {
    HostStep& act = add(HostAct::collective, name, noisy(seconds, run_.kernel_noise));
    act.op = name == send_recv ? "nccl:send" : name == all_gather ? "nccl:_all_gather_base" : "nccl:all_reduce";
    act.bytes = bytes;
    act.stream = GpuStream::messages;
    constexpr std::int64_t apart = 1'000'000'000;
    act.group = members > 1 ? communicator * apart + (communicator > run_.tensor_ranks ? sent_beside_++ : sent_++) : -1;
    act.members = members;
  }

  /// A message of gradients; ranks that hold the same share of the layers meet in it.
  void reduce(double bytes) {
    const std::int64_t members = run_.ranks / run_.tensor_ranks;
    if (members < 2 || bytes <= 0.0) {
      return;
    }
    const bool odd = rank_ == run_.odd_rank && step_ == run_.lost_step && !strayed_;
    strayed_ = strayed_ || odd;
    message(odd ? all_gather : all_reduce, run_.latency.raw() + bytes / run_.link, odd ? 0.5 * bytes : bytes,
            1 + rank_ % run_.tensor_ranks, members);
  }

  void reduce_tensor() {
    if (run_.tensor_bytes > 0.0) {
      message(all_reduce, run_.latency.raw() + run_.tensor_bytes / run_.tensor_link, run_.tensor_bytes,
              1 + run_.tensor_ranks + rank_ / run_.tensor_ranks, run_.tensor_ranks);
      add(HostAct::after_messages);
    }
  }

  void read_numbers() {
    for (std::int64_t i = 0; i < run_.syncs_each_layer; ++i) {
      add(HostAct::read_back);
    }
  }

  /// What the host does beside sending, spread over the places of a step.
  void beside(std::int64_t place, std::int64_t places) {
    // The i-th of `count` at i/count of the way.
    const auto before = [&](std::int64_t count, std::int64_t at) { return (at * count + places - 1) / places; };
    const auto due = [&](std::int64_t count) { return before(count, place + 1) - before(count, place); };
    if (run_.program > Seconds{}) {
      for (std::int64_t i = due(run_.program_pieces); i > 0; --i) {
        add(HostAct::busy, {}, noisy(run_.program.raw() / real(run_.program_pieces), run_.host_noise));
      }
    }
    for (std::int64_t i = due(run_.allocations); i > 0; --i) {
      add(HostAct::get_memory, "cudaMalloc", noisy(run_.allocation.raw(), run_.host_noise));
      add(HostAct::give_memory, "cudaFree", noisy(run_.allocation.raw(), run_.host_noise));
    }
    if (stop_at_ == place) {
      add(HostAct::busy, {}, run_.stop.time.raw());
    }
  }

  void load() {
    add(HostAct::named, loader, noisy(3e-5 + run_.batch * run_.fetch.raw(), run_.host_noise));
    if (const double bytes = run_.batch * run_.sample_bytes; bytes > 0.0) {
      HostStep& copy =
          add(HostAct::copy, run_.pinned ? "Memcpy HtoD (Pinned -> Device)" : "Memcpy HtoD (Pageable -> Device)",
              noisy(bytes / run_.copy_rate, run_.kernel_noise));
      copy.op = "aten::copy_";
      copy.bytes = bytes;
      copy.stream = run_.pinned ? GpuStream::copies : GpuStream::compute;
      copy.blocking = !run_.pinned;
    }
  }

  void save() {
    add(HostAct::wait_all, "cudaDeviceSynchronize");
    constexpr std::int64_t pieces = 8;
    for (std::int64_t i = 0; i < pieces; ++i) {
      HostStep& copy =
          add(HostAct::copy, "Memcpy DtoH (Device -> Pageable)", run_.save_bytes / real(pieces) / run_.copy_rate);
      copy.op = "aten::copy_";
      copy.bytes = run_.save_bytes / real(pieces);
      copy.blocking = true;
    }
    add(HostAct::busy, {}, noisy(run_.save_time.raw(), run_.host_noise));
  }

  void waits_of_stages() {
    const Seconds all = run_.bubble + run_.stage_message;
    if (all > Seconds{}) {
      message(send_recv, 0.5 * all.raw(), 0.0, 0, 1);
      add(HostAct::after_messages);
    }
  }

  void backward(bool last) {
    double ready = 0.0;
    const std::int64_t places = 2 * run_.layers;
    for (std::int64_t layer = 0; layer < run_.layers; ++layer) {
      if (last) {
        beside(run_.layers + layer, places);
      }
      for (std::size_t i = 0; run_.recomputes && i < run_.forward.size(); ++i) {
        launch(run_.forward[i]);
      }
      for (std::size_t i = 0; i < run_.backward.size(); ++i) {
        launch(run_.backward[i]);
        if (i + 1 == run_.backward.size() / 2 || i + 1 == run_.backward.size()) {
          reduce_tensor();
        }
      }
      read_numbers();
      if (last && rank_ == run_.lost_rank && step_ == run_.lost_step && 2 * layer >= run_.layers) {
        lost_ = true;
        return;
      }
      ready += run_.gradient_bytes;
      const bool sends = ready >= run_.bucket_bytes || layer + 1 == run_.layers;
      if (last && run_.overlaps && sends) {
        buckets(ready);
        ready = 0.0;
      }
    }
    if (last && !run_.overlaps) {
      buckets(run_.gradient_bytes * real(run_.layers));
    }
  }

  void buckets(double bytes) {
    const double each = std::max(1.0, run_.bucket_bytes);
    const auto count = std::max<std::int64_t>(1, std::llround(bytes / each));
    for (std::int64_t i = 0; i < count; ++i) {
      reduce(bytes / real(count));
    }
  }

  void write_step() {
    const double draw = stops_.uniform();
    const std::int64_t at = stops_.below(2 * run_.layers);
    stop_at_ = draw < run_.stop.each_step ? at : -1;
    add(HostAct::begin_step);
    if (step_ < run_.cold_steps) {
      add(HostAct::busy, {}, noisy(run_.cold.raw(), run_.host_noise));
    }
    load();
    waits_of_stages();
    for (std::int64_t micro = 0; micro < run_.micro_batches; ++micro) {
      const bool last = micro + 1 == run_.micro_batches;
      for (std::int64_t layer = 0; layer < run_.layers; ++layer) {
        if (last) {
          beside(layer, 2 * run_.layers);
        }
        for (std::size_t i = 0; i < run_.forward.size(); ++i) {
          launch(run_.forward[i]);
          if (i + 1 == run_.forward.size() / 2 || i + 1 == run_.forward.size()) {
            reduce_tensor();
          }
        }
        read_numbers();
      }
      for (const SyntheticKernel& kernel : run_.head) {
        launch(kernel);
      }
      add(HostAct::other_thread).blocks = 1;
      backward(last);
      add(HostAct::other_thread).blocks = 0;
      if (lost_) {
        return;
      }
    }
    waits_of_stages();
    add(HostAct::after_messages);
    for (const SyntheticKernel& kernel : run_.optimizer) {
      launch(kernel);
    }
    if (run_.sync_every > 0 && (step_ + 1) % run_.sync_every == 0) {
      add(HostAct::read_back);
    }
    if (run_.save_every > 0 && (step_ + 1) % run_.save_every == 0) {
      save();
    }
    add(HostAct::end_step);
  }

  const SyntheticRun& run_;
  std::int64_t rank_;
  RandomStream noise_, stops_;
  std::vector<HostStep> acts_;
  std::int64_t step_ = 0, stop_at_ = -1, sent_ = 0, sent_beside_ = 0;
  bool strayed_ = false, lost_ = false;
};

RankProgram::RankProgram(const SyntheticRun& run, std::int64_t rank) : writer_{std::make_unique<Writer>(run, rank)} {}
RankProgram::~RankProgram() = default;
RankProgram::RankProgram(RankProgram&&) noexcept = default;
RankProgram& RankProgram::operator=(RankProgram&&) noexcept = default;

std::span<const HostStep> RankProgram::next_step() {
  return writer_->next_step();
}

}  // namespace headroom
