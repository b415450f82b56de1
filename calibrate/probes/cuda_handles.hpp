// SPDX-License-Identifier: Apache-2.0
// CUDA resources that free themselves, and calls that throw. For libheadroom_probes.so only; C++17 because of nvcc.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace headroom::probes {

/// A request that this device or library refuses; other requests may work.
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline void check(cudaError_t status, const char* call) {
  if (status != cudaSuccess) {
    throw Refused{std::string{call} + ": " + cudaGetErrorString(status)};
  }
}

class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(std::int64_t bytes) {
    check(cudaMalloc(&data_, static_cast<std::size_t>(bytes)), "cudaMalloc");
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  DeviceMemory(DeviceMemory&& other) noexcept : data_{std::exchange(other.data_, nullptr)} {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  ~DeviceMemory() { cudaFree(data_); }

  [[nodiscard]] void* at(std::int64_t byte = 0) const noexcept { return static_cast<char*>(data_) + byte; }

 private:
  void* data_ = nullptr;
};

class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  Stream(Stream&&) = delete;
  Stream& operator=(Stream&&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }

  [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }
  void wait() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  Event(Event&& other) noexcept : event_{std::exchange(other.event_, nullptr)} {}
  Event& operator=(Event&&) = delete;
  ~Event() {
    if (event_ != nullptr) {
      cudaEventDestroy(event_);
    }
  }

  void record(const Stream& stream) const { check(cudaEventRecord(event_, stream.get()), "cudaEventRecord"); }
  [[nodiscard]] cudaEvent_t get() const noexcept { return event_; }
  void wait() const { check(cudaEventSynchronize(event_), "cudaEventSynchronize"); }
  /// Seconds from `earlier` to this event; both must have happened.
  [[nodiscard]] double since(const Event& earlier) const {
    float milliseconds = 0.0F;
    check(cudaEventElapsedTime(&milliseconds, earlier.event_, event_), "cudaEventElapsedTime");
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace headroom::probes
