// SPDX-License-Identifier: Apache-2.0
// Any bytes as an ONNX file: a network that can be read, or refused by ConfigError.
#include <headroom/calibrate/onnx/onnx_network.hpp>
#include <headroom/core/config_reader.hpp>
#include <headroom/model/workload/op_list.hpp>

#include "../support/scratch_folder.hpp"
#include "require.hpp"
#include <cstdlib>
#include <string>

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
#ifdef HEADROOM_ONNX_MODULE
  static const test::ScratchFolder folder;
  setenv("HEADROOM_ONNX_LIBRARY", HEADROOM_ONNX_MODULE, 1);  // NOLINT(concurrency-mt-unsafe)
  const std::string file = folder.write(
      "net.onnx", std::string_view{reinterpret_cast<const char*>(data), size});  // NOLINT(*-reinterpret-cast)
  try {
    const ImportedOnnx imported = import_onnx(file, {});
    fuzz::require(!imported.toml.empty());
  } catch (const ConfigError&) {
    return 0;
  }
#else
  static_cast<void>(data);
  static_cast<void>(size);
#endif
  return 0;
}
