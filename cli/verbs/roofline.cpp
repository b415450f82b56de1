// SPDX-License-Identifier: Apache-2.0
// `headroom roofline`: every op of a model's layers on a GPU's roofline, in training and in serving.
#include <headroom/answers/views/layer_roofline.hpp>
#include <headroom/answers/views/render_roofline.hpp>
#include <headroom/cli/frame/command.hpp>
#include <headroom/cli/frame/format_option.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/cli/laboratory/bench_limits.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/layers/layer_kernels.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/model/workload/model_library.hpp>

#include <algorithm>
#include <array>

namespace headroom::cli {

extern const Verb roofline_verb;

namespace roofline_parts {
namespace {

constexpr std::array options{
    Option{"--gpu", OptionKind::one, "ID", "SKU of the catalog"},
    Option{"--phase", OptionKind::many, "forward|backward|prefill|decode", "repeats; default all four"},
    Option{"--batch", OptionKind::one, "N",
           "sequences at once: micro-batch, prefill or decode batch (default 1; decode 32)"},
    Option{"--seq-len", OptionKind::one, "N", "tokens of a sequence: new ones, in decode those read (default 4096)"},
    Option{"--tp", OptionKind::one, "N", "tensor parallelism: the ops of one rank (default 1)"},
    Option{"--dtype", OptionKind::one, "NAME",
           "of weights and products: bf16 (default; fp16 where there is none), fp8, ..."},
    Option{"--cache", OptionKind::one, "bf16|fp8", "KV cache in serving (default bf16)"},
    Option{"--curves", OptionKind::one, "ID", "another SKU's curves with this one's datasheet"},
    Option{"--format", OptionKind::one, formats_in<"text|{}|csv|svg">,
           meanings_in<"text (default), {}, csv, svg (a drawing)">},
};

std::int64_t integer(const Arguments& arguments, std::string_view option, std::int64_t otherwise) {
  if (!arguments.has(option)) {
    return otherwise;
  }
  const std::string text = arguments.one(option);
  const std::optional<std::int64_t> value = integer_of(text);
  if (!value || *value <= 0 || *value > (std::int64_t{1} << 32)) {
    throw ConfigError{std::string{option} + " " + quoted(text) + " must be a positive integer"};
  }
  return *value;
}

const GemmFormat& format_of(const Arguments& arguments, const Device& device) {
  const std::string name = arguments.one("--dtype", name_of(sixteen_bit_rate(device)));
  const GemmFormat* found = find_gemm_format(name);
  if (found == nullptr) {
    std::vector<std::string_view> names;
    for (const GemmFormat& format : gemm_formats()) {
      names.push_back(format.name);
    }
    throw ConfigError{"--dtype " + quoted(name) + " is not known" + suggestion(name, names)};
  }
  return *found;
}

std::vector<LayerPhase> phases_of(const Arguments& arguments) {
  std::vector<LayerPhase> phases;
  for (std::size_t i = 0; i < layer_phase_names.size(); ++i) {
    const std::vector<std::string> asked = arguments.many("--phase");
    if (asked.empty() || std::find(asked.begin(), asked.end(), layer_phase_names[i]) != asked.end()) {
      phases.push_back(static_cast<LayerPhase>(i));
    }
  }
  return phases;
}

LayerQuestion question_of(const Arguments& arguments, LayerPhase phase, const GemmFormat& format) {
  const bool decode = phase == LayerPhase::decode;
  const bool training = phase == LayerPhase::forward || phase == LayerPhase::backward;
  LayerQuestion q;
  q.phase = phase;
  q.batch = static_cast<double>(integer(arguments, "--batch", decode ? 32 : 1));
  q.context = static_cast<double>(integer(arguments, "--seq-len", 4096));
  q.tokens = decode ? 1.0 : q.context;
  q.tp = static_cast<double>(integer(arguments, "--tp", 1));
  q.weight_bytes = format.weight_bytes;
  q.cache_bytes = !training && arguments.one("--cache", "bf16") == "fp8" ? 1.0 : 2.0;
  return q;
}

Outcome run(const Arguments& arguments) {
  const std::vector<std::string> models = arguments.many("");
  if (models.size() != 1 || !arguments.has("--gpu")) {
    throw ConfigError{"name one model and --gpu, e.g. 'headroom roofline llama3.1-8b --gpu h100-sxm-80gb'"};
  }
  const ModelLibrary library{own_model_data().files()};
  if (!library.knows(models.front())) {
    refuse_overwrite(roofline_verb, arguments, models.front(), "which is read as the model");
  }
  const std::vector<LayerPhase> phases = phases_of(arguments);
  const bool serves = std::any_of(phases.begin(), phases.end(), [](LayerPhase phase) {
    return phase == LayerPhase::prefill || phase == LayerPhase::decode;
  });
  if (arguments.has("--cache") && !serves) {
    throw ConfigError{"--cache has no part in the phases of training; it goes with --phase prefill or --phase decode"};
  }
  const Architecture arch = library.find(models.front());
  const Catalog catalog = own_catalog();
  Device device = catalog.device(arguments.one("--gpu"));
  if (arguments.has("--curves")) {
    device.curves = catalog.device(arguments.one("--curves")).id;
  }
  const GemmFormat& format = format_of(arguments, device);
  const double cache_bytes = arguments.one("--cache", "bf16") == "fp8" ? 1.0 : 2.0;
  std::vector<LayerQuestion> questions;
  for (const LayerPhase phase : phases) {
    questions.push_back(question_of(arguments, phase, format));
  }
  const RooflineReport report =
      layer_roofline(ModelData{catalog.store().shared()}, arch, device, format, cache_bytes, questions);
  const std::string form = arguments.one("--format", "text");
  const DocumentFormat* const written = document_format(arguments);
  return {written != nullptr ? written->print(roofline_document(report))
          : form == "csv"    ? roofline_csv(report)
          : form == "svg"    ? roofline_svg(report)
                             : roofline_text(report),
          "", 0, is_prose(arguments)};
}

constexpr std::string_view examples =
    "  headroom roofline llama3.1-8b --gpu h100-sxm-80gb\n"
    "  headroom roofline llama3.1-70b --gpu h200-sxm-141gb --tp 4 --phase decode --batch 64 --dtype fp8\n"
    "  headroom roofline mixtral-8x7b --gpu a100-sxm-80gb --format svg -o roofline.svg\n";

}  // namespace
}  // namespace roofline_parts

const Verb roofline_verb{"roofline",
                         "every op of a model's layers against a GPU's roofs",
                         "MODEL",
                         1,
                         roofline_parts::options,
                         roofline_parts::examples,
                         roofline_parts::run,
                         nullptr,
                         {},
                         FileUse::none};

}  // namespace headroom::cli
