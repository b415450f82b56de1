// SPDX-License-Identifier: Apache-2.0
// `headroom kernel precision`: what a narrower format brings where part of the work keeps its own.
#include <headroom/cli/laboratory/format_words.hpp>
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/cli/laboratory/precision_parts.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/kernels/tensor_path.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::cli {

double PrecisionAsked::moved_bytes() const {
  const double width = row_of(to).weight_bytes;
  constexpr double scale = 2.0;
  return group ? width + (scale + (zero_points ? width : 0.0)) / *group : stored_bytes(to);
}

std::optional<double> products_ratio(const PrecisionAsked& q, const LabBench& bench) {
  if (q.gain) {
    return q.gain;
  }
  if (bench.device == nullptr) {
    return std::nullopt;
  }
  return rate_of(*bench.device, row_of(q.to).rate, name_of(q.to)) /
         rate_of(*bench.device, row_of(q.from).rate, name_of(q.from));
}

namespace {

bool has_own_scales(Precision precision) {
  return precision == Precision::mxfp8 || precision == Precision::mxfp4 || precision == Precision::nvfp4;
}

void read_keep_word(FormReader& in, const std::string& word, KeptParts& keep) {
  for (const auto& [start, layers] : {std::pair{"first:", &keep.first}, std::pair{"last:", &keep.last}}) {
    if (word.starts_with(start)) {
      const auto count = integer_of(word.substr(std::string_view{start}.size()));
      if (!count || *count < 1) {
        in.problem("--keep " + quoted(word) + " must name how many layers, such as " + start + "2");
      } else {
        *layers = *count;
      }
      return;
    }
  }
  const auto found = std::find(model_role_names.begin(), model_role_names.end(), word);
  if (found == model_role_names.end()) {
    in.problem("--keep " + quoted(word) + " is no role" + suggestion(word, model_role_names) + "; roles are " +
               listed(model_role_names) + ", and first:N and last:N are layers");
    return;
  }
  keep.roles[static_cast<std::size_t>(found - model_role_names.begin())] = true;
}

KeptParts read_keep(FormReader& in) {
  KeptParts keep;
  for (const std::string& text : in.texts("--keep")) {
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find(',', at), text.size());
      read_keep_word(in, text.substr(at, end - at), keep);
      at = end + 1;
    }
  }
  return keep;
}

PrecisionAsked read_precision_asked(FormReader& in) {
  constexpr double most = 1e15;
  PrecisionAsked q;
  const bool named = in.need("--dtype");
  q.to = static_cast<Precision>(in.choice("--dtype", precision_names, "fp8"));
  q.from = static_cast<Precision>(in.choice("--from", precision_names, "bf16"));
  if (in.given("--kept")) {
    q.kept = in.number("--kept", 0.0, 1.0);
  }
  if (in.given("--moved")) {
    q.moved = in.number("--moved", 0.0, 1.0);
  }
  if (in.given("--gain")) {
    q.gain = in.number("--gain", 1e-3, 1e6);
  }
  if (in.given("--parameters")) {
    q.parameters = in.number("--parameters", 1.0, most);
  }
  if (in.given("--group")) {
    q.group = in.size("--group");
  }
  q.zero_points = in.flag("--zero-points");
  q.model = in.text("--model");
  q.keep = read_keep(in);
  q.qat = in.flag("--qat");
  if (in.given("--batch")) {
    q.batch = in.size("--batch");
  }
  const bool gpu = in.given("--gpu");
  if (named && q.to == q.from) {
    in.problem("--dtype and --from are both " + std::string{name_of(q.to)} + "; say what moves where");
  }
  const double width = row_of(q.to).weight_bytes;
  if (q.group && (width > 1.0 || has_own_scales(q.to))) {
    in.problem("--group has no part in " + std::string{name_of(q.to)} +
               (has_own_scales(q.to) ? ", whose blocks have a size of their own"
                                     : ", which is held without scales; it goes with fp8, int8 and int4"));
  }
  if ((q.kept || q.moved) && !q.gain && !gpu) {
    in.problem("what moves needs a speed-up: --gain, or --gpu for the ratio of its peaks");
  }
  if (!q.model.empty() && (q.kept || q.moved)) {
    in.problem(std::string{q.kept ? "--kept" : "--moved"} +
               " has no part beside --model, whose layers are counted; say with --keep which stay");
  }
  if (!q.model.empty() && q.parameters) {
    in.problem("--parameters has no part beside --model, which has its own; leave one out");
  }
  if (q.qat && (q.model.empty() || !gpu)) {
    in.problem("--qat needs --model and --gpu: a step without quantisers to compare with");
  }
  if (!q.kept && !q.moved && !q.parameters && q.model.empty() && !q.qat) {
    in.problem("precision needs --kept or --moved (shares), --parameters, or --model, of which the parts are counted");
  }
  return q;
}

