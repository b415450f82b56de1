// SPDX-License-Identifier: Apache-2.0
// The library's public face, as somebody else's program uses it.
#include <headroom/headroom.hpp>

#include <doctest/doctest.h>

#include "../cli/run_headroom.hpp"
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <vector>

using namespace headroom;
using headroom::test::run_headroom;

namespace {

const std::string example = std::string{HEADROOM_SOURCE_DIR} + "/scenarios/train/llama3-70b-512xh100.toml";

const Library& library() {
  static const Library all;
  return all;
}

Question llama(std::vector<std::string> more = {}) {
  std::vector<std::string> keys{"kind=train",
                                "model=llama3-8b",
                                "hardware.gpu=h100-sxm-80gb",
                                "hardware.gpus=64",
                                "training.seq_len=8192",
                                "training.global_batch=256",
                                "training.precision=bf16"};
  keys.insert(keys.end(), more.begin(), more.end());
  return library().question(keys);
}

/// The error of what is asked; nullopt where there is none.
template <class Ask>
std::optional<QuestionError> error_of(Ask ask) {
  try {
    static_cast<void>(ask());
  } catch (const QuestionError& error) {
    return error;
  }
  return std::nullopt;
}
std::optional<QuestionError> refused(const std::string& toml) {
  return error_of([&] { return library().question_of_text(toml, "mine.toml"); });
}

/// Some seconds of traffic on a small fleet.
Question small_traffic(std::vector<std::string> more = {}) {
  std::vector<std::string> keys{
      "kind=serve",     "model=llama3-8b",         "hardware.gpu=h100-sxm-80gb", "strategy.tp=1",   "serving.isl=500",
      "serving.osl=50", "traffic.rate='20 req/s'", "traffic.requests=3000",      "fleet.replicas=2"};
  keys.insert(keys.end(), more.begin(), more.end());
  return library().question(keys);
}

}  // namespace

TEST_CASE("the library answers a file with the bytes of the command line") {
  const Answer plan = answer(library().question_of_file(example));
  const auto typed = run_headroom("plan '" + example + "' --format json");
  CHECK(typed.code == 0);
  CHECK(to_json(plan) == typed.out);
  CHECK(to_text(plan) == run_headroom("plan '" + example + "'").out);
  CHECK(plan.good());
}

TEST_CASE("a document is asked as what it states") {
  CHECK(llama({"strategy.tp=2"}).kind() == QuestionKind::plan);
  CHECK(llama({"search.tp=any"}).kind() == QuestionKind::search);
  CHECK(library()
            .question({"kind=train", "model=resnet-50", "hardware.gpu=a100-sxm-80gb", "hardware.gpus=8",
                       "training.global_batch=256", "training.precision=bf16"})
            .kind() == QuestionKind::network);
  CHECK(library()
            .question({"kind=serve", "model=llama3-8b", "hardware.gpu=h100-sxm-80gb", "serving.isl=100",
                       "serving.osl=100", "traffic.rate='2 req/s'"})
            .kind() == QuestionKind::fleet);
}

TEST_CASE("kind batch knows the keys of the model that it is asked of") {
  const Question job =
      library().question({"kind=batch", "model=llama3-8b", "hardware.gpu=h100-sxm-80gb", "serving.isl=100",
                          "serving.osl=100", "job.records=1e5", "job.deadline='8 h'"});
  CHECK(job.kind() == QuestionKind::other);
  CHECK(job.origin("serving.isl") == KeyOrigin::stated);
  CHECK(job.origin("strategy.tp") == KeyOrigin::standard);
  CHECK_FALSE(job.origin("inference.precision"));
  CHECK_FALSE(job.origin("job.longest_call"));
  const Question calls =
      library().question({"kind=batch", "model=resnet-50", "hardware.gpu=t4", "job.records=1e5", "job.deadline='8 h'"});
  CHECK(calls.origin("inference.precision") == KeyOrigin::standard);
  CHECK_FALSE(calls.origin("serving.isl"));
  CHECK(answer(job).number("job/gpus").mid == doctest::Approx(1.0));
}

