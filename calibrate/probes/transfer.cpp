// SPDX-License-Identifier: Apache-2.0
// Copies between host and device, pinned and pageable, and between two devices, in one direction and in both.
#include <headroom/calibrate/probes/kernels.hpp>
#include <headroom/calibrate/probes/peer.hpp>
#include <headroom/calibrate/probes/session.hpp>
#include <headroom/calibrate/probes/timing.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace headroom::probes {
namespace {

using Op = TransferOp;

using Clock = std::chrono::steady_clock;

/// Pinned or pageable host memory.
class HostMemory {
 public:
  HostMemory() = default;
  HostMemory(std::int64_t bytes, bool pinned) : pinned_{pinned} {
    const auto size = static_cast<std::size_t>(bytes);
    if (pinned) {
      check(cudaMallocHost(&data_, size), "cudaMallocHost");
    } else {
      constexpr std::size_t page = 4096;
      data_ = std::aligned_alloc(page, (size + page - 1) / page * page);
      if (data_ == nullptr) {
        throw Refused{"the host has no " + std::to_string(bytes) + " bytes left"};
      }
    }
  }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  HostMemory(HostMemory&& other) noexcept : data_{std::exchange(other.data_, nullptr)}, pinned_{other.pinned_} {}
  HostMemory& operator=(HostMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(pinned_, other.pinned_);
    return *this;
  }
  ~HostMemory() {
    if (pinned_) {
      cudaFreeHost(data_);
    } else {
      std::free(data_);
    }
  }
  [[nodiscard]] void* at(std::int64_t byte) const noexcept { return static_cast<char*>(data_) + byte; }

 private:
  void* data_ = nullptr;
  bool pinned_ = false;
};

/// Sets the device for one scope.
class OnDevice {
 public:
  OnDevice(int device, int back) : back_{back} { check(cudaSetDevice(device), "cudaSetDevice"); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  OnDevice(OnDevice&&) = delete;
  OnDevice& operator=(OnDevice&&) = delete;
  ~OnDevice() { cudaSetDevice(back_); }

 private:
  int back_;
};

/// Buffers of a transfer on both sides; the far side is the host or another device.
class Link {
 public:
  Link(const Session& session, const Request& request)
      : session_{&session}, op_{checked(request)}, bytes_{request.array_bytes}, copies_{request.copies} {
    const std::int64_t all = copies_ * bytes_;
    const cudaStream_t stream = session.stream.get();
    in_ = DeviceMemory{all};
    check(fill_normal(in_.at(), all / 4, Element::fp32, 1, stream), "fill kernel");
    if (both()) {
      out_ = DeviceMemory{all};
      check(fill_normal(out_.at(), all / 4, Element::fp32, 2, stream), "fill kernel");
    }
    session.stream.wait();
    if (peer()) {
      open_peer(all);
    } else {
      far_in_ = HostMemory{all, pinned()};
      check(cudaMemcpy(far_in_.at(0), in_.at(), static_cast<std::size_t>(all), cudaMemcpyDeviceToHost), "cudaMemcpy");
      if (both()) {
        far_out_ = HostMemory{all, pinned()};
        std::memset(far_out_.at(0), 1, static_cast<std::size_t>(all));
      }
    }
  }

  [[nodiscard]] bool pinned() const { return op_ == Op::h2d_pinned || op_ == Op::d2h_pinned || op_ == Op::both_pinned; }
  [[nodiscard]] bool peer() const { return op_ == Op::peer || op_ == Op::peer_both; }
  [[nodiscard]] bool both() const { return op_ == Op::both_pinned || op_ == Op::both_pageable || op_ == Op::peer_both; }

