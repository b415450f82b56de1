// SPDX-License-Identifier: Apache-2.0
// Any text as what a calibration leaves and takes up again: journal, manifest, medians of each kind, and the file of a
// simulated device. It is read, or refused with its problems. The first byte chooses the kind.
#include <headroom/calibrate/measure/probes_simulated.hpp>
#include <headroom/calibrate/samples/manifest.hpp>
#include <headroom/calibrate/samples/sample_journal.hpp>
#include <headroom/calibrate/samples/samples_csv.hpp>

#include "require.hpp"
#include <sstream>

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Catalog catalog = Catalog::standard();
  const fuzz::Chosen chosen{data, size, 9};
  Diagnostics diagnostics;
  std::istringstream stream{chosen.text};
  const auto rows = [&](auto read) {
    CsvReader csv{stream, "f.csv", diagnostics};
    static_cast<void>(read(csv));
  };
  try {
    switch (chosen.which) {
      case 0: {
        std::size_t torn = 0;
        static_cast<void>(read_journal(chosen.text, "samples.csv", diagnostics, torn));
        fuzz::require(torn <= chosen.text.size());
        break;
      }
      case 1: static_cast<void>(read_manifest(chosen.text, "manifest.toml")); break;
      case 2: static_cast<void>(read_simulated_device(parse_toml(chosen.text, "f.toml"), "f.toml", catalog)); break;
      case 3: rows([](CsvReader& csv) { return read_gemm_rows(csv); }); break;
      case 4: rows([](CsvReader& csv) { return read_sustained_rows(csv); }); break;
      case 5: rows([](CsvReader& csv) { return read_copy_rows(csv); }); break;
      case 6: rows([](CsvReader& csv) { return read_launch_rows(csv); }); break;
      case 7: rows([](CsvReader& csv) { return read_pass_rows(csv); }); break;
      default: rows([](CsvReader& csv) { return read_transfer_rows(csv); });
    }
  } catch (const ConfigError&) {
    return 0;
  }
  return 0;
}