TEST_CASE("every fault of a question comes at once, as data with its place and the way out") {
  const std::optional<QuestionError> error =
      refused("schema = 1\nkind = \"train\"\nmodel = \"llama3-8b\"\n[hardware]\ngpu = \"h100-sxn-80gb\"\ngpus = 0\n");
  REQUIRE(error.has_value());
  const auto fault_at = [&](int line) {
    const auto faults = error->faults();
    const auto found = std::find_if(faults.begin(), faults.end(), [&](const Fault& f) { return f.line == line; });
    return found == faults.end() ? std::string{} : found->file + ": " + found->message;
  };
  CHECK(fault_at(5).starts_with("mine.toml: "));
  CHECK(fault_at(5).find("h100-sxm-80gb") != std::string::npos);  // did you mean
  CHECK(fault_at(6).find("'gpus' is 0") != std::string::npos);
  CHECK(error->faults().size() >= 3);  // [training] is missing too
  CHECK(std::string{error->what()}.find("mine.toml:5:") != std::string::npos);
}

TEST_CASE("a number answers any quantile, low and high being those of 10 and 90 %") {
  const Number step = answer(llama({"strategy.tp=2"})).number("step_time_s");
  CHECK(step.quantile(0.1) == doctest::Approx(step.low));
  CHECK(step.quantile(0.5) == doctest::Approx(step.mid));
  CHECK(step.quantile(0.9) == doctest::Approx(step.high));
  double before = 0.0;
  for (double p = 0.01; p < 1.0; p += 0.01) {
    CHECK(step.quantile(p) > before);
    before = step.quantile(p);
  }
  // A number that is stated has no spread, and one around zero no logarithm.
  CHECK(Number{64.0, 64.0, 64.0}.quantile(0.99) == 64.0);
  CHECK(Number{-1.0, 0.0, 2.0}.quantile(0.9) == doctest::Approx(2.0));
  CHECK(Number{-1.0, 0.0, 2.0}.quantile(0.1) == doctest::Approx(-1.0));
}

TEST_CASE("members are found by their way in the document, and what is no number is told as that") {
  const Answer plan = answer(llama({"strategy.tp=2"}));
  CHECK(plan.number("gpus").mid == 64.0);
  CHECK(plan.number("strategy/tp").mid == 2.0);
  CHECK(plan.text("verdict") == "feasible");
  CHECK_FALSE(plan.find("strategy/none").has_value());
  CHECK_FALSE(plan.find("verdict").has_value());
  CHECK_THROWS_AS(static_cast<void>(plan.number("step_time")), std::out_of_range);
}

TEST_CASE("an answer outlives the library and the question that it came from") {
  const auto made = [] {
    const Library passing;
    return answer(passing.question({"kind=train", "model=llama3-8b", "hardware.gpu=h100-sxm-80gb", "hardware.gpus=8",
                                    "training.seq_len=4096", "training.global_batch=64", "training.precision=bf16"}));
  };
  const Answer plan = made();
  CHECK(plan.number("gpus").mid == 8.0);
  CHECK(to_text(plan).find("Llama 3 8B") != std::string::npos);
}

TEST_CASE("a search that has no time ends with what it found, and says that this is not all") {
  Options options;
  options.threads = 1;
  options.seconds = 0.0;
  const Answer part =
      answer(library().question({"kind=train", "model=gpt3-175b", "hardware.gpu=h100-sxm-80gb", "training.seq_len=2048",
                                 "training.global_batch=4096", "training.precision=bf16", "search.strategy=any",
                                 "search.gpus='64..4096 x2'"}),
             options);
  CHECK_FALSE(part.good());
  CHECK_FALSE(part.complete());
  CHECK(to_json(part).find("\"complete\": false") != std::string::npos);
}

TEST_CASE("memory alone is answered where a SKU has no rate, and no time is made up") {
  Options options;
  options.memory_only = true;
  const Answer plan = answer(llama({"strategy.tp=2"}), options);
  CHECK(plan.find("memory_bytes").has_value());
  CHECK_FALSE(plan.find("step_time_s").has_value());
}

