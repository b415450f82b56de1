// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/core/diagnostic.hpp>

namespace headroom::cli {
namespace {

LabQuestion read_sparsity(FormReader& in) {
  in.problem("kernel sparsity is to come");
  return {};
}

}  // namespace

const KernelForm sparsity_form{"sparsity", "to come", GpuUse::optional, read_sparsity};

}  // namespace headroom::cli
