// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/views/layer_roofline.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/kernels/roofline.hpp>
#include <headroom/model/layers/layer_times.hpp>

namespace headroom {
namespace {

void add_phase(const Architecture& arch, const LayerQuestion& q, const LayerTimer& timer, RooflineReport& report) {
  const auto add = [&](const LayerKernel& kernel, std::int64_t layers, const std::string& suffix) {
    const LayerKernelTime t = timer.time(kernel, q.phase);
    report.rows.push_back({std::string{layer_phase_names[static_cast<std::size_t>(q.phase)]}, kernel.name + suffix,
                           layers, kernel.work, kernel.moved, t.time, t.peak, std::string{t.bound}});
  };
  const std::vector<CountedBlock> blocks = distinct_blocks(arch);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    // Kinds of layers are told apart by letters where there are several.
    const std::string suffix = blocks.size() > 1 ? std::string{" "} + static_cast<char>('A' + i % 26) : "";
    for (const LayerKernel& kernel : layer_kernels(arch, blocks[i].block, q)) {
      add(kernel, blocks[i].layers, suffix);
    }
  }
  if (q.phase != LayerPhase::backward) {
    add(head_kernel(arch, q), 1, "");
  }
}

}  // namespace

RooflineReport layer_roofline(const ModelData& data,
                              const Architecture& arch,
                              const Device& device,
                              const GemmFormat& format,
                              double cache_bytes,
                              std::span<const LayerQuestion> questions) {
  const LayerTimer timer{data, device, format, cache_bytes};
  RooflineReport report;
  const double tp = questions.empty() ? 1.0 : questions.front().tp;
  report.title = arch.name + " on " + device.id + (tp > 1.0 ? ", one of " + format_number(tp) + " ranks" : "") + ", " +
                 std::string{format.name};
  report.gpu = device.id;
  report.peak = device.peak_of(format.rate);
  report.bandwidth = device.bandwidth();
  report.l2 = l2_over_memory * device.bandwidth();
  for (const LayerQuestion& question : questions) {
    add_phase(arch, question, timer, report);
  }
  for (const std::string& source : timer.sources()) {
    if (arch.moe || !source.starts_with("experts")) {
      report.notes.push_back(source);
    }
  }
  report.notes.emplace_back(
      "no communication between ranks, no gaps between kernels; operands come from memory; L2 is "
      "taken as 4 times the memory's rate");
  return report;
}

}  // namespace headroom
