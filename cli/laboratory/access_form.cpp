// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/core/diagnostic.hpp>

namespace headroom::cli {
namespace {

LabQuestion read_access(FormReader& in) {
  in.problem("kernel access is to come");
  return {};
}

}  // namespace

const KernelForm access_form{"access", "to come", GpuUse::optional, read_access};

}  // namespace headroom::cli
