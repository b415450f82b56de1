// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/probe/digest.hpp>
#include <headroom/calibrate/samples/csv_lines.hpp>
#include <headroom/calibrate/samples/manifest.hpp>
#include <headroom/core/config_reader.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/printable.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <ctime>

namespace headroom {
namespace {

/// A TOML basic string on one printable line, the only kind that the reader accepts.
std::string toml_text(std::string_view text) {
  return toml_string(shown(text));
}

/// Shortest digits that read back exactly.
std::string number(double value) {
  std::array<char, 40> text{};
  const auto [end, status] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

std::string in_unit(double value, std::string_view unit) {
  return toml_text(number(value) + " " + std::string{unit});
}

std::string list(const std::vector<std::string>& texts) {
  return "[" + joined(texts, toml_text) + "]";
}

class Writer {
 public:
  void table(std::string_view name) { text_ += "\n[" + std::string{name} + "]\n"; }
  void item(std::string_view name) { text_ += "\n[[" + std::string{name} + "]]\n"; }
  void raw(std::string_view key, const std::string& value) { text_ += std::string{key} + " = " + value + "\n"; }
  void text(std::string_view key, std::string_view value) { raw(key, toml_text(value)); }
  void integer(std::string_view key, std::int64_t value) { raw(key, std::to_string(value)); }
  void boolean(std::string_view key, bool value) { raw(key, value ? "true" : "false"); }

  // What the driver did not report gets no key, because an empty value would look like a measurement.
  void maybe(std::string_view key, const std::string& value) {
    if (!value.empty()) {
      text(key, value);
    }
  }
  void maybe(std::string_view key, std::optional<Hertz> clock) {
    if (clock) {
      raw(key, in_unit(clock->raw() / mega, "MHz"));
    }
  }
  void maybe(std::string_view key, std::optional<Watts> power) {
    if (power) {
      raw(key, in_unit(power->raw(), "W"));
    }
  }
  void maybe(std::string_view key, std::optional<bool> value) {
    if (value) {
      boolean(key, *value);
    }
  }
  void maybe(std::string_view key, std::optional<std::int64_t> value) {
    if (value) {
      integer(key, *value);
    }
  }

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void write_device(Writer& out, const Manifest& manifest) {
  const ProbeDevice& device = manifest.device;
  out.table("device");
  out.text("name", device.name);
  out.maybe("catalog_id", manifest.catalog_id);
  out.maybe("board", manifest.settings.board);
  out.maybe("mark", manifest.settings.mark);
  out.text("compute_capability", std::to_string(device.capability / 10) + "." + std::to_string(device.capability % 10));
  out.integer("sms", device.sms);
  out.raw("l2", in_unit(device.l2.raw(), "B"));
  out.raw("memory", in_unit(device.memory.raw(), "B"));
  out.raw("memory_free_before", in_unit(device.free_memory.raw(), "B"));
  out.integer("group", device.group);
}

void write_software(Writer& out, const Manifest& manifest) {
  out.table("software");
  out.maybe("driver", manifest.settings.driver);
  out.text("cuda_driver", manifest.device.cuda_driver);
  out.text("cuda_runtime", manifest.device.cuda_runtime);
  out.text("cublaslt", manifest.device.cublaslt);
  out.maybe("cudnn", manifest.device.cudnn);
  out.maybe("nccl", manifest.device.nccl);
}

void write_settings(Writer& out, const Manifest& manifest) {
  out.table("settings");
  out.maybe("nvml_missing", manifest.nvml_missing);
  const DeviceSettings& settings = manifest.settings;
  out.maybe("sm_clock_max", settings.sm_clock_max);
  out.maybe("memory_clock_max", settings.memory_clock_max);
  out.maybe("power_limit", settings.power_limit);
  out.maybe("power_limit_default", settings.power_limit_default);
  out.maybe("ecc", settings.ecc);
  out.maybe("mig", settings.mig);
  out.maybe("vbios", settings.vbios);
}

void write_reading(Writer& out, std::string_view name, const DeviceReading& reading) {
  out.table(name);
  out.maybe("sm_clock", reading.sm_clock);
  out.maybe("memory_clock", reading.memory_clock);
  out.maybe("power", reading.power);
  out.maybe("temperature_celsius", reading.temperature_celsius);
  out.maybe("busy_percent", reading.busy_percent);
  if (reading.throttle) {
    out.raw("throttle", list(throttle_names(*reading.throttle)));
  }
}

void write_host(Writer& out, const Manifest& manifest, const ProbeRun& run) {
  if (!manifest.host) {
    return;
  }
  HostReading host = *manifest.host;
  see_link(host, run.before, run.after);
  out.table("host");
  out.integer("cores", host.cores);
  if (host.memory && *host.memory > BytesPerSecond{}) {
    constexpr double giga = 1e9;
    out.raw("memory", in_unit(std::round(10.0 * host.memory->raw() / giga) / 10.0, "GB/s"));
  }
  out.maybe("pcie_generation", host.pcie_generation);
  out.maybe("pcie_width", host.pcie_width);
}

void write_method(Writer& out, const Manifest& manifest) {
  const ProbeEffort& effort = manifest.effort;
  out.table("method");
  if (manifest.precision) {
    out.raw("precision", number(*manifest.precision));
    out.raw("unmet", list(manifest.unmet));
  }
  out.integer("repeats", effort.repeats);
  out.raw("span", in_unit(effort.span.raw(), "s"));
  out.integer("algorithms", effort.algorithms);
  out.raw("workspace", "\"32 MiB\"");
  out.text("latency", "median over repeats of (CUDA events around a span of kernels in a replayed graph) / kernels");
  out.text("data", "normal(0, 1), rounded to the type; fp8 with per-tensor scales of 1 and fast accumulation");
  out.text("rotation", "copies x bytes of weight (of arrays, for copies) > 2 x L2, used in turn");
}

/// "9.0" as 90.
std::int64_t capability_of(const std::string& text) {
  const std::size_t dot = text.find('.');
  const std::optional<std::int64_t> major = integer_of(text.substr(0, dot));
  const std::optional<std::int64_t> minor = dot == std::string::npos ? std::nullopt : integer_of(text.substr(dot + 1));
  return major && minor ? 10 * *major + *minor : 0;
}

/// Accepts the tables with readings, which are for people only.
void skip_readings(ConfigTable& root) {
  for (const std::string_view name : {"before", "after", "sustained", "skipped"}) {
    static_cast<void>(root.value(name));
  }
}

void read_settings(ConfigTable table, DeviceSettings& settings) {
  settings.sm_clock_max = table.maybe_quantity<Hertz>("sm_clock_max");
  settings.memory_clock_max = table.maybe_quantity<Hertz>("memory_clock_max");
  settings.power_limit = table.maybe_quantity<Watts>("power_limit");
  settings.power_limit_default = table.maybe_quantity<Watts>("power_limit_default");
  settings.ecc = table.maybe_boolean("ecc");
  settings.mig = table.maybe_boolean("mig");
  settings.vbios = table.maybe_text("vbios").value_or("");
}

}  // namespace

Conditions conditions_of(const Manifest& m) {
  const auto clock = [](std::optional<Hertz> value) { return value ? number(value->raw() / mega) + " MHz" : ""; };
  const auto watts = [](std::optional<Watts> value) { return value ? number(value->raw()) + " W" : ""; };
  const auto state = [](std::optional<bool> value) { return !value ? "" : *value ? "on" : "off"; };
  Conditions conditions{{"name", m.device.name},
                        {"mark", m.settings.mark},
                        {"compute capability", std::to_string(m.device.capability)},
                        {"SMs", std::to_string(m.device.sms)},
                        {"L2", number(m.device.l2.raw())},
                        {"memory", number(m.device.memory.raw())},
                        {"driver", m.settings.driver},
                        {"CUDA", m.device.cuda_runtime},
                        {"cuBLASLt", m.device.cublaslt},
                        {"highest SM clock", clock(m.settings.sm_clock_max)},
                        {"highest memory clock", clock(m.settings.memory_clock_max)},
                        {"power limit", watts(m.settings.power_limit)},
                        {"ECC", state(m.settings.ecc)},
                        {"MIG", state(m.settings.mig)}};
  // These come last and only if known, so that digests of older folders stay valid.
  if (!m.device.cudnn.empty()) {
    conditions.emplace_back("cuDNN", m.device.cudnn);
  }
  if (!m.device.nccl.empty()) {
    conditions.emplace_back("NCCL", m.device.nccl);
  }
  return conditions;
}

std::string conditions_digest(const Manifest& manifest) {
  std::string text;
  for (const auto& [name, value] : conditions_of(manifest)) {
    text += name + "=" + value + "\n";
  }
  return digest(text);
}

std::string differences(const Conditions& a, const Conditions& b) {
  std::string text;
  for (const auto& [name, value] : a) {
    // Compared by name, because samples of a single GPU lack NCCL and may be combined with collectives of the same
    // node.
    const auto other =
        std::find_if(b.begin(), b.end(), [&name = name](const auto& condition) { return condition.first == name; });
    if (other != b.end() && other->second != value) {
      const auto word = [](const std::string& told) { return told.empty() ? "unknown" : told; };
      text += (text.empty() ? "" : "; ") + name + " " + word(value) + " and " + word(other->second);
    }
  }
  return text;
}

Manifest read_manifest(std::string_view text, const std::string& file) {
  const ConfigValue document = parse_toml(text, file);
  Diagnostics diagnostics;
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  if (root.text("kind") != "probe") {
    root.problem("kind", "must be \"probe\": this is no manifest of samples");
  }
  Manifest m;
  m.headroom = root.text("headroom");
  m.date = root.text("date");
  static_cast<void>(root.value("lasted"));
  static_cast<void>(root.value("conditions"));
  m.complete = root.maybe_boolean("complete").value_or(true);
  m.quick = root.boolean("quick");
  m.files = root.texts("files");
  static_cast<void>(root.integer("samples", not_negative));
  ConfigTable device = root.table("device");
  m.device.name = device.text("name");
  m.catalog_id = device.maybe_text("catalog_id").value_or("");
  m.settings.board = device.maybe_text("board").value_or("");
  m.settings.mark = device.maybe_text("mark").value_or("");
  m.device.capability = capability_of(device.text("compute_capability"));
  m.device.sms = device.integer("sms");
  m.device.l2 = device.quantity<Bytes>("l2", true);
  m.device.memory = device.quantity<Bytes>("memory");
  m.device.free_memory = device.quantity<Bytes>("memory_free_before", true);
  m.device.group = device.maybe_integer("group").value_or(1);
  device.finish();
  ConfigTable software = root.table("software");
  m.settings.driver = software.maybe_text("driver").value_or("");
  m.device.cuda_driver = software.text("cuda_driver");
  m.device.cuda_runtime = software.text("cuda_runtime");
  m.device.cublaslt = software.text("cublaslt");
  m.device.cudnn = software.maybe_text("cudnn").value_or("");
  m.device.nccl = software.maybe_text("nccl").value_or("");
  if (std::optional<ConfigTable> settings = root.maybe_table("settings")) {
    m.nvml_missing = settings->maybe_text("nvml_missing").value_or("");
    read_settings(*settings, m.settings);
  }
  ConfigTable method = root.table("method");
  m.precision = method.maybe_number("precision", {0.0, 1.0});
  m.unmet = method.texts("unmet");
  skip_readings(root);
  diagnostics.throw_if_any();
  return m;
}

std::string manifest_toml(const Manifest& manifest, const ProbeRun& run) {
  Writer out;
  out.integer("schema", 1);
  out.text("kind", "probe");
  out.text("headroom", manifest.headroom);
  out.text("date", manifest.date);
  out.raw("lasted", in_unit(run.lasted.raw(), "s"));
  out.text("conditions", conditions_digest(manifest));
  out.boolean("complete", manifest.complete);
  out.boolean("quick", manifest.quick);
  out.raw("files", list(manifest.files));
  out.integer("samples", static_cast<std::int64_t>(run.samples.size()));
  write_device(out, manifest);
  write_software(out, manifest);
  write_settings(out, manifest);
  if (manifest.nvml_missing.empty()) {  // without NVML an empty list would mean "was not throttled"
    write_reading(out, "before", run.before);
    write_reading(out, "after", run.after);
    out.table("sustained");
    out.raw("throttle", list(throttle_names(run.sustained_throttle)));
  }
  write_host(out, manifest, run);
  write_method(out, manifest);
  for (const Skipped& skipped : run.skipped) {
    out.item("skipped");
    out.text("probe", skipped.probe);
    out.text("why", skipped.why);
  }
  return out.take();
}

bool is_manifest(std::string_view text) noexcept {
  try {
    const ConfigValue root = parse_toml(text, "manifest.toml");
    const ConfigValue* schema = root.find("schema");
    const ConfigValue* kind = root.find("kind");
    return schema != nullptr && schema->integer == 1 && kind != nullptr && kind->text == "probe";
  } catch (const std::exception&) {
    return false;
  }
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

}  // namespace headroom
