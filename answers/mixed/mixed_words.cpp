// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/mixed/mixed_words.hpp>

#include <cstddef>
#include <string>
#include <variant>

namespace headroom {

const std::string& gpu_of(const MixedQuestion& question, std::size_t pool) {
  const auto& asked = question.pools[pool].alone.question;
  const auto* const train = std::get_if<TrainScenario>(&asked);
  return train != nullptr ? train->device.id : std::get<ServeScenario>(asked).device.id;
}

std::string node_of(const MixedQuestion& question, std::size_t pool) {
  const auto& asked = question.pools[pool].alone.question;
  if (const auto* const train = std::get_if<TrainScenario>(&asked)) {
    return train->node;
  }
  const auto& serve = std::get<ServeScenario>(asked);
  return serve.host ? serve.host->id : std::string{};
}

std::string pools_text(const MixedQuestion& question) {
  std::string text;
  for (std::size_t i = 0; i < question.pools.size(); ++i) {
    const bool last = i + 1 == question.pools.size();
    text += (i == 0 ? ""
             : last ? " and "
                    : ", ") +
            std::to_string(question.pools[i].gpus) + " x " + gpu_of(question, i);
  }
  return text;
}

Value pool_value(const MixedQuestion& question, std::size_t pool) {
  const std::string node = node_of(question, pool);
  return object("gpu"_m = gpu_of(question, pool), "node"_m = when(!node.empty(), node),
                "gpus"_m = question.pools[pool].gpus,
                "price_usd_per_s_per_gpu"_m = question.pools[pool].alone.money.price);
}

std::string mixed_notes_text(const MixedQuestion& question, std::span<const std::string> notes) {
  std::string text;
  for (const std::string& note : notes) {
    text += "  " + note + "\n";
  }
  for (const std::string& note : question.assumptions) {
    text += "  " + note + "\n";
  }
  return text.empty() ? text : "\nassumed\n" + text;
}

}  // namespace headroom
