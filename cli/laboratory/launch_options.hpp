// SPDX-License-Identifier: Apache-2.0
// Who launches kernels, as options of the forms say it: --host, --launcher, --dispatch, --arguments.
#pragma once

#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/model/laboratory/launch.hpp>

#include <optional>
#include <string>

namespace headroom::cli {

struct LaunchAsked {
  std::string host, launcher;
  std::optional<Seconds> dispatch;
  double arguments = 0.0;
};
[[nodiscard]] LaunchAsked read_launch(FormReader& in);

/// The numbers behind it on a SKU. ConfigError listing what there is for an unknown id.
struct Launcher {
  LaunchHost host;
  LaunchLayer layer;
  LaunchDevice device;
};
[[nodiscard]] Launcher launcher_of(const LaunchAsked& asked, const LabBench& bench);

/// What an answer says of it: who launches, what was assumed of the generation, and the sources.
void tell_launcher(LabAnswer& answer, const LaunchAsked& asked, const Launcher& launcher, const LabBench& bench);

}  // namespace headroom::cli
