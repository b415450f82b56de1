// SPDX-License-Identifier: Apache-2.0
// C interface of libheadroom_probes.so; no exception leaves it.
#include <headroom/calibrate/probes/cudnn_library.hpp>
#include <headroom/calibrate/probes/kernels.hpp>
#include <headroom/calibrate/probes/peer.hpp>
#include <headroom/calibrate/probes/session.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

namespace headroom::probes {
namespace {

/// Copies a text with a NUL at the end, truncated if too long.
template <std::size_t size>
void put(std::array<char, size>& to, const std::string& text) {
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(to.data(), text.data(), length);
  to[length] = '\0';
}

std::string version_text(int version) {  // 13020 is 13.2
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string cublaslt_text(std::size_t version) {  // 130100 is 13.1.0
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

Status count_devices(std::int32_t* devices, Text* why) noexcept {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  *devices = count;
  if (status != cudaSuccess || count == 0) {
    put(why->text, status == cudaSuccess ? "none is visible" : cudaGetErrorString(status));
    return Status::failed;
  }
  return Status::ok;
}

Facts facts_of(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  Facts facts{};
  put(facts.name, &properties.name[0]);
  std::array<char, 32> bus{};
  check(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), device), "cudaDeviceGetPCIBusId");
  put(facts.pci_bus_id, bus.data());
  int driver = 0;
  int runtime = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  put(facts.cuda_driver, version_text(driver));
  put(facts.cuda_runtime, version_text(runtime));
  put(facts.cublaslt, cublaslt_text(cublasLtGetVersion()));
  facts.capability = (10 * properties.major) + properties.minor;
  facts.sms = properties.multiProcessorCount;
  facts.l2_bytes = properties.l2CacheSize;
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  facts.memory_bytes = static_cast<std::int64_t>(total);
  facts.free_bytes = static_cast<std::int64_t>(free);
  facts.peers = peers_of(device);
  put(facts.cudnn, cudnn_text());
  int devices = 1;
  check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  facts.devices = devices;
  put(facts.nccl, devices > 1 ? nccl_version() : std::string{});  // takes about 80 ms and is of no use to a single GPU
  return facts;
}

Status open_device(std::int32_t device, Session** session, Facts* facts, Text* why) noexcept {
  *session = nullptr;
  try {
    check(cudaSetDevice(device), "cudaSetDevice");
    check(kernels_loadable(), "this build's kernels");
    auto opened = std::make_unique<Session>();
    opened->device = device;
    *facts = facts_of(device);
    *session = opened.release();
    return Status::ok;
  } catch (const std::exception& error) {
    put(why->text, error.what());
  }
  return Status::failed;
}

Result dispatched(Session& session, const Request& request) {
  if (request.repeats <= 0) {
    throw Refused{"repeats must be positive"};
  }
  switch (request.kind) {
    case Kind::gemm: return measure_gemm(session, request);
    case Kind::copy: return measure_copy(session, request);
    case Kind::launch: return measure_launch(session, request);
    case Kind::attention: return measure_attention(session, request);
    case Kind::decode: return measure_decode(session, request);
    case Kind::pass: return measure_pass(session, request);
    case Kind::transfer: return measure_transfer(session, request);
    case Kind::unit: return measure_unit(session, request);
    case Kind::collective: return measure_collective(session, request);
    case Kind::sequence: return measure_sequence(session, request);
  }
  throw Refused{"unknown kind of probe"};
}

Status measure(Session* session, const Request* request, Result* result, Text* why) noexcept {
  try {
    check(cudaSetDevice(session->device), "cudaSetDevice");
    if (!session->warm) {
      warm_up(*session);
      session->warm = true;
    }
    *result = dispatched(*session, *request);
    return Status::ok;
  } catch (const std::exception& error) {
    put(why->text, error.what());
  }
  // Clears an error of one call; an error that corrupted the context returns from every later call.
  cudaGetLastError();
  return cudaDeviceSynchronize() == cudaSuccess ? Status::refused : Status::failed;
}

void close_device(Session* session) noexcept {
  const std::unique_ptr<Session> closed{session};
}

constexpr Table table{abi_version, count_devices, open_device, measure, close_device};

}  // namespace
}  // namespace headroom::probes

extern "C" __attribute__((visibility("default"))) const headroom::probes::Table* headroom_probes_table(
    std::uint32_t version, std::uint32_t* own) {
  *own = headroom::probes::abi_version;
  return version == headroom::probes::abi_version ? &headroom::probes::table : nullptr;
}
