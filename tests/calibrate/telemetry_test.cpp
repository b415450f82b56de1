// SPDX-License-Identifier: Apache-2.0
// Telemetry and logs, read: layouts of the tools, and what is refused with its place.
#include <headroom/calibrate/evidence/evidence_form.hpp>
#include <headroom/calibrate/telemetry/engine_journal.hpp>
#include <headroom/calibrate/telemetry/monitor_reader.hpp>
#include <headroom/calibrate/telemetry/prometheus_reader.hpp>
#include <headroom/calibrate/telemetry/signal_text.hpp>
#include <headroom/calibrate/telemetry/smi_reader.hpp>
#include <headroom/calibrate/telemetry/step_reader.hpp>
#include <headroom/calibrate/telemetry/training_log.hpp>
#include <headroom/core/diagnostic.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include "../support/scratch_folder.hpp"
#include <string>
#include <string_view>
#include <vector>

using namespace headroom;
using headroom::test::says;
using headroom::test::ScratchFolder;

namespace {

using Reader = void (*)(std::string_view, const std::string&, Signals&);

Signals read_as(Reader reader, std::string_view text) {
  Signals signals;
  reader(text, "f", signals);
  return signals;
}

std::string refusal_of(Reader reader, std::string_view text) {
  try {
    static_cast<void>(read_as(reader, text));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

double held(const GpuSample& sample, Signal signal) {
  return sample.get(signal).value_or(-1.0);
}

constexpr std::string_view smi_header =
    "timestamp, index, name, utilization.gpu [%], clocks.current.sm [MHz], clocks_throttle_reasons.active, "
    "power.draw [W], memory.used [MiB]\n";

}  // namespace

TEST_CASE("telemetry: samples of nvidia-smi are told apart by GPU, in raw units") {
  const Signals signals = read_as(
      read_smi_csv, std::string{smi_header} +
                        "2026/11/20 10:00:00.500, 0, Tesla T4, 98 %, 1590 MHz, 0x0000000000000004, 69.50 W, 1024 "
                        "MiB\n"
                        "2026/11/20 10:00:00.500, 1, Tesla T4, [N/A], 300 MHz, 0x0000000000000001, [Not "
                        "Supported], 3 MiB\n"
                        "2026/11/20 10:00:01.500, 0, Tesla T4, 40 %, 1290 MHz, 0x0000000000000000, 50.00 W, 1024 "
                        "MiB\n");
  REQUIRE(signals.gpus.size() == 2);
  const GpuSignals& first = signals.gpus[0];
  CHECK(first.gpu == "0");
  CHECK(first.name == "Tesla T4");
  REQUIRE(first.samples.size() == 2);
  CHECK(held(first.samples[0], Signal::busy) == doctest::Approx(0.98));
  CHECK(held(first.samples[0], Signal::sm_clock) == doctest::Approx(1.59e9));
  CHECK(held(first.samples[0], Signal::reasons) == 4.0);
  CHECK(held(first.samples[0], Signal::memory_used) == 1024.0 * 1048576.0);
  CHECK((*first.samples[1].time - *first.samples[0].time).raw() == doctest::Approx(1.0));
  CHECK(first.samples[1].line == 4);
  CHECK_FALSE(signals.gpus[1].samples[0].get(Signal::busy));
  CHECK_FALSE(signals.gpus[1].samples[0].get(Signal::power));
}

TEST_CASE("telemetry: what nvidia-smi cannot have written is refused with its place, all of it at once") {
  const std::string broken =
      refusal_of(read_smi_csv, std::string{smi_header} +
                                   "2026/11/20 10:00:01.000, 0, T4, full, 1590 MHz, 0x4, 69 W, 1 MiB\n"
                                   "2026/11/20 10:00:02.000, 0, T4, 180 %, 1590 MHz, 0x4, 69 W, 1 MiB\n"
                                   "2026/11/20 10:00:03.000, 0, T4, 10 %, -5 MHz, few, 69 W, 1 MiB\n"
                                   "2026/11/20 10:00:04.000, 0, T4, 10\n");
  CHECK(says(broken, "f:2:"));
  CHECK(says(broken, "'full'"));
  CHECK(says(broken, "f:3:"));
  CHECK(says(broken, "0 to 100 %"));
  CHECK(says(broken, "'-5 MHz'"));
  CHECK(says(broken, "'few'"));
  CHECK(says(broken, "f:5:1: error: row has 4 fields"));
  const std::string back =
      refusal_of(read_smi_csv, std::string{smi_header} +
                                   "2026/11/20 10:00:02.000, 0, T4, 10 %, 1 MHz, 0x0, 9 W, 1 MiB\n"
                                   "2026/11/20 10:00:01.000, 0, T4, 10 %, 1 MHz, 0x0, 9 W, 1 MiB\n");
  CHECK(says(back, "f:3:1"));
  CHECK(says(back, "goes back from line 2"));
  CHECK(says(back, "sort the rows"));
  CHECK(says(refusal_of(read_smi_csv, smi_header), "no sample"));
  CHECK(says(refusal_of(read_smi_csv, "timestamp, index\n1, 0\n"), "--query-gpu="));
}

TEST_CASE("telemetry: reasons of the clock stand in columns of their own as well") {
  const Signals signals = read_as(read_smi_csv,
                                  "index, clocks.sm [MHz], clocks_event_reasons.sw_power_cap, "
                                  "clocks_event_reasons.hw_thermal_slowdown\n0, 1100 MHz, Not Active, Active\n");
  CHECK(held(signals.gpus[0].samples[0], Signal::reasons) == 64.0);
}

TEST_CASE("telemetry: nvidia-smi dmon, with a clock, and cut within a row") {
  const std::string header =
      "#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk\n"
      "#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %    MHz    MHz\n";
  const Signals signals = read_as(
      read_smi_monitor, header + " 20261120   10:00:00      0     63     35      -     97     40   1593   1410\n");
  const GpuSample& sample = signals.gpus.at(0).samples.at(0);
  CHECK(held(sample, Signal::busy) == doctest::Approx(0.97));
  CHECK(held(sample, Signal::memory_busy) == doctest::Approx(0.40));
  CHECK(held(sample, Signal::sm_clock) == doctest::Approx(1.41e9));
  CHECK(sample.time->raw() == time_of_stamp("2026-11-20 10:00:00")->raw());
  CHECK(says(refusal_of(read_smi_monitor, header + " 20261120   10:00:00      0     63     35\n"), "f:3:1"));
}

TEST_CASE("telemetry: nvidia-smi pmon tells which GPU has no process") {
  const Signals signals = read_as(read_process_monitor,
                                  "# gpu         pid   type     sm    mem     fb    command \n"
                                  "# Idx           #    C/G      %      %     MB    name \n"
                                  "    0          -     -      -      -      -    -              \n"
                                  "    1       4242     C     97     40  30500    python train    \n");
  REQUIRE(signals.processes.size() == 2);
  CHECK_FALSE(signals.processes[0].process);
  CHECK(signals.processes[1].gpu == "1");
  CHECK(signals.processes[1].memory->raw() == 30500.0 * 1048576.0);
  CHECK(signals.processes[1].name == "python");
  REQUIRE(signals.gpus.size() == 1);
  CHECK(held(signals.gpus[0].samples.at(0), Signal::busy) == doctest::Approx(0.97));
}

TEST_CASE("telemetry: nvidia-smi -q tells clocks and reasons by section") {
  const Signals signals = read_as(read_smi_details,
                                  "==============NVSMI LOG==============\n"
                                  "GPU 00000000:07:00.0\n"
                                  "    Product Name                          : Tesla T4\n"
                                  "    Clocks Throttle Reasons\n"
                                  "        SW Power Cap                      : Active\n"
                                  "        HW Slowdown                       : Not Active\n"
                                  "            HW Thermal Slowdown           : Not Active\n"
                                  "    Clocks\n"
                                  "        SM                                : 900 MHz\n"
                                  "    Max Clocks\n"
                                  "        SM                                : 1590 MHz\n");
  const GpuSample& sample = signals.gpus.at(0).samples.at(0);
  CHECK(signals.gpus[0].name == "Tesla T4");
  CHECK(held(sample, Signal::reasons) == 4.0);
  CHECK(held(sample, Signal::sm_clock) == doctest::Approx(0.9e9));
  CHECK(held(sample, Signal::most_sm_clock) == doctest::Approx(1.59e9));
}

TEST_CASE("telemetry: dcgmi dmon passes switches over and refuses a row that breaks off") {
  const std::string header = "#Entity   SMACT  SMOCC  TENSO  DRAMA\nID\n";
  const Signals signals = read_as(read_dcgm_monitor, header +
                                                         "GPU 0     0.912  0.450  0.031  0.850\n"
                                                         "Switch 0  N/A    N/A    N/A    N/A\n"
                                                         "GPU-I 2   0.5    0.1    N/A    0.2\n");
  REQUIRE(signals.gpus.size() == 2);
  CHECK(held(signals.gpus[0].samples[0], Signal::sm_active) == doctest::Approx(0.912));
  CHECK(held(signals.gpus[0].samples[0], Signal::memory_active) == doctest::Approx(0.850));
  CHECK(signals.gpus[1].gpu == "GPU-I 2");
  CHECK_FALSE(signals.gpus[1].samples[0].get(Signal::tensor_active));
  CHECK(says(refusal_of(read_dcgm_monitor, header + "GPU 0     0.912  0.4\n"), "f:3:1"));
}

TEST_CASE("telemetry: metrics that stand again are the next scrape") {
  const std::string scrape =
      "# HELP DCGM_FI_PROF_SM_ACTIVE ratio\n# TYPE DCGM_FI_PROF_SM_ACTIVE gauge\n"
      "DCGM_FI_PROF_SM_ACTIVE{gpu=\"0\",modelName=\"NVIDIA A100-SXM4-80GB\",Hostname=\"n1\"} 0.5\n"
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",Hostname=\"n1\"} 90\n"
      "unknown_metric{a=\"b\"} 3\n";
  const Signals signals = read_as(read_prometheus_text, scrape + scrape);
  REQUIRE(signals.gpus.size() == 1);
  CHECK(signals.gpus[0].gpu == "0");
  CHECK(signals.gpus[0].name == "NVIDIA A100-SXM4-80GB");
  REQUIRE(signals.gpus[0].samples.size() == 2);
  CHECK(held(signals.gpus[0].samples[1], Signal::sm_active) == 0.5);
  CHECK(held(signals.gpus[0].samples[1], Signal::busy) == doctest::Approx(0.9));
}

TEST_CASE("telemetry: what breaks off within a metric is refused with its line") {
  const std::string said = refusal_of(read_prometheus_text,
                                      "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\"} 90\n"
                                      "DCGM_FI_DEV_GPU_UTIL{gpu=\"1\"} ninety\n"
                                      "DCGM_FI_PROF_SM_ACTIVE{gpu=\"0\n"
                                      "{broken}\n");
  CHECK(says(said, "f:2:"));
  CHECK(says(said, "'ninety'"));
  CHECK(says(said, "f:3:1"));
  CHECK(says(said, "has no end"));
  CHECK(says(said, "f:4:1"));
  CHECK(says(refusal_of(read_prometheus_text, "up 1\n"), "DCGM_FI_PROF_SM_ACTIVE"));
}

TEST_CASE("telemetry: what DCGM and vLLM write for nothing is nothing") {
  const Signals signals = read_as(read_prometheus_text,
                                  "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\"} 2147483632\n"
                                  "DCGM_FI_PROF_SM_ACTIVE{gpu=\"0\"} 140737488355328.000000\n"
                                  "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{gpu=\"0\"} NaN\n"
                                  "vllm:gpu_prefix_cache_hit_rate{model_name=\"m\"} -1.0\n");
  for (const auto& value : signals.gpus.at(0).samples.at(0).values) {
    CHECK_FALSE(value);
  }
  CHECK_FALSE(signals.engines.at(0).samples.at(0).get(EngineSignal::prefix_hits));
}

TEST_CASE("telemetry: a range query is read by time") {
  const Signals signals = read_as(read_prometheus_json, R"({"status":"success","data":{"resultType":"matrix","result":[
    {"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL","gpu":"3"},"values":[[1700000000,"80"],[1700000015.5,"60"]]},
    {"metric":{"__name__":"DCGM_FI_DEV_SM_CLOCK","gpu":"3"},"values":[[1700000015.5,"1410"]]}]}})");
  REQUIRE(signals.gpus.size() == 1);
  REQUIRE(signals.gpus[0].samples.size() == 2);
  CHECK(signals.gpus[0].samples[1].time->raw() == 1700000015.5);
  CHECK(held(signals.gpus[0].samples[1], Signal::sm_clock) == doctest::Approx(1.41e9));
  CHECK_FALSE(signals.gpus[0].samples[0].get(Signal::sm_clock));
  CHECK(says(refusal_of(read_prometheus_json, R"({"status":"error","error":"x","resultType":1})"), "data.result"));
  CHECK(says(refusal_of(read_prometheus_json,
                        R"({"data":{"result":[{"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL"}, "values":[[1]]}]}})"),
             "[seconds, \"number\"]"));
}

