// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/core/diagnostic.hpp>

namespace headroom::cli {
namespace {

LabQuestion read_profile(FormReader& in) {
  in.problem("kernel profile is to come");
  return {};
}

}  // namespace

const KernelForm profile_form{"profile", "to come", GpuUse::optional, read_profile};

}  // namespace headroom::cli
