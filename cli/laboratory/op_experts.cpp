// SPDX-License-Identifier: Apache-2.0
// `headroom op moe`: the experts of a layer on one rank.
#include <headroom/cli/render/op_answer.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::cli {
namespace {

struct MoeQuestion {
  MoeShape shape;
  MoeRouting routing;
  std::string routing_name;
  GemmFormat format;
  std::string engine;
  std::string kernel;
};

/// Name of the largest part; for the products, what bounds the layer on the roofline.
std::string_view bound_of(const MoeTime& t, const OpAnswer& a) noexcept {
  const Seconds products = t.up + t.down;
  const Seconds most = std::max({products, t.launch, t.passes, t.experts, t.routing});
  if (most == products) {
    return a.moved / a.limits.bandwidth > a.work / a.limits.peak ? "memory" : "compute";
  }
  return most == t.launch ? "launch" : most == t.passes ? "permute and activation passes" : "routing";
}

std::string title_of(const MoeQuestion& q) {
  const MoeShape& s = q.shape;
  return format_count(s.tokens) + " tokens of " + format_count(s.hidden) + ", " + format_count(s.topk) + " of " +
         format_count(s.experts) + " experts of " + format_count(s.inter) + (s.gated ? "" : " without gate") +
         (s.tp > 1.0 ? ", tp " + format_count(s.tp) : "") + (s.ep > 1.0 ? ", ep " + format_count(s.ep) : "") + ", " +
         q.routing_name + " routing, " + std::string{q.format.name};
}

std::vector<Member> fields_of(const MoeQuestion& q) {
  const MoeShape& s = q.shape;
  return {{"dtype", std::string{q.format.name}},
          {"tokens", s.tokens},
          {"hidden", s.hidden},
          {"inter", s.inter},
          {"topk", s.topk},
          {"experts", s.experts},
          {"tp", s.tp},
          {"ep", s.ep},
          {"gated", s.gated},
          {"routing", q.routing_name}};
}

void add_moe_effects(OpAnswer& a, const MoeQuestion& q, const MoeModel& model) {
  MoeShape twice = q.shape;
  twice.tokens *= 2.0;
  add_effect(a, "twice the tokens in one call, per token", 0.5 * model.time(twice, q.routing));
  if (q.routing.kind != Routing::balanced) {
    add_effect(a, "balanced routing", model.time(q.shape, MoeRouting{}));
  }
}

OpAnswer answer_moe(const ModelData& data, const Device& device, const MoeQuestion& q) {
  const CurveSet& set = find_curve_set(data, device);
  OpAnswer a;
  a.title = title_of(q);
  a.question = fields_of(q);
  a.limits = kernel_device(device, q.format.rate);
  const auto chosen = choose_moe(set, device, q.format, q.routing.kind, q.engine, q.kernel);
  a.why = chosen.why;
  const MoeModel model{chosen.curve->values, a.limits, q.format};
  const ExpertLoad load = expert_load(q.shape, q.routing);
  const MoeTime t = model.explain(q.shape, load);
  const double expert = (q.shape.gated ? 3.0 : 2.0) * q.shape.hidden * q.shape.inter / q.shape.tp;
  a.time = t.total;
  a.launch = t.launch;
  a.work = Flops{2.0 * load.rows * expert};
  a.moved = t.weights + Bytes{2.0 * q.shape.tokens * q.shape.hidden * q.format.output_bytes};
  a.bound = bound_of(t, a);
  a.rows.emplace_back("experts", format_number(load.active) + " of the rank's " + format_number(q.shape.held()) +
                                     " have work, " + format_number(load.rows) + " rows in all");
  a.details = {{"active_experts", load.active}, {"held_experts", q.shape.held()}, {"rows", load.rows}};
  a.parts = {{"launch", "launch_s", t.launch},
             {"first grouped product", "up_s", t.up},
             {"second grouped product", "down_s", t.down},
             {"permute, activation, unpermute", "passes_s", t.passes},
             {"per active expert", "experts_s", t.experts},
             {"top-k and sort", "routing_s", t.routing}};
  add_device_effects(a, [&](const KernelDevice& limits) {
    return MoeModel{chosen.curve->values, limits, q.format}.time(q.shape, load);
  });
  add_moe_effects(a, q, model);
  finish(a, chosen.curve->provenance.p90);
  return a;
}

void check_moe(FormReader& in, const MoeShape& s) {
  if (!in.good()) {
    return;
  }
  if (s.topk > s.experts) {
    in.problem("--topk " + format_count(s.topk) + " is more than --experts " + format_count(s.experts));
  }
  if (std::fmod(s.experts, s.ep) != 0.0) {
    in.problem("--ep " + format_count(s.ep) + " must divide --experts " + format_count(s.experts));
  }
  if (std::fmod(s.inter, s.tp) != 0.0) {
    in.problem("--tp " + format_count(s.tp) + " must divide --inter " + format_count(s.inter));
  }
}

OpQuestion read_moe(FormReader& in) {
  MoeQuestion q;
  q.shape.tokens = in.size("--tokens");
  q.shape.hidden = in.size("--hidden");
  q.shape.inter = in.size("--inter");
  q.shape.topk = in.size("--topk");
  q.shape.experts = in.size("--experts");
  q.shape.tp = in.size_or("--tp", 1.0);
  q.shape.ep = in.size_or("--ep", 1.0);
  q.shape.gated = !in.flag("--no-gate");
  q.routing_name = in.text("--routing", "balanced");
  if (const auto routing = parse_routing(q.routing_name)) {
    q.routing = *routing;
  } else {
    in.problem("--routing " + quoted(q.routing_name) +
               " must be balanced, uniform or power_law_ALPHA, such as power_law_1.2");
  }
  q.format = in.format();
  q.engine = in.text("--engine");
  q.kernel = in.text("--kernel");
  check_moe(in, q.shape);
  return [q](const ModelData& data, const Device& device) { return answer_moe(data, device, q); };
}

constexpr std::array experts_table{
    OpKind{"moe", "all tokens of the expert group, widths before tp, experts a token meets and all of them", read_moe},
};

}  // namespace

std::span<const OpKind> expert_kinds() noexcept {
  return experts_table;
}

}  // namespace headroom::cli
