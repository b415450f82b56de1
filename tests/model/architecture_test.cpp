// SPDX-License-Identifier: Apache-2.0
// Parameter counts of every preset against the published ones.
#include <headroom/model/workload/model_library.hpp>
#include <headroom/model/workload/model_name.hpp>
#include <headroom/model/workload/parameters.hpp>

#include <doctest/doctest.h>

using namespace headroom;

TEST_CASE("the counts of safetensors indexes are met to the parameter") {
  const ModelLibrary models = ModelLibrary::standard();
  CHECK(count_parameters(models.find("llama2-7b")).total == 6738415616.0);
  CHECK(count_parameters(models.find("llama2-70b")).total == 68976648192.0);
  CHECK(count_parameters(models.find("llama3-8b")).total == 8030261248.0);
  CHECK(count_parameters(models.find("llama3-70b")).total == 70553706496.0);
}

TEST_CASE("presets resolve by the spellings of the field") {
  const ModelLibrary models = ModelLibrary::standard();
  CHECK(models.find("Meta-Llama-3-70B").id == "llama3-70b");
  CHECK_THROWS_WITH_AS(
      models.find("lama3-70b"),
      "error: unknown model 'lama3-70b'; did you mean 'llama3-70b'? (see 'headroom catalog list models')", ConfigError);
}

TEST_CASE("names of models as publishers write them are a network and a format of its weights") {
  const ModelLibrary models = ModelLibrary::standard();
  struct Named {
    std::string_view name, id;
    std::optional<Precision> weights;
  };
  const Named named[] = {
      {"meta-llama/Llama-3.1-70B", "llama3.1-70b", {}},
      {"Meta-Llama-3.1-8B-Instruct", "llama3.1-8b", {}},
      {"llama-3.1-8b-instruct", "llama3.1-8b", {}},
      {"Qwen/Qwen3-235B-A22B-Instruct-2507", "qwen3-235b-a22b", {}},
      {"Qwen/Qwen3-32B-FP8", "qwen3-32b", Precision::fp8},
      {"google/gemma-3-27b-it", "gemma3-27b", {}},
      {"meta-llama/Llama-2-70b-chat-hf", "llama2-70b", {}},
      {"deepseek-ai/DeepSeek-R1-0528", "deepseek-v3", {}},
      {"Qwen2.5-72B-Instruct-AWQ", "qwen2.5-72b", Precision::int4},
      {"Qwen2.5-72B-Instruct-GPTQ-Int8", "qwen2.5-72b", Precision::int8},
      {"TheBloke/Llama-2-70B-Chat-GPTQ", "llama2-70b", Precision::int4},
      {"RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w4a16", "llama3.1-8b", Precision::int4},
      {"RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic", "llama3.3-70b", Precision::fp8},
      {"nvidia/Llama-3.1-405B-Instruct-NVFP4", "llama3.1-405b", Precision::nvfp4},
  };
  for (const Named& n : named) {
    CAPTURE(n.name);
    const std::optional<MeantModel> meant = models.meant(n.name);
    REQUIRE(meant);
    CHECK(meant->id == n.id);
    CHECK(meant->weights == n.weights);
    CHECK(models.find(n.name).id == n.id);
  }
  for (const std::string_view none : {"mistralai/Mistral-7B-Instruct-v0.2", "DeepSeek-R1-Distill-Llama-70B", "", "/",
                                      "-", "Llama-3.1-Nemotron-70B-Instruct", "fp8", "llama", "qwen3-8b-fp8-lora"}) {
    CAPTURE(none);
    CHECK_FALSE(models.meant(none));
  }
  // A name means one network: no two presets share what their names say.
  for (const std::string& id : models.ids()) {
    CAPTURE(id);
    const std::optional<MeantModel> meant = models.meant(id);
    REQUIRE(meant);
    CHECK(meant->id == id);
  }
}

TEST_CASE("an unknown model is answered with the nearest of its family, or with none") {
  const ModelLibrary models = ModelLibrary::standard();
  CHECK(models.nearest("qwen4-8b") == "qwen3-8b");
  CHECK(models.nearest("Llama-3.1-9B-Instruct") == "llama3.1-8b");
  CHECK(models.nearest("mistrl-7b") == "mistral-7b");
  CHECK(models.nearest("lama3-70b") == "llama3-70b");
  for (const std::string_view none : {"dlrm", "sdxl", "whisper-large", "t5-11b", "gemini-9b"}) {
    CAPTURE(none);
    CHECK_FALSE(models.nearest(none));
  }
}

TEST_CASE("what no preset could describe is refused with the reason and what comes closest") {
  const ModelLibrary models = ModelLibrary::standard();
  for (const std::string_view name : {"dlrm", "DLRM-v2", "dlrm-dcnv2", "stabilityai/stable-diffusion-xl-base", "sdxl",
                                      "openai/whisper-large-v3", "google/t5-11b", "yolov8"}) {
    CAPTURE(name);
    const std::string told = models.unknown(name);
    CHECK(told.find("network of ops") != std::string::npos);
    CHECK(told.find("did you mean") == std::string::npos);
  }
  CHECK(models.unknown("gpt-4o").find("its sizes are not published") != std::string::npos);
  // Known names, slips of them, and words that only begin alike stay what they are.
  for (const std::string& id : models.ids()) {
    CAPTURE(id);
    CHECK(why_no_preset(id).empty());
  }
  CHECK(models.unknown("lama3-70b").find("did you mean 'llama3-70b'?") != std::string::npos);
  for (const std::string_view name : {"ditto-7b", "bartok-1b", "gpt4all-j"}) {
    CAPTURE(name);
    CHECK(why_no_preset(name).empty());
  }
}

TEST_CASE("a mixture of experts meets only its top-k experts") {
  Architecture arch;
  arch.layers = 2;
  arch.hidden = 8;
  arch.heads = 2;
  arch.kv_heads = 2;
  arch.head_dim = 4;
  arch.ffn_hidden = 32;
  arch.gated_mlp = true;
  arch.vocab = 16;
  arch.moe = Moe{.experts = 4, .top_k = 2, .expert_ffn_hidden = 16};
  const ParameterCount count = count_parameters(arch);
  const double expert = 3 * 8 * 16;
  CHECK(block_parameters(arch, arch.blocks().front()).expert == expert);
  CHECK(count.total - count.active == 2 * (4 - 2) * expert);  // layers x idle experts
  CHECK(count.layers == 2 * (4 * 8 * 8 + 2 * 8 + 8 * 4 + 4 * expert));
}