TEST_CASE("telemetry: logs of vLLM and SGLang tell their load") {
  const Signals vllm = read_as(
      read_engine_journal,
      "INFO 11-20 10:00:00 [loggers.py:127] Engine 000: Avg prompt throughput: 120.5 tokens/s, Avg generation "
      "throughput: 901.2 tokens/s, Running: 12 reqs, Waiting: 3 reqs, GPU KV cache usage: 98.7%, Prefix cache hit "
      "rate: 12.5%\n");
  const EngineSample& sample = vllm.engines.at(0).samples.at(0);
  CHECK(sample.get(EngineSignal::running) == 12.0);
  CHECK(sample.get(EngineSignal::waiting) == 3.0);
  CHECK(*sample.get(EngineSignal::cache_use) == doctest::Approx(0.987));
  CHECK(*sample.get(EngineSignal::prefix_hits) == doctest::Approx(0.125));
  const Signals sglang = read_as(
      read_engine_journal,
      "[2026-11-20 10:00:00 TP0] Prefill batch. #new-seq: 1, #new-token: 75, #cached-token: 25, token usage: 0.10, "
      "#running-req: 4, #queue-req: 2\n"
      "[2026-11-20 10:00:05 TP0] Decode batch. #running-req: 5, #token: 480, token usage: 0.96, gen throughput "
      "(token/s): "
      "512.3, #queue-req: 7\n");
  REQUIRE(sglang.engines.at(0).samples.size() == 2);
  const EngineSample& decode = sglang.engines[0].samples[1];
  CHECK(decode.get(EngineSignal::generation_rate) == 512.3);
  CHECK(decode.get(EngineSignal::waiting) == 7.0);
  CHECK(*decode.get(EngineSignal::prefix_hits) == 0.25);
  CHECK((*decode.time - *sglang.engines[0].samples[0].time).raw() == 5.0);
  CHECK(says(refusal_of(read_engine_journal,
                        "Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 1.0 tokens/s, Running: "),
             "f:1:1"));
  CHECK(says(refusal_of(read_engine_journal, "hello\n"), "Avg prompt throughput"));
}