TEST_CASE("a question says of each key where its value comes from") {
  const Question plan = llama({"strategy.tp=2", "goodput.failures=llama3-54-days", "goodput.checkpoint_store=100 GB/s",
                               "goodput.detection=5 min", "goodput.restart=10 min", "target.loss=2.2"});
  CHECK(plan.origin("strategy.tp") == KeyOrigin::stated);
  CHECK(plan.origin("strategy.pp") == KeyOrigin::standard);
  CHECK(plan.origin("strategy.zero") == KeyOrigin::standard);
  CHECK(plan.origin("training.tokens") == KeyOrigin::publication);  // a law of the loss
  CHECK(plan.origin("target.law") == KeyOrigin::publication);
  CHECK(plan.origin("goodput.mtbf_per_gpu") == KeyOrigin::publication);  // a rate that is named
  CHECK(plan.origin("goodput.seed") == KeyOrigin::standard);
  CHECK(plan.origin("goodput.repair") == KeyOrigin::unknown);
  CHECK(plan.origin("data.workers") == KeyOrigin::unknown);
  CHECK(plan.origin("money.price") == KeyOrigin::unknown);
  CHECK(plan.origin("strategy.tpp") == std::nullopt);
  CHECK(plan.origin("serving.isl") == std::nullopt);  // of another kind
  CHECK(plan.origin("strategy") == std::nullopt);     // a table

  const Question alone = llama();
  CHECK(alone.origin("training.tokens") == KeyOrigin::unknown);
  CHECK(alone.origin("goodput.seed") == KeyOrigin::unknown);  // no [goodput], so that nothing is simulated
  CHECK(alone.origin("target.law") == KeyOrigin::unknown);

  const Question priced = llama({"money.prices=lambda-2026-08"});
  CHECK(priced.origin("money.price") == KeyOrigin::publication);

  const Question searched = llama({"search.tp=any"});
  CHECK(searched.origin("strategy.tp") == KeyOrigin::unknown);
  CHECK(searched.origin("strategy.pp") == KeyOrigin::standard);
  CHECK(llama({"search.strategy=any"}).origin("strategy.pp") == KeyOrigin::unknown);

  const Question served =
      library().question({"kind=serve", "model=llama3-8b", "hardware.gpu=h100-sxm-80gb", "hardware.gpus=1",
                          "serving.isl=256", "serving.osl=32", "serving.concurrency=4"});
  CHECK(served.origin("serving.weights") == KeyOrigin::checkpoint);
  CHECK(served.origin("serving.engine") == KeyOrigin::standard);
}

TEST_CASE("a question lists all its keys, stated ones among them") {
  const std::vector<KeyWithOrigin> all = llama({"strategy.tp=2"}).origins();
  CHECK(all.size() > 100);
  CHECK(std::count_if(all.begin(), all.end(), [](const KeyWithOrigin& key) {
          return key.origin == KeyOrigin::stated;
        }) == 9);  // "schema = 1" among them
  CHECK(std::any_of(all.begin(), all.end(), [](const KeyWithOrigin& key) { return key.key == "strategy.tp"; }));
}

TEST_CASE("two libraries of one program answer by their own numbers, whichever is asked first") {
  const test::ScratchFolder folder;
  const auto shipped = std::filesystem::path{HEADROOM_SOURCE_DIR} / "model/stacks/step";
  std::filesystem::create_directories(folder.path() / "stacks/step");
  const auto with = [&](const std::string& file, const std::string& line, const std::string& other) {
    std::string text = test::read_text(shipped / file);
    const std::size_t at = text.find("\n" + line);
    REQUIRE(at != std::string::npos);
    text.replace(at + 1, text.find('\n', at + 1) - at - 1, other);
    std::ofstream{folder.path() / "stacks/step" / file} << text;
  };
  with("physics.toml", "straggler = ", "straggler = 0.1");
  with("posterior.toml", "shape = ", "shape = 0.3");
  const std::array folders{folder.path().string()};
  const Library theirs{folders};
  const Library plain{std::span<const std::string>{}};
  const auto step = [](const Library& library) {
    return answer(library.question_of_file(example)).number("step_time_s");
  };
  const Number before = step(library());
  const Number slower = step(theirs);
  const Number after = step(library());
  // 512 GPUs are six doublings above eight
  CHECK(slower.mid > 1.3 * before.mid);
  CHECK(slower.high / slower.mid > 1.01 * before.high / before.mid);
  for (const Number& same : {after, step(plain)}) {
    CHECK(same.low == before.low);
    CHECK(same.mid == before.mid);
    CHECK(same.high == before.high);
  }
}

TEST_CASE("a broken file of a library's folder is told with its place to who asks for it, and to nobody else") {
  const test::ScratchFolder folder;
  std::filesystem::create_directories(folder.path() / "stacks/step");
  std::ofstream{folder.path() / "stacks/step/physics.toml"} << "schema = 1\nid = \"physics\"\nbandwidth = \"wide\"\n";
  const std::array folders{folder.path().string()};
  const Library theirs{folders};
  const Question question = theirs.question_of_file(example);
  try {
    static_cast<void>(answer(question));
    FAIL("the broken file was not told");
  } catch (const QuestionError& error) {
    CHECK(std::string{error.what()}.find("stacks/step/physics.toml:3:13: error: ") != std::string::npos);
  }
  CHECK(answer(library().question_of_file(example)).good());
}

