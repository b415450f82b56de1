// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/core/diagnostic.hpp>

namespace headroom::cli {
namespace {

LabQuestion read_reuse(FormReader& in) {
  in.problem("kernel reuse is to come");
  return {};
}

}  // namespace

const KernelForm reuse_form{"reuse", "to come", GpuUse::optional, read_reuse};

}  // namespace headroom::cli