TEST_CASE("telemetry: phases come a row a phase or a row a step, in their unit") {
  const Signals rows =
      read_as(read_phases, "step,phase,ms\n1,forward,10\n1,data_load,30\n2,forward,20\n2,data_load,30\n");
  const StatedPhases& mean = rows.phases.at(0);
  CHECK(mean.steps == 2);
  REQUIRE(mean.phases.size() == 2);
  CHECK(mean.phases[0].name == "forward");
  CHECK(mean.phases[0].time.raw() == doctest::Approx(0.015));
  CHECK(mean.phases[0].count == 1.0);
  const Signals columns = read_as(read_phases, "step,data_ms,forward_ms,step_time_ms\n0,10,20,31\n1,10,22,33\n");
  CHECK(columns.phases.at(0).phases.size() == 2);
  CHECK(columns.phases[0].step->raw() == doctest::Approx(0.032));
  const Signals told = read_as(read_phases, "term,seconds\nforward,2\nstep,3\n");
  CHECK(told.phases.at(0).phases.size() == 1);
  CHECK(told.phases[0].step->raw() == 3.0);
  CHECK(says(refusal_of(read_phases, "phase,seconds\nforward,fast\nbackward,\n"), "f:2:9"));
  CHECK(says(refusal_of(read_phases, "phase,seconds\nforward,fast\nbackward,\n"), "f:3:10"));
  CHECK(says(refusal_of(read_phases, "phase,seconds\nforward,0\n"), "no phase takes any time"));
}

