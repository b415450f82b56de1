// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/train/memory/load_peak.hpp>

#include <algorithm>

namespace headroom {

LoadPeak load_peak(
    CheckpointForm form, double parameters, const StateBytes& states, Bytes own, Bytes capacity) noexcept {
  const Bytes whole{parameters * (states.weights + states.gradients + states.optimizer)};
  return {form, form == CheckpointForm::full ? std::max(whole, own) : own, own, capacity};
}

std::string load_text(const LoadPeak& p) {
  const bool full = p.form == CheckpointForm::full;
  std::string text =
      full ? "loading a full checkpoint, rank 0 holds " + format(p.first) + " and every other rank " + format(p.rank)
           : "loading a sharded checkpoint, every rank holds " + format(p.rank);
  text += " of weights, gradients and optimizer states";
  if (!p.fits()) {
    text += ": that does not fit the " + format(p.capacity) + " of a GPU" +
            (full && p.rank <= p.capacity ? "; load it sharded, or put it together in host memory" : "");
  }
  return text;
}

}  // namespace headroom
