// SPDX-License-Identifier: Apache-2.0
// Jobs of a language model as they are typed: the verdict first, the document, and verbs that do not take them.
#include <headroom/core/json_reader.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include "run_headroom.hpp"
#include <algorithm>
#include <string>
#include <string_view>

using namespace headroom;
using namespace headroom::test;

namespace {

const std::string job = "scenarios/batch/10m-prompts-overnight.toml";

const ConfigValue& at(const ConfigValue& object, std::string_view path) {
  const ConfigValue* value = &object;
  while (!path.empty()) {
    value = value->find(path.substr(0, path.find('/')));
    REQUIRE_MESSAGE(value != nullptr, std::string{path});
    path.remove_prefix(
        std::min(path.size(), path.find('/') == std::string_view::npos ? path.size() : path.find('/') + 1));
  }
  return *value;
}
double number(const ConfigValue& value) {
  return value.kind == ConfigValue::Kind::integer ? static_cast<double>(value.integer) : value.number;
}

}  // namespace

TEST_CASE("token job: the text begins with how many GPUs, and the document has the same") {
  const Run text = run_headroom("plan " + job);
  CHECK(text.code == 0);
  const Run json = run_headroom("plan " + job + " --format json");
  REQUIRE(json.code == 0);
  const ConfigValue answer = parse_json(json.out, "answer");
  CHECK(at(answer, "schema").text == "headroom.batch/1");
  const auto gpus = at(answer, "job/gpus").integer;
  CHECK(says(text.out, "\ntake " + std::to_string(gpus) + " GPUs (h100-sxm-80gb), " + std::to_string(gpus) +
                           " replicas of tp 1, "));
  CHECK(says(text.out, "deadline: 8.00 h, kept with probability"));
  CHECK(says(text.out, "records/s per GPU, by layout"));
  CHECK(says(text.out, "$ per million output tokens"));
  CHECK(says(text.out, "\nconfidence: 80 % of"));
  CHECK(at(answer, "job/replicas").integer * at(answer, "job/gpus_of_replica").integer == gpus);
  CHECK(number(at(answer, "serving/in_flight")) > 1.0);
  CHECK(at(answer, "tried").items.size() > 10);
  CHECK(number(at(answer, "job/useful")) < 1.0);
  const double cost = number(at(answer, "job/cost_usd"));
  CHECK(number(at(answer, "job/usd_per_million_records")) == doctest::Approx(cost / 10.0));
  const Run explained = run_headroom("explain " + job);
  CHECK(says(explained.out, "how each number came about"));
}

TEST_CASE("token job: the quick form asks for one, and a deadline that nothing keeps ends in 1") {
  const std::string asked =
      "plan --model llama3.1-8b --gpu h100-sxm-80gb --isl 1000 --osl 100 --set kind=batch --set job.records=1e7 ";
  CHECK(run_headroom(asked + "--set 'job.deadline=8 h'").code == 0);
  const Run never = run_headroom(asked + "--set 'job.deadline=1 min'");
  CHECK(never.code == 1);
  CHECK(says(never.out, "does not hold: "));
  CHECK(says(never.out, "smaller chunks (job.chunk)"));
  const Run none = run_headroom(
      "plan --model llama3.1-405b --gpu l4 --gpus 1 --isl 1000 --osl 100 --set kind=batch --set job.records=1e7");
  CHECK(none.code == 1);
  CHECK(says(none.out, "does not fit: "));
  const Run wrong = run_headroom(asked + "--concurrency 1..64 --set 'job.deadline=8 h'");
  CHECK(wrong.code == 2);
  CHECK(says(wrong.err, "a job tries layouts and requests in flight by itself"));
}

TEST_CASE("token job: verbs that do not take jobs refuse them, those of networks too, with what answers them") {
  const std::string network = "scenarios/batch/500m-records-overnight.toml";
  for (const std::string& file : {job, network}) {
    CAPTURE(file);
    const Run compared = run_headroom("compare " + file + " " + file);
    CHECK(compared.code == 2);
    CHECK(says(compared.err, "questions of kind 'batch' are not held side by side, and"));
    const Run exported = run_headroom("export " + file + " --to vllm");
    CHECK(exported.code == 2);
    CHECK(says(exported.err, "has no launch form"));
    for (const char* const verb : {"simulate ", "scale "}) {
      const Run other = run_headroom(verb + file);
      CHECK(other.code == 2);
      CHECK(says(other.err, "'headroom plan' alone answers it"));
    }
  }
}
