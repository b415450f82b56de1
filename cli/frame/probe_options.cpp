// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/frame/probe_options.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/diagnostic.hpp>

#include <algorithm>

namespace headroom::cli {
namespace {

bool given(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

ProbeChoice choice_of(const Arguments& arguments) {
  ProbeChoice choice;
  choice.quick = arguments.has("--quick");
  choice.full = arguments.has("--full");
  if (choice.quick && choice.full) {
    throw ConfigError{"--quick measures less and --full more than the standard set: give one of them"};
  }
  if (choice.full) {
    choice.layer = true;
    choice.types.clear();
    for (const GemmTypeRow& row : gemm_types) {
      choice.types.push_back(row.type);
    }
  }
  if (arguments.has("--only")) {
    const std::vector<std::string> only = arguments.many("--only");
    choice.gemm = given(only, "gemm");
    choice.copy = given(only, "copy");
    choice.launch = given(only, "launch");
    choice.attention = given(only, "attention");
    choice.decode = given(only, "decode");
    choice.memory = given(only, "memory");
    choice.transfer = given(only, "transfer");
    choice.layer = given(only, "layer");
    choice.unit = given(only, "unit");
    choice.collectives = given(only, "nccl");
  }
  if (arguments.has("--dtype")) {
    if (!choice.gemm) {
      throw ConfigError{"--dtype chooses types of GEMM, which --only leaves out"};
    }
    const std::vector<std::string> types = arguments.many("--dtype");
    choice.types.clear();
    for (const GemmTypeRow& row : gemm_types) {
      if (given(types, row.name)) {
        choice.types.push_back(row.type);
      }
    }
  }
  return choice;
}

std::int64_t device_of(const Arguments& arguments) {
  const std::string text = arguments.one("--device", "0");
  const std::optional<std::int64_t> device = integer_of(text);
  constexpr std::int64_t most = 1024;
  if (!device || *device < 0 || *device > most) {
    throw ConfigError{"--device is " + quoted(text) + "; it must be an integer from 0"};
  }
  return *device;
}

}  // namespace headroom::cli
