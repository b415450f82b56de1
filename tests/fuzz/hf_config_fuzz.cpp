// SPDX-License-Identifier: Apache-2.0
// Any bytes as config.json: refused by ConfigError, or an architecture whose counts are finite and whose TOML reads
// back to the same counts.
#include <headroom/core/json_reader.hpp>
#include <headroom/model/workload/architecture_text.hpp>
#include <headroom/model/workload/hf_config.hpp>
#include <headroom/model/workload/parameters.hpp>

#include <cmath>
#include <cstdint>
#include <cstdlib>

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  Architecture arch;
  try {
    Diagnostics diagnostics;
    Diagnostics remarks;
    arch = import_hf_config(parse_json(text, "f.json"), "f.json", diagnostics, remarks);
    diagnostics.throw_if_any();
  } catch (const ConfigError&) {
    return 0;
  }
  const ParameterCount count = count_parameters(arch);
  if (!std::isfinite(count.total) || !std::isfinite(count.active) || count.total <= 0.0 ||
      !std::isfinite(kv_elements_per_token(arch)) || !std::isfinite(score_flops(arch, 1e6))) {
    std::abort();
  }
  const ConfigValue root = parse_toml(architecture_toml(arch), "f.toml");
  Diagnostics diagnostics;
  const Architecture again = read_architecture(ConfigTable{root, "", diagnostics});
  diagnostics.throw_if_any();  // what is written must be readable: an escaping exception is a finding
  if (count_parameters(again).total != count.total || again.blocks() != arch.blocks()) {
    std::abort();
  }
  return 0;
}
