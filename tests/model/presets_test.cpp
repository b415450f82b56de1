// SPDX-License-Identifier: Apache-2.0
// Every preset against its published parameter count. The table is typed from the publications, not from the presets.
#include <headroom/model/workload/layer_ops.hpp>
#include <headroom/model/workload/model_library.hpp>
#include <headroom/model/workload/parameters.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

using namespace headroom;

namespace {

/// What a publication counts as active: everything a token meets, or less the input table, or less both tables.
enum class Active { none, all, no_input_table, no_tables };

struct Published {
  const char* id;
  double total;
  Active convention;
  double active;
  double unit;  ///< of the last printed digit of `active`; printed counts are rounded or cut
  const char* source;
  bool with_mtp = false;  ///< `total` holds the prediction modules
  double copies = 0.0;    ///< tables that `total` holds twice
};

/// Brown et al. 2020 print rounded counts of these sizes (13.0B for 40 layers of 5,120 is 1 % above what the dimensions
/// give), so they are counted here by hand: 12 h^2 + 13 h a layer, V = 50,257 words, 2,048 positions, the last norm.
constexpr double gpt(double layers, double h) {
  return layers * (12 * h * h + 13 * h) + (50257 + 2048) * h + 2 * h;
}

/// NVIDIA 2025 (Nemotron-H) prints 8B, 47B and 56B; here by hand from its table of sizes: m layers of Mamba-2
/// (projections in and out, a convolution of four taps with a bias, three numbers a head, the gated norm), f of two
/// matrices, a of attention with 128 numbers a head, a norm before each; two tables of 131,072 words and the last norm.
constexpr double nemotron_h(double h,
                            double m,
                            double f,
                            double a,
                            double heads,
                            double width,
                            double state,
                            double ffn,
                            double queries,
                            double kv) {
  const double inner = heads * width;
  const double mixed = inner + 2 * 8 * state;
  return m * (h * (inner + mixed + heads) + 5 * mixed + 3 * heads + inner + inner * h + h) + f * (2 * h * ffn + h) +
         a * (2 * h * 128 * (queries + kv) + h) + 2 * 131072 * h + h;
}

// "index": total_size of the checkpoint's index over its bytes an element; "HF": safetensors.total of the Hugging Face
// API. Exact counts end in other digits than zeros.
const std::vector<Published> published{
    {"gpt3-125m", 125e6, Active::none, 0, 0, "Brown et al. 2020, table 2.1"},
    {"gpt3-350m", gpt(24, 1024), Active::none, 0, 0, "by hand from Brown et al. 2020, table 2.1"},
    {"gpt3-760m", 760e6, Active::none, 0, 0, "Brown et al. 2020, table 2.1"},
    {"gpt3-1.3b", gpt(24, 2048), Active::none, 0, 0, "by hand from Brown et al. 2020, table 2.1"},
    {"gpt3-2.7b", gpt(32, 2560), Active::none, 0, 0, "by hand from Brown et al. 2020, table 2.1"},
    {"gpt3-6.7b", gpt(32, 4096), Active::none, 0, 0, "by hand from Brown et al. 2020, table 2.1"},
    {"gpt3-13b", gpt(40, 5120), Active::none, 0, 0, "by hand from Brown et al. 2020, table 2.1"},
    {"gpt3-175b", 175.0e9, Active::none, 0, 0, "Brown et al. 2020, table 2.1"},
    {"llama-7b", 6738415616, Active::none, 0, 0, "index of huggyllama/llama-7b"},
    {"llama-13b", 13015864320, Active::none, 0, 0, "index of huggyllama/llama-13b"},
    {"llama-33b", 32528943616, Active::none, 0, 0, "index of huggyllama/llama-30b"},
    {"llama-65b", 65285660672, Active::none, 0, 0, "index of huggyllama/llama-65b"},
    {"llama2-7b", 6738415616, Active::none, 0, 0, "index of meta-llama/Llama-2-7b-hf"},
    {"llama2-13b", 13015864320, Active::none, 0, 0, "index of meta-llama/Llama-2-13b-hf"},
    {"llama2-70b", 68976648192, Active::none, 0, 0, "index of meta-llama/Llama-2-70b-hf"},
    {"llama3-8b", 8030261248, Active::none, 0, 0, "index of meta-llama/Meta-Llama-3-8B"},
    {"llama3-70b", 70553706496, Active::none, 0, 0, "index of meta-llama/Meta-Llama-3-70B"},
    {"llama3.1-8b", 8030261248, Active::none, 0, 0, "HF of meta-llama/Llama-3.1-8B"},
    {"llama3.1-70b", 70553706496, Active::none, 0, 0, "HF of meta-llama/Llama-3.1-70B"},
    {"llama3.1-405b", 405853388800, Active::none, 0, 0, "HF of meta-llama/Llama-3.1-405B"},
    {"llama3.2-1b", 1235814400, Active::none, 0, 0, "HF of meta-llama/Llama-3.2-1B-Instruct"},
    {"llama3.2-3b", 3212749824, Active::none, 0, 0, "HF of meta-llama/Llama-3.2-3B-Instruct"},
    {"llama3.3-70b", 70553706496, Active::none, 0, 0, "HF of meta-llama/Llama-3.3-70B-Instruct"},
    {"llama4-scout", 107.77e9, Active::all, 17e9, 1e9, "llama.cpp prints 107.77 B without vision; card: 17B active"},
    {"llama4-maverick", 400.71e9, Active::all, 17e9, 1e9, "llama.cpp prints 400.71 B without vision; card: 17B active"},
    {"mistral-7b", 7241732096, Active::none, 0, 0, "HF of mistralai/Mistral-7B-v0.1"},
    {"decilm-7b", 7.04e9, Active::none, 0, 0, "card of Deci/DeciLM-7B"},
    {"mistral-7b-v0.3", 7248023552, Active::none, 0, 0, "HF of mistralai/Mistral-7B-v0.3"},
    {"mistral-nemo-12b", 12247782400, Active::none, 0, 0, "HF of mistralai/Mistral-Nemo-Instruct-2407"},
    {"mistral-large-2", 122610069504, Active::none, 0, 0, "index of mistralai/Mistral-Large-Instruct-2407"},
    {"mixtral-8x7b", 46702792704, Active::all, 13e9, 1e9, "HF of argilla/notux-8x7b-v1; Jiang et al. 2024: 13B"},
    {"mixtral-8x22b", 140620634112, Active::all, 39e9, 1e9, "HF of mistral-community/Mixtral-8x22B-v0.1; 39B"},
    {"qwen2.5-0.5b", 494032768, Active::none, 0, 0, "HF of Qwen/Qwen2.5-0.5B-Instruct"},
    {"qwen2.5-1.5b", 1543714304, Active::none, 0, 0, "HF of Qwen/Qwen2.5-1.5B-Instruct"},
    {"qwen2.5-3b", 3085938688, Active::none, 0, 0, "HF of Qwen/Qwen2.5-3B-Instruct"},
    {"qwen2.5-7b", 7615616512, Active::none, 0, 0, "HF of Qwen/Qwen2.5-7B-Instruct"},
    {"qwen2.5-14b", 14770033664, Active::none, 0, 0, "HF of Qwen/Qwen2.5-14B"},
    {"qwen2.5-32b", 32763876352, Active::none, 0, 0, "HF of Qwen/Qwen2.5-32B"},
    {"qwen2.5-72b", 72706203648, Active::none, 0, 0, "HF of Qwen/Qwen2.5-72B-Instruct"},
    {"qwen3-0.6b", 596049920, Active::none, 0, 0, "HF of Qwen/Qwen3-0.6B, its copy of the embedding counted once"},
    {"qwen3-1.7b", 1720574976, Active::none, 0, 0, "HF of Qwen/Qwen3-1.7B, its copy of the embedding counted once"},
    {"qwen3-4b", 4022468096, Active::none, 0, 0, "HF of Qwen/Qwen3-4B"},
    {"qwen3-8b", 8190735360, Active::none, 0, 0, "HF of Qwen/Qwen3-8B"},
    {"qwen3-14b", 14768307200, Active::none, 0, 0, "HF of Qwen/Qwen3-14B"},
    {"qwen3-32b", 32762123264, Active::none, 0, 0, "HF of Qwen/Qwen3-32B"},
    {"qwen3-30b-a3b", 30532122624, Active::all, 3.3e9, 0.1e9, "HF of Qwen/Qwen3-30B-A3B; card: 3.3B"},
    {"qwen3-235b-a22b", 235093634560, Active::all, 22e9, 1e9, "HF of Qwen/Qwen3-235B-A22B; card: 22B"},
    {"deepseek-v2", 235741434880, Active::all, 21e9, 1e9, "HF of deepseek-ai/DeepSeek-V2; DeepSeek-AI 2024: 21B"},
    {"deepseek-v2-lite", 15706484224, Active::no_input_table, 2.4e9, 0.1e9,
     "HF of deepseek-ai/DeepSeek-V2-Lite; DeepSeek-AI 2024, appendix B: 2.4B"},
    {"deepseek-v3", 671026419200, Active::all, 37e9, 1e9,
     "HF of microsoft/MAI-DS-R1 (no prediction module); DeepSeek-AI 2024 (V3): 671B, 37B active"},
    {"kimi-k2", 1026408235864, Active::all, 32e9, 1e9, "HF of moonshotai/Kimi-K2-Instruct; card: 32B active"},
    {"moonlight-16b-a3b", 15960111936, Active::no_tables, 2.24e9, 0.01e9,
     "HF of moonshotai/Moonlight-16B-A3B; Liu et al. 2025: 2.24B without embeddings"},
    {"gemma2-9b", 9241705984, Active::none, 0, 0, "HF of google/gemma-2-9b-it"},
    {"gemma2-27b", 27227128320, Active::none, 0, 0, "HF of google/gemma-2-27b-it"},
    {"gemma3-1b", 999885952, Active::none, 0, 0, "HF of google/gemma-3-1b-it"},
    {"gemma3-12b", 1012e6 + 10759e6, Active::none, 0, 0, "Gemma Team 2025, table 1"},
    {"gemma3-27b", 1416e6 + 25600e6, Active::none, 0, 0, "Gemma Team 2025, table 1"},
    {"gpt-oss-20b", 20914757184, Active::no_input_table, 3.61e9, 0.01e9, "HF of openai/gpt-oss-20b; card, table 1"},
    {"gpt-oss-120b", 116829156672, Active::no_input_table, 5.13e9, 0.01e9, "HF of openai/gpt-oss-120b; card, table 1"},
    {"phi3-mini", 3821079552, Active::none, 0, 0, "HF of microsoft/Phi-3-mini-4k-instruct"},
    {"phi4", 14659507200, Active::none, 0, 0, "HF of microsoft/phi-4"},
    {"falcon-7b", 7217189760.0 - 65024.0 * 4544, Active::none, 0, 0, "model size with the tied table twice"},
    {"falcon-40b", 83671941120 / 2.0 - 65024.0 * 8192, Active::none, 0, 0, "index, the tied table twice"},
    {"falcon-180b", 179522565120.0 - 65024.0 * 14848, Active::none, 0, 0, "HF, the tied table twice"},
    {"mpt-7b", 13298573312 / 2.0, Active::none, 0, 0, "index of mosaicml/mpt-7b"},
    {"mpt-30b", 29.95e9, Active::none, 0, 0, "card of mosaicml/mpt-30b"},
    {"opt-6.7b", 6666862592.0 - 8388608, Active::none, 0, 0, "PEFT's print-out less its LoRA parameters"},
    {"opt-66b", 66e9, Active::none, 0, 0, "Zhang et al. 2022, table 1"},
    {"opt-175b", 175e9, Active::none, 0, 0, "Zhang et al. 2022, table 1"},
    {"bloom-176b", 176247271424, Active::none, 0, 0, "card of bigscience/bloom"},
    {"bloom-7b1", 7069016064, Active::none, 0, 0, "card of bigscience/bloom-7b1"},
    {"gpt-neox-20b", 20554567680, Active::none, 0, 0, "card of EleutherAI/gpt-neox-20b"},
    {"gpt-j-6b", 6053381344, Active::none, 0, 0, "card of EleutherAI/gpt-j-6b"},
    {"nemotron4-15b", 3.2e9 + 12.5e9, Active::none, 0, 0, "Parmar et al. 2024, section 2"},
    {"nemotron4-340b", 9.4e9 + 331.6e9, Active::none, 0, 0, "NVIDIA 2024 (Nemotron-4 340B), section 2"},
    {"gemma4-31b", 30.7e9, Active::none, 0, 0, "card of google/gemma-4-31B-it, vision left out"},
    {"gemma4-26b-a4b", 25.2e9, Active::all, 3.8e9, 0.1e9, "card of google/gemma-4-26B-A4B-it, vision left out"},
    {"glm-4.5-air", 106852251264, Active::none, 0, 0, "HF of PrimeIntellect/INTELLECT-3, same sizes, no module"},
    {"glm-4.6", 356785898816, Active::none, 0, 0, "HF of zai-org/GLM-4.6", true},
    {"glm-5", 753864139008, Active::no_input_table, 40e9, 1e9, "HF of zai-org/GLM-5; card: 40B", true},
    {"deepseek-v3.2", 685355329792, Active::none, 0, 0, "HF of deepseek-ai/DeepSeek-V3.2", true, 2.0 * 129280 * 7168},
    {"minimax-m2", 228689764864, Active::no_tables, 10e9, 1e9, "HF of MiniMaxAI/MiniMax-M2; card: 10B"},
    {"qwen3.5-9b", 8.96e9, Active::none, 0, 0,
     "ggml-org/Llama-macOS, pull request 63, its table: 8.96B without vision"},
    {"qwen3.5-35b-a3b", 34.7e9, Active::all, 3e9, 1e9, "the same table: 34.7B; its name: A3B"},
    {"qwen3-next-80b-a3b", 79674391296, Active::no_tables, 3e9, 1e9, "HF of Qwen/Qwen3-Coder-Next; its name: A3B"},
    {"qwen3.5-397b-a17b", 397e9, Active::all, 17e9, 1e9, "its name"},
    {"nemotron-3-nano-30b-a3b", 31577937344, Active::no_input_table, 3.2e9, 0.1e9,
     "HF of nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16; report: 3.2B"},
    {"nemotron-nano-9b-v2", 8888227328, Active::none, 0, 0, "HF of nvidia/NVIDIA-Nemotron-Nano-9B-v2"},
    {"nemotron-nano-12b-v2", nemotron_h(5120, 28, 28, 6, 128, 80, 128, 20480, 40, 8), Active::none, 0, 0,
     "by hand from NVIDIA 2025 (Nemotron Nano 2)"},
    {"nemotron-h-8b", nemotron_h(4096, 24, 24, 4, 128, 64, 128, 21504, 32, 8), Active::none, 0, 0,
     "by hand from NVIDIA 2025 (Nemotron-H)"},
    {"nemotron-h-47b", nemotron_h(8192, 45, 48, 5, 256, 64, 256, 30720, 64, 8), Active::none, 0, 0,
     "by hand from recipes/nemotronh of Megatron-Bridge"},
    {"nemotron-h-56b", nemotron_h(8192, 54, 54, 10, 256, 64, 256, 32768, 64, 8), Active::none, 0, 0,
     "by hand from NVIDIA 2025 (Nemotron-H)"},
    {"nemotron-3-super-120b-a12b", 123611012096.0 - 2942324736.0, Active::no_input_table, 12e9, 1e9,
     "Megatron-Bridge, model_verification_cards: 123 611 012 096 with a prediction module; its name: A12B"},
    {"nemotron-3-ultra-550b-a55b", 550e9, Active::no_input_table, 55e9, 1e9, "its name"},
    {"nemotron-3.5-lightning-30b-a3b", 31577937344, Active::no_input_table, 3e9, 1e9,
     "the sizes of Nemotron 3 Nano; Megatron-Bridge: 32 913 266 240 with a prediction module"},
    {"kimi-linear-48b-a3b", 49122681728, Active::no_input_table, 3e9, 1e9,
     "recalled: HF of moonshotai/Kimi-Linear-48B-A3B-Instruct; its name: A3B"},
    {"granite-4.0-h-tiny", 6939037248, Active::all, 1e9, 1e9,
     "recalled: HF of ibm-granite/granite-4.0-h-tiny; card: 1B"},
    {"granite-4.0-h-micro", 3191396096, Active::none, 0, 0, "recalled: HF of ibm-granite/granite-4.0-h-micro"},
    {"granite-4.0-h-small", 32207337984, Active::all, 9e9, 1e9, "HF of ibm-granite/granite-4.0-h-small; card: 9B"},
    {"mimo-v2-flash", 309e9, Active::all, 15e9, 1e9, "card of XiaomiMiMo/MiMo-V2-Flash"},
    {"step-3.7-flash", 196e9, Active::all, 11e9, 1e9, "card of stepfun-ai/Step-3.5-Flash, same sizes"},
    {"dbrx", 132e9, Active::all, 36e9, 1e9, "card of databricks/dbrx-base"},
    {"gpt2", 124439808, Active::none, 0, 0, "GPT2LMHeadModel as printed by transformers"},
    {"mamba-1.4b", 1372178432, Active::none, 0, 0, "mamba-1.4b-hf as printed by transformers"},
    {"clip-vit-l-14", 303179776, Active::none, 0, 0, "CLIPVisionModel as printed by its users"},
    {"bert-base", 109482240, Active::none, 0, 0, "transformers, BertModel of bert-base-uncased"},
    {"bert-large", 335141888, Active::none, 0, 0, "Keras hub and transformers, BertModel of bert-large-uncased"},
    {"vit-b-16", 86567656, Active::none, 0, 0, "torchvision, num_params of ViT_B_16_Weights.IMAGENET1K_V1"},
    {"vit-l-16", 304326632, Active::none, 0, 0, "torchvision, num_params of ViT_L_16_Weights.IMAGENET1K_V1"},
    {"vit-h-14", 632045800, Active::none, 0, 0, "torchvision, num_params of ViT_H_14 (SWAG linear)"},
};

double active_as(const ParameterCount& count, Active convention) {
  switch (convention) {
    case Active::none:
    case Active::all: return count.active;
    case Active::no_input_table: return count.active - count.embedding;
    case Active::no_tables: return count.active - count.embedding - count.head;
  }
  return 0.0;
}

}  // namespace

