// SPDX-License-Identifier: Apache-2.0
// Any text as the log of a benchmark: samples, or refused by ConfigError. The first byte chooses the form.
#include <headroom/calibrate/import/import_samples.hpp>
#include <headroom/core/diagnostic.hpp>

#include "require.hpp"

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::Chosen chosen{data, size, sample_form_names.size()};
  try {
    const ImportedSamples samples =
        import_samples(static_cast<SampleForm>(chosen.which), chosen.text, "all_reduce.log");
    fuzz::require(!samples.text.empty());
  } catch (const ConfigError&) {
    return 0;
  }
  return 0;
}
