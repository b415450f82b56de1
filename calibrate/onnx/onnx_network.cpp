// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/onnx/fold_patterns.hpp>
#include <headroom/calibrate/onnx/network_writer.hpp>
#include <headroom/calibrate/onnx/onnx_network.hpp>
#include <headroom/core/config_reader.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/workload/op_list.hpp>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace headroom {
namespace {

/// What a network may be called: what names a file in a folder of networks.
std::string id_of(const std::string& wanted) {
  std::string id;
  for (const char c : wanted) {
    const bool letter = c >= 'A' && c <= 'Z';
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
    id += letter ? static_cast<char>(c - 'A' + 'a') : plain ? c : '-';
  }
  return id.empty() ? "network" : id;
}

/// "53 Conv, 49 Relu", the most frequent first.
std::string counts_text(const std::map<std::string, int>& counts) {
  std::vector<std::pair<std::string, int>> sorted{counts.begin(), counts.end()};
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return joined(sorted, [](const auto& one) { return std::to_string(one.second) + " " + shown(one.first); });
}

struct Weights {
  double elements = 0.0, bytes = 0.0;
  std::string_view format;  ///< of most of the bytes
};

std::string_view weight_format(std::int32_t type) noexcept {
  using namespace onnx_file;
  switch (type) {
    case fp16: return "fp16";
    case bf16: return "bf16";
    case int8:
    case uint8: return "int8";
    case 21:
    case 22: return "int4";
    case 17:
    case 18:
    case 19:
    case 20: return "fp8";
    default: return "fp32";
  }
}

Weights weights_of(const onnx_file::Graph& graph) {
  Weights all;
  std::map<std::string_view, double> bytes;
  for (const auto& entry : graph.stored) {
    const onnx_file::Stored& stored = entry.second;
    if (onnx_file::holds_weights(stored.type) && stored.elements > 1.0) {
      all.elements += stored.elements;
      all.bytes += stored.bytes;
      bytes[weight_format(stored.type)] += stored.bytes;
    }
  }
  const auto most =
      std::max_element(bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  all.format = most == bytes.end() ? "fp32" : most->first;
  return all;
}

ConfigError of_file(const std::string& path, const std::string& problem) {
  return ConfigError{{Diagnostic{path, {}, problem}}};
}

/// What the list says when it is read.
Network checked(const std::string& toml, const std::string& path) {
  const ConfigValue root = parse_toml(toml, path + ", as an op list");
  Diagnostics diagnostics;
  Network network = read_network(ConfigTable{root, "", diagnostics});
  diagnostics.throw_if_any();
  return network;
}

}  // namespace

bool is_onnx_name(const std::string& path) {
  return path.ends_with(".onnx");
}

ImportedOnnx network_of(onnx_file::Graph graph, const std::string& path, const std::string& name) {
  const std::size_t nodes = graph.nodes.size();
  onnx_file::fold_patterns(graph);
  onnx_file::NetworkWriter writer{graph};
  writer.run();
  if (writer.ops() == 0) {
    throw of_file(path, "holds no op that works on an input; name a file whose outputs hang on its inputs");
  }
  if (writer.ops() > 10'000) {
    throw of_file(path, "makes " + std::to_string(writer.ops()) +
                            " ops, and an op list holds at most 10000; simplify the model before (fused layers, no "
                            "unrolled loops), or list its equal blocks once in TOML");
  }
  const std::string file = std::filesystem::path{path}.filename().string();
  const std::string stem = std::filesystem::path{path}.stem().string();
  const std::string called = name.empty() ? stem : name;
  std::string toml =
      "schema = 1\nid = " + toml_string(id_of(called)) + "\nname = " + toml_string(shown(called)) + "\nsource = " +
      toml_string(shown(file) + ", an ONNX file" + (graph.producer.empty() ? "" : " of " + shown(graph.producer)) +
                  ", opset " + std::to_string(graph.opset)) +
      "\n" + writer.text();
  const Network network = checked(toml, path);
  const Weights weights = weights_of(graph);
  ImportedOnnx imported;
  for (const std::string& remark : graph.remarks) {
    imported.remarks.push_back(shown(remark));
  }
  for (const std::string& remark : writer.remarks()) {
    imported.remarks.push_back(shown(remark));
  }
  if (!writer.unknown().empty()) {
    imported.remarks.push_back(
        "ops of which no more is known than what they read and write are priced by these bytes: " +
        counts_text(writer.unknown()));
  }
  const std::string format{writer.quantised() > 0 && weights.format == "fp32" ? "int8" : weights.format};
  if (format != "fp16") {
    imported.remarks.push_back("its weights are " + format + (writer.quantised() > 0 ? ", quantised," : "") +
                               " in the file; a batch scenario that leaves inference.precision out takes fp16: state "
                               "precision = \"" +
                               format + "\" there to keep them");
  }
  imported.toml = "# " + std::to_string(nodes) + " nodes as " + std::to_string(writer.ops()) +
                  " ops: " + counts_text(writer.written()) + "\n# The file stores " + format_count(weights.elements) +
                  " weights in " + headroom::format(Bytes{weights.bytes}) + " (" + std::string{weights.format} +
                  "); the ops have " + format_count(network.parameters) + " parameters and make " +
                  headroom::format(network.forward) + " a sample.\n" + toml;
  return imported;
}

ImportedOnnx import_onnx(const std::string& path, const OnnxRequest& request) {
  return network_of(read_onnx(path, request.shapes), path, request.name);
}

}  // namespace headroom