  /// Enqueues one transfer: incoming on the session's stream, outgoing on a second stream.
  void enqueue(std::int64_t i) const {
    const std::int64_t at = i % copies_ * bytes_;
    const auto size = static_cast<std::size_t>(bytes_);
    const cudaStream_t stream = session_->stream.get();
    const cudaStream_t other = second_.get();
    switch (op_) {
      case Op::h2d_pinned:
      case Op::h2d_pageable:
        check(cudaMemcpyAsync(in_.at(at), far_in_.at(at), size, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
        return;
      case Op::d2h_pinned:
      case Op::d2h_pageable:
        check(cudaMemcpyAsync(far_in_.at(at), in_.at(at), size, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
        return;
      case Op::both_pinned:
      case Op::both_pageable:
        check(cudaMemcpyAsync(in_.at(at), far_in_.at(at), size, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
        check(cudaMemcpyAsync(far_out_.at(at), out_.at(at), size, cudaMemcpyDeviceToHost, other), "cudaMemcpyAsync");
        return;
      case Op::peer:
      case Op::peer_both:
        check(cudaMemcpyPeerAsync(peer_in_.at(at), peer_, in_.at(at), session_->device, size, stream),
              "cudaMemcpyPeerAsync");
        if (both()) {
          check(cudaMemcpyPeerAsync(out_.at(at), session_->device, peer_out_.at(at), peer_, size, other),
                "cudaMemcpyPeerAsync");
        }
        return;
    }
  }

  /// Seconds per transfer of `count` that begin on an idle link. Pinned and peer copies are timed by events on both
  /// streams; pageable copies by the host's clock, because the host stages them.
  [[nodiscard]] double span(std::int64_t count) const {
    const Event begin;
    const Event end;
    const Event other_end;
    session_->stream.wait();
    second_.wait();
    begin.record(session_->stream);
    if (both()) {  // the outgoing stream must not start earlier
      check(cudaStreamWaitEvent(second_.get(), begin.get(), 0), "cudaStreamWaitEvent");
    }
    const Clock::time_point start = Clock::now();
    for (std::int64_t i = 0; i < count; ++i) {
      enqueue(i);
    }
    if (both()) {
      other_end.record(second_);
      check(cudaStreamWaitEvent(session_->stream.get(), other_end.get(), 0), "cudaStreamWaitEvent");
    }
    end.record(session_->stream);
    end.wait();
    const double by_host = std::chrono::duration<double>(Clock::now() - start).count();
    return (pinned() || peer() ? end.since(begin) : by_host) / static_cast<double>(count);
  }

  /// Transfers once and compares what arrived with what was sent: everything up to 1 MiB, else both ends.
  void verify() const {
    enqueue(0);
    session_->stream.wait();
    second_.wait();
    constexpr std::int64_t most = std::int64_t{1} << 20;
    const std::int64_t piece = std::min(bytes_, most);
    for (const std::int64_t first : {std::int64_t{0}, bytes_ - piece}) {
      compare(in_.at(first), peer() ? peer_in_.at(first) : far_in_.at(first), piece);
      if (both()) {
        compare(out_.at(first), peer() ? peer_out_.at(first) : far_out_.at(first), piece);
      }
    }
  }

 private:
  static Op checked(const Request& request) {
    if (request.variant < 0 || Op{request.variant} > Op::peer_both) {
      throw Refused{"unknown transfer"};
    }
    constexpr std::int64_t alignment = 256;
    if (request.array_bytes <= 0 || request.array_bytes % alignment != 0 || request.copies <= 0) {
      throw Refused{"transfers must be a positive multiple of 256 bytes"};
    }
    return Op{request.variant};
  }

  void open_peer(std::int64_t all) {
    peer_ = first_peer(session_->device);
    if (peer_ < 0) {
      throw Refused{"no other device of this process can be addressed from this one"};
    }
    const cudaError_t here = cudaDeviceEnablePeerAccess(peer_, 0);
    if (here != cudaSuccess && here != cudaErrorPeerAccessAlreadyEnabled) {
      check(here, "cudaDeviceEnablePeerAccess");
    }
    cudaGetLastError();  // clears "already enabled"
    const OnDevice there{peer_, session_->device};
    peer_in_ = DeviceMemory{all};
    check(cudaMemset(peer_in_.at(), 1, static_cast<std::size_t>(all)), "cudaMemset");
    if (both()) {
      peer_out_ = DeviceMemory{all};
      check(cudaMemcpyPeer(peer_out_.at(), peer_, in_.at(), session_->device, static_cast<std::size_t>(all)),
            "cudaMemcpyPeer");
    }
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  static void compare(const void* a, const void* b, std::int64_t bytes) {
    const auto size = static_cast<std::size_t>(bytes);
    std::vector<unsigned char> left(size);
    std::vector<unsigned char> right(size);
    // cudaMemcpyDefault infers the kind of memory from the addresses.
    check(cudaMemcpy(left.data(), a, size, cudaMemcpyDefault), "cudaMemcpy");
    check(cudaMemcpy(right.data(), b, size, cudaMemcpyDefault), "cudaMemcpy");
    if (left != right) {
      throw Refused{"the transfer is wrong: what arrived is not what was sent"};
    }
  }

  const Session* session_;
  Op op_;
  std::int64_t bytes_, copies_;
  Stream second_;
  DeviceMemory in_, out_, peer_in_, peer_out_;
  HostMemory far_in_, far_out_;
  int peer_ = -1;
};

/// Transfers per span: enough to fill it, few enough to be queued at once.
std::int64_t count_for(double span, double rough) {
  constexpr std::int64_t most = 1024;
  return std::min(launches_for(span, rough, 1), most);
}

}  // namespace

int first_peer(int device) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess) {
    cudaGetLastError();
    return -1;
  }
  for (int other = 0; other < devices; ++other) {
    int can = 0;
    if (other != device && cudaDeviceCanAccessPeer(&can, device, other) == cudaSuccess && can != 0) {
      return other;
    }
  }
  return -1;
}

int peers_of(int device) {
  int devices = 0;
  int peers = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  for (int other = 0; other < devices; ++other) {
    int can = 0;
    if (other != device && cudaDeviceCanAccessPeer(&can, device, other) == cudaSuccess && can != 0) {
      ++peers;
    }
  }
  return peers;
}

Result measure_transfer(const Session& session, const Request& request) {
  const Link link{session, request};
  link.verify();
  (void)link.span(1);
  const std::int64_t count = count_for(request.span_seconds, link.span(1));
  (void)link.span(count);
  std::vector<double> seconds;
  for (std::int64_t i = 0; i < request.repeats; ++i) {
    seconds.push_back(link.span(count));
  }
  return summary(seconds, count);
}

}  // namespace headroom::probes