TEST_CASE("every preset counts the parameters that were published, within 0.5 %") {
  const ModelLibrary models = ModelLibrary::standard();
  std::set<std::string> tested;
  std::size_t exact = 0;
  for (const Published& row : published) {
    CAPTURE(row.id);
    CAPTURE(row.source);
    const Architecture arch = models.find(row.id);
    const ParameterCount count = count_parameters(arch);
    CHECK(arch.id == row.id);
    const double total = count.total + (row.with_mtp ? count.mtp : 0.0) + row.copies;
    CHECK(std::abs(total / row.total - 1.0) < 0.005);
    CHECK(std::abs(arch.published_parameters / row.total - 1.0) < 0.005);
    exact += total == row.total ? 1 : 0;
    if (row.convention != Active::none) {
      const double active = active_as(count, row.convention);
      CHECK(active > row.active - row.unit / 2);
      CHECK(active < row.active + row.unit);
      CHECK(arch.published_active == row.active);
    }
    tested.insert(row.id);
  }
  CHECK(exact >= 65);
  const std::vector<std::string> ids = models.ids();
  CHECK(ids.size() >= 90);
  for (const std::string& id : ids) {
    CHECK_MESSAGE(tested.contains(id), id, " has no row in the table of published counts");
  }
}

namespace {

std::int64_t moe_layers(const Architecture& architecture) {
  const std::vector<Block> all = architecture.blocks();
  return std::count_if(all.begin(), all.end(), [](const Block& b) { return b.feed_forward == FeedForward::moe; });
}

}  // namespace

