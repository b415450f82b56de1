// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/software/rough_stack.hpp>
#include <headroom/model/workload/model_data.hpp>

namespace headroom {
namespace {

FittedFraction read_fraction(ConfigTable& parent, std::string_view key) {
  FittedFraction fraction;
  if (auto table = parent.maybe_table(key)) {
    fraction.value = table->number("value", {1e-6, 1e3});
    fraction.source = table->text("source");
    table->finish();
  } else if (!parent.has(key)) {
    parent.problem(key, "missing key '" + std::string{key} + "', { value = 0.5, source = \"how it was fitted\" }");
  }
  return fraction;
}

}  // namespace

const FittedFraction* RoughStack::share(const Device& device, Precision precision) const {
  const std::string family{row_of(precision).family};
  auto found = sustained.find(device.generation + "/" + family);
  if (found == sustained.end()) {
    found = sustained.find("any/" + family);
  }
  return found == sustained.end() ? nullptr : &found->second;
}

FlopsPerSecond RoughStack::sustained_rate(const Device& device, Precision precision) const {
  const FlopsPerSecond peak = device.peak_of(row_of(precision).rate);
  if (const FittedFraction* fraction = share(device, precision)) {
    return fraction->value * peak;
  }
  std::string known;
  for (const auto& [key, fraction] : sustained) {
    known += (known.empty() ? "" : ", ") + key;
  }
  throw ConfigError{"no measured " + std::string{row_of(precision).family} + " run on the " + device.generation +
                    " generation to take a sustained rate from ('" + device.id + "', stack '" + id +
                    "'; there are: " + known + ")"};
}

RoughStack read_rough_stack(const ConfigValue& root, const std::string& file, Diagnostics& diagnostics) {
  ConfigTable table{root, "", diagnostics};
  RoughStack stack;
  stack.file = file;
  require_schema(table);
  static_cast<void>(table.value("base"));
  stack.id = table.text("id");
  stack.name = table.text("name");
  if (auto generations = table.maybe_table("sustained")) {
    for (const std::string_view generation : generations->keys()) {
      if (auto families = generations->maybe_table(generation)) {
        for (const std::string_view family : families->keys()) {
          stack.sustained[std::string{generation} + "/" + std::string{family}] = read_fraction(*families, family);
        }
      }
    }
  }
  stack.fragmentation = read_fraction(table, "fragmentation");
  if (auto framework = table.maybe_table("framework")) {
    stack.framework = framework->quantity<Bytes>("value");
    stack.framework_source = framework->text("source");
    framework->finish();
  } else {
    table.problem("framework", "missing table 'framework'");
  }
  const FittedFraction interval = read_fraction(table, "interval");
  stack.interval = interval.value;
  stack.interval_source = interval.source;
  const FittedFraction memory_interval = read_fraction(table, "memory_interval");
  stack.memory_interval = memory_interval.value;
  stack.memory_interval_source = memory_interval.source;
  table.finish();
  return stack;
}

RoughStack find_rough_stack(const ModelData& data, std::string_view id) {
  return read_document(stack_document(data, "stacks/rough", id), read_rough_stack);
}

}  // namespace headroom
