// SPDX-License-Identifier: Apache-2.0
// NCCL, opened at run time, so that the other probes work without it.
#pragma once

#include <headroom/calibrate/probes/cuda_handles.hpp>

#include <nccl.h>

#include <string>

namespace headroom::probes {

/// The calls in use, with the prototypes of nccl.h.
struct Nccl {
  decltype(&ncclGetVersion) get_version = nullptr;
  decltype(&ncclGetErrorString) error_string = nullptr;
  decltype(&ncclCommInitAll) comm_init_all = nullptr;
  decltype(&ncclCommDestroy) comm_destroy = nullptr;
  decltype(&ncclCommAbort) comm_abort = nullptr;
  decltype(&ncclCommGetAsyncError) async_error = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclAllGather) all_gather = nullptr;
  decltype(&ncclReduceScatter) reduce_scatter = nullptr;
  decltype(&ncclBroadcast) broadcast = nullptr;
  decltype(&ncclReduce) reduce = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) recv = nullptr;
  decltype(&ncclGroupSimulateEnd) simulate_end = nullptr;  ///< since 2.22; else nullptr

  std::string version;  ///< "2.28.9"

  void check(ncclResult_t result, const char* call) const {
    if (result != ncclSuccess) {
      throw Refused{std::string{call} + ": " + error_string(result)};
    }
  }
};

/// The library, opened once; nullptr, with the reason in `why`, when it is not found or lacks a call.
[[nodiscard]] const Nccl* find_nccl(std::string& why);

}  // namespace headroom::probes
