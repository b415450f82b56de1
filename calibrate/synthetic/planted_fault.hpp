// SPDX-License-Identifier: Apache-2.0
// Faults that are planted into runs that never were, to learn to find them and to score who finds them.
#pragma once

#include <headroom/calibrate/diagnosis/cause.hpp>
#include <headroom/calibrate/synthetic/synthetic_run.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace headroom {

class RandomStream;

struct PlantedFault {
  CauseKind kind = CauseKind::data_loading;
  double strength = 0.3;  ///< of the time of a step with it, about as much as it takes; above 0, below 1
};

/// Kinds that can be planted.
[[nodiscard]] std::span<const CauseKind> plantable_faults() noexcept;

/// Changes the causes of a run. `healthy`: the run without any fault, whose time amounts follow from. Precondition: the
/// kind can be planted. Places (which rank, from which step) are drawn.
void plant(SyntheticRun& run, const PlantedFault& fault, const SyntheticRun& healthy, RandomStream& draws);

/// A healthy run of a small network on 2 to 6 GPUs, drawn: its host keeps ahead, its messages hide behind the backward
/// pass, its copies are ahead of their step.
[[nodiscard]] SyntheticRun healthy_run(RandomStream& draws);

/// Kernels under names that no library has, the same name for the same kernel.
void rename_kernels(SyntheticRun& run, std::uint64_t seed);

/// A run with one or two faults, each of which takes at least 8 % of the time.
struct PlantedRun {
  SyntheticRun run;
  std::vector<CauseKind> faults;  ///< the dearer first
  std::vector<double>
      time_ratios;  ///< of each: the time of a step without it, of as many samples, over now; 0: it hangs
};
/// Drawn from a seed; every third has two faults. `kind`: of the first one.
[[nodiscard]] PlantedRun planted_run(std::uint64_t seed, CauseKind kind);

}  // namespace headroom
