// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/probe/probe_library.hpp>
#include <headroom/calibrate/probe/probed_layer.hpp>
#include <headroom/calibrate/probe/probes_abi.hpp>
#include <headroom/core/diagnostic.hpp>

#include <dlfcn.h>
#include <sys/auxv.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>

namespace headroom {
namespace {

/// Folder of the running program; empty when unknown.
std::filesystem::path program_folder() {
  std::error_code status;
  std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", status);
  if (status) {  // without /proc, the kernel's auxiliary vector has the program's path
    const auto* named = reinterpret_cast<const char*>(getauxval(AT_EXECFN));  // NOLINT(*-reinterpret-cast,*-int-to-ptr)
    program = named == nullptr ? std::filesystem::path{} : std::filesystem::canonical(named, status);
  }
  return program.is_absolute() ? program.parent_path() : std::filesystem::path{};
}

/// Where a library may lie: next to the program, or as installed.
std::array<std::filesystem::path, 2> places_of(std::string_view library) {
  const std::filesystem::path folder = program_folder();
  return {folder / library, (folder / HEADROOM_LIBRARIES_FROM_PROGRAMS / library).lexically_normal()};
}

std::string library_path() {
  if (const std::optional<std::string> named = library_of("HEADROOM_PROBES_LIBRARY")) {
    return *named;
  }
  constexpr std::string_view name = "libheadroom_probes.so";
  const std::optional<std::string> found = beside_program(name);
  if (!found) {
    const auto places = places_of(name);
    throw DeviceError{"the probe library is neither " + quoted(places[0].string()) + " nor " +
                      quoted(places[1].string()) + "; it is built where a CUDA toolkit is found (see docs/probes.md)"};
  }
  return *found;
}

/// Opens the library and never closes it, because CUDA keeps threads and exit handlers in it.
const probes::Table& open_table() {
  const std::string name = library_path();
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    throw DeviceError{"the probe library cannot be opened: " + std::string{why == nullptr ? name.c_str() : why} +
                      "; it is built where a CUDA toolkit is found (see docs/probes.md)"};
  }
  // POSIX guarantees this conversion.
  const auto entry = reinterpret_cast<probes::Entry>(dlsym(library, probes::entry_name));  // NOLINT(*-reinterpret-cast)
  if (entry == nullptr) {
    throw DeviceError{name + " is no probe library: it has no symbol " + probes::entry_name};
  }
  std::uint32_t own = 0;
  const probes::Table* table = entry(probes::abi_version, &own);
  if (table == nullptr || table->version != probes::abi_version) {
    throw DeviceError{name + " speaks version " + std::to_string(own) + " of the probe interface, this headroom " +
                      std::to_string(probes::abi_version) + "; build and install both together"};
  }
  return *table;
}

probes::Request request_of(const ProbeEffort& effort) {
  probes::Request request{};
  request.repeats = effort.repeats;
  request.algorithms = effort.algorithms;
  request.span_seconds = effort.span.raw();
  return request;
}

struct Fill {
  probes::Request* request;
  std::vector<probes::Request>* parts;  ///< of a sequence; they live as long as the request