TEST_CASE("telemetry: latencies keep their order, their unit and their prompts") {
  const Signals signals = read_as(read_latencies, "timestamp,latency_ms,prompt_tokens\n1.5,20,100\n2.5,30,\n");
  REQUIRE(signals.latencies.at(0).points.size() == 2);
  CHECK(signals.latencies[0].points[0].latency.raw() == doctest::Approx(0.020));
  CHECK(signals.latencies[0].points[0].prompt == 100.0);
  CHECK_FALSE(signals.latencies[0].points[1].prompt);
  CHECK(says(refusal_of(read_latencies, "time_s,latency_s\n2,0.1\n1,0.1\n"), "goes back from line 2"));
  CHECK(says(refusal_of(read_latencies, "time_s,latency_s\nsoon,0.1\n2,long\n3,\n"), "f:3:3"));
}

TEST_CASE("telemetry: accounts of Slurm, with days and steps") {
  const Signals signals = read_as(read_accounting,
                                  "JobID|JobName|State|ExitCode|Elapsed|NodeList\n"
                                  "7|train|NODE_FAIL|1:0|1-02:03:04|n[1-2]\n"
                                  "8|train|CANCELLED by 1000|0:0|00:10|n3\n");
  REQUIRE(signals.jobs.size() == 2);
  CHECK(signals.jobs[0].elapsed->raw() == 93784.0);  // 86 400 + 7 200 + 180 + 4
  CHECK(signals.jobs[1].state == "CANCELLED");
  CHECK(says(refusal_of(read_accounting, "JobID|State|Elapsed\n7|FAILED\n8|FAILED|long\n"), "f:2:1"));
  CHECK(says(refusal_of(read_accounting, "JobID|State|Elapsed\n7|FAILED\n8|FAILED|long\n"), "'long'"));
}

