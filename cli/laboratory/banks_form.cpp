// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/core/diagnostic.hpp>

namespace headroom::cli {
namespace {

LabQuestion read_banks(FormReader& in) {
  in.problem("kernel banks is to come");
  return {};
}

}  // namespace

const KernelForm banks_form{"banks", "to come", GpuUse::optional, read_banks};

}  // namespace headroom::cli
