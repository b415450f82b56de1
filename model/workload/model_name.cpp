// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/embedded.hpp>
#include <headroom/model/workload/model_name.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace headroom {
namespace {

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) noexcept {
  return c >= 'a' && c <= 'z';
}

/// Before a name, after no slash.
constexpr std::array<std::string_view, 2> makers{"meta-", "nvidia-"};
/// Behind a name: the shape is the same with and without.
constexpr std::array<std::string_view, 11> tunings{"instruct", "chat",    "base",      "it",    "hf",     "pt",
                                                   "thinking", "dynamic", "quantized", "block", "pytorch"};

struct FormatWord {
  std::string_view word;
  Precision format;
};
constexpr std::array format_words{
    FormatWord{"fp8", Precision::fp8},    FormatWord{"mxfp8", Precision::mxfp8}, FormatWord{"nvfp4", Precision::nvfp4},
    FormatWord{"fp4", Precision::nvfp4},  FormatWord{"mxfp4", Precision::mxfp4}, FormatWord{"int8", Precision::int8},
    FormatWord{"w8a8", Precision::int8},  FormatWord{"w8a16", Precision::int8},  FormatWord{"int4", Precision::int4},
    FormatWord{"w4a16", Precision::int4}, FormatWord{"awq", Precision::int4},    FormatWord{"gptq", Precision::int4},
    FormatWord{"bf16", Precision::bf16},  FormatWord{"fp16", Precision::fp16},
};

/// "2507", "0324": a year and month or a month and day.
bool is_date(std::string_view word) noexcept {
  return word.size() == 4 && std::all_of(word.begin(), word.end(), is_digit);
}

/// "llama-3.1-8b" as "llama3.1-8b".
std::string joined_versions(std::string_view name) {
  std::string joined;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool between =
        name[i] == '-' && i > 0 && is_letter(name[i - 1]) && i + 1 < name.size() && is_digit(name[i + 1]);
    if (!between) {
      joined += name[i];
    }
  }
  return joined;
}

constexpr std::string_view recommender_reason =
    "recommenders have no preset; stated as a network of ops, an op for each table and product, their training is "
    "answered (docs/catalog-format.md)";
constexpr std::string_view diffusion_reason =
    "diffusion has no preset, and its sampling is not modelled; the training of its denoiser is answered where it is "
    "stated as a network of ops (docs/catalog-format.md)";
constexpr std::string_view speech_reason =
    "networks of speech have no preset, and their serving is not modelled; their training is answered where they are "
    "stated as a network of ops (docs/catalog-format.md)";
constexpr std::string_view vision_reason =
    "vision networks but ViT have no preset, and their serving is not modelled; their training is answered where they "
    "are stated as a network of ops, as resnet-50 is (docs/catalog-format.md)";
constexpr std::string_view two_towers_reason =
    "encoders with a decoder that attends to them are not modelled; stated as a network of ops, their training is "
    "answered (docs/catalog-format.md)";
constexpr std::string_view secret_reason =
    "its sizes are not published; a [model] table states those that you take it to have (docs/scenario-format.md)";

struct NoPreset {
  std::string_view family;  ///< of a network's name, alone or before a version, a size or a dash
  std::string_view reason;
};
// clang-format off
constexpr std::array families_without_presets{
    NoPreset{"dlrm", recommender_reason},       NoPreset{"deepfm", recommender_reason},
    NoPreset{"dcn", recommender_reason},        NoPreset{"xdeepfm", recommender_reason},
    NoPreset{"wide-and-deep", recommender_reason}, NoPreset{"wide-deep", recommender_reason},
    NoPreset{"hstu", recommender_reason},       NoPreset{"ncf", recommender_reason},
    NoPreset{"recommender", recommender_reason},
    NoPreset{"stable-diffusion", diffusion_reason}, NoPreset{"sdxl", diffusion_reason},
    NoPreset{"sd", diffusion_reason},           NoPreset{"flux", diffusion_reason},
    NoPreset{"dit", diffusion_reason},          NoPreset{"pixart", diffusion_reason},
    NoPreset{"unet", diffusion_reason},         NoPreset{"hunyuanvideo", diffusion_reason},
    NoPreset{"cogvideox", diffusion_reason},
    NoPreset{"whisper", speech_reason},         NoPreset{"wav2vec", speech_reason},
    NoPreset{"conformer", speech_reason},       NoPreset{"parakeet", speech_reason},
    NoPreset{"hubert", speech_reason},
    NoPreset{"efficientnet", vision_reason},    NoPreset{"mobilenet", vision_reason},
    NoPreset{"yolo", vision_reason},            NoPreset{"swin", vision_reason},
    NoPreset{"convnext", vision_reason},        NoPreset{"vgg", vision_reason},
    NoPreset{"t5", two_towers_reason},          NoPreset{"flan-t5", two_towers_reason},
    NoPreset{"mt5", two_towers_reason},         NoPreset{"bart", two_towers_reason},
    NoPreset{"nllb", two_towers_reason},
    NoPreset{"gpt4", secret_reason},            NoPreset{"gpt4o", secret_reason},
    NoPreset{"gpt5", secret_reason},
    NoPreset{"claude", secret_reason},          NoPreset{"gemini", secret_reason},
};
// clang-format on

}  // namespace

std::string_view why_no_preset(std::string_view spelling) {
  const std::string network = read_model_name(spelling).network;
  for (const NoPreset& row : families_without_presets) {
    if (!network.starts_with(row.family)) {
      continue;
    }
    const std::string_view rest = std::string_view{network}.substr(row.family.size());
    const bool version = rest.size() > 1 && rest[0] == 'v' && is_digit(rest[1]);
    if (rest.empty() || !is_letter(rest.front()) || version) {
      return row.reason;
    }
  }
  return {};
}

ModelName read_model_name(std::string_view spelling) {
  const std::string whole = normalised(spelling.substr(spelling.rfind('/') + 1));
  std::string_view rest = whole;
  for (const std::string_view maker : makers) {
    rest.remove_prefix(rest.starts_with(maker) ? maker.size() : 0);
  }
  ModelName name;
  for (std::size_t dash = rest.rfind('-'); dash != std::string_view::npos && dash > 0; dash = rest.rfind('-')) {
    std::string_view word = rest.substr(dash + 1);
    if (constexpr std::string_view front = "quantized."; word.starts_with(front)) {
      word.remove_prefix(front.size());
    }
    const auto* const format =
        std::find_if(format_words.begin(), format_words.end(), [&](const FormatWord& f) { return f.word == word; });
    if (format != format_words.end()) {
      // The last one is the narrowest said: GPTQ-Int8 is of 8 bits.
      name.weights = name.weights ? name.weights : std::optional{format->format};
    } else if (!is_date(word) && std::find(tunings.begin(), tunings.end(), word) == tunings.end()) {
      break;
    }
    rest = rest.substr(0, dash);
  }
  name.network = joined_versions(rest);
  return name;
}

std::optional<std::string> nearest_model_name(std::string_view spelling, std::span<const std::string> known) {
  std::vector<std::string> networks;
  networks.reserve(known.size());
  for (const std::string& name : known) {
    networks.push_back(read_model_name(name).network);
  }
  const std::vector<std::string_view> candidates{networks.begin(), networks.end()};
  const std::optional<std::string> nearest = closest_of_family(read_model_name(spelling).network, candidates);
  if (!nearest) {
    return std::nullopt;
  }
  return known[static_cast<std::size_t>(std::find(networks.begin(), networks.end(), *nearest) - networks.begin())];
}

}  // namespace headroom
