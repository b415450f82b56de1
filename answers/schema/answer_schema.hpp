// SPDX-License-Identifier: Apache-2.0
// What every answer's JSON holds: one table of members an answer, and the JSON Schema that is made of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace headroom {

enum class MemberType : std::uint8_t {
  text,
  texts,  ///< list of them
  boolean,
  number,  ///< in the unit of its name
  number_list,
  number_or_text,  ///< a word in place of a number: "unbounded"
  numbers,         ///< by name, in the unit of the member's own name
  interval,        ///< low, mid and high
  interval_or_text,
  intervals,  ///< by name
  dates,      ///< low, mid and high as texts
  object,
  objects,  ///< list of them
  any
};

/// A member, present where there is something to say.
struct AnswerMember {
  std::string_view path;  ///< names from the root, "points/step_time_s": of a list's items as of one object
  MemberType type;
  std::string_view meaning;
  /// Path of a member of this answer, or "plan:PATH" of one of another, whose members stand in this one too.
  std::string_view like = {};
};

struct AnswerSchema {
  std::string_view name;  ///< "plan" of "headroom.plan/1"
  std::int64_t version;
  std::string_view asked_by;  ///< commands
  std::string_view meaning;
  std::span<const AnswerMember> members;
};

/// In the order of the manual.
[[nodiscard]] std::span<const AnswerSchema> all_answers() noexcept;
/// nullptr: there is no such answer.
[[nodiscard]] const AnswerSchema* find_answer(std::string_view name) noexcept;

/// A member of an answer by its path, through what it is like; nullptr: there is none.
[[nodiscard]] const AnswerMember* find_member(const AnswerSchema& answer, std::string_view path) noexcept;

/// "headroom.plan/1".
[[nodiscard]] std::string schema_name(const AnswerSchema& answer);

/// JSON Schema (draft 2020-12). Members may be absent, and new ones may come.
[[nodiscard]] std::string json_schema_of(const AnswerSchema& answer);

namespace answers {
[[nodiscard]] std::span<const AnswerMember> plan_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> search_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> fleet_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> box_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> mixed_training_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> mixed_fleet_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> batch_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> classic_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> cluster_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> post_training_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> sharing_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> simulate_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> compare_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> compare_fleets_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> scale_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> laws_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> measured_scale_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> speedup_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> validate_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> roofline_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> op_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> kernel_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> collective_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> fabric_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> replay_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> diagnose_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> harness_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> fit_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> overlay_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> gate_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> run_gate_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> compare_pipelines_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> catalog_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> entry_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> diff_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> lint_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> error_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> keys_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> schemas_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> health_members() noexcept;
[[nodiscard]] std::span<const AnswerMember> import_members() noexcept;
}  // namespace answers

}  // namespace headroom
