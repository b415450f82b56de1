// SPDX-License-Identifier: Apache-2.0
// One opened device and the families of probes that run on it.
#pragma once

#include <headroom/calibrate/probe/probes_abi.hpp>
#include <headroom/calibrate/probes/cuda_handles.hpp>

#include <cublasLt.h>

#include <memory>
#include <string>

namespace headroom::probes {

class NcclGroups;

/// cuBLAS recommends 32 MiB on Hopper and later; less on others, where more does no harm.
inline constexpr std::int64_t workspace_bytes = std::int64_t{32} << 20;

inline void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw Refused{std::string{call} + ": " + cublasLtGetStatusString(status)};
  }
}

class LtHandle {
 public:
  LtHandle() { check(cublasLtCreate(&handle_), "cublasLtCreate"); }
  LtHandle(const LtHandle&) = delete;
  LtHandle& operator=(const LtHandle&) = delete;
  LtHandle(LtHandle&&) = delete;
  LtHandle& operator=(LtHandle&&) = delete;
  ~LtHandle() { cublasLtDestroy(handle_); }
  [[nodiscard]] cublasLtHandle_t get() const noexcept { return handle_; }

 private:
  cublasLtHandle_t handle_ = nullptr;
};

struct Session {
  int device = 0;
  Stream stream;
  LtHandle lt;
  DeviceMemory workspace{workspace_bytes};
  bool warm = false;
  std::shared_ptr<NcclGroups> nccl;  ///< made by the first collective
};

/// Copies for some 0.3 s: an idle device needs part of that to raise its clocks.
void warm_up(const Session& session);

/// Each throws Refused when the request cannot be done on this device.
[[nodiscard]] Result measure_gemm(const Session& session, const Request& request);
[[nodiscard]] Result measure_copy(const Session& session, const Request& request);
[[nodiscard]] Result measure_launch(const Session& session, const Request& request);
[[nodiscard]] Result measure_pass(const Session& session, const Request& request);
[[nodiscard]] Result measure_transfer(const Session& session, const Request& request);
[[nodiscard]] Result measure_decode(const Session& session, const Request& request);
[[nodiscard]] Result measure_attention(const Session& session, const Request& request);
[[nodiscard]] Result measure_collective(Session& session, const Request& request);

/// "2.28.9"; empty where there is no NCCL, or this library was built without.
[[nodiscard]] std::string nccl_version();

}  // namespace headroom::probes
