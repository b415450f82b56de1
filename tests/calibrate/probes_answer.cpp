// SPDX-License-Identifier: Apache-2.0
// Opens a probe library and asks its ABI version: probes_answer LIBRARY. Needs no GPU and no driver.
#include <headroom/calibrate/probe/probes_abi.hpp>

#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  namespace probes = headroom::probes;
  if (argc != 2) {
    std::puts("usage: probes_answer LIBRARY");
    return 2;
  }
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::printf("cannot be opened: %s\n", dlerror());
    return 1;
  }
  const auto entry = reinterpret_cast<probes::Entry>(dlsym(library, probes::entry_name));
  if (entry == nullptr) {
    std::printf("no symbol %s\n", probes::entry_name);
    return 1;
  }
  std::uint32_t own = 0;
  const bool known = entry(probes::abi_version, &own) != nullptr;
  const bool refused = entry(probes::abi_version + 1, &own) == nullptr;
  std::printf("ABI version %u, expected %u\n", own, probes::abi_version);
  return known && refused && own == probes::abi_version ? 0 : 1;
}
