// SPDX-License-Identifier: Apache-2.0
// Messages and enumerations: mlcommons/chakra @ 6dc63e1, schema/protobuf/et_def.proto; their encoding: protobuf.dev,
// programming-guides/encoding (varints, wire types) and programming-guides/proto3 (JSON mapping).
#include <headroom/calibrate/reports/import_records.hpp>
#include <headroom/calibrate/results/benchmark_forms.hpp>
#include <headroom/core/json_reader.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace headroom {
namespace {

constexpr std::int64_t collective_node = 7;  ///< NodeType.COMM_COLL_NODE

/// What is read of a node.
struct ChakraNode {
  std::string name;
  std::int64_t type = 0;
  double microseconds = 0.0;
  std::optional<std::int64_t> comm_type;
  double bytes = 0.0;
  double ranks = 0.0;  ///< of its group; 0: the trace does not say
};

/// One message of protobuf's binary form, field by field.
class WireMessage {
 public:
  explicit WireMessage(std::string_view bytes) : bytes_{bytes} {}

  /// The next field; false at the end, and where the message is broken.
  bool next() {
    if (bytes_.empty() || broken_) {
      return false;
    }
    const std::uint64_t key = varint();
    field_ = static_cast<std::int64_t>(key >> 3U);
    number_ = 0;
    text_ = {};
    switch (key & 7U) {
      case 0: number_ = varint(); break;
      case 1: text_ = take(8); break;
      case 2: text_ = take(varint()); break;
      case 5: text_ = take(4); break;
      default: broken_ = true;
    }
    broken_ = broken_ || field_ < 1;
    return !broken_;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !bytes_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if ((byte & 0x80U) == 0) {
        return value;
      }
    }
    broken_ = true;
    return 0;
  }
  std::string_view take(std::uint64_t length) {
    if (length > bytes_.size()) {
      broken_ = true;
      return {};
    }
    const std::string_view taken = bytes_.substr(0, length);
    bytes_.remove_prefix(length);
    return taken;
  }
  [[nodiscard]] std::int64_t field() const noexcept { return field_; }
  [[nodiscard]] std::int64_t number() const noexcept {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return static_cast<std::int64_t>(std::min(number_, most));
  }
  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  [[nodiscard]] bool broken() const noexcept { return broken_; }
  [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }

 private:
  std::string_view bytes_, text_;
  std::uint64_t number_ = 0;
  std::int64_t field_ = 0;
  bool broken_ = false;
};

void set_attribute(std::string_view name, double value, ChakraNode& node) {
  if (name == "comm_type") {
    node.comm_type = static_cast<std::int64_t>(std::clamp(value, -1.0, 1e6));
  } else if (name == "comm_size") {
    node.bytes = value;
  } else if (name == "group_size" || name == "comm_group_size") {
    node.ranks = value;
  }
}

ChakraNode node_of(std::string_view bytes, bool& broken) {
  ChakraNode node;
  WireMessage message{bytes};
  while (message.next()) {
    switch (message.field()) {
      case 2: node.name = message.text(); break;
      case 3: node.type = message.number(); break;
      case 7: node.microseconds = static_cast<double>(message.number()); break;
      case 10: {
        WireMessage attribute{message.text()};
        std::string_view name;
        std::optional<double> value;
        while (attribute.next()) {
          if (attribute.field() == 1) {
            name = attribute.text();
          } else if (attribute.field() == 7 || attribute.field() == 9 || attribute.field() == 11 ||
                     attribute.field() == 13) {  // int32, int64, uint32, uint64
            value = static_cast<double>(attribute.number());
          }
        }
        broken = broken || attribute.broken();
        if (value) {
          set_attribute(name, *value, node);
        }
        break;
      }
      default: break;
    }
  }
  broken = broken || message.broken();
  return node;
}

std::vector<ChakraNode> binary_nodes(std::string_view text, const std::string& file) {
  std::vector<ChakraNode> nodes;
  WireMessage stream{text};
  bool first = true;
  bool broken = false;
  while (!stream.empty() && !broken) {
    const std::string_view message = stream.take(stream.varint());
    broken = stream.broken();
    if (!std::exchange(first, false) && !broken) {  // the first is GlobalMetadata
      nodes.push_back(node_of(message, broken));
    }
  }
  if (broken) {
    throw ConfigError{{Diagnostic{file,
                                  {},
                                  "message " + std::to_string(nodes.size() + 1) +
                                      " is cut short or no message of a Chakra trace: protobuf's messages, each behind "
                                      "its length"}}};
  }
  return nodes;
}

