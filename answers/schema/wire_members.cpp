// SPDX-License-Identifier: Apache-2.0
// Answers to requests alone: lists of what can be asked, and an imported model.
#include <headroom/answers/schema/answer_schema.hpp>

#include <array>

namespace headroom::answers {
namespace {

using T = MemberType;
using M = AnswerMember;

constexpr std::array keys_list{
    M{"schema", T::text, "name and version of this schema"},
    M{"version", T::text, "program that answered"},
    M{"keys", T::objects, "keys of a scenario, in the order in which people write them"},
    M{"keys/path", T::text, "its tables and its name, with dots between"},
    M{"keys/table", T::text, "its tables; empty at the root"},
    M{"keys/name", T::text, "its name"},
    M{"keys/type", T::text, "type of its value"},
    M{"keys/kinds", T::texts, "words of the scenario's kind that know it"},
    M{"keys/questions", T::texts, "questions that know it, as people name them"},
    M{"keys/required", T::boolean, "whether its table may not lack it"},
    M{"keys/low", T::number, "least value, of a quantity in its SI unit"},
    M{"keys/high", T::number, "largest value, of a quantity in its SI unit"},
    M{"keys/above_low", T::boolean, "whether a value must be above the least one"},
    M{"keys/example", T::text, "a quantity as it is written"},
    M{"keys/choices", T::texts, "words that it takes; of text examples"},
    M{"keys/any", T::boolean, "whether an axis takes any"},
    M{"keys/tokens", T::boolean, "whether it holds tokens of a sequence or of a step, of which k is 1024"},
    M{"keys/default", T::text, "what a blank means"},
    M{"keys/default_from", T::text, "stated, checkpoint, publication, standard or unknown"},
    M{"keys/meaning", T::text, "what it is"},
    M{"keys/caution", T::text, "what else must hold"},
    M{"keys/option", T::text, "option of the command line with the same meaning"},
    M{"keys/option_value", T::text, "name of the option's value"},
    M{"keys/option_help", T::text, "help of the option"},
};

constexpr std::array schemas_list{
    M{"schema", T::text, "name and version of this schema"},
    M{"version", T::text, "program that answered"},
    M{"answers", T::objects, "answers that have a schema"},
    M{"answers/name", T::text, "name"},
    M{"answers/schema", T::text, "name and version of the schema"},
    M{"answers/asked_by", T::text, "commands that it answers"},
    M{"answers/meaning", T::text, "what it is"},
};

constexpr std::array health{
    M{"schema", T::text, "name and version of this schema"},
    M{"version", T::text, "program that answered"},
    M{"status", T::text, "ok"},
};

constexpr std::array imported{
    M{"schema", T::text, "name and version of this schema"},
    M{"version", T::text, "program that answered"},
    M{"id", T::text, "id of the model"},
    M{"model", T::any, "the model as a table of a scenario"},
    M{"toml", T::text, "the same as a file of the catalog"},
    M{"remarks", T::texts, "what is left blank, and why"},
};

}  // namespace

std::span<const AnswerMember> keys_members() noexcept {
  return keys_list;
}
std::span<const AnswerMember> schemas_members() noexcept {
  return schemas_list;
}
std::span<const AnswerMember> health_members() noexcept {
  return health;
}
std::span<const AnswerMember> import_members() noexcept {
  return imported;
}

}  // namespace headroom::answers
