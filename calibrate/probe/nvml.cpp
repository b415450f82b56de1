// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/probe/digest.hpp>
#include <headroom/calibrate/probe/nvml.hpp>

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string_view>

namespace headroom {
namespace {

// The NVML prototypes in use, from its API reference (docs.nvidia.com/deploy/nvml-api), because toolkits do not always
// ship nvml.h. nvmlReturn_t, nvmlClockType_t, nvmlTemperatureSensors_t and nvmlEnableState_t are C enums, passed as
// int.
using NvmlReturn = int;
constexpr NvmlReturn nvml_success = 0;
using NvmlDevice = void*;
constexpr int nvml_clock_sm = 1;
constexpr int nvml_clock_memory = 2;
constexpr int nvml_temperature_gpu = 0;
struct NvmlUtilization {
  unsigned gpu, memory;  // percent of the last sampling period
};

struct NvmlProcess {  // nvmlProcessInfo_t of the calls ending in _v2 and _v3
  unsigned id;
  unsigned long long memory;  // bytes; all bits set: not reported
  unsigned gpu_instance, compute_instance;
};

struct ReasonName {
  std::uint64_t bit;
  std::string_view name;
};
constexpr std::uint64_t gpu_idle = 0x1;
// clang-format off
constexpr std::array reason_names{
    ReasonName{gpu_idle, "gpu_idle"},
    ReasonName{0x2,   "applications_clocks_setting"},
    ReasonName{0x4,   "sw_power_cap"},
    ReasonName{0x8,   "hw_slowdown"},
    ReasonName{0x10,  "sync_boost"},
    ReasonName{0x20,  "sw_thermal_slowdown"},
    ReasonName{0x40,  "hw_thermal_slowdown"},
    ReasonName{0x80,  "hw_power_brake_slowdown"},
    ReasonName{0x100, "display_clock_setting"},
};
// clang-format on

template <class Function>
void load(void* library, const char* name, Function& function) {
  // POSIX guarantees this conversion; a call that the driver lacks stays nullptr.
  function = reinterpret_cast<Function>(dlsym(library, name));  // NOLINT(*-reinterpret-cast)
}

constexpr double mega = 1e6;
constexpr double milli = 1e-3;

}  // namespace

struct Nvml::Calls {
  void* library = nullptr;
  bool begun = false;
  NvmlDevice device = nullptr;

  NvmlReturn (*init)() = nullptr;
  NvmlReturn (*shutdown)() = nullptr;
  const char* (*error_string)(NvmlReturn) = nullptr;
  NvmlReturn (*driver_version)(char*, unsigned) = nullptr;
  NvmlReturn (*handle_by_bus_id)(const char*, NvmlDevice*) = nullptr;
  NvmlReturn (*clock)(NvmlDevice, int, unsigned*) = nullptr;      // MHz
  NvmlReturn (*max_clock)(NvmlDevice, int, unsigned*) = nullptr;  // MHz
  NvmlReturn (*power)(NvmlDevice, unsigned*) = nullptr;           // mW
  NvmlReturn (*power_limit)(NvmlDevice, unsigned*) = nullptr;     // mW
  NvmlReturn (*power_default)(NvmlDevice, unsigned*) = nullptr;   // mW
  NvmlReturn (*temperature)(NvmlDevice, int, unsigned*) = nullptr;
  NvmlReturn (*reasons)(NvmlDevice, unsigned long long*) = nullptr;
  NvmlReturn (*utilization)(NvmlDevice, NvmlUtilization*) = nullptr;
  NvmlReturn (*link_generation)(NvmlDevice, unsigned*) = nullptr;
  NvmlReturn (*link_width)(NvmlDevice, unsigned*) = nullptr;
  NvmlReturn (*ecc_mode)(NvmlDevice, int*, int*) = nullptr;
  NvmlReturn (*mig_mode)(NvmlDevice, unsigned*, unsigned*) = nullptr;
  NvmlReturn (*uuid)(NvmlDevice, char*, unsigned) = nullptr;
  NvmlReturn (*board_part)(NvmlDevice, char*, unsigned) = nullptr;
  NvmlReturn (*vbios)(NvmlDevice, char*, unsigned) = nullptr;
  NvmlReturn (*processes)(NvmlDevice, unsigned*, NvmlProcess*) = nullptr;
  NvmlReturn (*process_name)(unsigned, char*, unsigned) = nullptr;

  Calls() = default;
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;
  Calls(Calls&&) = delete;
  Calls& operator=(Calls&&) = delete;
  ~Calls() {
    if (begun && shutdown != nullptr) {
      shutdown();
    }
    if (library != nullptr) {
      dlclose(library);
    }
  }

