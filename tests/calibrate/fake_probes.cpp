// SPDX-License-Identifier: Apache-2.0
// A probe library and a driver of a device that does not exist, behind the same C borders as the real ones. Times
// follow a formula, so that tests know them. FAKE_PROBES chooses a fault: "abi", "none", "open", "refuse",
// "lost", "driver" (too old), "busy", "mig", "node" (four GPUs).
#include <headroom/calibrate/probe/probes_abi.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

namespace probes = headroom::probes;
using probes::Status;

struct headroom::probes::Session {
  int measured = 0;
};

namespace {

bool fault(const char* name) {
  const char* wanted = std::getenv("FAKE_PROBES");
  return wanted != nullptr && std::strcmp(wanted, name) == 0;
}

template <class Text>
void put(Text& to, const char* text) {
  std::strcpy(to.data(), text);
}

Status count(std::int32_t* devices, probes::Text* why) {
  *devices = fault("none") ? 0 : 1;
  put(why->text, fault("none") ? "no CUDA-capable device is detected" : "");
  return fault("none") ? Status::failed : Status::ok;
}

Status open(std::int32_t /*device*/, probes::Session** session, probes::Facts* facts, probes::Text* why) {
  if (fault("open")) {
    put(why->text, "this build's kernels: no kernel image is available");
    return Status::failed;
  }
  *session = new probes::Session{};
  put(facts->name, fault("unknown") ? "Imaginary 3000" : "NVIDIA H200");
  put(facts->pci_bus_id, "0000:01:00.0");
  put(facts->cuda_driver, fault("driver") ? "11.4" : "13.0");
  put(facts->cuda_runtime, "13.0");
  put(facts->cublaslt, "13.1.0");
  put(facts->cudnn, fault("nocudnn") ? "" : "9.19.0");
  facts->peers = fault("pair") ? 1 : 0;
  facts->capability = fault("ampere") ? 80 : 90;
  facts->sms = 132;
  facts->l2_bytes = 50 << 20;
  facts->memory_bytes = std::int64_t{140} << 30;
  facts->free_bytes = std::int64_t{139} << 30;
  facts->devices = fault("node") ? 4 : 1;
  put(facts->nccl, fault("node") ? "2.28.9" : "");
  return Status::ok;
}

/// GEMM: 2 us + flops / 700 TFLOP/s; copies: 2 us + bytes / 4 TB/s; launches: 2 us; collectives: 2 us a rank + bytes /
/// 200 GB/s; sequences: their parts. Attention, decode, passes, transfers and units: 2 us + a sum of all that their
/// requests tell, so that nothing of it can be lost on the way.
double seconds_of(const probes::Request& r) {
  constexpr double floor = 2e-6;
  if (r.kind == probes::Kind::gemm) {
    return floor + 2.0 * static_cast<double>(r.m * r.n * r.k) / 700e12;
  }
  if (r.kind == probes::Kind::copy) {
    return floor + static_cast<double>(r.array_bytes) * (r.variant == 2 ? 3.0 : 2.0) / 4e12;
  }
  if (r.kind == probes::Kind::collective) {
    return floor * static_cast<double>(r.ranks) + static_cast<double>(r.array_bytes) / 200e9;
  }
  if (r.kind == probes::Kind::launch) {
    return floor;
  }
  if (r.kind == probes::Kind::sequence) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < r.parts_count; ++i) {
      sum += static_cast<double>(r.parts[i].count) * seconds_of(r.parts[i]);
    }
    return sum;
  }
  const std::int64_t told = r.variant + 10 * r.batch + 100 * r.tokens + 1000 * r.heads + 10000 * r.kv_heads +
                            100000 * r.head_dim + 3 * r.causal + 7 * r.width + r.array_bytes + 13 * r.copies +
                            1000000000 * static_cast<std::int64_t>(r.kind) +
                            (r.kind == probes::Kind::unit ? 11 * r.count : 0);
  return floor + static_cast<double>(told) * 1e-12;
}

Status measure(probes::Session* session, const probes::Request* r, probes::Result* result, probes::Text* why) {
  ++session->measured;
  if (fault("lost") && session->measured > 3) {
    put(why->text, "unspecified launch failure");
    return Status::failed;
  }
  if (fault("refuse") && r->kind == probes::Kind::gemm && r->m == 1) {
    put(why->text, "cuBLASLt proposes no algorithm for this shape and type");
    return Status::refused;
  }
  const double seconds = seconds_of(*r);
  *result = {};
  result->latency_seconds = seconds;
  result->fastest_seconds = 0.99 * seconds;
  result->slowest_seconds = 1.02 * seconds;
  result->spans = r->repeats;
  result->launches = std::max<std::int64_t>(r->copies, r->count);
  result->algorithms = r->kind == probes::Kind::gemm ? 7 : 0;
  result->predicted_seconds = r->kind == probes::Kind::collective ? 0.8 * seconds : 0.0;
  result->told = std::min(r->repeats, probes::most_told);
  std::fill_n(result->told_seconds.begin(), result->told, seconds);
  if (r->sustained_seconds > 0.0) {
    result->first_seconds = 0.9 * seconds;
    result->lasted_seconds = r->sustained_seconds;
  }
  return Status::ok;
}

