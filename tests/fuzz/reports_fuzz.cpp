// SPDX-License-Identifier: Apache-2.0
// Any text as a result of a benchmark, a record of another tool, a bill or a configuration of slices: what they become,
// or refused by ConfigError. The first byte chooses the form.
#include <headroom/calibrate/reports/import_records.hpp>
#include <headroom/calibrate/reports/result_rows.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/scenarios/measured/run_row.hpp>
#include <headroom/scenarios/reports/focus_bill.hpp>
#include <headroom/scenarios/sharing/mig_parted_reader.hpp>

#include "require.hpp"
#include <sstream>
#include <string>
#include <vector>

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Catalog catalog = Catalog::standard();
  const fuzz::Chosen chosen{data, size, result_form_names.size() + record_form_names.size() + 2};
  try {
    if (chosen.which < result_form_names.size()) {
      const std::vector<ConfigSource> files{{"result", chosen.text}};
      const std::vector<std::string> stated{
          "model=llama3-8b", "gpu=h100-sxm-80gb", "gpus=8",         "tp=8",
          "engine=vLLM",     "weight_dtype=bf16", "isl=8",          "osl=8",
          "concurrency=1",   "micro_batch=1",     "precision=bf16", "framework=torchtitan"};
      const ImportedRows rows = import_result_rows(files, static_cast<ResultForm>(chosen.which), stated);
      std::istringstream stream{rows.text};
      Diagnostics problems;
      static_cast<void>(read_runs(stream, "rows.csv", problems));
      fuzz::require(problems.empty());
    } else if (const std::size_t record = chosen.which - result_form_names.size(); record < record_form_names.size()) {
      fuzz::require(!import_records(static_cast<RecordForm>(record), chosen.text, "record").text.empty());
    } else if (record == record_form_names.size()) {
      fuzz::require(
          !import_focus_bill({"bill.csv", chosen.text}, {"bill", {"vm=h100-sxm-80gb:8"}}, catalog).toml.empty());
    } else {
      const Device& card = catalog.device("a100-sxm-80gb");
      fuzz::require(
          !sharing_of_slices({"mig.yaml", chosen.text}, "", card, *catalog.partitions(card), Bytes{5e8}).toml.empty());
    }
  } catch (const ConfigError&) {
    return 0;
  }
  return 0;
}