TEST_CASE("a mixture of experts leaves the idle experts out of the active count") {
  const ModelLibrary models = ModelLibrary::standard();
  const ParameterCount mixtral = count_parameters(models.find("mixtral-8x7b"));
  CHECK(mixtral.total - mixtral.active == 32.0 * (8 - 2) * 3 * 4096 * 14336);  // layers x idle x matrices
  const Architecture maverick = models.find("llama4-maverick");
  CHECK(moe_layers(maverick) == 24);  // every second of 48
  CHECK(maverick.blocks()[0].feed_forward == FeedForward::dense);
  CHECK(maverick.blocks()[1].feed_forward == FeedForward::moe);
  const Architecture v3 = models.find("deepseek-v3");
  CHECK(moe_layers(v3) == 58);
  CHECK(v3.blocks()[2].feed_forward == FeedForward::dense);
  CHECK(v3.blocks()[3].feed_forward == FeedForward::moe);
}

TEST_CASE("latent attention caches the latent and the rotary key only") {
  const ModelLibrary models = ModelLibrary::standard();
  CHECK(kv_elements_per_token(models.find("deepseek-v3")) == 61.0 * (512 + 64));
  CHECK(kv_elements_per_token(models.find("deepseek-v2-lite")) == 27.0 * (512 + 64));
  CHECK(kv_elements_per_token(models.find("llama3-70b")) == 80.0 * 2 * 8 * 128);
}

