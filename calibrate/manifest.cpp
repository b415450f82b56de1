// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/manifest.hpp>
#include <headroom/core/config_reader.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>

namespace headroom {
namespace {

constexpr double mega = 1e6;

/// A TOML basic string: quotes, backslashes and control characters escaped.
std::string toml_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04X", static_cast<unsigned>(c));
      result += escape.data();
    } else {
      result += c;
    }
  }
  return result + "\"";
}

/// The shortest digits that read back exactly.
std::string number(double value) {
  std::array<char, 40> text{};
  const auto [end, status] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

std::string in_unit(double value, std::string_view unit) {
  return toml_text(number(value) + " " + std::string{unit});
}

std::string list(const std::vector<std::string>& texts) {
  std::string result = "[";
  for (const std::string& text : texts) {
    result += (result.size() > 1 ? ", " : "") + toml_text(text);
  }
  return result + "]";
}

class Writer {
 public:
  void table(std::string_view name) { text_ += "\n[" + std::string{name} + "]\n"; }
  void item(std::string_view name) { text_ += "\n[[" + std::string{name} + "]]\n"; }
  void raw(std::string_view key, const std::string& value) { text_ += std::string{key} + " = " + value + "\n"; }
  void text(std::string_view key, std::string_view value) { raw(key, toml_text(value)); }
  void integer(std::string_view key, std::int64_t value) { raw(key, std::to_string(value)); }
  void boolean(std::string_view key, bool value) { raw(key, value ? "true" : "false"); }

  // What the driver did not tell has no key: an empty value would read as a measurement.
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
  out.text("compute_capability", std::to_string(device.capability / 10) + "." + std::to_string(device.capability % 10));
  out.integer("sms", device.sms);
  out.raw("l2", in_unit(device.l2.raw(), "B"));
  out.raw("memory", in_unit(device.memory.raw(), "B"));
  out.raw("memory_free_before", in_unit(device.free_memory.raw(), "B"));
}

void write_software(Writer& out, const Manifest& manifest) {
  out.table("software");
  out.maybe("driver", manifest.settings.driver);
  out.text("cuda_driver", manifest.device.cuda_driver);
  out.text("cuda_runtime", manifest.device.cuda_runtime);
  out.text("cublaslt", manifest.device.cublaslt);
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

void write_method(Writer& out, const ProbeEffort& effort) {
  out.table("method");
  out.integer("repeats", effort.repeats);
  out.raw("span", in_unit(effort.span.raw(), "s"));
  out.integer("algorithms", effort.algorithms);
  out.raw("workspace", "\"32 MiB\"");
  out.text("latency", "median over repeats of (CUDA events around a span of kernels in a replayed graph) / kernels");
  out.text("data", "normal(0, 1), rounded to the type; fp8 with per-tensor scales of 1 and fast accumulation");
  out.text("rotation", "copies x bytes of weight (of arrays, for copies) > 2 x L2, used in turn");
}

}  // namespace

std::string manifest_toml(const Manifest& manifest, const ProbeRun& run) {
  Writer out;
  out.integer("schema", 1);
  out.text("kind", "probe");
  out.text("headroom", manifest.headroom);
  out.text("date", manifest.date);
  out.raw("lasted", in_unit(run.lasted.raw(), "s"));
  out.boolean("quick", manifest.quick);
  out.raw("files", list(manifest.files));
  out.integer("samples", static_cast<std::int64_t>(run.samples.size()));
  write_device(out, manifest);
  write_software(out, manifest);
  write_settings(out, manifest);
  if (manifest.nvml_missing.empty()) {  // else an empty list would read as "was not throttled"
    write_reading(out, "before", run.before);
    write_reading(out, "after", run.after);
    out.table("sustained");
    out.raw("throttle", list(throttle_names(run.sustained_throttle)));
  }
  write_method(out, manifest.effort);
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
