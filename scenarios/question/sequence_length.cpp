// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/question/sequence_length.hpp>

namespace headroom {
namespace {
constexpr std::int64_t longest = 100'000'000;  ///< as of a stated seq_len
}

std::optional<std::string> settle_image_tokens(const Architecture& arch,
                                               const Strategy& strategy,
                                               std::int64_t& seq_len,
                                               std::vector<std::string>& assumptions) {
  if (!arch.patches) {
    return std::nullopt;
  }
  const Patches& p = *arch.patches;
  const std::int64_t ranks = std::int64_t{strategy.cp} * (strategy.sequence_parallel ? strategy.tp : 1);
  const std::int64_t tokens = p.tokens();
  const std::int64_t padded = (tokens + ranks - 1) / ranks * ranks;
  const std::string side = std::to_string(p.image / p.patch);
  const std::string made = side + " x " + side + " patches" + (p.class_token ? " and a class token" : "");
  if (padded > longest) {
    return "an image of " + made + " is too long a sequence; state a smaller model.patches.image or larger patches";
  }
  if (seq_len == 0) {
    seq_len = padded;
    assumptions.push_back("training.seq_len = " + std::to_string(padded) + " (an image of " + made +
                          (padded > tokens ? ", padded to " + std::to_string(ranks) + " ranks)" : ")"));
  }
  if (seq_len == tokens || seq_len == padded) {
    return std::nullopt;
  }
  return "'seq_len' is " + std::to_string(seq_len) + ", but an image makes " + std::to_string(tokens) + " tokens of " +
         arch.id + ": " + made + "; leave it out, set " + std::to_string(padded) +
         ", or state another model.patches.image";
}

std::optional<std::int64_t> positions_of(const Architecture& arch) noexcept {
  return arch.patches || arch.max_seq_len <= 0 ? std::nullopt : std::optional{arch.max_seq_len};
}

std::optional<std::string> beyond_positions(const Architecture& arch, std::int64_t tokens) {
  if (tokens <= positions_of(arch).value_or(tokens)) {
    return std::nullopt;
  }
  return "sequences of " + std::to_string(tokens) + " tokens exceed the " + std::to_string(arch.max_seq_len) +
         " positions that " + arch.id + " was trained on";
}

}  // namespace headroom
