// SPDX-License-Identifier: Apache-2.0
// `headroom probe` as a user meets it: without a device, and on one that does not exist.
#include <headroom/core/config_reader.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include "run_headroom.hpp"
#include <algorithm>

using namespace headroom;
using namespace headroom::test;

namespace {

/// The verb with the library of tests/calibrate/fake_probes.cpp and one of its faults.
Run probe(const ScratchFolder& folder, const std::string& arguments, const char* fault = "") {
  setenv("HEADROOM_PROBES_LIBRARY", HEADROOM_FAKE_PROBES, 1);
  setenv("FAKE_PROBES", fault, 1);
  const Run run = run_headroom("probe " + arguments, folder.path());
  unsetenv("FAKE_PROBES");
  unsetenv("HEADROOM_PROBES_LIBRARY");
  return run;
}

std::size_t lines_of(const std::filesystem::path& file) {
  const std::string text = read_text(file);
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("without a probe library or a device: a clear message, exit code 3, nothing written") {
  const ScratchFolder folder;
  setenv("HEADROOM_PROBES_LIBRARY", "/nowhere/libheadroom_probes.so", 1);
  const Run missing = run_headroom("probe", folder.path());
  unsetenv("HEADROOM_PROBES_LIBRARY");
  CHECK(missing.code == 3);
  CHECK(missing.out.empty());
  CHECK(missing.err.find("headroom: error: the probe library cannot be opened") == 0);
  CHECK(says(missing.err, "docs/probes.md"));
  const Run none = probe(folder, "", "none");
  CHECK(none.code == 3);
  CHECK(none.err == "headroom: error: no CUDA device: no CUDA-capable device is detected\n");
  const Run lost = probe(folder, "", "lost");
  CHECK(lost.code == 3);
  CHECK(says(lost.err, "the device failed at gemm bf16"));
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a run writes the samples and a manifest that names each file, and prints rates beside the datasheet's") {
  const ScratchFolder folder;
  const Run run = probe(folder, "-o h200");
  CHECK(run.code == 0);
  const std::filesystem::path out = folder.path() / "h200";
  CHECK(lines_of(out / "gemm.csv") == 1 + 4 * 48);
  CHECK(lines_of(out / "gemm_sustained.csv") == 1 + 4 * 2);
  CHECK(lines_of(out / "copy.csv") == 1 + 63);
  CHECK(lines_of(out / "launch.csv") == 1 + 22);
  CHECK(lines_of(out / "attention_training.csv") == 1 + 28);
  CHECK(lines_of(out / "attention_decode.csv") == 1 + 18);
  CHECK(lines_of(out / "memory.csv") == 1 + 30);
  CHECK(lines_of(out / "transfer.csv") == 1 + 18);
  CHECK(lines_of(out / "unit.csv") == 1 + 6 + 1 + 1 + 7 + 6 + 5 + 4 + 4);
  CHECK(lines_of(out / "details.csv") == 1 + 200 + 63 + 22 + 28 + 18 + 30 + 18 + 34);
  const ConfigValue manifest = parse_toml(read_text(out / "manifest.toml"), "manifest.toml");
  REQUIRE(manifest.find("files") != nullptr);
  CHECK(manifest.find("files")->items.size() == 10);
  for (const ConfigValue& file : manifest.find("files")->items) {
    CHECK(std::filesystem::exists(out / file.text));
  }
  CHECK(says(run.out, "NVIDIA H200 (h200-sxm-141gb), 132 SMs"));
  CHECK(says(run.out, "413 samples, 0 skipped"));
  CHECK(says(run.out, "70.7 %"));  // 8192^3 at 699 of 989 TFLOP/s
  CHECK(says(run.out, "bfloat16 8192x8192x8192"));
  CHECK(says(run.out, "n = 1024"));
  CHECK(says(run.out, "attention backward, cuDNN"));
  CHECK(says(read_text(out / "manifest.toml"), "[host]\ncores = "));
  CHECK(says(read_text(out / "manifest.toml"), "cudnn = \"9.19.0\""));
  CHECK(says(run.out, "wrote h200\n"));
  CHECK(says(run.err, "warning: clocks, power and throttling are not known"));
}

TEST_CASE("an existing folder is refused before anything is measured, and replaced with --force") {
  const ScratchFolder folder;
  CHECK(probe(folder, "--quick --only launch -o s").code == 0);
  const Run again = probe(folder, "--quick --only launch -o s", "lost");
  CHECK(again.code == 2);
  CHECK(says(again.err, "--force"));
  CHECK(probe(folder, "--quick --only copy -o s --force").code == 0);
  CHECK(std::filesystem::exists(folder.path() / "s/copy.csv"));
  CHECK(!std::filesystem::exists(folder.path() / "s/launch.csv"));
}

TEST_CASE("what a device refuses is in the manifest and in the answer, not in the samples") {
  const ScratchFolder folder;
  const Run refused = probe(folder, "--only gemm --dtype bf16 -o r", "refuse");
  CHECK(refused.code == 0);
  CHECK(lines_of(folder.path() / "r/gemm.csv") == 1 + 40);
  CHECK(says(refused.out, "skipped gemm bf16 1x128x64 and 7 more: cuBLASLt proposes no algorithm"));
  CHECK(says(read_text(folder.path() / "r/manifest.toml"), "probe = \"gemm bf16 1x8192x8192\""));
  const Run old = probe(folder, "--only gemm --dtype fp8 -o a", "ampere");
  CHECK(old.code == 3);
  CHECK(says(old.err, "no probe could be measured: gemm fp8: needs compute capability 8.9"));
}

TEST_CASE("a device that the catalog does not know is measured without shares of a peak") {
  const ScratchFolder folder;
  const Run run = probe(folder, "--quick -o x", "unknown");
  CHECK(run.code == 0);
  CHECK(says(run.out, "the catalog does not know 'Imaginary 3000'"));
  CHECK(!says(run.out, "%"));
  CHECK(!says(read_text(folder.path() / "x/manifest.toml"), "catalog_id"));
}

TEST_CASE("habits of an SM stand beside their formulas") {
  const ScratchFolder folder;
  const Run run = probe(folder, "--only unit -o u");
  CHECK(run.code == 0);
  CHECK(lines_of(folder.path() / "u/unit.csv") == 1 + 34);
  CHECK(says(run.out, "habits of an SM"));
  CHECK(says(run.out, "unit banks 33"));
  CHECK(says(run.out, "32 paths one after another"));
  CHECK(says(run.out, "5 sectors a warp, one its neighbour's"));
  CHECK(!says(probe(folder, "--only launch -o l").out, "habits of an SM"));
}

TEST_CASE("bad arguments of probe are usage errors") {
  const ScratchFolder folder;
  CHECK(probe(folder, "--only gem").code == 2);
  CHECK(says(probe(folder, "--only gem").err, "did you mean 'gemm'"));
  CHECK(says(probe(folder, "--device one").err, "--device is 'one'"));
  CHECK(probe(folder, "--device -1").code == 2);
  CHECK(says(probe(folder, "--only copy --dtype bf16").err, "--dtype chooses types of GEMM"));
  CHECK(says(probe(folder, "--quick --full").err, "give one of them"));
  CHECK(probe(folder, "extra").code == 2);
  CHECK(probe(folder, "-o absent/folder").code == 2);
}
