// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/workload/weight_format.hpp>

#include <algorithm>
#include <cctype>

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

double group_bits(ConfigTable& table, std::string_view bits_key, std::string_view group_key) {
  const auto bits = integer(table, bits_key, bit_range);
  const auto group = integer(table, group_key, group_range);
  if (!bits) {
    return 0.0;
  }
  const auto b = static_cast<double>(*bits);
  return grouped(b, group.value_or(128), 16.0, b);
}

double bitsandbytes_bits(ConfigTable& table) {
  if (table.maybe_boolean("load_in_8bit").value_or(false)) {
    return 8.0;
  }
  if (!table.maybe_boolean("load_in_4bit").value_or(false)) {
    return 0.0;
  }
  const bool twice = table.maybe_boolean("bnb_4bit_use_double_quant").value_or(false);
  return twice ? 4.0 + 8.0 / 64.0 + 32.0 / (64.0 * 256.0) : 4.0 + 32.0 / 64.0;
}

/// compressed-tensors: the first group's weights.
double compressed_bits(ConfigTable& table) {
  auto groups = table.maybe_table("config_groups");
  if (!groups || groups->keys().empty()) {
    return 0.0;
  }
  auto group = groups->maybe_table(groups->keys().front());
  if (!group || !group->has("weights") || group->value("weights")->kind == ConfigValue::Kind::null) {
    return 0.0;
  }
  auto weights = group->maybe_table("weights");
  const auto bits = weights ? integer(*weights, "num_bits", bit_range) : std::nullopt;
  if (!bits) {
    return 0.0;
  }
  const auto size = integer(*weights, "group_size", group_range).value_or(-1);
  const bool floats = weights->maybe_text("type").value_or("int") == "float";
  const auto b = static_cast<double>(*bits);
  return grouped(b, size, floats && *bits == 4 ? 8.0 : 16.0, 0.0);
}

double modelopt_bits(ConfigTable& table) {
  const std::string algorithm = lower(table.maybe_text("quant_algo").value_or(""));
  if (algorithm == "fp8") {
    return 8.0;
  }
  if (algorithm == "nvfp4" || algorithm == "nvfp4_awq") {
    return 4.0 + 8.0 / 16.0;
  }
  if (algorithm == "mxfp8") {
    return 8.0 + 8.0 / 32.0;
  }
  if (algorithm == "w4a16_awq") {
    return grouped(4.0, integer(table, "group_size", group_range).value_or(128), 16.0, 0.0);
  }
  return algorithm.empty() ? compressed_bits(table) : 0.0;
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
  const std::string& method = format.method;
  if (method == "fp8" || method == "fbgemm_fp8") {
    format.bits = fp8_bits(table);
  } else if (method == "mxfp4") {
    format.bits = 4.0 + 8.0 / 32.0;
    format.experts_only = true;
  } else if (method == "gptq" || method == "awq") {
    const bool short_keys = table.has("w_bit");
    format.bits =
        group_bits(table, short_keys ? "w_bit" : "bits", table.has("q_group_size") ? "q_group_size" : "group_size");
  } else if (method == "bitsandbytes") {
    format.bits = bitsandbytes_bits(table);
  } else if (method == "compressed-tensors") {
    format.bits = compressed_bits(table);
  } else if (method == "modelopt" || method == "modelopt_fp4") {
    format.bits = modelopt_bits(table);
  }
  for (const std::string_view key : {"modules_to_not_convert", "ignore", "exclude_modules", "llm_int8_skip_modules"}) {
    read_kept(table, key, format);
  }
  return format;
}

WeightFormat read_weight_format(ConfigTable& table) {
  WeightFormat format;
  format.method = table.text("method");
  format.bits = table.maybe_number("bits", {0.0, 64.0}).value_or(0.0);
  format.experts_only = table.maybe_boolean("experts_only").value_or(false);
  format.kept = table.texts("kept");
  table.finish();
  return format;
}

}  // namespace headroom
