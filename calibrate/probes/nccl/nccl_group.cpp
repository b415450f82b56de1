// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/probes/nccl/nccl_group.hpp>

#include <string>
#include <thread>

namespace headroom::probes {
namespace {

std::string name_of_device(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  return &properties.name[0];
}

}  // namespace

NcclGroup::NcclGroup(const Nccl& nccl, int first, int visible, int ranks) : nccl_{&nccl} {
  for (int rank = 0; rank < ranks; ++rank) {
    devices_.push_back((first + rank) % visible);
  }
  for (const int device : devices_) {
    const OnDevice scope{device};
    streams_.push_back(std::make_unique<Stream>());
  }
  comms_.assign(devices_.size(), nullptr);
  nccl_->check(nccl_->comm_init_all(comms_.data(), ranks, devices_.data()), "ncclCommInitAll");
}

NcclGroup::~NcclGroup() {
  for (ncclComm_t comm : comms_) {
    if (comm != nullptr) {
      nccl_->comm_destroy(comm);
    }
  }
}

void NcclGroup::abort() noexcept {
  failed_ = true;
  for (ncclComm_t& comm : comms_) {
    if (comm != nullptr) {
      nccl_->comm_abort(comm);
    }
    comm = nullptr;
  }
}

void NcclGroup::wait() {
  for (int rank = 0; rank < ranks(); ++rank) {
    while (true) {
      const cudaError_t status = cudaStreamQuery(stream(rank).get());
      if (status == cudaSuccess) {
        break;
      }
      if (status != cudaErrorNotReady) {
        abort();
        check(status, "cudaStreamQuery");
      }
      for (ncclComm_t comm : comms_) {
        ncclResult_t state = ncclSuccess;
        const ncclResult_t asked = nccl_->async_error(comm, &state);
        if (asked != ncclSuccess || (state != ncclSuccess && state != ncclInProgress)) {
          abort();
          nccl_->check(asked != ncclSuccess ? asked : state, "NCCL");
        }
      }
      std::this_thread::yield();
    }
  }
}

NcclGroup& NcclGroups::of(int first, std::int64_t ranks) {
  std::string why;
  nccl_ = find_nccl(why);
  if (nccl_ == nullptr) {
    throw Refused{"no NCCL: " + why};
  }
  int visible = 0;
  check(cudaGetDeviceCount(&visible), "cudaGetDeviceCount");
  if (visible < 2) {
    throw Refused{"collectives need two GPUs or more; this process sees one"};
  }
  if (ranks < 2 || ranks > visible) {
    throw Refused{std::to_string(ranks) + " ranks do not fit the " + std::to_string(visible) +
                  " GPUs that this process sees"};
  }
  std::unique_ptr<NcclGroup>& group = groups_[ranks];
  if (group != nullptr && group->failed()) {
    group.reset();
  }
  if (group == nullptr) {
    const std::string kind = name_of_device(first);
    for (int rank = 1; rank < ranks; ++rank) {
      const int device = (first + rank) % visible;
      if (const std::string other = name_of_device(device); other != kind) {
        throw Refused{"GPU " + std::to_string(device) + " is " + other + ", GPU " + std::to_string(first) + " " + kind +
                      ": one curve cannot hold both; choose with CUDA_VISIBLE_DEVICES"};
      }
    }
    group = std::make_unique<NcclGroup>(*nccl_, first, visible, static_cast<int>(ranks));
  }
  return *group;
}

}  // namespace headroom::probes
