// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/core/diagnostic.hpp>

namespace headroom::cli {
namespace {

LabQuestion read_occupancy(FormReader& in) {
  in.problem("kernel occupancy is to come");
  return {};
}

}  // namespace

const KernelForm occupancy_form{"occupancy", "to come", GpuUse::optional, read_occupancy};

}  // namespace headroom::cli
