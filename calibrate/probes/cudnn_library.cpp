// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/probes/cudnn_library.hpp>

#include <dlfcn.h>

#include <array>
#include <string>

namespace headroom::probes {

#ifdef HEADROOM_HAVE_CUDNN

namespace {

constexpr const char* library_name = "libcudnn.so.9";

template <class Function>
void load(void* library, const char* name, Function& function) {
  // POSIX guarantees this conversion.
  function = reinterpret_cast<Function>(dlsym(library, name));  // NOLINT(*-reinterpret-cast)
  if (function == nullptr) {
    throw Refused{std::string{library_name} + " lacks " + name};
  }
}

/// Opens the library by the loader's path, else in the usual folders of a CUDA toolkit. Never closed, because it keeps
/// threads.
Cudnn opened() {
  void* library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  for (const char* folder : {"/usr/local/cuda/lib64/", "/usr/local/cuda/lib/"}) {
    library =
        library == nullptr ? dlopen((std::string{folder} + library_name).c_str(), RTLD_NOW | RTLD_LOCAL) : library;
  }
  if (library == nullptr) {
    throw Refused{std::string{"cuDNN 9 cannot be opened ("} + library_name +
                  "); install it, or name its folder in LD_LIBRARY_PATH"};
  }
  Cudnn calls;
  load(library, "cudnnGetVersion", calls.version);
  load(library, "cudnnGetErrorString", calls.error_string);
  load(library, "cudnnGetLastErrorString", calls.last_error);
  load(library, "cudnnCreate", calls.create);
  load(library, "cudnnDestroy", calls.destroy);
  load(library, "cudnnSetStream", calls.set_stream);
  load(library, "cudnnBackendCreateDescriptor", calls.create_descriptor);
  load(library, "cudnnBackendDestroyDescriptor", calls.destroy_descriptor);
  load(library, "cudnnBackendSetAttribute", calls.set_attribute);
  load(library, "cudnnBackendGetAttribute", calls.get_attribute);
  load(library, "cudnnBackendFinalize", calls.finalize);
  load(library, "cudnnBackendExecute", calls.execute);
  return calls;
}

}  // namespace

const Cudnn& cudnn() {
  static const Cudnn calls = opened();  // after an exception the next call tries again
  return calls;
}

std::string cudnn_text() {
  constexpr std::size_t major = 10000;
  constexpr std::size_t minor = 100;
  try {
    const std::size_t version = cudnn().version();
    return std::to_string(version / major) + "." + std::to_string(version / minor % minor) + "." +
           std::to_string(version % minor);
  } catch (const Refused&) {
    return {};
  }
}

void check_cudnn(cudnnStatus_t status, const char* call) {
  if (status == CUDNN_STATUS_SUCCESS) {
    return;
  }
  std::array<char, 512> why{};
  cudnn().last_error(why.data(), why.size());
  const std::string more{why.data()};
  throw Refused{std::string{"cuDNN: "} + call + ": " + cudnn().error_string(status) +
                (more.empty() ? "" : " (" + more + ")")};
}

Descriptor::Descriptor(cudnnBackendDescriptorType_t type) {
  check_cudnn(cudnn().create_descriptor(type, &made_), "cudnnBackendCreateDescriptor");
}

Descriptor::~Descriptor() {
  if (made_ != nullptr) {
    cudnn().destroy_descriptor(made_);
  }
}

void Descriptor::set(cudnnBackendAttributeName_t name,
                     cudnnBackendAttributeType_t type,
                     std::int64_t count,
                     const void* values) {
  check_cudnn(cudnn().set_attribute(made_, name, type, count, values), "cudnnBackendSetAttribute");
}

void Descriptor::link(cudnnBackendAttributeName_t name, const Descriptor& other) {
  const cudnnBackendDescriptor_t descriptor = other.get();
  set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, descriptor);
}

void Descriptor::finalize(const char* what) {
  check_cudnn(cudnn().finalize(made_), what);
}

#else

std::string cudnn_text() {
  return {};
}

#endif

}  // namespace headroom::probes