void add_sentence(LabAnswer& a, const std::string& sentence) {
  a.verdict += (a.verdict.empty() ? "" : " ") + sentence;
}

void add_gain(const PrecisionAsked& q, double ratio, LabAnswer& a) {
  const bool by_time = q.moved.has_value();
  const double moved = by_time ? *q.moved : 1.0 - *q.kept;
  const double whole = partial_gain(1.0 - moved, ratio);
  const std::string to{name_of(q.to)};
  const std::string from{name_of(q.from)};
  a.figures.push_back({"speed-up of what moves", "part_speedup", ratio, format_number(ratio) + "x"});
  a.figures.push_back({by_time ? "of the time it moves" : "of the FLOP it moves", "moved_share", share(moved)});
  a.figures.push_back({"speed-up of the whole", "whole_speedup", whole, format_number(whole) + "x"});
  if (moved < 1.0) {
    const double limit = 1.0 / (1.0 - moved);
    a.figures.push_back({"limit", "speedup_limit", limit, format_number(limit) + "x"});
  }
  a.figures.push_back({"of the time then, what stayed", "rest_share", share((1.0 - moved) * whole)});
  add_sentence(
      a,
      percent(moved) + " of the " + (by_time ? "time" : "FLOP") + " in " + to + " at " + format_number(ratio) +
          "x makes the whole " + format_number(whole) + "x as fast" +
          (moved < 1.0 ? ", of at most " + format_number(1.0 / (1.0 - moved)) + "x; the rest stays in " + from : "") +
          ".");
  if (moved < 1.0 && ratio > 1.0) {
    const double half = 0.5 * (1.0 - moved);
    a.cures.push_back({"half of what stayed in " + from + " moved too",
                       partial_gain(1.0 - moved, ratio) / partial_gain(half, ratio),
                       "norms, softmax, the head and the router are what accuracy asks for most often"});
  }
  std::vector<double> shares_moved{0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98, 1.0, moved};
  std::sort(shares_moved.begin(), shares_moved.end());
  shares_moved.erase(std::unique(shares_moved.begin(), shares_moved.end()), shares_moved.end());
  LabTable table{"at_shares", {{"moved", "moved_share"}, {"speed-up of the whole", "whole_speedup"}}, {}};
  LabLine line{"speed-up of the whole", LineStyle::solid, {}};
  for (const double s : shares_moved) {
    table.rows.push_back({share(s), partial_gain(1.0 - s, ratio)});
  }
  constexpr int steps = 50;
  for (int i = 0; i <= steps; ++i) {
    const double s = static_cast<double>(i) / steps;
    line.points.push_back({s, partial_gain(1.0 - s, ratio), {}});
  }
  a.tables.push_back(std::move(table));
  a.chart = LabChart{"Speed-up of the whole over the share in " + to,
                     {by_time ? "share of the time that moves" : "share of the FLOP that moves", Hint::percent, false},
                     {"speed-up", Hint::number, false},
                     {std::move(line), {"asked", LineStyle::points, {{moved, whole, "asked"}}}},
                     {}};
  a.notes.emplace_back(
      "Shares are of products alone: scales and casts between formats are not in them. A model's are counted with "
      "--model.");
  a.sources.emplace_back("Amdahl 1967: speed-up 1 / (kept + moved / gain)");
}

