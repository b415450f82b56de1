// SPDX-License-Identifier: Apache-2.0
// Ranks of a collective on the GPUs of this process, all driven by one thread.
#pragma once

#include <headroom/calibrate/probes/cuda_handles.hpp>
#include <headroom/calibrate/probes/nccl/nccl_library.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace headroom::probes {

/// Sets the calling thread's device for one scope.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    check(cudaSetDevice(device), "cudaSetDevice");
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  OnDevice(OnDevice&&) = delete;
  OnDevice& operator=(OnDevice&&) = delete;
  ~OnDevice() { cudaSetDevice(before_); }

 private:
  int before_ = 0;
};

/// Communicators of a group; rank r runs on device (first + r) modulo the visible devices.
class NcclGroup {
 public:
  NcclGroup(const Nccl& nccl, int first, int visible, int ranks);
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;
  NcclGroup(NcclGroup&&) = delete;
  NcclGroup& operator=(NcclGroup&&) = delete;
  ~NcclGroup();

  [[nodiscard]] int ranks() const noexcept { return static_cast<int>(devices_.size()); }
  [[nodiscard]] int device(int rank) const noexcept { return devices_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] ncclComm_t comm(int rank) const noexcept { return comms_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const Stream& stream(int rank) const noexcept { return *streams_[static_cast<std::size_t>(rank)]; }

  /// Waits for all streams while polling NCCL. When a rank fails, aborts the group at once, because kernels that wait
  /// for that rank would never end, and throws Refused with NCCL's message.
  void wait();
  [[nodiscard]] bool failed() const noexcept { return failed_; }

 private:
  void abort() noexcept;

  const Nccl* nccl_;
  std::vector<int> devices_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<ncclComm_t> comms_;
  bool failed_ = false;
};

/// Groups of a session. Each is created at first use, which takes seconds.
class NcclGroups {
 public:
  /// Throws Refused: no NCCL, a single GPU, GPUs of several kinds, more ranks than GPUs.
  NcclGroup& of(int first, std::int64_t ranks);
  [[nodiscard]] const Nccl& nccl() const noexcept { return *nccl_; }

 private:
  const Nccl* nccl_ = nullptr;
  std::map<std::int64_t, std::unique_ptr<NcclGroup>> groups_;
};

}  // namespace headroom::probes
