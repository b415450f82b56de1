// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/document/print.hpp>
#include <headroom/answers/document/value.hpp>
#include <headroom/answers/schema/answer_schema.hpp>
#include <headroom/answers/schema/name_unit.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace headroom {
namespace {

/// The answer and the path that a member is like: "plan:money", "options".
struct Likeness {
  const AnswerSchema* answer;
  std::string_view path;
};

Likeness likeness(const AnswerSchema& answer, std::string_view like) noexcept {
  const std::size_t colon = like.find(':');
  return colon == std::string_view::npos ? Likeness{&answer, like}
                                         : Likeness{find_answer(like.substr(0, colon)), like.substr(colon + 1)};
}

const AnswerMember* own_member(const AnswerSchema& answer, std::string_view path) noexcept {
  const auto found = std::find_if(answer.members.begin(), answer.members.end(),
                                  [&](const AnswerMember& member) { return member.path == path; });
  return found == answer.members.end() ? nullptr : &*found;
}

/// The answer whose table holds a member that was found for another.
const AnswerSchema* owner_of(const AnswerSchema& answer, const AnswerMember& member) noexcept {
  const auto holds = [&](const AnswerSchema& one) {
    return &member >= one.members.data() && &member < one.members.data() + one.members.size();
  };
  const std::span<const AnswerSchema> all = all_answers();
  const auto found = std::find_if(all.begin(), all.end(), holds);
  return found == all.end() ? &answer : &*found;
}

std::string joined_path(std::string_view begin, std::string_view end) {
  return begin.empty() ? std::string{end} : std::string{begin} + "/" + std::string{end};
}

Value types(std::string_view type) {
  return list(std::array<std::string_view, 2>{type, "null"}, [](std::string_view one) { return one; }).on_one_line();
}

Value of_type(std::string_view type) {
  return object("type"_m = types(type));
}

Value ends(std::string_view type) {
  return object("type"_m = types("object"),
                "properties"_m =
                    object("low"_m = of_type(type), "mid"_m = of_type(type), "high"_m = of_type(type)).on_one_line());
}

Value list_of(Value item) {
  return object("type"_m = types("array"), "items"_m = std::move(item));
}

Value by_name(Value value) {
  return object("type"_m = types("object"), "additionalProperties"_m = std::move(value));
}

Value either(Value a, Value b) {
  return object("anyOf"_m = list(std::array{std::move(a), std::move(b)}, [](const Value& one) { return one; }));
}

Value properties(const AnswerSchema& answer, std::string_view path);

/// The members of an object, those that it is like among them.
Value members_of(const AnswerSchema& answer, const AnswerMember& member) {
  Value all = properties(answer, member.path);
  if (!member.like.empty()) {
    const Likeness like = likeness(answer, member.like);
    all.add(Member{properties(*like.answer, like.path)});
  }
  return object("type"_m = types("object"), "properties"_m = std::move(all));
}

Value form_of(const AnswerSchema& answer, const AnswerMember& member) {
  switch (member.type) {
    case MemberType::text: return of_type("string");
    case MemberType::texts: return list_of(of_type("string"));
    case MemberType::boolean: return of_type("boolean");
    case MemberType::number: return of_type("number");
    case MemberType::number_list: return list_of(of_type("number"));
    case MemberType::number_or_text: return either(of_type("number"), of_type("string"));
    case MemberType::numbers: return by_name(of_type("number"));
    case MemberType::interval: return ends("number");
    case MemberType::interval_or_text: return either(ends("number"), of_type("string"));
    case MemberType::intervals: return by_name(ends("number"));
    case MemberType::dates: return ends("string");
    case MemberType::object: return members_of(answer, member);
    case MemberType::objects: return list_of(members_of(answer, member));
    case MemberType::any: break;
  }
  return object();
}

std::string description(const AnswerMember& member, std::string_view name) {
  const std::optional<NameUnit> unit = name_unit(name);
  return std::string{member.meaning} + (unit ? "; in " + std::string{unit->words} : std::string{});
}

/// The members that stand in the object at a path; "" is the root.
Value properties(const AnswerSchema& answer, std::string_view path) {
  const std::string begin = path.empty() ? std::string{} : std::string{path} + "/";
  Value all = object();
  for (const AnswerMember& member : answer.members) {
    if (!member.path.starts_with(begin)) {
      continue;
    }
    const std::string_view name = member.path.substr(begin.size());
    if (name.find('/') == std::string_view::npos) {
      all.add({std::string{name}, object("description"_m = description(member, name), form_of(answer, member))});
    }
  }
  return all;
}

}  // namespace

