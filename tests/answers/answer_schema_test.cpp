// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/door/answer.hpp>
#include <headroom/answers/door/format.hpp>
#include <headroom/answers/door/question.hpp>
#include <headroom/answers/schema/answer_schema.hpp>
#include <headroom/answers/schema/name_unit.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../answer_walk.hpp"
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace headroom;
using namespace headroom::test;

namespace {

Hint hint_of_name(std::string_view name) {
  const auto unit = name_unit(name);
  return unit ? unit->hint : Hint::number;
}

/// The document of a scenario that ships, with keys set.
Value document_of_file(const std::string& name, const std::vector<std::string>& keys = {}) {
  static const QuestionLibrary library = QuestionLibrary::of({});
  const std::string file = std::string{HEADROOM_SOURCE_DIR} + "/scenarios/" + name;
  AnswerOptions options;
  options.explain = true;
  options.threads = 2;
  return document_of(answer_of(read_question(scenario_tree(file, keys), file, library), options));
}

std::set<std::string> faults_of(const Value& document) {
  std::set<std::string> faults;
  unit_faults(document, "", std::nullopt, faults);
  return faults;
}

}  // namespace

TEST_CASE("answers: the unit of a name is its last word that is one, or one by something") {
  CHECK(hint_of_name("step_time_s") == Hint::seconds);
  CHECK(hint_of_name("link_time_s_per_step") == Hint::seconds);
  CHECK(hint_of_name("bytes") == Hint::bytes);
  CHECK(hint_of_name("kv_bytes_per_token") == Hint::bytes);
  CHECK(hint_of_name("per_gpu_bytes_per_s") == Hint::bytes_per_second);
  CHECK(hint_of_name("model_flop_per_s_per_gpu") == Hint::flop_per_second);
  CHECK(hint_of_name("ridge_flop_per_byte") == Hint::flop_per_byte);
  CHECK(hint_of_name("price_usd_per_s_per_gpu") == Hint::usd_per_hour);
  CHECK(hint_of_name("usd_per_million_samples") == Hint::usd);
  CHECK(hint_of_name("j_per_million_tokens") == Hint::joules);
  CHECK(hint_of_name("host_power_w_per_gpu") == Hint::watts);
  CHECK(hint_of_name("tokens_per_s_per_gpu") == Hint::per_second);
  CHECK(hint_of_name("sequences_per_usd") == Hint::per_usd);
  for (const std::string_view name : {"gpus", "mfu", "per_domain", "gpu_hours", "gpu_hours_per_million_samples",
                                      "gpus_per_replica", "units_each", "flops", "tokens"}) {
    CAPTURE(name);
    CHECK_FALSE(name_unit(name));
  }
  CHECK(name_unit("price_usd_per_s_per_gpu")->words == "usd_per_s_per_gpu");
}

TEST_CASE("answers: a number in a unit that its name does not say is found, and one without a unit under such a name") {
  CHECK(faults_of(object("step_time_s"_m = Seconds{1.0}, "gpus"_m = 8)).empty());
  CHECK(faults_of(object("step_time"_m = Seconds{1.0})) == std::set<std::string>{"/step_time"});
  CHECK(faults_of(object("step_time_s"_m = 1.0)) == std::set<std::string>{"/step_time_s"});
  CHECK(faults_of(object("memory_bytes"_m = Seconds{1.0})) == std::set<std::string>{"/memory_bytes"});
  CHECK(faults_of(object("memory_bytes"_m = 3)) == std::set<std::string>{"/memory_bytes"});
  CHECK(faults_of(object("step_time_s"_m = Interval<Seconds>{Seconds{1.0}, Seconds{2.0}, Seconds{3.0}})).empty());
  CHECK(faults_of(object("terms_s"_m = object("a"_m = Seconds{1.0}, "b"_m = 2.0))) ==
        std::set<std::string>{"/terms_s/b"});
  CHECK(faults_of(object("value"_m = Seconds{1.0}, "unit"_m = "s")).empty());
}

TEST_CASE("answers: rows of members stand in objects, and what they are like is there") {
  for (const AnswerSchema& answer : all_answers()) {
    CAPTURE(answer.name);
    std::set<std::string_view> paths;
    for (const AnswerMember& member : answer.members) {
      CAPTURE(member.path);
      CHECK(paths.insert(member.path).second);
      CHECK_FALSE(member.meaning.empty());
      if (const std::size_t slash = member.path.rfind('/'); slash != std::string_view::npos) {
        const AnswerMember* const above = find_member(answer, member.path.substr(0, slash));
        REQUIRE(above != nullptr);
        CHECK((above->type == MemberType::object || above->type == MemberType::objects));
      }
      if (!member.like.empty()) {
        const std::size_t colon = member.like.find(':');
        const AnswerSchema* const other =
            colon == std::string_view::npos ? &answer : find_answer(member.like.substr(0, colon));
        REQUIRE(other != nullptr);
        const std::string_view path = colon == std::string_view::npos ? member.like : member.like.substr(colon + 1);
        CHECK((path.empty() || find_member(*other, path) != nullptr));
      }
    }
    CHECK(find_member(answer, "schema") != nullptr);
  }
  CHECK(find_member(*find_answer("search"), "plan/money/bill/usd") != nullptr);
  CHECK(find_member(*find_answer("search"), "front/strategy/tp") != nullptr);
  CHECK(find_member(*find_answer("search"), "front/strategy/tpp") == nullptr);
}

TEST_CASE("answers: every number with a unit has it in its name, and no other has") {
  for (const std::string file :
       {"train/deepseek-v3-2048xh800.toml", "train/llama2-7b-8xa100.toml", "train/llama3-405b-54-days.toml",
        "train/llama3-70b-owned.toml", "train/llama3-8b-beside-the-plan.toml", "train/perception-2b-64xa100.toml",
        "train/llama3-70b-search.toml", "serve/llama3-70b.toml", "serve/llama3-70b-speculative.toml",
        "serve/llama3-70b-or-api.toml", "serve/llama3-70b-fleet.toml"}) {
    CAPTURE(file);
    const Value document = document_of_file(file);
    for (const std::string& fault : faults_of(document)) {
      FAIL_CHECK(fault);
    }
    MemberWalk walk;
    walk.see(document);
    for (const std::string& fault : walk.faults) {
      FAIL_CHECK(fault);
    }
  }
}
