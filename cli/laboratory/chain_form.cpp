// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/core/diagnostic.hpp>

namespace headroom::cli {
namespace {

LabQuestion read_chain(FormReader& in) {
  in.problem("kernel chain is to come");
  return {};
}

}  // namespace

const KernelForm chain_form{"chain", "to come", GpuUse::optional, read_chain};

}  // namespace headroom::cli