  void load_all() {
    load(library, "nvmlInit_v2", init);
    load(library, "nvmlShutdown", shutdown);
    load(library, "nvmlErrorString", error_string);
    load(library, "nvmlSystemGetDriverVersion", driver_version);
    load(library, "nvmlDeviceGetHandleByPciBusId_v2", handle_by_bus_id);
    load(library, "nvmlDeviceGetClockInfo", clock);
    load(library, "nvmlDeviceGetMaxClockInfo", max_clock);
    load(library, "nvmlDeviceGetPowerUsage", power);
    load(library, "nvmlDeviceGetEnforcedPowerLimit", power_limit);
    load(library, "nvmlDeviceGetPowerManagementDefaultLimit", power_default);
    load(library, "nvmlDeviceGetTemperature", temperature);
    load(library, "nvmlDeviceGetCurrentClocksEventReasons", reasons);
    if (reasons == nullptr) {  // older name of the call in drivers before 535
      load(library, "nvmlDeviceGetCurrentClocksThrottleReasons", reasons);
    }
    load(library, "nvmlDeviceGetUtilizationRates", utilization);
    load(library, "nvmlDeviceGetCurrPcieLinkGeneration", link_generation);
    load(library, "nvmlDeviceGetCurrPcieLinkWidth", link_width);
    load(library, "nvmlDeviceGetEccMode", ecc_mode);
    load(library, "nvmlDeviceGetMigMode", mig_mode);
    load(library, "nvmlDeviceGetUUID", uuid);
    load(library, "nvmlDeviceGetBoardPartNumber", board_part);
    load(library, "nvmlDeviceGetVbiosVersion", vbios);
    load(library, "nvmlDeviceGetComputeRunningProcesses_v3", processes);
    if (processes == nullptr) {
      load(library, "nvmlDeviceGetComputeRunningProcesses_v2", processes);
    }
    load(library, "nvmlSystemGetProcessName", process_name);
  }

  [[nodiscard]] std::string text(NvmlReturn code) const {
    const char* words = error_string == nullptr ? nullptr : error_string(code);
    return words == nullptr ? "NVML error " + std::to_string(code) : std::string{words};
  }

  /// Value from an NVML call; nullopt when the driver lacks the call or the device does not support it.
  [[nodiscard]] std::optional<double> ask(NvmlReturn (*call)(NvmlDevice, unsigned*)) const {
    unsigned value = 0;
    const bool told = call != nullptr && call(device, &value) == nvml_success;
    return told ? std::optional{static_cast<double>(value)} : std::nullopt;
  }
  [[nodiscard]] std::string ask(NvmlReturn (*call)(NvmlDevice, char*, unsigned)) const {
    std::array<char, 128> value{};
    const bool told =
        call != nullptr && call(device, value.data(), static_cast<unsigned>(value.size() - 1)) == nvml_success;
    return told ? std::string{value.data()} : std::string{};
  }
  [[nodiscard]] std::optional<double> ask(NvmlReturn (*call)(NvmlDevice, int, unsigned*), int which) const {
    unsigned value = 0;
    const bool told = call != nullptr && call(device, which, &value) == nvml_success;
    return told ? std::optional{static_cast<double>(value)} : std::nullopt;
  }

  [[nodiscard]] std::optional<Hertz> clock_of(NvmlReturn (*call)(NvmlDevice, int, unsigned*), int which) const {
    const std::optional<double> mhz = ask(call, which);
    return mhz ? std::optional{Hertz{*mhz * mega}} : std::nullopt;
  }

