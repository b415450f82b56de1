// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/probes/nccl/nccl_library.hpp>

#include <dlfcn.h>

namespace headroom::probes {
namespace {

constexpr const char* file = "libnccl.so.2";

struct Opened {
  Nccl nccl;
  std::string why;  ///< reason why a call is missing; empty: complete
};

/// Loads a call; names of missing calls are collected in `missing`.
template <class Function>
void load(void* library, const char* name, Function& function, std::string& missing) {
  // POSIX guarantees this conversion.
  function = reinterpret_cast<Function>(dlsym(library, name));  // NOLINT(*-reinterpret-cast)
  if (function == nullptr) {
    missing += std::string{missing.empty() ? "" : ", "} + name;
  }
}

std::string version_text(int code) {  // 22809 is 2.28.9
  return std::to_string(code / 10000) + "." + std::to_string(code / 100 % 100) + "." + std::to_string(code % 100);
}

Opened open_nccl() {
  Opened opened;
  void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    opened.why = why == nullptr ? file : why;
    return opened;
  }
  Nccl& n = opened.nccl;
  std::string missing;
  load(library, "ncclGetVersion", n.get_version, missing);
  load(library, "ncclGetErrorString", n.error_string, missing);
  load(library, "ncclCommInitAll", n.comm_init_all, missing);
  load(library, "ncclCommDestroy", n.comm_destroy, missing);
  load(library, "ncclCommAbort", n.comm_abort, missing);
  load(library, "ncclCommGetAsyncError", n.async_error, missing);
  load(library, "ncclGroupStart", n.group_start, missing);
  load(library, "ncclGroupEnd", n.group_end, missing);
  load(library, "ncclAllReduce", n.all_reduce, missing);
  load(library, "ncclAllGather", n.all_gather, missing);
  load(library, "ncclReduceScatter", n.reduce_scatter, missing);
  load(library, "ncclBroadcast", n.broadcast, missing);
  load(library, "ncclReduce", n.reduce, missing);
  load(library, "ncclSend", n.send, missing);
  load(library, "ncclRecv", n.recv, missing);
  std::string optional;
  load(library, "ncclGroupSimulateEnd", n.simulate_end, optional);
  int code = 0;
  if (missing.empty() && n.get_version(&code) != ncclSuccess) {
    missing = "a version";
  }
  opened.why = missing.empty() ? "" : std::string{file} + " lacks " + missing;
  n.version = version_text(code);
  return opened;
}

}  // namespace

const Nccl* find_nccl(std::string& why) {
  static const Opened opened = open_nccl();
  why = opened.why;
  return opened.why.empty() ? &opened.nccl : nullptr;
}

}  // namespace headroom::probes