TEST_CASE("windows bound the cache of the layers that have one") {
  const ModelLibrary models = ModelLibrary::standard();
  const auto kv_elements = [](const Architecture& arch, double tokens) {
    double sum = 0.0;
    for (const CountedBlock& counted : distinct_blocks(arch)) {
      for (const LayerOp& op : layer_ops(arch, counted.block, LayerForm::serving)) {
        sum +=
            static_cast<double>(counted.layers) * op.cached * (op.window > 0.0 ? std::min(tokens, op.window) : tokens);
      }
    }
    return sum;
  };
  // gpt-oss-20b: 12 of 24 layers look back 128 tokens; 2 x 8 x 64 elements a token and layer.
  CHECK(kv_elements(models.find("gpt-oss-20b"), 10000.0) == 12.0 * 1024 * 128 + 12.0 * 1024 * 10000);
  // Gemma 3 1B: 4 of 26 layers are global (6, 12, 18, 24).
  CHECK(kv_elements(models.find("gemma3-1b"), 10000.0) == 22.0 * 512 * 512 + 4.0 * 512 * 10000);
}

TEST_CASE("tied embeddings are counted once and still multiply") {
  const ModelLibrary models = ModelLibrary::standard();
  Architecture tied = models.find("llama3.2-1b");
  const ParameterCount once = count_parameters(tied);
  CHECK(once.head == 0.0);
  tied.tied_embeddings = false;
  const ParameterCount twice = count_parameters(tied);
  CHECK(twice.total - once.total == 128256.0 * 2048);
  CHECK(twice.active_matrices == once.active_matrices);
}

