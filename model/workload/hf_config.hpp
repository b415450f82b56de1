// SPDX-License-Identifier: Apache-2.0
// Hugging Face config.json to Architecture.
#pragma once

#include <headroom/core/config_value.hpp>
#include <headroom/model/workload/architecture.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Reads a parsed config.json. The family is `model_type`, else the class in `architectures[0]`; a text model nested in
/// `text_config`, `llm_config` or `language_config` is read with its own. A key that is missing or null takes the
/// default of the family's class (table in hf_config.cpp); sizes that no default covers are required. Problems go to
/// `diagnostics` with their place in `file`: an unknown model_type lists the known ones, a family that the architecture
/// cannot hold says why. The result is usable when nothing was added. A number that no byte and no second hangs on
/// stays blank where it is outside its range, and goes to `remarks`.
[[nodiscard]] Architecture import_hf_config(const ConfigValue& root,
                                            const std::string& file,
                                            Diagnostics& diagnostics,
                                            Diagnostics& remarks);

/// Reads and imports a file. ConfigError: it cannot be read, is no JSON, or has problems.
[[nodiscard]] Architecture load_hf_config(const std::string& path, Diagnostics& remarks);

/// The model_type words that are read, sorted.
[[nodiscard]] std::vector<std::string_view> hf_model_types();

}  // namespace headroom
