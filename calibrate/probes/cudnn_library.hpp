// SPDX-License-Identifier: Apache-2.0
// cuDNN's backend API, opened at run time; the other probes work without it.
#pragma once

#include <headroom/calibrate/probes/cuda_handles.hpp>

#ifdef HEADROOM_HAVE_CUDNN
#include <cudnn.h>
#endif

#include <string>

namespace headroom::probes {

/// Version such as "9.19.0"; empty without cuDNN or when built without its headers.
[[nodiscard]] std::string cudnn_text();

#ifdef HEADROOM_HAVE_CUDNN

/// The calls in use.
struct Cudnn {
  decltype(&cudnnGetVersion) version = nullptr;
  decltype(&cudnnGetErrorString) error_string = nullptr;
  decltype(&cudnnGetLastErrorString) last_error = nullptr;
  decltype(&cudnnCreate) create = nullptr;
  decltype(&cudnnDestroy) destroy = nullptr;
  decltype(&cudnnSetStream) set_stream = nullptr;
  decltype(&cudnnBackendCreateDescriptor) create_descriptor = nullptr;
  decltype(&cudnnBackendDestroyDescriptor) destroy_descriptor = nullptr;
  decltype(&cudnnBackendSetAttribute) set_attribute = nullptr;
  decltype(&cudnnBackendGetAttribute) get_attribute = nullptr;
  decltype(&cudnnBackendFinalize) finalize = nullptr;
  decltype(&cudnnBackendExecute) execute = nullptr;
};

/// Throws Refused when libcudnn.so.9 cannot be opened or lacks a call.
[[nodiscard]] const Cudnn& cudnn();

/// Throws Refused with cuDNN's message when `status` is not success.
void check_cudnn(cudnnStatus_t status, const char* call);

/// A descriptor of the backend, used after set and finalize.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(cudnnBackendDescriptorType_t type);
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : made_{std::exchange(other.made_, nullptr)} {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(made_, other.made_);
    return *this;
  }
  ~Descriptor();

  [[nodiscard]] cudnnBackendDescriptor_t get() const noexcept { return made_; }
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count, const void* values);
  template <class T>
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const T& value) {
    set(name, type, 1, static_cast<const void*>(&value));
  }
  void link(cudnnBackendAttributeName_t name, const Descriptor& other);
  void finalize(const char* what);

 private:
  cudnnBackendDescriptor_t made_ = nullptr;
};

#endif

}  // namespace headroom::probes
