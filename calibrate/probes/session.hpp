// SPDX-License-Identifier: Apache-2.0
// An open device, and the families of probes that run on it.
#pragma once

#include <headroom/calibrate/probe/probes_abi.hpp>
#include <headroom/calibrate/probes/cuda_handles.hpp>

#include <cublasLt.h>

#include <memory>
#include <string>

namespace headroom::probes {

class NcclGroups;

/// Workspace of cuBLAS: 32 MiB as recommended for Hopper and later; other devices need less.
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
  std::shared_ptr<NcclGroups> nccl;  ///< created by the first collective
};

/// Copies for about 0.3 s, because an idle device takes part of that to raise its clocks.
void warm_up(const Session& session);

/// Measure a request. Each throws Refused when this device cannot do it.
[[nodiscard]] Result measure_gemm(const Session& session, const Request& request);
[[nodiscard]] Result measure_copy(const Session& session, const Request& request);
[[nodiscard]] Result measure_launch(const Session& session, const Request& request);
[[nodiscard]] Result measure_pass(const Session& session, const Request& request);
[[nodiscard]] Result measure_unit(const Session& session, const Request& request);
[[nodiscard]] Result measure_transfer(const Session& session, const Request& request);
[[nodiscard]] Result measure_decode(const Session& session, const Request& request);
[[nodiscard]] Result measure_attention(const Session& session, const Request& request);
[[nodiscard]] Result measure_sequence(const Session& session, const Request& request);
[[nodiscard]] Result measure_collective(Session& session, const Request& request);

/// Version such as "2.28.9"; empty without NCCL, or when built without it.
[[nodiscard]] std::string nccl_version();

}  // namespace headroom::probes
