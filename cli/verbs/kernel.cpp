// SPDX-License-Identifier: Apache-2.0
// `headroom kernel`: the laws of one kernel, asked one by one: roofs, occupancy, access, divergence, tiles, formats.
#include <headroom/cli/frame/command.hpp>
#include <headroom/cli/frame/format_option.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/number_words.hpp>

#include <algorithm>
#include <array>

namespace headroom::cli {

extern const Verb kernel_verb;

namespace kernel_parts {
namespace {

constexpr std::array all_forms{&roof_form, &occupancy_form, &access_form,   &banks_form,    &diverge_form,
                               &tile_form, &chain_form,     &reuse_form,    &numerics_form, &precision_form,
                               &sync_form, &amdahl_form,    &sparsity_form, &profile_form};

constexpr std::string_view formats = formats_in<"text|{}|svg|html">;
constexpr std::array forms{
    Form{"the roof above a kernel", "roof", formats},
    Form{"occupancy", "occupancy", formats},
    Form{"accesses to global memory", "access", formats},
    Form{"bank conflicts in shared memory", "banks", formats},
    Form{"divergence of a warp", "diverge", formats},
    Form{"a tile", "tile", formats},
    Form{"a chain of kernels", "chain", formats},
    Form{"reuse of a working set", "reuse", formats},
    Form{"a number format", "numerics", formats},
    Form{"layers in several formats", "precision", formats},
    Form{"synchronisation", "sync", formats},
    Form{"Amdahl's law", "amdahl", formats},
    Form{"2:4 sparsity", "sparsity", formats},
    Form{"a profile of a kernel", "profile FILE.csv", formats},
};

constexpr std::array options{
    Option{"--gpu", OptionKind::one, "ID", "SKU of the catalog"},
    Option{"--dtype", OptionKind::one, "NAME",
           "roof, tile, chain, sparsity: format of the operands, bf16 by default; numerics: the format that is asked "
           "about (default fp16); precision: the format that most layers move to"}
        .of(Lab::roof, Lab::tile, Lab::chain, Lab::numerics, Lab::precision, Lab::sparsity),
    Option{"--flop", OptionKind::one, "N", "roof: FLOP of the kernel, such as 2e12 or \"2 TFLOP\""}.of(Lab::roof),
    Option{"--bytes", OptionKind::one, "SIZE",
           "roof: traffic with memory; access, banks: bytes that the kernel needs; sync: bytes that a step moves"}
        .of(Lab::roof, Lab::access, Lab::banks, Lab::sync),
    Option{"--intensity", OptionKind::one, "N", "roof: FLOP per byte, in place of --flop and --bytes"}
        .of(Lab::roof)
        .without("--flop"),
    Option{"--achieved", OptionKind::one, "RATE", "roof: what it reaches, such as \"156 TFLOP/s\" or \"1 TB/s\""}
        .of(Lab::roof)
        .without("--time"),
    Option{"--time", OptionKind::one, "TIME",
           "roof, diverge: how long it takes; chain, sync: GPU time of one kernel (default that of its ops; 0 of none)"}
        .of(Lab::roof, Lab::diverge, Lab::sync, Lab::chain),
    Option{"--threads", OptionKind::one, "N", "threads of a block"}.of(Lab::occupancy, Lab::sync, Lab::tile),
    Option{"--registers", OptionKind::one, "N", "registers of a thread"}.of(Lab::occupancy, Lab::tile),
    Option{"--shared", OptionKind::one, "SIZE", "occupancy: shared memory of a block, static and dynamic"}.of(
        Lab::occupancy),
    Option{"--carve-out", OptionKind::one, "SIZE",
           "occupancy: shared memory that the SM sets aside; default: what the blocks take at most"}
        .of(Lab::occupancy),
    Option{"--cluster", OptionKind::one, "N", "occupancy: blocks of a cluster (Hopper and later)"}.of(Lab::occupancy),
    Option{"--tensor-memory", OptionKind::one, "COLUMNS", "occupancy: tensor memory of a block (Blackwell)"}.of(
        Lab::occupancy),
    Option{"--bytes-per-thread", OptionKind::one, "SIZE", "occupancy: loads that a thread has in flight, default 16 B"}
        .of(Lab::occupancy),
    Option{"--bulk", OptionKind::one, "SIZE", "occupancy: bytes that a block has in flight by TMA, beside its threads'"}
        .of(Lab::occupancy),
    Option{"--latency", OptionKind::one, "TIME", "occupancy, tile: of a load from memory; default the architecture's"}
        .of(Lab::occupancy, Lab::tile),
    Option{"--blocks", OptionKind::one, "N", "occupancy, sync: blocks of the grid"}.of(Lab::occupancy, Lab::sync),
    Option{"--spilled", OptionKind::one, "SIZE", "occupancy: bytes a thread spills, each written and read once"}.of(
        Lab::occupancy),
    Option{"--stride", OptionKind::one, "N", "access, banks: elements between neighbouring threads (default 1)"}
        .of(Lab::access, Lab::banks)
        .without("--tile"),
    Option{"--offset", OptionKind::one, "SIZE", "access: of the first thread from an aligned address (default 0)"}.of(
        Lab::access),
    Option{"--element", OptionKind::one, "SIZE", "access, banks, profile: what one thread reads at once (default 4 B)"}
        .of(Lab::access, Lab::banks, Lab::profile),
    Option{"--fields", OptionKind::one, "N", "access: fields of aos:N, soa or random that a thread reads (default 1)"}
        .of(Lab::access),
    Option{
        "--layout", OptionKind::one, "NAME",
        "access: linear (default), aos:8 (one field of a structure of 8), soa, random, rows or columns:N (a matrix of "
        "rows of N elements read along or across them)"}
        .of(Lab::access),
    Option{"--tile", OptionKind::one, "SIZES",
           "tile: MxNxK of a block, such as 128x128x32; banks: rows x columns, read by "
           "column"}
        .of(Lab::tile, Lab::banks),
    Option{"--pad", OptionKind::one, "N", "banks: elements behind each row of the tile (default 0)"}
        .of(Lab::banks)
        .with("--tile"),
    Option{"--stages", OptionKind::one, "N", "tile: operands in flight (default 2)"}.of(Lab::tile),
    Option{"--matrix", OptionKind::one, "SIZES", "tile: the product that it tiles, MxNxK"}.of(Lab::tile),
    Option{"--paths", OptionKind::one, "N", "diverge: distinct paths of a warp, equally long"}
        .of(Lab::diverge)
        .without("--probability"),
    Option{"--probability", OptionKind::one, "P", "diverge: that one thread takes the branch"}.of(Lab::diverge),
    Option{"--lengths", OptionKind::one, "LIST",
           "diverge: relative times of the paths, such as 1,3; beside --probability of taken and other"}
        .of(Lab::diverge),
    Option{"--ops", OptionKind::one, "N", "chain: passes over the same elements, one after another"}.of(Lab::chain),
    Option{"--elements", OptionKind::one, "N", "chain, access, banks, diverge: elements of a pass"}.of(
        Lab::chain, Lab::access, Lab::banks, Lab::diverge),
    Option{"--kernels", OptionKind::one, "N", "chain: launches of an iteration, in place of passes"}.of(Lab::chain),
    Option{"--sync-every", OptionKind::one, "N", "chain: kernels between waits of the host; default none but the last"}
        .of(Lab::chain),
    Option{"--dispatch", OptionKind::one, "TIME",
           "chain, sync: host time of a launch, such as 5us of an eager PyTorch op; default the driver's"}
        .of(Lab::chain, Lab::sync),
    Option{"--host", OptionKind::one, "NAME", "chain, sync: the way to the GPU, linux (default) or wsl2"}.of(Lab::chain,
                                                                                                             Lab::sync),
    Option{"--launcher", OptionKind::one, "NAME", "chain, sync: driver (default), triton or inductor"}.of(Lab::chain,
                                                                                                          Lab::sync),
    Option{"--arguments", OptionKind::one, "N", "chain, sync: arguments of a kernel (default 8)"}.of(Lab::chain,
                                                                                                     Lab::sync),
    Option{"--working-set", OptionKind::one, "SIZE", "reuse: bytes that are read again"}.of(Lab::reuse),
    Option{"--passes", OptionKind::one, "N", "reuse: times that the set is read (default 10)"}.of(Lab::reuse),
    Option{"--least", OptionKind::one, "X", "numerics: smallest magnitude that must not vanish"}.of(Lab::numerics),
    Option{"--largest", OptionKind::one, "X", "numerics: largest magnitude"}.of(Lab::numerics),
    Option{"--loss-scale", OptionKind::one, "X", "numerics: what both are multiplied by"}.of(Lab::numerics),
    Option{"--sum", OptionKind::one, "N", "numerics: terms of a sum"}.of(Lab::numerics),
    Option{"--from", OptionKind::one, "NAME", "precision: the format that all layers had (default bf16)"}.of(
        Lab::precision),
    Option{"--kept", OptionKind::one, "SHARE", "precision: share of the FLOP that keeps the old format"}
        .of(Lab::precision)
        .without("--moved"),
    Option{"--moved", OptionKind::one, "SHARE", "precision: share of the time that moves"}.of(Lab::precision),
    Option{"--gain", OptionKind::one, "X", "precision: speed-up of what moves; default the ratio of the peaks"}.of(
        Lab::precision),
    Option{"--parameters", OptionKind::one, "N", "precision: parameters of the model"}.of(Lab::precision),
    Option{"--model", OptionKind::one, "ID",
           "precision, sparsity: a model of the library; with --qat also a network of ops"}
        .of(Lab::precision, Lab::sparsity),
    Option{"--keep", OptionKind::many, "ROLE",
           "precision: embedding, attention, feed-forward, experts, router, norms, head, first:N, last:N; repeats"}
        .of(Lab::precision)
        .with("--model"),
    Option{"--group", OptionKind::one, "N", "precision: weights that share a scale of 16 bits"}.of(Lab::precision),
    Option{"--zero-points", OptionKind::flag, "", "precision: and a zero point as wide as a weight"}
        .of(Lab::precision)
        .with("--group"),
    Option{"--qat", OptionKind::flag, "", "precision: the cost of a training step with quantisers in it"}.of(
        Lab::precision),
    Option{"--batch", OptionKind::one, "N",
           "precision: samples of a training step of a network of ops (default 32), of a language model its tokens "
           "(default 8192)"}
        .of(Lab::precision)
        .with("--qat"),
    Option{"--iterations", OptionKind::one, "N", "sync: steps that all wait for one another"}.of(Lab::sync),
    Option{"--fraction", OptionKind::one, "SHARE",
           "amdahl: share of the time that is sped up; sparsity: that of products by sparse weights"}
        .of(Lab::amdahl, Lab::sparsity),
    Option{"--speedup", OptionKind::one, "X", "amdahl: of that share"}.of(Lab::amdahl),
    Option{"--part", OptionKind::many, "NAME:SHARE:X", "amdahl: one part of a profile and its speed-up; repeats"}.of(
        Lab::amdahl),
    Option{"--weights", OptionKind::one, "SIZE", "sparsity: dense weights"}.of(Lab::sparsity),
    Option{"--format", OptionKind::one, formats, meanings_in<"text (default), {}, svg (a drawing), html (a page)">},
};

std::vector<std::string_view> names() {
  std::vector<std::string_view> all;
  for (const KernelForm* form : all_forms) {
    all.push_back(form->name);
  }
  return all;
}

Outcome written(const LabAnswer& answer, const Arguments& arguments) {
  if (const DocumentFormat* const format = document_format(arguments)) {
    return {format->print(lab_document(answer)), "", 0};
  }
  const std::string form = arguments.one("--format", "text");
  return {form == "svg"    ? lab_svg(answer)
          : form == "html" ? lab_page(answer)
                           : lab_text(answer),
          "", 0, is_prose(arguments)};
}

Outcome run(const Arguments& arguments) {
  const std::vector<std::string> what = arguments.many("");
  const std::vector<std::string_view> known = names();
  if (what.empty()) {
    throw ConfigError{
        "name what is asked, e.g. 'headroom kernel occupancy --gpu a100-sxm-80gb --threads 256 "
        "--registers 128'; known are " +
        listed(known)};
  }
  const auto found = std::find(known.begin(), known.end(), what.front());
  if (found == known.end()) {
    throw ConfigError{"kernel " + quoted(what.front()) + " is not known" + suggestion(what.front(), known) +
                      "; known are " + listed(known)};
  }
  const auto place = static_cast<std::size_t>(found - known.begin());
  const KernelForm& form = *all_forms[place];
  if (what.size() > (form.file.empty() ? 1U : 2U)) {
    throw ConfigError{"kernel " + std::string{form.name} + " stands before " + quoted(what.back()) +
                      ", which it does not take; one question is answered at a time"};
  }
  FormReader reader{arguments, "kernel", form.name, form.meaning};
  const LabQuestion question = form.read(reader);
  const Catalog catalog = own_catalog();
  Device device;
  const bool named = form.gpu == GpuUse::needed ? reader.need("--gpu") : reader.given("--gpu");
  if (named) {
    try {
      device = catalog.device(arguments.one("--gpu"));
    } catch (const ConfigError& error) {
      for (const Diagnostic& diagnostic : error.diagnostics()) {
        reader.problem(diagnostic.message);
      }
    }
  }
  std::vector<Option> own;
  for (const Option& option : options) {
    if (((option.forms >> place) & 1U) != 0) {
      own.push_back(option);
    }
  }
  Diagnostics problems = reader.problems(own);
  add_idle_options(kernel_verb, place, arguments, problems);
  problems.throw_if_any();
  const ModelData data = own_model_data();
  LabAnswer answer = question({catalog, data, named ? &device : nullptr});
  answer.form = form.name;
  answer.gpu = named ? device.id : "";
  return written(answer, arguments);
}

constexpr std::string_view examples =
    "  headroom kernel roof --gpu a100-sxm-80gb --intensity 1000 --achieved \"156 TFLOP/s\"\n"
    "  headroom kernel occupancy --gpu a100-sxm-80gb --threads 256 --registers 128 --shared \"48 KiB\"\n"
    "  headroom kernel access --gpu a100-sxm-80gb --layout aos:8\n"
    "  headroom kernel tile --gpu h100-sxm-80gb --tile 128x128x64 --stages 4\n"
    "  headroom kernel numerics --dtype fp16 --least 1e-9 --largest 2\n"
    "  headroom kernel precision --gpu h100-sxm-80gb --dtype fp8 --kept 0.1\n"
    "  headroom kernel amdahl --fraction 0.95 --speedup 50\n";

std::vector<PositionalWord> words() {
  std::vector<PositionalWord> result;
  for (const KernelForm* form : all_forms) {
    result.push_back({std::string{form->name}, form->file});
  }
  return result;
}

}  // namespace
}  // namespace kernel_parts

const Verb kernel_verb{"kernel",
                       "the laws of one kernel: roofs, occupancy, access, tiles, formats, each with its cures",
                       "FORM",
                       2,
                       kernel_parts::options,
                       kernel_parts::examples,
                       kernel_parts::run,
                       kernel_parts::words,
                       kernel_parts::forms,
                       FileUse::reads};

}  // namespace headroom::cli