TEST_CASE("vocabularies are padded as Megatron-LM pads them") {
  CHECK(padded_vocabulary(50257, 128 * 8) == 51200);    // Narayanan et al. 2021: V = 51,200
  CHECK(padded_vocabulary(128256, 128 * 8) == 129024);  // 126 x 1,024
  CHECK(padded_vocabulary(32000, 128) == 32000);
}

TEST_CASE("the spellings of measured rows mean presets") {
  const ModelLibrary models = ModelLibrary::standard();
  for (const char* spelling : {"DeepSeekV3",
                               "DeepSeek-R1",
                               "DeepSeek V3 671B",
                               "GPT OSS 120B",
                               "GPT-OSS 20B",
                               "GPT-OSS-120B",
                               "GPT-J-6B",
                               "Kimi_K2",
                               "Kimi-K2.5",
                               "Qwen3_30B_a3B",
                               "Qwen3_235B_a22B",
                               "Qwen2.5 7B",
                               "LLaMA-65B",
                               "LLAMA3.1_405B",
                               "LLAMA2-70B",
                               "LLAMA3_8B",
                               "Llama3 70B",
                               "Llama3.2-3B",
                               "Llama-3.3-70B",
                               "Llama-4-Scout-17B-16E",
                               "Llama-4-Maverick-17B-128E",
                               "Mistral-7B",
                               "Mixtral-8x7B",
                               "Mixtral-8x22B",
                               "Moonlight-16B-A3B",
                               "MPT-7b",
                               "MPT-30b",
                               "BLOOM-176B",
                               "Falcon-180B",
                               "Nemotron-340B",
                               "BERT-Large",
                               "Llama-2-7B",
                               "Llama2-70B-LoRA"}) {
    CAPTURE(spelling);
    const bool known = models.knows(spelling);
    CHECK(known == (std::string{spelling} != "Llama2-70B-LoRA"));  // a method is no model
  }
}

TEST_CASE("models that are published in one narrow format alone are served in it, by a source that says so") {
  const ModelLibrary models = ModelLibrary::standard();
  for (const auto& [model, format] :
       {std::pair{"gpt-oss-120b", Precision::mxfp4}, std::pair{"gpt-oss-20b", Precision::mxfp4},
        std::pair{"deepseek-v3", Precision::fp8}, std::pair{"deepseek-v3.2", Precision::fp8},
        std::pair{"kimi-k2", Precision::fp8}, std::pair{"minimax-m2", Precision::fp8}}) {
    CAPTURE(model);
    const std::optional<WeightFormat> weights = models.find(model).weights;
    REQUIRE(weights.has_value());
    CHECK(weights->format == format);
    CHECK(weights->source.find("quantization_config") != std::string::npos);
  }
  CHECK_FALSE(models.find("llama3.1-70b").weights.has_value());
}