std::span<const AnswerSchema> all_answers() noexcept {
  static const std::array all{
      AnswerSchema{"plan", 1, "headroom plan, explain",
                   "the plan of a training strategy, of a network of ops, or of a serving replica",
                   answers::plan_members()},
      AnswerSchema{"search", 1, "headroom plan, explain", "what a search takes, with its plan",
                   answers::search_members()},
      AnswerSchema{"fleet", 1, "headroom plan", "a fleet that keeps its promises", answers::fleet_members()},
      AnswerSchema{"box", 1, "headroom plan", "throughput against latency of stated GPUs", answers::box_members()},
      AnswerSchema{"mixed_training", 1, "headroom plan", "a training job on pools of unlike SKUs",
                   answers::mixed_training_members()},
      AnswerSchema{"mixed_fleet", 1, "headroom plan", "replicas of unlike SKUs behind one router",
                   answers::mixed_fleet_members()},
      AnswerSchema{"batch", 1, "headroom plan",
                   "calls of a network, for requests, clients and jobs; jobs of a language model",
                   answers::batch_members()},
      AnswerSchema{"classic", 1, "headroom plan, explain", "classic machine learning on GPUs and on cores",
                   answers::classic_members()},
      AnswerSchema{"cluster", 1, "headroom plan, explain", "jobs of tenants on a cluster of unlike pools",
                   answers::cluster_members()},
      AnswerSchema{"post-training", 1, "headroom plan, explain",
                   "a step of post-training, or stages that feed each other", answers::post_training_members()},
      AnswerSchema{"sharing", 1, "headroom plan", "tenants of one card", answers::sharing_members()},
      AnswerSchema{"simulate", 1, "headroom simulate", "a fleet, request by request", answers::simulate_members()},
      AnswerSchema{"compare", 1, "headroom compare", "plans side by side", answers::compare_members()},
      AnswerSchema{"compare_fleets", 1, "headroom compare", "fleets side by side", answers::compare_fleets_members()},
      AnswerSchema{"compare_pipelines", 1, "headroom compare --pipelines", "measured pipelines at equal quality",
                   answers::compare_pipelines_members()},
      AnswerSchema{"scale", 1, "headroom scale", "a plan over numbers of GPUs", answers::scale_members()},
      AnswerSchema{"measured_scale", 1, "headroom scale --measured", "laws of measured times",
                   answers::measured_scale_members()},
      AnswerSchema{"laws", 1, "headroom scale --law", "laws of scaling of a parallel share", answers::laws_members()},
      AnswerSchema{"speedup", 1, "headroom scale --measured-speedup", "a measured speed-up, and what would help",
                   answers::speedup_members()},
      AnswerSchema{"validate", 1, "headroom validate", "predictions against measurements", answers::validate_members()},
      AnswerSchema{"roofline", 1, "headroom roofline", "ops of a layer on the roofline", answers::roofline_members()},
      AnswerSchema{"op", 1, "headroom op", "the time of one kernel", answers::op_members()},
      AnswerSchema{"kernel", 1, "headroom kernel", "the laws of one kernel, asked one by one",
                   answers::kernel_members()},
      AnswerSchema{"collective", 1, "headroom collective", "the time of one collective", answers::collective_members()},
      AnswerSchema{"fabric", 1, "headroom fabric", "a host and its network", answers::fabric_members()},
      AnswerSchema{"replay", 1, "headroom replay", "a trace of allocations", answers::replay_members()},
      AnswerSchema{"diagnose", 1, "headroom diagnose", "why a run is slow", answers::diagnose_members()},
      AnswerSchema{"harness", 1, "headroom compare --harness", "what to expect of each cell",
                   answers::harness_members()},
      AnswerSchema{"fit", 1, "headroom fit --gpu", "curves fitted to kernels", answers::fit_members()},
      AnswerSchema{"overlay", 1, "headroom fit --base", "a fitted overlay", answers::overlay_members()},
      AnswerSchema{"gate", 1, "headroom calibrate --compare", "two calibrations compared", answers::gate_members()},
      AnswerSchema{"run_gate", 1, "headroom gate", "two results of a benchmark compared", answers::run_gate_members()},
      AnswerSchema{"catalog", 1, "headroom catalog list", "lists of the catalog", answers::catalog_members()},
      AnswerSchema{"entry", 1, "headroom catalog show", "an entry of the catalog", answers::entry_members()},
      AnswerSchema{"diff", 1, "headroom catalog diff", "two entries of the catalog", answers::diff_members()},
      AnswerSchema{"lint", 1, "headroom catalog lint", "facts that cannot be true together", answers::lint_members()},
      AnswerSchema{"error", 1, "every verb with --format", "a command without an answer", answers::error_members()},
      AnswerSchema{"keys", 1, "requests alone", "every key of a scenario", answers::keys_members()},
      AnswerSchema{"schemas", 1, "requests alone", "answers that have a schema", answers::schemas_members()},
      AnswerSchema{"health", 1, "requests alone", "a server that answers", answers::health_members()},
      AnswerSchema{"import", 1, "requests alone", "a config.json as a model", answers::import_members()},
  };
  return all;
}

const AnswerSchema* find_answer(std::string_view name) noexcept {
  const std::span<const AnswerSchema> all = all_answers();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const AnswerSchema& answer) { return answer.name == name; });
  return found == all.end() ? nullptr : &*found;
}

const AnswerMember* find_member(const AnswerSchema& answer, std::string_view path) noexcept {
  if (const AnswerMember* const own = own_member(answer, path)) {
    return own;
  }
  // Through the nearest member above it that is like another.
  for (std::size_t end = path.rfind('/'); end != std::string_view::npos && end > 0; end = path.rfind('/', end - 1)) {
    const AnswerMember* const above = find_member(answer, path.substr(0, end));
    if (above != nullptr && !above->like.empty()) {
      const Likeness like = likeness(*owner_of(answer, *above), above->like);
      return find_member(*like.answer, joined_path(like.path, path.substr(end + 1)));
    }
  }
  return nullptr;
}

std::string schema_name(const AnswerSchema& answer) {
  return "headroom." + std::string{answer.name} + "/" + std::to_string(answer.version);
}

std::string json_schema_of(const AnswerSchema& answer) {
  const std::string name = schema_name(answer);
  Value all = properties(answer, "");
  return json_text(object(
      "$schema"_m = "https://json-schema.org/draft/2020-12/schema", "title"_m = name, "description"_m = answer.meaning,
      "type"_m = "object",
      "required"_m =
          list(std::array<std::string_view, 1>{"schema"}, [](std::string_view one) { return one; }).on_one_line(),
      "properties"_m = std::move(all)));
}

}  // namespace headroom
