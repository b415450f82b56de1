// SPDX-License-Identifier: Apache-2.0
// Any line as what stands on a command line: --set and its path, ranges of a search, --where, axes and their order,
// short numbers, dates, names of models; and any text as a budget of bars. Read, or refused by ConfigError.
#include <headroom/core/date.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/hardware/fabric/placement.hpp>
#include <headroom/model/workload/model_name.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/search/axes.hpp>
#include <headroom/scenarios/validation/budget.hpp>
#include <headroom/scenarios/validation/row_filter.hpp>

#include "require.hpp"
#include <cmath>
#include <optional>

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Sources sources = Sources::standard();
  const fuzz::Chosen chosen{data, size, 7};
  try {
    switch (chosen.which) {
      case 0:
        static_cast<void>(scenario_from_overrides(
            std::vector<std::string>{"model=llama3-8b", "hardware.gpu=h100-sxm-80gb", "hardware.gpus=8",
                                     "training.seq_len=4096", "training.global_batch=64", chosen.text},
            sources));
        break;
      case 1: static_cast<void>(parse_range(chosen.text)); break;
      case 2: static_cast<void>(parse_filter(chosen.text)); break;
      case 3: static_cast<void>(to_text(parse_axis_order(chosen.text))); break;
      case 4:
        if (const std::optional<double> number = parse_short_number(chosen.text)) {
          fuzz::require(std::isfinite(*number));
        }
        static_cast<void>(parse_date(chosen.text));
        break;
      case 5: static_cast<void>(read_model_name(chosen.text)); break;
      default: static_cast<void>(read_budget(parse_toml(chosen.text, "f.toml"), "f.toml"));
    }
  } catch (const ConfigError&) {
    return 0;
  }
  return 0;
}