  [[nodiscard]] std::optional<Watts> watts(NvmlReturn (*call)(NvmlDevice, unsigned*)) const {
    const std::optional<double> milliwatts = ask(call);
    return milliwatts ? std::optional{Watts{*milliwatts * milli}} : std::nullopt;
  }
};

Nvml::Nvml(std::unique_ptr<Calls> calls) : calls_{std::move(calls)} {}
Nvml::~Nvml() = default;

std::unique_ptr<Nvml> Nvml::open(const std::string& pci_bus_id, std::string& why, const std::string& library) {
  auto calls = std::make_unique<Calls>();
  calls->library = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (calls->library == nullptr) {
    why = library + " cannot be opened";
    return nullptr;
  }
  calls->load_all();
  if (calls->init == nullptr || calls->handle_by_bus_id == nullptr) {
    why = library + " lacks nvmlInit_v2 or nvmlDeviceGetHandleByPciBusId_v2";
    return nullptr;
  }
  NvmlReturn code = calls->init();
  if (code != nvml_success) {
    why = "nvmlInit_v2: " + calls->text(code);
    return nullptr;
  }
  calls->begun = true;
  code = calls->handle_by_bus_id(pci_bus_id.c_str(), &calls->device);
  if (code != nvml_success) {
    why = "nvmlDeviceGetHandleByPciBusId_v2: " + calls->text(code);
    return nullptr;
  }
  why.clear();
  return std::unique_ptr<Nvml>{new Nvml{std::move(calls)}};  // NOLINT(*-owning-memory): the constructor is private
}

DeviceReading Nvml::read() const {
  DeviceReading reading;
  reading.sm_clock = calls_->clock_of(calls_->clock, nvml_clock_sm);
  reading.memory_clock = calls_->clock_of(calls_->clock, nvml_clock_memory);
  reading.power = calls_->watts(calls_->power);
  if (const std::optional<double> celsius = calls_->ask(calls_->temperature, nvml_temperature_gpu)) {
    reading.temperature_celsius = static_cast<std::int64_t>(*celsius);
  }
  unsigned long long reasons = 0;
  if (calls_->reasons != nullptr && calls_->reasons(calls_->device, &reasons) == nvml_success) {
    reading.throttle = reasons;
  }
  NvmlUtilization utilization{};
  if (calls_->utilization != nullptr && calls_->utilization(calls_->device, &utilization) == nvml_success) {
    reading.busy_percent = utilization.gpu;
  }
  const auto whole = [this](NvmlReturn (*call)(NvmlDevice, unsigned*)) -> std::optional<std::int64_t> {
    unsigned value = 0;
    const bool told = call != nullptr && call(calls_->device, &value) == nvml_success && value > 0;
    return told ? std::optional<std::int64_t>{value} : std::nullopt;
  };
  reading.pcie_generation = whole(calls_->link_generation);
  reading.pcie_width = whole(calls_->link_width);
  return reading;
}

DeviceSettings Nvml::settings() const {
  DeviceSettings settings;
  std::array<char, 96> driver{};
  if (calls_->driver_version != nullptr &&
      calls_->driver_version(driver.data(), static_cast<unsigned>(driver.size() - 1)) == nvml_success) {
    settings.driver = driver.data();
  }
  settings.sm_clock_max = calls_->clock_of(calls_->max_clock, nvml_clock_sm);
  settings.memory_clock_max = calls_->clock_of(calls_->max_clock, nvml_clock_memory);
  settings.power_limit = calls_->watts(calls_->power_limit);
  settings.power_limit_default = calls_->watts(calls_->power_default);
  int current = 0;
  int pending = 0;
  if (calls_->ecc_mode != nullptr && calls_->ecc_mode(calls_->device, &current, &pending) == nvml_success) {
    settings.ecc = current != 0;
  }
  unsigned mig = 0;
  unsigned mig_pending = 0;
  if (calls_->mig_mode != nullptr && calls_->mig_mode(calls_->device, &mig, &mig_pending) == nvml_success) {
    settings.mig = mig != 0;
  }
  settings.board = calls_->ask(calls_->board_part);
  settings.vbios = calls_->ask(calls_->vbios);
  if (const std::string uuid = calls_->ask(calls_->uuid); !uuid.empty()) {
    settings.mark = digest(uuid).substr(0, 8);
  }
  return settings;
}

std::vector<DeviceProcess> Nvml::others() const {
  std::array<NvmlProcess, 64> found{};
  auto count = static_cast<unsigned>(found.size());
  if (calls_->processes == nullptr || calls_->processes(calls_->device, &count, found.data()) != nvml_success) {
    return {};
  }
  std::vector<DeviceProcess> all;
  bool own = false;
  for (unsigned i = 0; i < count; ++i) {
    if (static_cast<std::int64_t>(found[i].id) == getpid()) {
      own = true;
      continue;
    }
    DeviceProcess process;
    process.id = found[i].id;
    std::array<char, 256> name{};
    if (calls_->process_name != nullptr &&
        calls_->process_name(found[i].id, name.data(), static_cast<unsigned>(name.size() - 1)) == nvml_success) {
      process.name = name.data();
    }
    if (found[i].memory != ~0ULL) {
      process.memory = Bytes{static_cast<double>(found[i].memory)};
    }
    all.push_back(std::move(process));
  }
  // In a container the driver reports process ids of the host, so a single unnamed process is this one.
  if (!own && all.size() == 1 && all.front().name.empty()) {
    all.clear();
  }
  return all;
}

std::vector<std::string> throttle_names(std::uint64_t reasons) {
  std::vector<std::string> names;
  for (const ReasonName& reason : reason_names) {
    if ((reasons & reason.bit) != 0) {
      names.emplace_back(reason.name);
      reasons &= ~reason.bit;
    }
  }
  if (reasons != 0) {
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(reasons));
    names.emplace_back(text.data());
  }
  return names;
}

std::uint64_t slowing(std::uint64_t reasons) noexcept {
  return reasons & ~gpu_idle;
}

}  // namespace headroom
