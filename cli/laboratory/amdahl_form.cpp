// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/core/diagnostic.hpp>

namespace headroom::cli {
namespace {

LabQuestion read_amdahl(FormReader& in) {
  in.problem("kernel amdahl is to come");
  return {};
}

}  // namespace

const KernelForm amdahl_form{"amdahl", "to come", GpuUse::optional, read_amdahl};

}  // namespace headroom::cli