void add_parameters(const PrecisionAsked& q, LabAnswer& a) {
  const double count = *q.parameters;
  const Bytes before{count * q.kept_bytes()};
  const Bytes after{count * q.moved_bytes()};
  const auto gb = [](Bytes bytes) { return format_number(bytes.raw() / 1e9) + " GB"; };
  a.figures.push_back({"parameters", "parameters", Value{count, Hint::count}});
  a.figures.push_back(
      {"bits of a weight with its scales", "bits", 8.0 * q.moved_bytes(), format_number(8.0 * q.moved_bytes(), 5)});
  a.figures.push_back({"weights before", "before_bytes", before, gb(before)});
  a.figures.push_back({"weights after", "after_bytes", after, gb(after)});
  a.figures.push_back(
      {"read by decoding, at most", "memory_speedup", before / after, format_number(before / after) + "x as fast"});
  add_sentence(a, format_number(count / 1e9) + " billion parameters in " + std::string{name_of(q.to)} + " take " +
                      gb(after) + ", " + format_number(8.0 * q.moved_bytes(), 5) +
                      " bits each with their scales, instead of " + gb(before) + " in " + std::string{name_of(q.from)} +
                      ".");
  if (!q.group) {
    return;
  }
  const double width = 8.0 * row_of(q.to).weight_bytes;
  LabTable table{"at_groups", {{"weights a scale", "group"}, {"bits", "bits"}, {"weights", "after_bytes"}}, {}};
  LabLine line{"bits of a weight", LineStyle::solid, {}};
  std::vector<double> groups{16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, *q.group};
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  for (const double group : groups) {
    PrecisionAsked other = q;
    other.group = group;
    table.rows.push_back({Value{group, Hint::count}, 8.0 * other.moved_bytes(), Bytes{count * other.moved_bytes()}});
    line.points.push_back({group, 8.0 * other.moved_bytes(), {}});
  }
  a.tables.push_back(std::move(table));
  if (!a.chart) {
    a.chart = LabChart{"Bits of a weight over its group",
                       {"weights that share a scale", Hint::number, true},
                       {"bits", Hint::number, false},
                       {std::move(line)},
                       {{*q.group, "asked"}}};
  }
  a.notes.push_back("A weight of " + format_number(width) + " bits has its part of a 16-bit scale" +
                    (q.zero_points ? " and of a zero point as wide as itself" : "") + ": width + 16 / group" +
                    (q.zero_points ? " + width / group." : ". --zero-points adds one to each."));
  a.sources.emplace_back("Frantar et al. 2023 (GPTQ), section 4: groups of weights with a scale each");
}

LabAnswer answer(const PrecisionAsked& q, const LabBench& bench) {
  LabAnswer a;
  const std::string to{name_of(q.to)};
  const std::string from{name_of(q.from)};
  a.title = from + " to " + to + (q.model.empty() ? "" : ", " + q.model) +
            (bench.device != nullptr ? ", on " + bench.device->id : "");
  a.question = {{"dtype", to}, {"from", from}};
  if (!q.model.empty()) {
    a.question.push_back({"model", q.model});
  }
  if (bench.device != nullptr) {
    a.figures.push_back(
        {"peak of the old format", "from_peak_flop_per_s", rate_of(*bench.device, row_of(q.from).rate, from)});
    if (!q.qat) {
      a.figures.push_back({"peak of the new format", "peak_flop_per_s", rate_of(*bench.device, row_of(q.to).rate, to)});
    }
    a.sources.push_back("peaks of the catalog, 'headroom catalog show " + bench.device->id + "'");
  }
  if (q.kept || q.moved) {
    add_gain(q, products_ratio(q, bench).value_or(1.0), a);
  }
  if (q.parameters) {
    add_parameters(q, a);
  }
  if (q.qat) {
    add_quantised_training(q, bench, a);
  } else if (!q.model.empty()) {
    add_model_map(q, bench, a);
  }
  if (q.to == Precision::int4) {
    a.notes.emplace_back(
        "Weights of int4 are widened to 16 bits before they multiply: fewer bytes, and the FLOP of 16 bits.");
  }
  return a;
}

LabQuestion read_precision(FormReader& in) {
  return [q = read_precision_asked(in)](const LabBench& bench) { return answer(q, bench); };
}

}  // namespace

const KernelForm precision_form{"precision", "the format that most of the work moves to", GpuUse::optional,
                                read_precision};

}  // namespace headroom::cli
