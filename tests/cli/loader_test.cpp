// SPDX-License-Identifier: Apache-2.0
// Which libraries the binary loads does not depend on the folder that it is called from.
#include <doctest/doctest.h>

#include "run_headroom.hpp"

using namespace headroom::test;
namespace fs = std::filesystem;

namespace {

/// A folder of somebody else's, with libraries of the names that the binary asks for.
void plant(const fs::path& folder) {
  for (const char* name : {"libgcc_s.so.1", "libstdc++.so.6", "libm.so.6", "libc.so.6", "libpugixml.so.1",
                           "libheadroom_probes.so", "libnvidia-ml.so.1"}) {
    fs::copy_file(HEADROOM_PLANTED, folder / name);
  }
}

}  // namespace

TEST_CASE("libraries in the current folder are not loaded, neither at start nor for a probe") {
  const ScratchFolder scratch;
  plant(scratch.path());
  const Run version = run_headroom("--version", scratch.path());
  CHECK(version.code == 0);
  CHECK(version.out.starts_with("Headroom "));
  // With a GPU and the real library it may measure; here as there nothing of this folder takes part.
  CHECK(run_headroom("probe --quick -o samples", scratch.path()).err.find(scratch.path().string()) ==
        std::string::npos);
  CHECK(run_headroom("calibrate --budget 1s -o samples", scratch.path()).err.find(scratch.path().string()) ==
        std::string::npos);
  CHECK_FALSE(fs::exists(scratch.path() / "loaded"));
}

TEST_CASE(
    "the probe library is looked for beside the program and where both are installed, wherever it is called from") {
  const ScratchFolder scratch;
  const fs::path elsewhere = scratch.path() / "elsewhere";
  fs::create_directories(elsewhere);
  for (const char* place : {"bin", "lib"}) {
    const fs::path root = scratch.path() / place;
    fs::create_directories(root / "bin");
    fs::create_directories(root / "lib");
    fs::copy_file(HEADROOM_BINARY, root / "bin/headroom");
    const std::string call = "cd '" + elsewhere.string() + "' && env -u HEADROOM_PROBES_LIBRARY FAKE_PROBES=none '" +
                             (root / "bin/headroom").string() + "' probe 2>err";
    CHECK(WEXITSTATUS(std::system(call.c_str())) == 3);
    const std::string missing = read_text(elsewhere / "err");
    CHECK_MESSAGE(missing.find("'" + (root / "bin/libheadroom_probes.so").string() + "'") != std::string::npos,
                  missing);
    CHECK_MESSAGE(missing.find("docs/probes.md") != std::string::npos, missing);
    fs::copy_file(HEADROOM_FAKE_PROBES, root / place / "libheadroom_probes.so");
    CHECK(WEXITSTATUS(std::system(call.c_str())) == 3);
    CHECK(read_text(elsewhere / "err").starts_with("headroom: error: no CUDA device"));  // what the library says
  }
}

TEST_CASE("a library that is named by the environment is named whole") {
  const ScratchFolder scratch;
  plant(scratch.path());
  for (const char* variable : {"HEADROOM_PROBES_LIBRARY", "HEADROOM_NVML_LIBRARY"}) {
    setenv("HEADROOM_PROBES_LIBRARY", HEADROOM_FAKE_PROBES, 1);
    setenv(variable, "./libheadroom_probes.so", 1);
    const Run run = run_headroom("calibrate --budget 1s -o samples", scratch.path());
    unsetenv("HEADROOM_PROBES_LIBRARY");
    unsetenv("HEADROOM_NVML_LIBRARY");
    CHECK(run.code == 2);
    CHECK_MESSAGE(run.err.starts_with("headroom: error: " + std::string{variable} + " is './libheadroom_probes.so'; "),
                  run.err);
    CHECK_FALSE(fs::exists(scratch.path() / "loaded"));
  }
}
