// SPDX-License-Identifier: Apache-2.0
// The tables [video], [simulator] and [control] of a question, with what contradicts the GPU's engines.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/scenarios/classic/classic_question.hpp>

namespace headroom::classic {

/// What the tables are read beside: a GPU without an id was refused before.
struct MediaBeside {
  const Sources& sources;
  const Card& card;
  double cards = 1.0;
  bool cards_open = false;
};
// Problems go to the diagnostics of `root`, all at once.
[[nodiscard]] VideoAsked read_video(ConfigTable& root, const MediaBeside& beside);
[[nodiscard]] SimulatorAsked read_simulator(ConfigTable& root, const MediaBeside& beside);
[[nodiscard]] PolicyAsked read_policy(ConfigTable& root, const MediaBeside& beside);

}  // namespace headroom::classic