void close(probes::Session* session) {
  delete session;
}

constexpr probes::Table table{probes::abi_version, count, open, measure, close};

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED const probes::Table* headroom_probes_table(std::uint32_t version, std::uint32_t* own) {
  *own = fault("abi") ? probes::abi_version + 1 : probes::abi_version;
  return version == *own ? &table : nullptr;
}

// The driver's side, with the prototypes of NVML's reference.
EXPORTED int nvmlInit_v2() {
  return 0;
}
EXPORTED int nvmlShutdown() {
  return 0;
}
EXPORTED const char* nvmlErrorString(int code) {
  return code == 6 ? "Not Found" : "Unknown Error";
}
EXPORTED int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::strncpy(text, "580.82.07", size);
  return 0;
}
EXPORTED int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** device) {
  static int only = 0;
  *device = &only;
  return std::string{bus} == "0000:01:00.0" ? 0 : 6;
}
EXPORTED int nvmlDeviceGetClockInfo(void* /*device*/, int which, unsigned* mhz) {
  *mhz = which == 1 ? 1755 : 3201;
  return which == 1 || which == 2 ? 0 : 2;
}
EXPORTED int nvmlDeviceGetMaxClockInfo(void* /*device*/, int which, unsigned* mhz) {
  *mhz = which == 1 ? 1980 : 3201;
  return 0;
}
EXPORTED int nvmlDeviceGetPowerUsage(void* /*device*/, unsigned* milliwatts) {
  *milliwatts = 412'345;
  return 0;
}
EXPORTED int nvmlDeviceGetEnforcedPowerLimit(void* /*device*/, unsigned* milliwatts) {
  *milliwatts = 700'000;
  return 0;
}
// No nvmlDeviceGetPowerManagementDefaultLimit: a driver may lack a call.
EXPORTED int nvmlDeviceGetTemperature(void* /*device*/, int /*sensor*/, unsigned* celsius) {
  *celsius = 41;
  return 0;
}
// Only the older name, as drivers before 535 have it.
EXPORTED int nvmlDeviceGetCurrentClocksThrottleReasons(void* /*device*/, unsigned long long* reasons) {
  *reasons = 0x4 | 0x1000;
  return 0;
}
EXPORTED int nvmlDeviceGetUtilizationRates(void* /*device*/, unsigned* gpu_and_memory) {
  gpu_and_memory[0] = 3;
  gpu_and_memory[1] = 1;
  return 0;
}
EXPORTED int nvmlDeviceGetCurrPcieLinkGeneration(void* /*device*/, unsigned* generation) {
  *generation = 5;
  return 0;
}
EXPORTED int nvmlDeviceGetCurrPcieLinkWidth(void* /*device*/, unsigned* width) {
  *width = 16;
  return 0;
}
EXPORTED int nvmlDeviceGetEccMode(void* /*device*/, int* current, int* pending) {
  *current = *pending = 1;
  return 0;
}
EXPORTED int nvmlDeviceGetMigMode(void* /*device*/, unsigned* current, unsigned* pending) {
  *current = *pending = 1;
  return fault("mig") ? 0 : 3;  // not supported
}
EXPORTED int nvmlDeviceGetUUID(void* /*device*/, char* text, unsigned size) {
  std::strncpy(text, "GPU-00000000-1111-2222-3333-444444444444", size);
  return 0;
}
EXPORTED int nvmlDeviceGetBoardPartNumber(void* /*device*/, char* text, unsigned size) {
  std::strncpy(text, "692-2G520-0200-000", size);
  return 0;
}
/// This process, and another one when asked.
EXPORTED int nvmlDeviceGetComputeRunningProcesses_v3(void* /*device*/, unsigned* count, void* processes) {
  struct Process {
    unsigned id;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
  };
  auto* all = static_cast<Process*>(processes);
  all[0] = {static_cast<unsigned>(getpid()), 1ULL << 29, ~0U, ~0U};
  all[1] = {4711, 12ULL << 30, ~0U, ~0U};
  *count = fault("busy") ? 2 : 1;
  return 0;
}
EXPORTED int nvmlSystemGetProcessName(unsigned id, char* text, unsigned size) {
  std::strncpy(text, id == 4711 ? "/usr/bin/python3" : "headroom", size);
  return 0;
}
