// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/core/diagnostic.hpp>

namespace headroom::cli {
namespace {

LabQuestion read_numerics(FormReader& in) {
  in.problem("kernel numerics is to come");
  return {};
}

}  // namespace

const KernelForm numerics_form{"numerics", "to come", GpuUse::optional, read_numerics};

}  // namespace headroom::cli
