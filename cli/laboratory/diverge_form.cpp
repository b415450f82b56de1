// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/core/diagnostic.hpp>

namespace headroom::cli {
namespace {

LabQuestion read_diverge(FormReader& in) {
  in.problem("kernel diverge is to come");
  return {};
}

}  // namespace

const KernelForm diverge_form{"diverge", "to come", GpuUse::optional, read_diverge};

}  // namespace headroom::cli