TEST_CASE("plans stand side by side, of one library or of several, and what is no plan is told") {
  const Library other{std::span<const std::string>{}};
  const Question first = llama({"strategy.tp=2"});
  const Question second = other.question({"kind=train", "model=llama3-8b", "hardware.gpu=h100-sxm-80gb",
                                          "hardware.gpus=64", "training.seq_len=8192", "training.global_batch=256",
                                          "training.precision=bf16", "strategy.tp=8"});
  const Question both = library().question(std::vector{first, second});
  CHECK(both.kind() == QuestionKind::side_by_side);
  CHECK(both.origins().empty());
  const Answer side = answer(both);
  CHECK(side.good());
  CHECK(side.number("plans/0/step_time_s").mid == answer(first).number("step_time_s").mid);
  CHECK(side.number("plans/1/step_time_s").mid == answer(second).number("step_time_s").mid);
  CHECK(to_text(side).find("strategy.tp") != std::string::npos);
  const auto refusal = [](const std::vector<Question>& questions) -> std::string {
    try {
      static_cast<void>(library().question(questions));
      return "";
    } catch (const QuestionError& error) {
      return error.what();
    }
  };
  CHECK(refusal({first}).find("two questions or more") != std::string::npos);
  const auto fleet = [](const char* tp) {
    return library().question({"kind=serve", "model=llama3-8b", "hardware.gpu=h100-sxm-80gb", "serving.weights=bf16",
                               "traffic.rate=2 req/s", "traffic.requests=200", "traffic.prompt={mean=256}",
                               "traffic.output={mean=32}", tp});
  };
  const Answer fleets = answer(library().question(std::vector{fleet("strategy.tp=1"), fleet("strategy.tp=2")}));
  CHECK(fleets.good());
  CHECK(fleets.number("fleets/1/fleet/options/0/gpus").mid == 2.0);
  CHECK(refusal({fleet("strategy.tp=1"), first}).find("fleets are held beside fleets") != std::string::npos);
  CHECK(refusal({first, llama({"search.tp=any"})}).find("question 2 is a search") != std::string::npos);
}

TEST_CASE("a base that the system cannot look at is a fault of the key that names it") {
  const test::ScratchFolder folder;
  const std::string file = (folder.path() / "mine.toml").string();
  std::filesystem::create_symlink("loop.toml", folder.path() / "loop.toml");
  for (const std::string& base : {std::string(300, 'a'), std::string{"loop.toml"}, std::string{"none.toml"}}) {
    std::ofstream{file} << "schema = 1\nbase = \"" << base << "\"\n";
    const std::optional<QuestionError> error = error_of([&] { return library().question_of_file(file); });
    REQUIRE(error.has_value());
    REQUIRE(error->faults().size() == 1);
    CHECK(error->faults()[0].file == file);
    CHECK(error->faults()[0].line == 2);
    CHECK(error->faults()[0].message.find("is unknown") != std::string::npos);
  }
}

TEST_CASE("a base without a file that it is relative to is refused with the way out") {
  const std::string example_of_two = std::string{HEADROOM_SOURCE_DIR} + "/scenarios/train/llama3-70b-256xh200.toml";
  const std::array asked{
      error_of([] { return llama({"base=nonexistent.toml"}); }),
      error_of([&] { return library().question_of_file(example, std::array{std::string{"base=nonexistent.toml"}}); }),
      refused("schema = 1\nbase = \"nonexistent.toml\"\nkind = \"train\"\n"), error_of([] {
        return library().question({"base=x.toml", "kind=train", "model=resnet-50", "hardware.gpu=a100-sxm-80gb",
                                   "hardware.gpus=8", "training.global_batch=256", "training.precision=bf16"});
      })};
  for (const std::optional<QuestionError>& error : asked) {
    REQUIRE(error.has_value());
    CHECK(std::string{error->what()}.find("ask about the file that it names") != std::string::npos);
  }
  CHECK(library().question_of_file(example_of_two).kind() == QuestionKind::plan);  // a file that has a base is one
}

