// SPDX-License-Identifier: Apache-2.0
// The quick form: a question spelled in options, with or without a scenario file.
#pragma once

#include <headroom/cli/frame/scenario_options.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::cli {

/// The options of keys, each in the forms that it has a part in, and a verb's own behind them.
[[nodiscard]] std::vector<Option> quick_options(std::span<const Option> own, Forms (*forms_of)(const Key& key));

/// Assignments from --model and the other options of keys among `options`, from --search, --objective, and
/// `set_option`, which wins. `quick`: there is no file, so the kind and the precision of a training follow from what is
/// given.
[[nodiscard]] std::vector<Assignment> overrides_of(std::span<const Option> options,
                                                   const Arguments& arguments,
                                                   bool quick,
                                                   std::string_view set_option = "--set");

/// Those of --set-each and of --set, where a verb has both: what is set in every scenario.
[[nodiscard]] std::vector<Assignment> set_in_each(const Arguments& arguments);

/// The values of a list "8, 64" or of a range of whole numbers "1..64 x2"; the text itself where it is neither.
[[nodiscard]] std::vector<std::string> listed_values(std::string_view text);

/// One value each of the lists that options of keys were given.
struct SweptForm {
  std::string name;  ///< "isl 8k, tp 4": what it has of the lists; empty: there are none
  std::vector<Assignment> overrides;
};
/// The product of lists and ranges where a key takes one value, "--isl 8k,32k,128k" and "--tp 1..8 x2", the last one
/// turning fastest; one form without them. ConfigError above a hundred forms.
[[nodiscard]] std::vector<SweptForm> swept(const std::vector<Assignment>& overrides);

/// Sets what --ttft, --tpot and --deadline promise: of a document with [traffic] for 95 of 100 requests, of others in
/// the mean. ConfigError for values that cannot be set.
void take_promises(const Arguments& arguments, ConfigValue& root);

/// Problems of the quick form with the options that give what it lacks.
[[nodiscard]] std::vector<Diagnostic> with_options(const ConfigError& error);

}  // namespace headroom::cli
