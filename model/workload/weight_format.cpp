// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/workload/weight_format.hpp>

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace headroom {
namespace {

constexpr Range<std::int64_t> bit_range{1, 32};
constexpr Range<std::int64_t> group_range{-1, 1 << 20};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::optional<std::int64_t> integer(ConfigTable& table, std::string_view key, Range<std::int64_t> range) {
  const ConfigValue* value = table.value(key);
  return value == nullptr || value->kind == ConfigValue::Kind::null ? std::nullopt : table.maybe_integer(key, range);
}

/// Groups of `group` weights share a scale of `scale_bits` and a zero point of `zero_bits`; -1: one scale a column.
double grouped(double bits, std::int64_t group, double scale_bits, double zero_bits) {
  return bits + (group > 0 ? (scale_bits + zero_bits) / static_cast<double>(group) : 0.0);
}

/// What a checkpoint stores: bits a weight, and the format of it.
struct Stored {
  double bits = 0.0;
  std::optional<Precision> format;
};

std::optional<Precision> integers_of(double bits) noexcept {
  return bits == 4.0 ? std::optional{Precision::int4} : bits == 8.0 ? std::optional{Precision::int8} : std::nullopt;
}

/// Floats of 4 bits are told apart by the weights that share a scale (Rouhani et al. 2023, table 1).
std::optional<Precision> floats_of(double bits, std::int64_t group) noexcept {
  return bits == 8.0                  ? std::optional{Precision::fp8}
         : bits == 4.0 && group == 16 ? std::optional{Precision::nvfp4}
         : bits == 4.0 && group == 32 ? std::optional{Precision::mxfp4}
                                      : std::nullopt;
}

double fp8_bits(ConfigTable& table) {
  if (!table.has("weight_block_size") || table.value("weight_block_size")->kind == ConfigValue::Kind::null) {
    return 8.0;
  }
  const std::vector<std::int64_t> block = table.integers("weight_block_size");
  if (block.size() != 2 || block[0] < 1 || block[1] < 1 || block[0] > 65536 || block[1] > 65536) {
    table.problem("weight_block_size", "'weight_block_size' must be two positive integers, e.g. [128, 128]");
    return 0.0;
  }
  return 8.0 + 32.0 / (static_cast<double>(block[0]) * static_cast<double>(block[1]));
}

Stored group_stored(ConfigTable& table, std::string_view bits_key, std::string_view group_key) {
  const auto bits = integer(table, bits_key, bit_range);
  const auto group = integer(table, group_key, group_range);
  if (!bits) {
    return {};
  }
  const auto b = static_cast<double>(*bits);
  return {grouped(b, group.value_or(128), 16.0, b), integers_of(b)};
}

Stored bitsandbytes_stored(ConfigTable& table) {
  if (table.maybe_boolean("load_in_8bit").value_or(false)) {
    return {8.0, Precision::int8};
  }
  if (!table.maybe_boolean("load_in_4bit").value_or(false)) {
    return {};
  }
  const bool twice = table.maybe_boolean("bnb_4bit_use_double_quant").value_or(false);
  return {twice ? 4.0 + 8.0 / 64.0 + 32.0 / (64.0 * 256.0) : 4.0 + 32.0 / 64.0, Precision::int4};
}

/// compressed-tensors: the first group's weights.
Stored compressed_stored(ConfigTable& table) {
  auto groups = table.maybe_table("config_groups");
  if (!groups || groups->keys().empty()) {
    return {};
  }
  auto group = groups->maybe_table(groups->keys().front());
  if (!group || !group->has("weights") || group->value("weights")->kind == ConfigValue::Kind::null) {
    return {};
  }
  auto weights = group->maybe_table("weights");
  const auto bits = weights ? integer(*weights, "num_bits", bit_range) : std::nullopt;
  if (!bits) {
    return {};
  }
  const auto size = integer(*weights, "group_size", group_range).value_or(-1);
  const bool floats = weights->maybe_text("type").value_or("int") == "float";
  const auto b = static_cast<double>(*bits);
  return {grouped(b, size, floats && *bits == 4 ? 8.0 : 16.0, 0.0), floats ? floats_of(b, size) : integers_of(b)};
}

Stored modelopt_stored(ConfigTable& table) {
  const std::string algorithm = lower(table.maybe_text("quant_algo").value_or(""));
  if (algorithm == "fp8") {
    return {8.0, Precision::fp8};
  }
  if (algorithm == "nvfp4" || algorithm == "nvfp4_awq") {
    return {4.0 + 8.0 / 16.0, Precision::nvfp4};
  }
  if (algorithm == "mxfp8") {
    return {8.0 + 8.0 / 32.0, Precision::mxfp8};
  }
  if (algorithm == "w4a16_awq") {
    return {grouped(4.0, integer(table, "group_size", group_range).value_or(128), 16.0, 0.0), Precision::int4};
  }
  return algorithm.empty() ? compressed_stored(table) : Stored{};
}

Stored stored_by(const std::string& method, ConfigTable& table) {
  if (method == "fp8" || method == "fbgemm_fp8") {
    return {fp8_bits(table), Precision::fp8};
  }
  if (method == "mxfp4") {
    return {4.0 + 8.0 / 32.0, Precision::mxfp4};
  }
  if (method == "gptq" || method == "awq") {
    return group_stored(table, table.has("w_bit") ? "w_bit" : "bits",
                        table.has("q_group_size") ? "q_group_size" : "group_size");
  }
  if (method == "bitsandbytes") {
    return bitsandbytes_stored(table);
  }
  if (method == "compressed-tensors") {
    return compressed_stored(table);
  }
  return method == "modelopt" || method == "modelopt_fp4" ? modelopt_stored(table) : Stored{};
}

/// Of presets that were written without a format: what the method and its bits with the scales leave no doubt of.
std::optional<Precision> format_of(const std::string& method, double bits) noexcept {
  if (method == "fp8" || method == "fbgemm_fp8") {
    return Precision::fp8;
  }
  if (method == "mxfp4") {
    return Precision::mxfp4;
  }
  const bool integers = method == "gptq" || method == "awq" || method == "bitsandbytes";
  return integers && bits >= 4.0 && bits < 5.5   ? std::optional{Precision::int4}
         : integers && bits >= 8.0 && bits < 9.5 ? std::optional{Precision::int8}
                                                 : std::nullopt;
}

void read_kept(ConfigTable& table, std::string_view key, WeightFormat& format) {
  const ConfigValue* value = table.value(key);
  if (value != nullptr && value->kind == ConfigValue::Kind::array) {
    for (std::string& name : table.texts(key)) {
      format.kept.push_back(std::move(name));
    }
  }
}

}  // namespace

WeightFormat import_weight_format(ConfigTable table) {
  WeightFormat format;
  format.method = lower(table.maybe_text("quant_method").value_or(""));
  if (format.method.empty() && (table.has("load_in_4bit") || table.has("load_in_8bit"))) {
    format.method = "bitsandbytes";
  }
  const Stored stored = stored_by(format.method, table);
  format.bits = stored.bits;
  format.format = stored.format;
  format.experts_only = format.method == "mxfp4";
  for (const std::string_view key : {"modules_to_not_convert", "ignore", "exclude_modules", "llm_int8_skip_modules"}) {
    read_kept(table, key, format);
  }
  return format;
}

WeightFormat read_weight_format(ConfigTable& table) {
  WeightFormat format;
  if (const auto stated = table.maybe_choice("format", precision_names)) {
    format.format = static_cast<Precision>(*stated);
  }
  format.method = table.has("format") ? table.maybe_text("method").value_or("") : table.text("method");
  format.bits = table.maybe_number("bits", {0.0, 64.0}).value_or(0.0);
  if (!table.has("format")) {
    format.format = format_of(format.method, format.bits);
  }
  format.source = table.maybe_text("source").value_or("");
  format.experts_only = table.maybe_boolean("experts_only").value_or(false);
  format.kept = table.texts("kept");
  table.finish();
  return format;
}

}  // namespace headroom
