// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/schema/answer_schema.hpp>
#include <headroom/answers/schema/name_unit.hpp>
#include <headroom/cli/stubs/answer_stub.hpp>
#include <headroom/cli/stubs/python_names.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace headroom::python {
namespace {

/// Methods of every answer, which members of these names do not hide.
constexpr std::array<std::string_view, 13> methods{"good", "complete", "to_dict",  "to_json", "to_csv", "text", "html",
                                                   "rows", "frame",    "describe", "get",     "keys",   "items"};

bool is_object(const AnswerMember& member) noexcept {
  return member.type == MemberType::object || member.type == MemberType::objects;
}

/// The names that stand directly below a path of an answer.
std::vector<const AnswerMember*> below(const AnswerSchema& answer, std::string_view path) {
  const std::string begin = path.empty() ? std::string{} : std::string{path} + "/";
  std::vector<const AnswerMember*> all;
  for (const AnswerMember& member : answer.members) {
    if (member.path.starts_with(begin) && member.path.find('/', begin.size()) == std::string_view::npos &&
        member.path.size() > begin.size()) {
      all.push_back(&member);
    }
  }
  return all;
}

std::string record_name(const AnswerSchema& answer, std::string_view path) {
  return class_name(answer.name) + (path.empty() ? "Document" : class_name(path));
}

/// The class of what a member is like; empty: it is like nothing, or like what has no class.
std::string like_name(const AnswerSchema& answer, const AnswerMember& member) {
  if (member.like.empty()) {
    return "";
  }
  const std::size_t colon = member.like.find(':');
  const AnswerSchema* const other =
      colon == std::string_view::npos ? &answer : find_answer(member.like.substr(0, colon));
  const std::string_view path = colon == std::string_view::npos ? member.like : member.like.substr(colon + 1);
  if (other == nullptr) {
    return "";
  }
  const auto same = [&](const AnswerMember& one) { return one.path == path && is_object(one); };
  const auto target = std::find_if(other->members.begin(), other->members.end(), same);
  if (path.empty()) {
    return record_name(*other, path);
  }
  if (target == other->members.end()) {
    return "";
  }
  return below(*other, path).empty() ? like_name(*other, *target) : record_name(*other, path);
}

std::string object_name(const AnswerSchema& answer, const AnswerMember& member) {
  if (!below(answer, member.path).empty()) {
    return record_name(answer, member.path);
  }
  const std::string like = like_name(answer, member);
  return like.empty() ? "Record" : like;
}

std::string member_type(const AnswerSchema& answer, const AnswerMember& member) {
  switch (member.type) {
    case MemberType::text: return "str";
    case MemberType::texts: return "list[str]";
    case MemberType::boolean: return "bool";
    case MemberType::number: return "float";
    case MemberType::number_list: return "list[float]";
    case MemberType::number_or_text: return "float | str";
    case MemberType::numbers: return "dict[str, float]";
    case MemberType::interval: return "Interval";
    case MemberType::interval_or_text: return "Interval | str";
    case MemberType::intervals: return "dict[str, Interval]";
    case MemberType::dates: return "Record";
    case MemberType::object: return object_name(answer, member);
    case MemberType::objects: return "list[" + object_name(answer, member) + "]";
    case MemberType::any: break;
  }
  return "Any";
}

std::string_view last_name(const AnswerMember& member) {
  return member.path.substr(member.path.rfind('/') + 1);
}

/// "step_time" of "step_time_s"; empty: the name has no unit, or is one.
std::string_view without_unit(std::string_view name) {
  const std::optional<NameUnit> unit = name_unit(name);
  return unit && unit->words.size() + 1 < name.size() ? name.substr(0, name.size() - unit->words.size() - 1)
                                                      : std::string_view{};
}

void write_record(std::string& out, const AnswerSchema& answer, const AnswerMember* member) {
  const std::string_view path = member == nullptr ? std::string_view{} : member->path;
  const std::vector<const AnswerMember*> members = below(answer, path);
  if (member != nullptr && members.empty()) {
    return;
  }
  const std::string like = member == nullptr ? "" : like_name(answer, *member);
  out += "\nclass " + record_name(answer, path) + "(" + (like.empty() ? "Record" : like) + "):\n    " +
         doc_string(member == nullptr ? answer.meaning : member->meaning) + "\n";
  const auto names = [&](std::string_view name) {
    return std::count_if(members.begin(), members.end(), [&](const AnswerMember* one) {
      return last_name(*one) == name || without_unit(last_name(*one)) == name;
    });
  };
  for (const AnswerMember* one : members) {
    const std::string_view name = last_name(*one);
    const bool method = path.empty() && std::find(methods.begin(), methods.end(), name) != methods.end();
    if (!is_attribute(name) || method) {
      continue;  // answer["wide-experts"]
    }
    const std::optional<NameUnit> unit = name_unit(name);
    const std::string type = member_type(answer, *one);
    out += "    " + std::string{name} + ": " + type + "\n    " +
           doc_string(std::string{one->meaning} + (unit ? "; in " + std::string{unit->words} : "")) + "\n";
    const std::string_view brief = without_unit(name);
    if (is_attribute(brief) && names(brief) == 1) {
      out += "    " + std::string{brief} + ": " + type + "\n    " +
             doc_string(std::string{name} + ", in " + std::string{unit->words}) + "\n";
    }
  }
}

}  // namespace

void write_answer_classes(std::string& out) {
  for (const AnswerSchema& answer : all_answers()) {
    write_record(out, answer, nullptr);
    for (const AnswerMember& member : answer.members) {
      if (is_object(member)) {
        write_record(out, answer, &member);
      }
    }
    out += "\nclass " + class_name(answer.name) + "Answer(" + record_name(answer, "") + ", Answer):\n    " +
           doc_string("headroom." + std::string{answer.name} + "/" + std::to_string(answer.version) + ": " +
                      std::string{answer.meaning} + ".") +
           "\n";
  }
}

}  // namespace headroom::python
