// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/input_file.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/scenarios/read/look_up.hpp>
#include <headroom/scenarios/read/network_model.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace headroom {
namespace {

/// ["tokens=128", "resolution = 300"].
NetworkSizes read_sizes(ConfigTable& root) {
  NetworkSizes sizes;
  if (!root.has("sizes")) {
    return sizes;
  }
  for (const std::string& text : root.texts("sizes")) {
    const std::size_t equals = text.find('=');
    std::string name = text.substr(0, equals);
    name.erase(name.find_last_not_of(' ') + 1);
    std::string_view value{text};
    value.remove_prefix(equals == std::string::npos ? text.size() : equals + 1);
    value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    std::int64_t size = 0;
    const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), size);
    if (name.empty() || status != std::errc{} || end != value.data() + value.size() || size < 1 ||
        size > largest_size) {
      root.problem("sizes", quoted(text) + " is no size; write NAME=NUMBER, such as \"tokens=128\"");
    } else {
      sizes.insert_or_assign(std::move(name), size);
    }
  }
  return sizes;
}

Network read_inline(const ConfigValue& model, const NetworkSizes& sizes, Diagnostics& diagnostics) {
  ConfigValue document = model;
  const auto add = [&](const std::string& key, ConfigValue::Kind kind, const char* text) {
    if (document.find(key) == nullptr) {
      ConfigValue value;
      value.kind = kind;
      value.integer = 1;
      value.text = text;
      document.entries.emplace_back(key, std::move(value));
    }
  };
  add("schema", ConfigValue::Kind::integer, "");
  add("id", ConfigValue::Kind::text, "custom");
  add("source", ConfigValue::Kind::text, "scenario");
  if (model.find("base") != nullptr) {
    ConfigTable{model, "model", diagnostics}.problem(
        "base", "'base' extends files of networks; in a scenario name the network or list all its ops");
  }
  return read_network(ConfigTable{document, "model", diagnostics}, sizes);
}

}  // namespace

Network read_network_model(ConfigTable& root, const std::string& file, const NetworkLibrary& networks) {
  const NetworkSizes sizes = read_sizes(root);
  const ConfigValue* model = root.value("model");
  if (model->kind == ConfigValue::Kind::table) {
    return read_inline(*model, sizes, root.diagnostics());
  }
  const auto read = [&](const std::string& text) {
    if (is_request(file)) {
      throw ConfigError{no_files_text(text) + "; 'model' is the id of a network or a table of ops"};
    }
    const std::filesystem::path folder = std::filesystem::path{file}.parent_path();
    const ConfigSource source = read_file((folder / text).lexically_normal().string());
    const ConfigValue tree = parse_toml(source.text, source.file);
    return read_network(ConfigTable{tree, "", root.diagnostics()}, sizes);
  };
  const auto find = [&](const std::string& text) {
    if (text.ends_with(".onnx")) {
      const std::string stem = std::filesystem::path{text}.stem().string();
      throw ConfigError{quoted(text) + " is an ONNX file; write its ops with 'headroom import " + text + " -o " + stem +
                        ".toml', and name that file"};
    }
    return networks.find(text, sizes);
  };
  return (model->text.ends_with(".toml") ? look_up(root, "model", model->text, read)
                                         : look_up(root, "model", model->text, find))
      .value_or(Network{});
}

}  // namespace headroom
