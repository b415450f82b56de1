// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/laboratory/occupancy_checks.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace headroom::cli {
namespace {

class OccupancyProblems {
 public:
  explicit OccupancyProblems(const UnitLimits& unit) : unit_{&unit} {}
  template <class T>
  void add(const std::string& message, const Sourced<T>& limit) {
    found_.add("", {}, message + " on " + unit_->id + " (" + limit.source + ")");
  }
  void add(const std::string& message) { found_.add("", {}, message); }
  void within(std::string_view option, std::int64_t value, const Sourced<std::int64_t>& most, std::string_view what) {
    if (value < 1 || value > most.value) {
      add(std::string{option} + " " + std::to_string(value) + ": " + std::string{what} + " 1 to " +
              std::to_string(most.value),
          most);
    }
  }
  [[nodiscard]] bool none() const noexcept { return found_.empty(); }
  void throw_if_any() const { found_.throw_if_any(); }

 private:
  const UnitLimits* unit_;
  Diagnostics found_;
};

void check_shared(const BlockDemand& block, const UnitLimits& unit, OccupancyProblems& problems) {
  const Sourced<Bytes>& most = unit.shared.per_block;
  if (block.shared > most.value) {
    problems.add("--shared " + format(block.shared) + ": a block has at most " + format(most.value), most);
  }
  if (!block.carve_out) {
    return;
  }
  if (!unit.shared.carve_outs) {
    problems.add(
        "--carve-out " + format(*block.carve_out) + ": shared memory is always " + format(unit.shared.per_unit.value),
        unit.shared.per_unit);
    return;
  }
  const std::vector<Bytes>& sizes = unit.shared.carve_outs->value;
  if (std::find(sizes.begin(), sizes.end(), *block.carve_out) == sizes.end()) {
    problems.add("--carve-out " + format(*block.carve_out) + " is not offered: it is one of " +
                     joined(sizes, [](Bytes size) { return format(size); }),
                 *unit.shared.carve_outs);
  }
}

void check_cluster(std::int64_t cluster, const UnitLimits& unit, OccupancyProblems& problems) {
  if (cluster == 1) {
    return;
  }
  if (!unit.cluster.portable) {
    problems.add("--cluster " + std::to_string(cluster) + ": blocks form no clusters on " + unit.id +
                 "; NVIDIA has them from compute capability 9.0 on");
    return;
  }
  problems.within("--cluster", cluster, unit.cluster.most ? *unit.cluster.most : *unit.cluster.portable,
                  "a cluster has");
}

void check_tensor_memory(std::int64_t columns, const UnitLimits& unit, OccupancyProblems& problems) {
  if (!unit.tensor_memory) {
    problems.add("--tensor-memory " + std::to_string(columns) + ": there is no tensor memory on " + unit.id +
                 "; Blackwell of compute capability 10.0, 10.3 and 11.0 has it");
    return;
  }
  std::vector<std::string> sizes;
  bool offered = false;
  for (std::int64_t size = unit.tensor_memory->least_columns.value; size <= unit.tensor_memory->columns.value;
       size *= 2) {
    offered = offered || size == columns;
    sizes.push_back(std::to_string(size));
  }
  if (!offered) {
    problems.add("--tensor-memory " + std::to_string(columns) + ": columns are allotted as " + joined(sizes),
                 unit.tensor_memory->least_columns);
  }
}

void check_bulk(const WaitingKernel& kernel, const UnitLimits& unit, OccupancyProblems& problems) {
  if (!(kernel.per_block > Bytes{})) {
    return;
  }
  if (!unit.tma || !unit.tma->value) {
    problems.add("--bulk " + format(kernel.per_block) + ": there are no bulk copies beside the threads (TMA) on " +
                 unit.id + "; NVIDIA has them from compute capability 9.0 on");
  } else if (kernel.per_block > kernel.block.shared) {
    problems.add("--bulk " + format(kernel.per_block) + ": bulk copies land in the block's shared memory, of which " +
                 "--shared states " + format(kernel.block.shared));
  }
}

}  // namespace

void check_occupancy(const OccupancyAsked& asked, const UnitLimits& unit) {
  const BlockDemand& block = asked.kernel.block;
  OccupancyProblems problems{unit};
  problems.within("--threads", block.threads, unit.threads.per_block, "a block has");
  problems.within("--registers", block.registers, unit.registers.per_thread, "a thread has");
  check_shared(block, unit, problems);
  check_cluster(asked.cluster, unit, problems);
  if (asked.tensor_memory) {
    check_tensor_memory(*asked.tensor_memory, unit, problems);
  }
  check_bulk(asked.kernel, unit, problems);
  // A block that breaks no single limit may still ask for more registers than a launch may.
  if (problems.none() && unit_occupancy(unit, block).by(OccupancyLimit::registers) == 0) {
    problems.add(std::to_string(block.threads) + " threads of " + std::to_string(block.registers) +
                     " registers cannot be launched: a block has at most " +
                     std::to_string(unit.registers.per_block.value) + " registers, so that its threads have at most " +
                     std::to_string(registers_for(unit, block.threads, 1)) + " each",
                 unit.registers.per_block);
  }
  problems.throw_if_any();
}

}  // namespace headroom::cli
