// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/laboratory/chain_file.hpp>
#include <headroom/core/config_reader.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/input_file.hpp>
#include <headroom/core/number_words.hpp>

#include <algorithm>
#include <array>

namespace headroom::cli {
namespace {

constexpr std::array<std::string_view, 3> own_keys{"kind", "name", "repeat"};
/// Options that the command says for all ops.
constexpr std::array<std::string_view, 4> commands_options{"--gpu", "--curves", "--format", "--budget"};

/// "--head-dim" of "head_dim", "-m" of "m".
std::string option_of(std::string_view key) {
  std::string option{key.size() == 1 ? "-" : "--"};
  option += key;
  std::replace(option.begin(), option.end(), '_', '-');
  return option;
}

std::string text_of(const ConfigValue& value) {
  switch (value.kind) {
    case ConfigValue::Kind::integer: return std::to_string(value.integer);
    case ConfigValue::Kind::number: return format_number(value.number, 12);
    default: return value.text;
  }
}

/// The keys of an op as the options that they are.
Arguments arguments_of(ConfigTable& table) {
  Arguments arguments;
  for (const std::string_view key : table.keys()) {
    if (std::find(own_keys.begin(), own_keys.end(), key) != own_keys.end()) {
      continue;
    }
    const std::string option = option_of(key);
    const std::span<const Option> known = op_options();
    const auto found = std::find_if(known.begin(), known.end(), [&](const Option& o) { return o.name == option; });
    const bool said = std::find(commands_options.begin(), commands_options.end(), option) != commands_options.end();
    if (found == known.end() || said) {
      continue;  // told as unknown by finish()
    }
    const ConfigValue& value = *table.value(key);
    const bool flag = found->kind == OptionKind::flag;
    if (flag != (value.kind == ConfigValue::Kind::boolean) || value.kind == ConfigValue::Kind::array ||
        value.kind == ConfigValue::Kind::table) {
      table.problem(key, flag ? "must be true or false" : "must be a number or a text, as of " + option);
    } else if (!flag || value.boolean) {
      arguments.add(option, text_of(value));
    }
  }
  return arguments;
}

ChainStep step_of(ConfigTable& table, Diagnostics& diagnostics) {
  std::vector<std::string_view> names;
  for (const OpKind& kind : op_kinds()) {
    names.push_back(kind.name);
  }
  ChainStep step;
  const std::optional<std::size_t> kind = table.maybe_choice("kind", names);
  if (!kind) {
    if (!table.has("kind")) {
      table.missing("kind", "; known are " + listed(names));
    }
    return step;
  }
  step.kind = &op_kinds()[*kind];
  step.name = table.maybe_text("name").value_or(std::string{step.kind->name});
  constexpr std::int64_t most = 1'000'000;
  step.repeat = table.maybe_integer("repeat", Range<std::int64_t>{1, most}).value_or(1);
  const Arguments arguments = arguments_of(table);
  FormReader reader{arguments, "op", step.kind->name, step.kind->meaning};
  step.question = step.kind->read(reader);
  try {
    reader.finish(op_options());
  } catch (const ConfigError& error) {
    for (const Diagnostic& problem : error.diagnostics()) {
      diagnostics.add(table.file(), table.at(), problem.message);
    }
  }
  table.finish();
  return step;
}

}  // namespace

std::vector<ChainStep> read_chain(const std::string& path) {
  const ConfigSource source = read_file(path);
  const ConfigValue document = parse_toml(source.text, source.file);
  Diagnostics diagnostics;
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  std::vector<ChainStep> steps;
  for (ConfigTable& table : root.tables("op")) {
    steps.push_back(step_of(table, diagnostics));
  }
  if (!root.has("op")) {
    root.missing("op", ": kernels stand in [[op]], in their order");
  }
  root.finish();
  diagnostics.throw_if_any();
  return steps;
}

}  // namespace headroom::cli
