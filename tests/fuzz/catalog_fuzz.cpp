// SPDX-License-Identifier: Apache-2.0
// Any text as a SKU, a node, a cluster or a price list: read and looked over by lint, or refused with its problems. The
// first byte chooses the kind.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/hardware/catalog/catalog_reader.hpp>
#include <headroom/hardware/lint/lint.hpp>

#include "require.hpp"

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Catalog catalog = Catalog::standard();
  const fuzz::Chosen chosen{data, size, 4};
  try {
    const ConfigValue root = parse_toml(chosen.text, "f.toml");
    Diagnostics diagnostics;
    const auto looked_over = [&](const auto& entry, auto lint) {
      diagnostics.throw_if_any();
      for (const LintFinding& finding : lint(entry)) {
        fuzz::require(!finding.check.empty());
      }
    };
    switch (chosen.which) {
      case 0:
        looked_over(read_device(root, "f.toml", diagnostics), [](const auto& e) { return lint_device(e); });
        break;
      case 1:
        looked_over(read_node(root, "f.toml", diagnostics), [](const auto& e) { return lint_node(e, catalog); });
        break;
      case 2:
        looked_over(read_cluster(root, "f.toml", diagnostics), [](const auto& e) { return lint_cluster(e, catalog); });
        break;
      default:
        looked_over(read_prices(root, "f.toml", diagnostics), [](const auto& e) { return lint_prices(e, catalog); });
    }
  } catch (const ConfigError&) {
    return 0;
  }
  return 0;
}
