// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/core/diagnostic.hpp>

namespace headroom::cli {
namespace {

LabQuestion read_precision(FormReader& in) {
  in.problem("kernel precision is to come");
  return {};
}

}  // namespace

const KernelForm precision_form{"precision", "to come", GpuUse::optional, read_precision};

}  // namespace headroom::cli