  void operator()(const GemmProbe& p) const {
    request->kind = probes::Kind::gemm;
    request->variant = static_cast<std::int32_t>(p.type);
    request->m = p.m;
    request->n = p.n;
    request->k = p.k;
    request->copies = p.copies;
    request->sustained_seconds = p.sustained.raw();
  }
  void operator()(const CopyProbe& p) const {
    request->kind = probes::Kind::copy;
    request->variant = static_cast<std::int32_t>(p.op);
    request->array_bytes = p.array_bytes;
    request->copies = p.copies;
  }
  void operator()(const LaunchProbe& p) const {
    request->kind = probes::Kind::launch;
    request->variant = static_cast<std::int32_t>(p.op);
    request->count = p.count;
  }
  void operator()(const AttentionProbe& p) const {
    request->kind = probes::Kind::attention;
    request->variant = p.backward ? 1 : 0;
    request->batch = p.batch;
    request->tokens = p.tokens;
    request->heads = p.heads;
    request->kv_heads = p.kv_heads;
    request->head_dim = p.head_dim;
    request->causal = p.causal ? 1 : 0;
    request->copies = p.copies;
  }
  void operator()(const DecodeProbe& p) const {
    request->kind = probes::Kind::decode;
    request->batch = p.batch;
    request->tokens = p.context;
    request->heads = p.heads;
    request->kv_heads = p.kv_heads;
    request->head_dim = p.head_dim;
    request->copies = p.copies;
  }
  void operator()(const PassProbe& p) const {
    request->kind = probes::Kind::pass;
    request->variant = static_cast<std::int32_t>(p.op);
    request->array_bytes = p.array_bytes;
    request->width = p.width;
    request->copies = p.copies;
  }
  void operator()(const TransferProbe& p) const {
    request->kind = probes::Kind::transfer;
    request->variant = static_cast<std::int32_t>(p.op);
    request->array_bytes = p.bytes;
    request->copies = p.copies;
  }
  void operator()(const UnitProbe& p) const {
    request->kind = probes::Kind::unit;
    request->variant = static_cast<std::int32_t>(p.op);
    request->width = p.width;
    request->count = p.count;
    request->copies = p.copies;
  }
  void operator()(const CollectiveProbe& p) const {
    request->kind = probes::Kind::collective;
    request->variant = static_cast<std::int32_t>(p.collective);
    request->ranks = p.ranks;
    request->array_bytes = p.bytes;
  }
  void operator()(const LayerProbe& p) const {
    request->kind = probes::Kind::sequence;
    request->variant = static_cast<std::int32_t>(p.op);
    for (const ProbedKernel& kernel : kernels_of(p)) {
      probes::Request part = *request;
      std::visit(Fill{&part, nullptr}, kernel.probe);
      part.count = kernel.count;
      parts->push_back(part);
    }
    request->parts = parts->data();
    request->parts_count = static_cast<std::int64_t>(parts->size());
  }
};

class LibraryProber final : public Prober {
 public:
  LibraryProber(const probes::Table& table, std::int64_t device) : table_{&table} {
    probes::Text why{};
    std::int32_t devices = 0;
    if (table.count(&devices, &why) != probes::Status::ok) {
      throw DeviceError{std::string{"no CUDA device: "} + why.text.data()};
    }
    if (device >= devices) {
      throw DeviceError{"no CUDA device " + std::to_string(device) + "; this process sees " + std::to_string(devices)};
    }
    probes::Facts facts{};
    if (table.open(static_cast<std::int32_t>(device), &session_, &facts, &why) != probes::Status::ok) {
      throw DeviceError{"device " + std::to_string(device) + " cannot be used: " + why.text.data()};
    }
    device_ = {facts.name.data(),
               facts.capability,
               facts.sms,
               Bytes{static_cast<double>(facts.l2_bytes)},
               Bytes{static_cast<double>(facts.memory_bytes)},
               Bytes{static_cast<double>(facts.free_bytes)},
               facts.cuda_driver.data(),
               facts.cuda_runtime.data(),
               facts.cublaslt.data(),
               facts.pci_bus_id.data(),
               facts.cudnn.data(),
               facts.peers,
               std::max<std::int64_t>(facts.devices, 1),
               facts.nccl.data()};
  }
  LibraryProber(const LibraryProber&) = delete;
  LibraryProber& operator=(const LibraryProber&) = delete;
  LibraryProber(LibraryProber&&) = delete;
  LibraryProber& operator=(LibraryProber&&) = delete;
  ~LibraryProber() override { table_->close(session_); }

  [[nodiscard]] const ProbeDevice& device() const noexcept override { return device_; }

  Measurement measure(const Probe& probe, const ProbeEffort& effort) override {
    probes::Request request = request_of(effort);
    std::vector<probes::Request> parts;
    std::visit(Fill{&request, &parts}, probe);
    probes::Result result{};
    probes::Text why{};
    const probes::Status status = table_->measure(session_, &request, &result, &why);
    if (status == probes::Status::failed) {
      throw DeviceError{"the device failed at " + name_of(probe) + ": " + why.text.data()};
    }
    if (status != probes::Status::ok) {
      return Skipped{name_of(probe), why.text.data()};
    }
    if (!std::isfinite(result.latency_seconds) || result.latency_seconds <= 0.0) {
      return Skipped{name_of(probe), "the timer gave no positive time"};
    }
    Sample sample;
    sample.probe = probe;
    sample.latency = Seconds{result.latency_seconds};
    sample.fastest = Seconds{result.fastest_seconds};
    sample.slowest = Seconds{result.slowest_seconds};
    sample.spans = result.spans;
    sample.launches = result.launches;
    sample.algorithms = result.algorithms;
    sample.first = Seconds{result.first_seconds};
    sample.lasted = Seconds{result.lasted_seconds};
    sample.predicted = Seconds{std::max(result.predicted_seconds, 0.0)};
    for (std::int64_t i = 0; i < std::min(result.told, probes::most_told); ++i) {
      sample.told.emplace_back(result.told_seconds[static_cast<std::size_t>(i)]);
    }
    return sample;
  }

 private:
  const probes::Table* table_;
  probes::Session* session_ = nullptr;
  ProbeDevice device_;
};

}  // namespace

std::optional<std::string> library_of(const char* variable) {
  const char* named = std::getenv(variable);
  if (named == nullptr || *named == '\0') {
    return std::nullopt;
  }
  if (*named != '/') {
    throw ConfigError{std::string{variable} + " is " + quoted(std::string_view{named}) +
                      "; it must be the whole path of a library, from '/' on: what a shorter one names depends on the "
                      "folder headroom is called from"};
  }
  return named;
}

std::optional<std::string> beside_program(std::string_view library) {
  const auto places = places_of(library);
  const auto* const found = std::find_if(places.begin(), places.end(), [](const std::filesystem::path& place) {
    std::error_code status;
    return place.is_absolute() && std::filesystem::is_regular_file(place, status);
  });
  return found == places.end() ? std::nullopt : std::optional{found->string()};
}

std::unique_ptr<Prober> open_prober(std::int64_t device) {
  return std::make_unique<LibraryProber>(open_table(), device);
}

}  // namespace headroom