TEST_CASE("a fault says whether a key is missing, and which") {
  const std::optional<QuestionError> error =
      refused("schema = 1\nkind = \"train\"\nmodel = \"llama3-8b\"\n[hardware]\ngpu = \"h100-sxm-80gb\"\ngpus = 0\n");
  REQUIRE(error.has_value());
  const auto of_key = [&](const std::string& key) {
    return std::any_of(error->faults().begin(), error->faults().end(),
                       [&](const Fault& f) { return f.code == FaultCode::missing_key && f.key == key; });
  };
  CHECK(of_key("training"));
  CHECK(std::any_of(error->faults().begin(), error->faults().end(),
                    [](const Fault& f) { return f.line == 6 && f.code == FaultCode::input && f.key.empty(); }));
}

TEST_CASE("more threads than the command line takes are refused, and any number of them answers alike") {
  Options options;
  options.threads = 1025;
  const std::optional<QuestionError> error = error_of([&] { return answer(llama({"strategy.tp=2"}), options); });
  REQUIRE(error.has_value());
  CHECK(std::string{error->what()}.find("1024") != std::string::npos);
  options.threads = 1024;
  CHECK(answer(llama({"strategy.tp=2"}), options).good());
}

TEST_CASE("warnings on broken files belong to the library that met them") {
  const test::ScratchFolder folder;
  std::filesystem::create_directories(folder.path() / "stacks/serve");
  std::ofstream{folder.path() / "stacks/serve/broken.toml"} << "schema = 1\nid = broken\n";
  const std::array folders{folder.path().string()};
  const Library theirs{folders};
  const Library others{std::span<const std::string>{}};
  CHECK(theirs.warnings().empty());
  for (const Library* one : {&theirs, &others}) {
    CHECK(answer(one->question({"kind=serve", "model=llama3-8b", "hardware.gpu=h100-sxm-80gb", "hardware.gpus=1",
                                "strategy.tp=1", "serving.isl=500", "serving.osl=50", "serving.concurrency=8"}))
              .good());
  }
  REQUIRE(theirs.warnings().size() == 1);
  CHECK(theirs.warnings()[0].find("'broken' is left out of the stacks/serve") != std::string::npos);
  CHECK(others.warnings().empty());
}

TEST_CASE("a seed of the options stands for the question's own") {
  const Question asked = simulated(small_traffic());
  const auto tail = [&](const Question& question, std::optional<std::uint64_t> seed) {
    Options options;
    options.seed = seed;
    return to_json(answer(question, options));
  };
  const std::string first = tail(asked, std::nullopt);
  CHECK(tail(asked, 1) == first);
  CHECK(tail(asked, 2) != first);
  CHECK(tail(asked, 2) == tail(simulated(small_traffic({"traffic.seed=2"})), std::nullopt));
  CHECK(tail(llama({"strategy.tp=2"}), 7) == tail(llama({"strategy.tp=2"}), std::nullopt));  // nothing is drawn
  CHECK_THROWS_AS(static_cast<void>(tail(asked, ~std::uint64_t{0})), QuestionError);
}

TEST_CASE("an explained answer is told with its terms, as the command line does") {
  Options options;
  options.explain = true;
  const std::string text = to_text(answer(library().question_of_file(example), options));
  CHECK(text == run_headroom("explain '" + example + "'").out);
}

TEST_CASE("a series of GPU counts and a simulation are asked of what a plan states") {
  const Question series = scaled(llama({"strategy.tp=2"}), {.from = 8, .to = 64});
  CHECK(series.kind() == QuestionKind::scaling);
  const Answer curve = answer(series);
  CHECK(curve.complete());
  CHECK(to_csv(curve).starts_with("gpus,"));
  CHECK(simulated(small_traffic()).kind() == QuestionKind::simulation);
  CHECK_THROWS_AS(static_cast<void>(to_csv(answer(llama({"strategy.tp=2"})))), QuestionError);
  CHECK_THROWS_AS(static_cast<void>(simulated(llama({"strategy.tp=2"}))), QuestionError);
  CHECK_THROWS_AS(static_cast<void>(simulated(small_traffic(), 0.0)), QuestionError);
  CHECK_THROWS_AS(static_cast<void>(answer(scaled(small_traffic()))), QuestionError);
  CHECK_THROWS_AS(static_cast<void>(scaled(series)), QuestionError);
  CHECK_THROWS_AS(static_cast<void>(answer(scaled(llama({"strategy.tp=2"}), {.from = -1}))), QuestionError);
}