TEST_CASE("telemetry: kernels of Nsight Systems that overlap are resident once") {
  const Signals signals = read_as(read_kernel_list,
                                  "Start (ns),Duration (ns),GrdX,Device,Name\n"
                                  "1000,500,64,a (0),k\n1200,500,64,a (0),k\n1900,100,,a (0),[CUDA memcpy]\n"
                                  "2000,1000,64,a (0),k\n");
  const KernelList& list = signals.lists.at(0);
  CHECK(list.kernels == 3);
  CHECK(1e9 * list.busy.raw() == doctest::Approx(1700.0));
  CHECK(1e9 * list.window.raw() == doctest::Approx(2000.0));
}

TEST_CASE("telemetry: training logs tell losses, skipped steps, formats and the GPU") {
  const Signals signals = read_as(read_training_log,
                                  "args: fp16=True bf16=False\n"
                                  "using Tesla V100-SXM2-32GB, 8 of them\n"
                                  "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 32768.0\n"
                                  " iteration 1 | lm loss: 1.09E+01 | number of skipped iterations: 0 |\n"
                                  "{'loss': 9.5, 'grad_norm': 1.0}\n"
                                  "OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 32768, reducing to 16384\n"
                                  "step=3 loss=nan\n");
  const TrainingLog& log = signals.logs.at(0);
  CHECK(log.format == "fp16");
  CHECK(log.gpu == "Tesla V100-SXM2-32GB");
  CHECK(log.losses == 2);
  CHECK(log.not_numbers == 1);
  CHECK(log.first_not_number == 7);
  CHECK(log.overflows == 2);
  CHECK(log.first_overflows == 1);
  CHECK(log.least_scale == 16384.0);
  CHECK(says(refusal_of(read_training_log, "nothing\n"), "no line tells a loss"));
  CHECK(read_as(read_training_log, "iter 0: loss 10.98, time 80ms\niter 1: loss nan, time 80ms\n")
            .logs.at(0)
            .not_numbers == 1);
  // What the log switches off is not its format.
  CHECK(read_as(read_training_log, "precision: bfloat16\nloss: 1.0\n").logs.at(0).format == "bf16");
  CHECK(read_as(read_training_log, "fp16=False, bf16=True\nloss: 1.0\n").logs.at(0).format == "bf16");
}

