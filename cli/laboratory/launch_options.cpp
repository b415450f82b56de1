// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/laboratory/launch_options.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/workload/model_data.hpp>

namespace headroom::cli {

LaunchAsked read_launch(FormReader& in) {
  constexpr double usual_arguments = 8.0;
  LaunchAsked asked;
  asked.host = in.text("--host", "linux");
  asked.launcher = in.text("--launcher", "driver");
  asked.dispatch = in.quantity_if<Seconds>("--dispatch");
  asked.arguments = in.count_or("--arguments", usual_arguments);
  return asked;
}

Launcher launcher_of(const LaunchAsked& asked, const LabBench& bench) {
  if (bench.device->generation == "cpu") {
    throw ConfigError{bench.device->id + " is a CPU, onto which nothing launches kernels; name a GPU with --gpu"};
  }
  Launcher launcher{find_launch_host(bench.data, asked.host), find_launch_layer(bench.data, asked.launcher),
                    find_launch_device(bench.data, bench.device->generation)};
  if (asked.dispatch) {
    // The stated time is all that the host needs for a launch.
    launcher.host.dispatch = *asked.dispatch;
    launcher.host.argument = Seconds{};
    launcher.layer.each = Seconds{};
    launcher.layer.argument = Seconds{};
  }
  return launcher;
}

void tell_launcher(LabAnswer& answer, const LaunchAsked& asked, const Launcher& launcher, const LabBench& bench) {
  answer.notes.push_back("A launch takes the host " +
                         format(launch_time(launcher.host, launcher.layer, asked.arguments)) +
                         (asked.dispatch ? ", as stated."
                                         : ": " + launcher.layer.name + " on " + launcher.host.name + ", " +
                                               format_count(asked.arguments) + " arguments."));
  if (!asked.dispatch && bench.device->vendor != "nvidia") {
    answer.notes.push_back("The host's times are those of CUDA; launches on " + bench.device->id +
                           " were not measured: --dispatch says theirs.");
  }
  if (launcher.device.assumed) {
    answer.notes.emplace_back(
        "What this generation needs between kernels was not measured; numbers of others stand for it.");
  }
  answer.sources.push_back("host: " + launcher.host.source);
  answer.sources.push_back("GPU: " + launcher.device.source);
}

}  // namespace headroom::cli
