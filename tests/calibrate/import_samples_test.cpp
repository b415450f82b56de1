// SPDX-License-Identifier: Apache-2.0
// Results of other benchmarks become samples; what was cut, failed or is something else is told with its place.
#include <headroom/calibrate/import/import_samples.hpp>
#include <headroom/calibrate/kernels/kernel_rows.hpp>
#include <headroom/core/config_reader.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include <sstream>

using namespace headroom;
using headroom::test::says;

namespace {

const std::string today =
    "# nccl-tests version 2.17.6 nccl-headers=22809 nccl-library=22809\n"
    "# Collective test starting: reduce_scatter_perf\n"
    "# nThread 1 nGpus 2 minBytes 1024 maxBytes 4096 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1\n"
    "#\n"
    "# Using devices\n"
    "#  Rank  0 Group  0 Pid  11 on node1 device  0 [0000:1b:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  1 Group  0 Pid  11 on node1 device  1 [0000:43:00] NVIDIA H100 80GB HBM3\n"
    "#\n"
    "#                                                              out-of-place                       in-place\n"
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  "
    "#wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)\n"
    "           0             0     float     sum      -1     0.13    0.00    0.00       0     0.12    0.00    0.00    "
    "   0\n"
    "        1024           128     float     sum      -1    11.27    0.09    0.05       0    11.13    0.09    0.05    "
    "   0\n"
    "        4096           512     float     sum      -1    12.50    0.33    0.16       0    12.00    0.34    0.17    "
    "   0\n"
    "# Out of bounds values : 0 OK\n"
    "# Avg bus bandwidth    : 0.108\n";

// Before 2.12 the table had no root and told an error instead of a count.
const std::string formerly =
    "# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 validation: 1\n"
    "NCCL version 2.7.8+cuda11.0\n"
    "#   Rank  0 Pid   1320 on a device  0 [0x00] Tesla V100-SXM2-16GB\n"
    "#   Rank  1 Pid   2066 on b device  0 [0x00] Tesla V100-SXM2-16GB\n"
    "#       size         count      type   redop     time   algbw   busbw  error     time   algbw   busbw  error\n"
    "           8             2     float     sum    30.50    0.00    0.00  1e-07    29.90    0.00    0.00  1e-07\n";

const std::string smi =
    "<?xml version=\"1.0\" ?>\n"
    "<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v12.dtd\">\n"
    "<nvidia_smi_log>\n"
    "\t<driver_version>580.82.07</driver_version>\n"
    "\t<cuda_version>13.0</cuda_version>\n"
    "\t<gpu id=\"00000000:1B:00.0\">\n"
    "\t\t<product_name>NVIDIA H200 &amp; more</product_name>\n"
    "\t\t<gpu_part_number>2335-885-A1</gpu_part_number>\n"
    "\t\t<mig_mode>\n\t\t\t<current_mig>Disabled</current_mig>\n\t\t</mig_mode>\n"
    "\t\t<clocks_event_reasons>\n\t\t\t<clocks_event_reason_gpu_idle>Active</clocks_event_reason_gpu_idle>\n"
    "\t\t\t<clocks_event_reason_sw_power_cap>Active</clocks_event_reason_sw_power_cap>\n\t\t</clocks_event_reasons>\n"
    "\t\t<gpu_power_readings>\n\t\t\t<current_power_limit>700.00 W</current_power_limit>\n\t\t</gpu_power_readings>\n"
    "\t\t<accounted_processes />\n"
    "\t</gpu>\n"
    "</nvidia_smi_log>\n";

template <class Import>
std::string refusal(Import import, const std::string& text, const std::string& file = "file.log") {
  try {
    static_cast<void>(import(text, file));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

}  // namespace

TEST_CASE("a log of nccl-tests becomes rows of collectives: out of place, bytes as the column size") {
  const ImportedSamples samples = import_collective_log(today, "run.log");
  CHECK(samples.text ==
        "nccl_version,op,gpus,dtype,bytes,latency_us\n"
        "2.28.9,reduce_scatter,2,float,1024,11.27\n"
        "2.28.9,reduce_scatter,2,float,4096,12.50\n");
  CHECK(samples.remarks.empty());
  std::istringstream stream{samples.text};
  Diagnostics diagnostics;
  const KernelFile file = read_kernel_rows(stream, "nccl.csv", std::nullopt, diagnostics);
  CHECK(diagnostics.empty());
  CHECK(file.kind == KernelKind::nccl);
  CHECK(file.rows.size() == 2);
}

TEST_CASE("an older table, without root and with errors, is read by its own header, the file's name tells the op") {
  const ImportedSamples samples = import_collective_log(formerly, "logs/all_reduce_2.log");
  CHECK(samples.text == "nccl_version,op,gpus,dtype,bytes,latency_us\nunknown,all_reduce,2,float,8,30.50\n");
  REQUIRE(samples.remarks.size() == 1);
  CHECK(says(samples.remarks.front(), "NCCL_DEBUG=VERSION"));
}

TEST_CASE("logs that were cut, failed, or lack what a row needs are refused with the way out") {
  CHECK(says(refusal(import_collective_log, "hello\n"), "no row of a table of nccl-tests or rccl-tests"));
  CHECK(says(refusal(import_collective_log, formerly), "does not say which collective it is"));
  CHECK(says(refusal(import_collective_log, replaced(replaced(today, "#  Rank  0", "# x"), "#  Rank  1", "# x")),
             "does not list its ranks"));
  CHECK(
      says(refusal(import_collective_log, today.substr(0, today.find("12.00"))), "file.log:14:1: error: the row has"));
  CHECK(says(refusal(import_collective_log, replaced(today, "0.16       0", "0.16      17")),
             "file.log:14:1: error: 17 results are wrong"));
}

TEST_CASE("a log's numbers that no machine measures are refused with their line") {
  for (const char* time : {"-1.00", "0.00 ", "nan", "inf", "1e308", "3.7e9"}) {
    const std::string said = refusal(import_collective_log, replaced(today, "11.27", time));
    CHECK_MESSAGE(says(said, "file.log:13:1: error: time '"), said);
    CHECK_MESSAGE(says(said, "run the benchmark again, or take the row out"), said);
  }
  for (const char* size : {"-1024", "1e300", "9e15", "1125899906842625", "9000000000000000", "1.5"}) {
    CHECK(says(refusal(import_collective_log, replaced(today, "        1024 ", "  " + std::string{size} + " ")),
               "file.log:13:1: error: size '" + std::string{size} +
                   "' must be a whole number of bytes, from 0 to 1125899906842624"));
  }
  // A table without types is none of theirs, and its rows are not reached for beyond their end.
  CHECK(says(refusal(import_collective_log, replaced(today, "      type", "      kind")), "no row of a table"));
  CHECK(says(refusal(import_collective_log, replaced(today, "128     float", "128     fl\x1bt")),
             "file.log:13:1: error: "));
}

TEST_CASE("a matrix of nvbandwidth becomes a row a cell, failed tests are refused, waived ones told") {
  const std::string json =
      "{\"nvbandwidth\": {\"git_version\": \"v0.8\", \"testcases\": [\n"
      "  {\"name\": \"host_to_device_memcpy_ce\", \"status\": \"Passed\", \"bandwidth_matrix\": [[\"55.36\", "
      "\"55.40\"]]},\n"
      "  {\"name\": \"device_to_device_memcpy_read_ce\", \"status\": \"Passed\", \"bandwidth_matrix\": [[\"N/A\", "
      "\"397.1\"], [\"396.8\", \"N/A\"]]},\n"
      "  {\"name\": \"multinode_device_to_device_memcpy_read_ce\", \"status\": \"Waived\"}]}}\n";
  const ImportedSamples samples = import_nvbandwidth(json, "nvb.json");
  CHECK(samples.text ==
        "test,row,column,gb_per_s\n"
        "host_to_device_memcpy_ce,0,0,55.36\nhost_to_device_memcpy_ce,0,1,55.40\n"
        "device_to_device_memcpy_read_ce,0,1,397.1\ndevice_to_device_memcpy_read_ce,1,0,396.8\n");
  REQUIRE(samples.remarks.size() == 1);
  CHECK(says(refusal(import_nvbandwidth, replaced(json, "Passed", "Error")), "file.log:2:50: error: "));
  CHECK(says(refusal(import_nvbandwidth, replaced(json, "55.36", "fast")),
             "file.log:2:82: error: host_to_device_memcpy_ce: bandwidth 'fast' is no measurement; it must be above 0 "
             "and at most 1000000 GB/s"));
  for (const char* bandwidth : {"-1", "0", "nan", "inf", "1e308"}) {
    CHECK(says(refusal(import_nvbandwidth, replaced(json, "55.36", bandwidth)), "file.log:2:82: error: "));
  }
  CHECK(says(import_nvbandwidth(replaced(json, "\"55.36\"", "55"), "nvb.json").text.c_str(), ",0,0,55\n"));
  CHECK(says(refusal(import_nvbandwidth, replaced(json, "host_to", "host\\nto")), "error: 'name' is 'host\\x0ato"));
  CHECK(says(refusal(import_nvbandwidth, "{}"), "not what 'nvbandwidth -j' writes"));
}

TEST_CASE("the CSV part of mixbench becomes a row a type and intensity") {
  const std::string text =
      "mixbench (v0.04)\nTotal GPU memory 80 GB\n"
      "----------------------------------------- CSV data -----------------------------------------\n"
      "Experiment ID, Single Precision ops,,,,              Double precision ops,,,,              \n"
      "Compute iters, Flops/byte, ex.time,  GFLOPS, GB/sec, Flops/byte, ex.time,  GFLOPS, GB/sec,\n"
      "            0,      0.250,    0.36,  743.84, 2975.35,      0.125,    0.70,  383.30, 3066.38\n"
      "            1,      0.750,    0.36, 2228.74, 2971.65,      0.375,    0.70, 1149.92, 3066.46\n"
      "--------------------------------------------------------------------------------------------\n";
  CHECK(import_mixbench(text, "mix.txt").text ==
        "type,flop_per_byte,time_ms,gflop_per_s,gb_per_s\n"
        "Single Precision ops,0.250,0.36,743.84,2975.35\nDouble precision ops,0.125,0.70,383.30,3066.38\n"
        "Single Precision ops,0.750,0.36,2228.74,2971.65\nDouble precision ops,0.375,0.70,1149.92,3066.46\n");
  CHECK(says(refusal(import_mixbench, text.substr(0, text.find(", 1149.92"))), "file.log:7:1: error: the row has 7"));
  CHECK(says(refusal(import_mixbench, "nothing\n"), "no CSV part of mixbench"));
  for (const char* from : {"0.250", "0.36", "743.84", "2975.35"}) {
    for (const char* value : {"-1", "nan", "inf", "1e308"}) {
      const std::string said = refusal(import_mixbench, replaced(text, from, value));
      CHECK_MESSAGE(says(said, "file.log:6:1: error: Single Precision ops: "), from, " ", value, ": ", said);
    }
  }
}

TEST_CASE("nvidia-smi -q -x becomes TOML that says what a manifest says") {
  const std::string text = import_nvidia_smi(smi, "smi.xml").text;
  const ConfigValue root = parse_toml(text, "smi.toml");
  CHECK(root.find("driver")->text == "580.82.07");
  REQUIRE(root.find("gpu") != nullptr);
  const ConfigValue& gpu = root.find("gpu")->items.front();
  CHECK(gpu.find("name")->text == "NVIDIA H200 & more");
  CHECK(gpu.find("board")->text == "2335-885-A1");
  CHECK(gpu.find("mig")->text == "Disabled");
  CHECK(gpu.find("power_limit")->text == "700.00 W");
  REQUIRE(gpu.find("throttle")->items.size() == 1);
  CHECK(gpu.find("throttle")->items.front().text == "clocks_event_reason_sw_power_cap");
  CHECK(says(refusal(import_nvidia_smi, smi.substr(0, smi.find("</gpu>"))), "<gpu> has no end: the file was cut"));
  CHECK(says(refusal(import_nvidia_smi, replaced(smi, "</cuda_version>", "</cuda>")),
             "file.log:5:20: error: </cuda> closes <cuda_version>"));
  CHECK(says(refusal(import_nvidia_smi, "<html></html>"), "not what 'nvidia-smi -q -x' writes"));
  const ImportedSamples sliced = import_nvidia_smi(replaced(smi, "Disabled", "Enabled"), "smi.xml");
  REQUIRE(sliced.remarks.size() == 1);
  CHECK(says(sliced.remarks.front(), "MIG is on"));
}

TEST_CASE(
    "what nvidia-smi prints instead of a number is left out, and numbers of no GPU are refused with their place") {
  const auto with = [&](const std::string& elements) {
    return replaced(smi, "\t\t<accounted_processes />\n", "\t\t" + elements + "\n");
  };
  const auto memory = [&](const std::string& text) {
    return with("<fb_memory_usage><total>" + text + "</total></fb_memory_usage>");
  };
  const auto clock = [&](const std::string& text) {
    return with("<max_clocks><sm_clock>" + text + "</sm_clock></max_clocks>");
  };
  CHECK(says(import_nvidia_smi(memory("143771 MiB"), "smi.xml").text.c_str(), "memory = \"143771 MiB\"\n"));
  for (const char* none : {"N/A", "[N/A]", "Not Supported", "[Unknown Error]", "Insufficient Permissions"}) {
    CHECK_FALSE(says(import_nvidia_smi(memory(none), "smi.xml").text.c_str(), "memory ="));
  }
  for (const char* wrong : {"-5 MiB", "0 MiB", "nan MiB", "-nan MiB", "inf MiB", "1e308 MiB", "5 GiB", "5", "much"}) {
    const std::string said = refusal(import_nvidia_smi, memory(wrong));
    CHECK_MESSAGE(says(said, "error: <fb_memory_usage/total> is '"), said);
    CHECK_MESSAGE(says(said, "; it must be 1 MiB to 16777216 MiB"), said);
    CHECK_MESSAGE(said.starts_with("file.log:19:27: "), said);
  }
  CHECK(says(refusal(import_nvidia_smi, clock("-nan MHz")), "error: <max_clocks/sm_clock> is '-nan MHz'; it must be "));
  CHECK(says(import_nvidia_smi(clock("1980 MHz"), "smi.xml").text.c_str(), "sm_clock_max = \"1980 MHz\"\n"));
  const std::string limit = replaced(smi, "700.00 W", "1e308 W");
  CHECK(says(refusal(import_nvidia_smi, limit), "error: <gpu_power_readings/current_power_limit> is '1e308 W'"));
  // Text is one printed line, and names of elements are names.
  CHECK(says(refusal(import_nvidia_smi, replaced(smi, "H200 &amp;", "H200\x1b[31m")),
             "error: <product_name> is 'NVIDIA H200\\x1b[31m more'; it must be one line"));
  CHECK(says(refusal(import_nvidia_smi, replaced(smi, "<current_mig>", "<cur\"rent>")), "begins no element"));
  // All of them at once.
  const std::string both = refusal(import_nvidia_smi, replaced(memory("-1 MiB"), "700.00 W", "-700 W"));
  CHECK(says(both, "<fb_memory_usage/total>"));
  CHECK(says(both, "<gpu_power_readings/current_power_limit>"));
}
