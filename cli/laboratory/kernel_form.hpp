// SPDX-License-Identifier: Apache-2.0
// The forms of `headroom kernel`: each reads its options, then answers on the bench that the command names.
#pragma once

#include <headroom/answers/laboratory/lab_answer.hpp>
#include <headroom/cli/frame/form_reader.hpp>
#include <headroom/hardware/catalog/catalog.hpp>

#include <cstdint>
#include <functional>
#include <string_view>

namespace headroom {
class ModelData;
}

namespace headroom::cli {

/// What a question is answered with.
struct LabBench {
  const Catalog& catalog;
  const ModelData& data;
  const Device* device = nullptr;  ///< of --gpu; nullptr where none was named
};

/// A question whose options have been read: the answer. ConfigError when the SKU lacks what is asked.
using LabQuestion = std::function<LabAnswer(const LabBench& bench)>;

enum class GpuUse : std::uint8_t { needed, optional };

struct KernelForm {
  std::string_view name;     ///< "occupancy"
  std::string_view meaning;  ///< what the needed options are, for messages
  GpuUse gpu = GpuUse::needed;
  LabQuestion (*read)(FormReader& reader);
  std::string_view file = {};  ///< what a file beside its name holds: "FILE.toml"; empty: it takes none
};

/// In the order of the manual; a form's place is its bit in the options' tables.
enum class Lab : std::uint8_t {
  roof,
  occupancy,
  access,
  banks,
  diverge,
  tile,
  chain,
  reuse,
  numerics,
  precision,
  sync,
  amdahl,
  sparsity,
  profile,
};

extern const KernelForm roof_form;
extern const KernelForm occupancy_form;
extern const KernelForm access_form;
extern const KernelForm banks_form;
extern const KernelForm diverge_form;
extern const KernelForm tile_form;
extern const KernelForm chain_form;
extern const KernelForm reuse_form;
extern const KernelForm numerics_form;
extern const KernelForm precision_form;
extern const KernelForm sync_form;
extern const KernelForm amdahl_form;
extern const KernelForm sparsity_form;
extern const KernelForm profile_form;

}  // namespace headroom::cli
