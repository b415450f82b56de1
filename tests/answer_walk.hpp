// SPDX-License-Identifier: Apache-2.0
// An answer's document held against the table of its members, and its numbers against the units in their names.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/answers/schema/answer_schema.hpp>
#include <headroom/answers/schema/name_unit.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::test {

inline bool is_figure(const Value& value) {
  return value.kind() == Value::Kind::null || value.kind() == Value::Kind::integer ||
         value.kind() == Value::Kind::number;
}

inline bool is_word(const Value& value) {
  return value.kind() == Value::Kind::text;
}

template <class Is>
bool all_are(const Value& value, Value::Kind kind, Is is) {
  return value.kind() == kind && std::all_of(value.members().begin(), value.members().end(),
                                             [&](const Member& member) { return is(member.value); });
}

template <class Is>
bool has_ends(const Value& value, Is is) {
  return all_are(value, Value::Kind::object, is) && value.members().size() == 3 && value.find("low") != nullptr &&
         value.find("mid") != nullptr && value.find("high") != nullptr;
}

inline bool is_interval(const Value& value) {
  return has_ends(value, is_figure);
}

inline bool is_object(const Value& value) {
  return value.kind() == Value::Kind::object;
}

inline bool fits(MemberType type, const Value& value) {
  if (value.kind() == Value::Kind::null) {
    return type != MemberType::boolean;
  }
  switch (type) {
    case MemberType::text: return is_word(value);
    case MemberType::texts: return all_are(value, Value::Kind::list, is_word);
    case MemberType::boolean: return value.kind() == Value::Kind::boolean;
    case MemberType::number: return is_figure(value);
    case MemberType::number_list: return all_are(value, Value::Kind::list, is_figure);
    case MemberType::number_or_text: return is_figure(value) || is_word(value);
    case MemberType::numbers: return all_are(value, Value::Kind::object, is_figure);
    case MemberType::interval: return is_interval(value);
    case MemberType::interval_or_text: return is_interval(value) || is_word(value);
    case MemberType::intervals: return all_are(value, Value::Kind::object, is_interval);
    case MemberType::dates: return has_ends(value, is_word);
    case MemberType::object: return is_object(value);
    case MemberType::objects: return all_are(value, Value::Kind::list, is_object);
    case MemberType::any: break;
  }
  return true;
}

/// "plan" of a document whose schema is "headroom.plan/1"; empty: it names none.
inline std::string answer_name(const Value& document) {
  const Value* const schema = document.find("schema");
  const std::string text = schema == nullptr ? std::string{} : schema->text();
  constexpr std::string_view begin = "headroom.";
  const std::size_t slash = text.find('/');
  return text.starts_with(begin) && slash != std::string::npos ? text.substr(begin.size(), slash - begin.size())
                                                               : std::string{};
}

/// Members of documents that their tables do not have so, each told once, and the rows that some document had.
struct MemberWalk {
  std::set<std::string> faults;
  std::set<const AnswerMember*> seen;

  void see(const Value& document) {
    const AnswerSchema* const answer = find_answer(answer_name(document));
    if (answer == nullptr) {
      faults.insert("no answer is called '" + answer_name(document) + "'");
      return;
    }
    walk(*answer, document, "");
  }

 private:
  void walk(const AnswerSchema& answer, const Value& object, const std::string& above) {
    for (const Member& member : object.members()) {
      const std::string path = above + member.key;
      const AnswerMember* const row = find_member(answer, path);
      if (row == nullptr) {
        faults.insert(std::string{answer.name} + ": " + path + " has no row");
        continue;
      }
      seen.insert(row);
      if (!fits(row->type, member.value)) {
        faults.insert(std::string{answer.name} + ": " + path + " is not of its row's type");
      } else if (row->type == MemberType::object) {
        walk(answer, member.value, path + "/");
      } else if (row->type == MemberType::objects) {
        for (const Member& item : member.value.members()) {
          walk(answer, item.value, path + "/");
        }
      }
    }
  }
};

/// Numbers whose unit for people is not that of their name, or of the name that they stand in.
inline void unit_faults(const Value& value,
                        const std::string& path,
                        const std::optional<NameUnit>& above,
                        std::set<std::string>& faults) {
  const bool has_unit_beside = value.find("unit") != nullptr;
  for (const Member& member : value.members()) {
    const std::optional<NameUnit> own = name_unit(member.key);
    const std::optional<NameUnit> unit = own ? own : above;
    const std::string at = member.key.empty() ? path : path + "/" + member.key;
    const Value::Kind kind = member.value.kind();
    if (kind == Value::Kind::object || kind == Value::Kind::list) {
      unit_faults(member.value, at, unit, faults);
    } else if ((kind == Value::Kind::integer || kind == Value::Kind::number) && (own || !has_unit_beside)) {
      const Hint hint = member.value.hint();
      if (unit ? hint != unit->hint : has_unit(hint)) {
        faults.insert(at);
      }
    }
  }
}

}  // namespace headroom::test
