// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/core/diagnostic.hpp>

namespace headroom::cli {
namespace {

LabQuestion read_sync(FormReader& in) {
  in.problem("kernel sync is to come");
  return {};
}

}  // namespace

const KernelForm sync_form{"sync", "to come", GpuUse::optional, read_sync};

}  // namespace headroom::cli
