// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/core/diagnostic.hpp>

namespace headroom::cli {
namespace {

LabQuestion read_tile(FormReader& in) {
  in.problem("kernel tile is to come");
  return {};
}

}  // namespace

const KernelForm tile_form{"tile", "to come", GpuUse::optional, read_tile};

}  // namespace headroom::cli
