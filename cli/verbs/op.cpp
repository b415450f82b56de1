// SPDX-License-Identifier: Apache-2.0
// `headroom op`: one kernel answered, or a file of measured kernels scored against the committed curves.
#include <headroom/calibrate/kernels/score_kernels.hpp>
#include <headroom/cli/frame/format_option.hpp>
#include <headroom/cli/frame/kernel_files.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/cli/render/op_answer.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

namespace headroom::cli {

extern const Verb op_verb;

namespace op_parts {
namespace {

constexpr std::array options{
    Option{"--gpu", OptionKind::one, "ID", "SKU of the catalog"},
    Option{"--dtype", OptionKind::one, "NAME",
           "fp32, tf32, fp16, bf16 (default), fp8, fp8_block, int8, int8_wo, ...; attention: of queries, bf16 or fp8"},
    Option{"--engine", OptionKind::one, "NAME",
           "whose kernels: trtllm, vllm, sglang; default the SKU's first. attention-training: the implementation, "
           "flash3, flash2, cudnn, triton, standard, ..."},
    Option{"--curves", OptionKind::one, "ID", "another SKU's curves with this one's datasheet"},
    Option{"-m", OptionKind::one, "N", "gemm: rows of the activations (tokens)"},
    Option{"-n", OptionKind::one, "N", "gemm: columns of the weights"},
    Option{"-k", OptionKind::one, "N", "gemm: depth"},
    Option{"--batch", OptionKind::one, "N", "attention, convolution: sequences or images at once (default 1)"},
    Option{"--seq-len", OptionKind::one, "N", "attention: new tokens of a sequence; decode: keys that its token sees"},
    Option{"--prefix", OptionKind::one, "N", "attention-prefill: cached tokens before the new ones (default 0)"},
    Option{"--heads", OptionKind::one, "N", "attention: query heads of the rank"},
    Option{"--kv-heads", OptionKind::one, "N", "attention: heads of keys and values (default --heads)"},
    Option{"--head-dim", OptionKind::one, "N", "attention: width of a head (default 128)"},
    Option{"--window", OptionKind::one, "N", "attention in serving: keys that a token sees at most (default 0: all)"},
    Option{"--kv-dtype", OptionKind::one, "NAME", "attention in serving: bf16 or fp8 cache (default --dtype)"},
    Option{"--no-causal", OptionKind::flag, "", "attention: every token sees all (encoders)"},
    Option{"--pass", OptionKind::one, "NAME",
           "attention-training: forward, backward, forward+backward (default); convolution: forward (default), "
           "data-gradient, weight-gradient"},
    Option{"--tokens", OptionKind::one, "N", "moe: tokens of the whole expert group"},
    Option{"--hidden", OptionKind::one, "N", "moe: width of a token"},
    Option{"--inter", OptionKind::one, "N", "moe: width of one expert, before tp"},
    Option{"--topk", OptionKind::one, "N", "moe: experts that a token meets"},
    Option{"--experts", OptionKind::one, "N", "moe: all experts of the layer"},
    Option{"--tp", OptionKind::one, "N", "moe: ranks that share each expert (default 1)"},
    Option{"--ep", OptionKind::one, "N", "moe: ranks that share the experts out (default 1)"},
    Option{"--routing", OptionKind::one, "NAME", "moe: balanced (default), uniform, power_law_ALPHA"},
    Option{"--kernel", OptionKind::one, "NAME", "moe: family of kernels; default the engine's first"},
    Option{"--no-gate", OptionKind::flag, "", "moe: experts without a gate"},
    Option{"--elements", OptionKind::one, "N", "elementwise: elements of the result"},
    Option{"--inputs", OptionKind::one, "N", "elementwise: operands that are read (default 1)"},
    Option{"--rows", OptionKind::one, "N", "norm, softmax-cross-entropy, embedding, gather, reduction, quantize"},
    Option{"--columns", OptionKind::one, "N", "the same: width of a row"},
    Option{"--gradient", OptionKind::flag, "", "softmax-cross-entropy: with the gradient of the logits"},
    Option{"--to", OptionKind::one, "NAME", "quantize: the format that is written (default fp8)"},
    Option{"--parameters", OptionKind::one, "N", "optimizer: parameters that the rank updates"},
    Option{"--optimizer", OptionKind::one, "NAME", "optimizer: adamw (default), adamw-8bit, muon, sgd, ..."},
    Option{"--grad-dtype", OptionKind::one, "NAME", "optimizer: format of the gradients (default fp32)"},
    Option{"--no-master", OptionKind::flag, "", "optimizer: the weights themselves are updated"},
    Option{"--in-channels", OptionKind::one, "N", "convolution: channels of the input"},
    Option{"--out-channels", OptionKind::one, "N", "convolution: channels of the output"},
    Option{"--in", OptionKind::one, "SIZES", "convolution: size of the input, such as 224x224"},
    Option{"--kernel-size", OptionKind::one, "SIZES", "convolution: size of the kernel, such as 3x3"},
    Option{"--stride", OptionKind::one, "SIZES", "convolution (default 1)"},
    Option{"--padding", OptionKind::one, "SIZES", "convolution: on each side (default 0)"},
    Option{"--dilation", OptionKind::one, "SIZES", "convolution (default 1)"},
    Option{"--groups", OptionKind::one, "N", "convolution (default 1)"},
    Option{"--kind", OptionKind::one, "gemm|attention-prefill|attention-decode|moe|quantize|attention-training|pass",
           "with a file: the kind of kernels, where the columns do not tell"},
    Option{"--budget", OptionKind::one, "FILE", "with a file: TOML with [[bar]]; exit 1 if missed"}.that(
        FileUse::reads),
    Option{"--format", OptionKind::one, formats_in<"text|{}|csv">,
           meanings_in<"text (default), {}, csv (rows of a file)">},
};

/// Options that apply to files of kernels.
constexpr std::array<std::string_view, 5> file_options{"--gpu", "--curves", "--kind", "--budget", "--format"};

const OpKind* find_kind(std::span<const OpKind> kinds, std::string_view name) {
  const auto at = std::find_if(kinds.begin(), kinds.end(), [&](const OpKind& kind) { return kind.name == name; });
  return at == kinds.end() ? nullptr : &*at;
}

/// Device of --gpu. Throws ConfigError when it is missing or unknown.
Device device_named(const Arguments& arguments) {
  if (!arguments.has("--gpu")) {
    throw ConfigError{"--gpu says which SKU of the catalog, e.g. --gpu h100-sxm-80gb"};
  }
  const Catalog catalog = own_catalog();
  Device device = catalog.device(arguments.one("--gpu"));
  if (arguments.has("--curves")) {
    device.curves = catalog.device(arguments.one("--curves")).id;
  }
  return device;
}

/// Reads options and device before refusing either, so that all problems are reported together.
Outcome answer(const Arguments& arguments, const OpKind& kind) {
  FormReader reader{arguments, "op", kind.name, kind.meaning};
  const OpQuestion question = kind.read(reader);
  Device device;
  try {
    device = device_named(arguments);
  } catch (const ConfigError& error) {
    for (const Diagnostic& diagnostic : error.diagnostics()) {
      reader.problem(diagnostic.message);
    }
  }
  if (arguments.one("--format") == "csv") {
    reader.problem("--format csv is for files of kernels; one op is told as text or as a document, such as json");
  }
  reader.finish(options);
  OpAnswer answer = question(own_model_data(), device);
  answer.kind = kind.name;
  answer.gpu = device.id;
  const DocumentFormat* const format = document_format(arguments);
  return {format != nullptr ? format->print(op_document(answer)) : op_text(answer), "", 0};
}

/// Nothing that a file ignores was asked.
void check_file_options(const Arguments& arguments) {
  Diagnostics diagnostics;
  for (const Option& option : options) {
    const bool known = std::find(file_options.begin(), file_options.end(), option.name) != file_options.end();
    if (!known && arguments.has(option.name)) {
      diagnostics.add("", {}, std::string{option.name} + " is of a single op; the rows of a file state their own");
    }
  }
  diagnostics.throw_if_any();
}

bool is_there(const std::string& path) {
  std::error_code status;
  return std::filesystem::exists(path, status);
}

Outcome run(const Arguments& arguments) {
  const std::vector<std::string> what = arguments.many("");
  const std::span<const OpKind> kinds = op_kinds();
  std::vector<std::string_view> names;
  names.reserve(kinds.size());
  for (const OpKind& kind : kinds) {
    names.push_back(kind.name);
  }
  if (what.empty()) {
    throw ConfigError{
        "name a kernel or a file of measured kernels, e.g. 'headroom op gemm --gpu h100-sxm-80gb -m 4096 "
        "-n 4096 -k 4096'; kernels are " +
        listed(names)};
  }
  if (what.size() == 1) {
    if (const OpKind* kind = find_kind(kinds, what.front())) {
      return answer(arguments, *kind);
    }
    if (what.front().find_first_of("./\\") == std::string::npos && !is_there(what.front())) {
      throw ConfigError{quoted(what.front()) + " is neither a kernel nor a file" + suggestion(what.front(), names) +
                        "; kernels are " + listed(names)};
    }
  }
  check_file_options(arguments);
  const Device device = device_named(arguments);
  const ModelData data = own_model_data();
  return score_kernel_files(
      arguments, device.id, [&](std::span<const KernelFile> files) { return score_kernels(data, files, device); },
      [&](std::span<const KernelFile> files) { return too_fast_text(faster_than_roofline(data, files, device)); });
}

constexpr std::string_view examples =
    "  headroom op gemm --gpu h100-sxm-80gb -m 4096 -n 8192 -k 8192\n"
    "  headroom op gemm --gpu a100-sxm-80gb -m 1 -n 28672 -k 8192 --dtype int4_wo --format json\n"
    "  headroom op attention-decode --gpu h200-sxm-141gb --batch 64 --seq-len 8192 --heads 8 --kv-heads 1\n"
    "  headroom op moe --gpu b200-sxm-180gb --tokens 512 --hidden 7168 --inter 2048 --topk 8 --experts 256 --ep 8\n"
    "  headroom op optimizer --gpu h100-sxm-80gb --parameters 1000000000\n"
    "  headroom op gemm_mine.csv --kind gemm --gpu h200-sxm-141gb\n";

std::vector<PositionalWord> words() {
  std::vector<PositionalWord> result;
  for (const OpKind& kind : op_kinds()) {
    result.push_back({std::string{kind.name}, ""});
  }
  return result;
}

}  // namespace
}  // namespace op_parts

std::span<const OpKind> op_kinds() {
  static const std::vector<OpKind> all = [] {
    std::vector<OpKind> kinds;
    for (const std::span<const OpKind> family : {gemm_kinds(), attention_kinds(), expert_kinds(), pass_kinds()}) {
      kinds.insert(kinds.end(), family.begin(), family.end());
    }
    return kinds;
  }();
  return all;
}

std::span<const Option> op_options() noexcept {
  return op_parts::options;
}

const Verb op_verb{"op",
                   "the time of one kernel, what binds it, what would help; or a file of them scored",
                   "KERNEL|FILE.csv",
                   10000,
                   op_parts::options,
                   op_parts::examples,
                   op_parts::run,
                   op_parts::words};

}  // namespace headroom::cli