TEST_CASE("telemetry: times of tools are seconds") {
  CHECK(time_of_stamp("1970/01/02 00:00:01.25")->raw() == 86401.25);
  CHECK(time_of_stamp("10:00:00")->raw() == 36000.0);
  CHECK(time_of_stamp("12.5")->raw() == 12.5);
  CHECK_FALSE(time_of_stamp("2026/13/20 10:00:00"));
  CHECK_FALSE(time_of_stamp("2026/11/31 10:00:00"));
  CHECK_FALSE(time_of_stamp("soon"));
}

TEST_CASE("telemetry: each file is told apart by its content, and every one that is not is told at once") {
  const ScratchFolder scratch;
  const std::vector<std::string> files{
      scratch.write("a", std::string{smi_header} + "2026/11/20 10:00:01.000, 0, T4, 10 %, 1 MHz, 0x0, 9 W, 1 MiB\n"),
      scratch.write("b", "# gpu    pwr     sm    mem\n# Idx      W      %      %\n    0     63     97     40\n"),
      scratch.write(
          "c", "# gpu         pid   type     fb    command\n# Idx    #   C/G   MB   name\n  0  7  C  900  python\n"),
      scratch.write("d", "gpu_uuid, pid, process_name, used_gpu_memory [MiB]\nGPU-1, 7, python, 900 MiB\n"),
      scratch.write("e", "#Entity   SMACT\nID\nGPU 0     0.9\n"),
      scratch.write("f", "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\"} 90\n"),
      scratch.write(
          "g",
          R"({"data":{"resultType":"matrix","result":[{"metric":{"__name__":"vllm:num_requests_running"},"values":[[1,"2"]]}]}})"),
      scratch.write("h", "phase,ms\nforward,10\n"),
      scratch.write("i", "time_s,latency_s\n1,0.1\n"),
      scratch.write("j", "JobID|State|Elapsed\n7|FAILED|00:01:00\n"),
      scratch.write("k", "epoch 1 loss: 2.5\n"),
      scratch.write("l", "[2026-11-20 10:00:05 TP0] Decode batch. #running-req: 5, token usage: 0.96, #queue-req: 7\n"),
      scratch.write("m", "Start (ns),Duration (ns),GrdX,Name\n1000,500,64,k\n"),
      scratch.write("n", "counter,value,unit\nduration,1,ms\ndram_throughput,90,%\n")};
  const Evidence evidence = read_evidence(files);
  const Signals& s = evidence.signals;
  CHECK(s.gpus.size() == 4);
  CHECK(s.processes.size() == 2);
  CHECK(s.engines.size() == 2);
  CHECK(s.phases.size() == 1);
  CHECK(s.latencies.size() == 1);
  CHECK(s.jobs.size() == 1);
  CHECK(s.logs.size() == 1);
  CHECK(s.lists.size() == 1);
  CHECK(s.profiles.size() == 1);
  const std::vector<std::string> unknown{scratch.write("x", "hello\n"), files[0],
                                         scratch.write("y", "phase,ms\na,b\n")};
  std::string said;
  try {
    static_cast<void>(read_evidence(unknown));
  } catch (const ConfigError& error) {
    said = error.what();
  }
  CHECK(says(said, "no form that diagnose reads"));
  CHECK(says(said, "nvidia-smi --query-gpu"));
  CHECK(says(said, "'b'"));
}