/// A number of the JSON form, whose 64-bit integers are texts.
double json_count(const ConfigValue& object, std::string_view name, std::string_view snake) {
  const ConfigValue* const value = object.find(name) != nullptr ? object.find(name) : object.find(snake);
  return number_of(value).value_or(0.0);
}

std::vector<ChakraNode> json_nodes(std::string_view text, const std::string& file) {
  const ConfigValue root = parse_json(text, file);
  const ConfigValue* const list = root.find("nodes");
  if (list == nullptr || list->kind != ConfigValue::Kind::array) {
    throw ConfigError{{Diagnostic{file, root.at, "this is no Chakra trace in JSON: it lacks the list 'nodes'"}}};
  }
  std::vector<ChakraNode> nodes;
  for (const ConfigValue& item : list->items) {
    ChakraNode node;
    const ConfigValue* const name = member_of(&item, "name");
    const ConfigValue* const type = member_of(&item, "type");
    if (type == nullptr) {
      continue;
    }
    node.name = name == nullptr ? "" : name->text;
    node.type = type->text == "COMM_COLL_NODE" ? collective_node : type->integer;
    node.microseconds = json_count(item, "durationMicros", "duration_micros");
    const ConfigValue* const attributes = item.find("attr");
    for (std::size_t i = 0; attributes != nullptr && i < attributes->items.size(); ++i) {
      const ConfigValue& attribute = attributes->items[i];
      const ConfigValue* const called = member_of(&attribute, "name");
      for (const std::string_view kind :
           {"int64Val", "uint64Val", "int32Val", "uint32Val", "int64_val", "uint64_val"}) {
        const std::optional<double> value = number_of(member_of(&attribute, kind));
        if (called != nullptr && value) {
          set_attribute(called->text, *value, node);
        }
      }
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

/// CollectiveCommType as tables of collectives name it; empty: none of theirs.
std::string_view collective_named(std::int64_t type) noexcept {
  switch (type) {
    case 0: return "all_reduce";
    case 2: return "all_gather";
    case 5: return "broadcast";
    case 6: return "alltoall";
    case 7:
    case 8: return "reduce_scatter";
    default: return {};
  }
}

std::string_view format_in(std::string_view kernel) noexcept {
  const auto holds = [&](std::string_view word) { return kernel.find(word) != std::string_view::npos; };
  return holds("bf16")                    ? "bf16"
         : holds("f16") || holds("half")  ? "half"
         : holds("f32") || holds("float") ? "float"
                                          : "bytes";
}

}  // namespace

ImportedSamples import_chakra(std::string_view text, const std::string& file) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const bool json = begin != std::string_view::npos && text[begin] == '{';
  const std::vector<ChakraNode> nodes = json ? json_nodes(text, file) : binary_nodes(text, file);
  std::map<std::tuple<std::string, std::string, double, double>, std::vector<double>> times;
  int unsized = 0;
  int unnamed = 0;
  int unknown_group = 0;
  for (const ChakraNode& node : nodes) {
    if (node.type != collective_node) {
      continue;
    }
    const std::string_view op = node.comm_type ? collective_named(*node.comm_type) : std::string_view{};
    if (op.empty()) {
      ++unnamed;
    } else if (!(node.bytes > 0.0) || !(node.microseconds > 0.0)) {
      ++unsized;
    } else {
      unknown_group += node.ranks > 1.0 ? 0 : 1;
      times[{std::string{op}, std::string{format_in(node.name)}, node.ranks, node.bytes}].push_back(node.microseconds);
    }
  }
  if (times.empty()) {
    throw ConfigError{{Diagnostic{file,
                                  {},
                                  "none of its " + std::to_string(nodes.size()) +
                                      " nodes is a collective with a size (comm_size) and a duration"}}};
  }
  ImportedSamples result;
  result.text = "nccl_version,op,gpus,dtype,bytes,latency_us\n";
  for (auto& [key, list] : times) {
    const auto& [op, format, ranks, bytes] = key;
    std::sort(list.begin(), list.end());
    result.text += "trace," + op + "," + (ranks > 1.0 ? general_text(ranks, 9) : std::string{}) + "," + format + "," +
                   general_text(bytes, 15) + "," + general_text(list[list.size() / 2], 9) + "\n";
  }
  const auto remark = [&](int count, const std::string& what) {
    if (count > 0) {
      result.remarks.push_back(shown(file) + ": " + std::to_string(count) + what);
    }
  };
  remark(unsized, " collectives without a size or a duration are left out");
  remark(unnamed, " collectives of a kind without a table here are left out");
  remark(unknown_group,
         " collectives do not say how many ranks their group has: fill the column gpus before rows are scored");
  return result;
}

}  // namespace headroom
