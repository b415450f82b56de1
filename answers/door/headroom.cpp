// SPDX-License-Identifier: Apache-2.0
// The library's public face over the sums of questions and answers.
#include <headroom/answers/document/print.hpp>
#include <headroom/answers/door/format.hpp>
#include <headroom/answers/door/watch.hpp>
#include <headroom/answers/markup/place.hpp>
#include <headroom/core/config_reader.hpp>
#include <headroom/core/config_value.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/on_threads.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/headroom.hpp>
#include <headroom/model/estimate/spread.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <new>
#include <system_error>
#include <type_traits>
#include <utility>

namespace headroom {

struct Library::Data {
  QuestionLibrary library;
};

struct Question::Read {
  std::shared_ptr<const Library::Data> shared;  ///< which the question looks into
  QuestionKind kind = QuestionKind::plan;
  AskedQuestion question;
  std::string file;                    ///< what it was read from, for its problems
  ConfigValue document;                ///< with its bases and assignments; none of questions side by side
  std::vector<Question> side_by_side;  ///< whose libraries this one needs
};

struct Answer::Given {
  Question question;  ///< whose libraries the answer refers to
  GivenAnswer answer;
  Value document;
  bool explained = false;
};

namespace {

[[noreturn]] void throw_faults(const ConfigError& error) {
  std::vector<Fault> faults;
  for (const Diagnostic& d : error.diagnostics()) {
    faults.push_back({d.file, d.at.line, d.at.column, d.message,
                      d.missing.empty() ? FaultCode::input : FaultCode::missing_key, d.missing});
  }
  throw QuestionError{std::move(faults), error.untold()};
}

[[noreturn]] void throw_fault(FaultCode code, const std::string& place, std::string message) {
  throw QuestionError{{Fault{place, 0, 0, std::move(message), code, {}}}};
}

/// Turns the errors of the floors below and of the standard library into the public one; memory that runs out stays
/// std::bad_alloc. `place` is the file of errors that have none.
template <class Make>
auto at_border(const std::string& place, Make make) -> decltype(make()) {
  try {
    return make();
  } catch (const QuestionError&) {
    throw;
  } catch (const ConfigError& error) {
    throw_faults(error);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::system_error& error) {  // of files and threads
    throw_fault(FaultCode::system, place, std::string{"the system refuses what this takes: "} + error.what());
  } catch (const std::exception& error) {
    throw_fault(FaultCode::internal, place,
                std::string{"this is a defect of Headroom, please report it with the question: "} + error.what());
  }
}

std::string text_of(std::span<const Fault> faults, std::size_t untold) {
  std::string text;
  for (const Fault& fault : faults) {
    text += (text.empty() ? "" : "\n") + Diagnostic{fault.file, {fault.line, fault.column}, fault.message}.text();
  }
  return untold > 0 ? text + "\n" + untold_text(untold) : text;
}

QuestionKind kind_of_document(DocumentKind kind) noexcept {
  switch (kind) {
    case DocumentKind::network: return QuestionKind::network;
    case DocumentKind::fleet: return QuestionKind::fleet;
    case DocumentKind::box: return QuestionKind::box;
    case DocumentKind::search: return QuestionKind::search;
    case DocumentKind::one_plan: return QuestionKind::plan;
    default: return QuestionKind::other;
  }
}

Question read(const std::shared_ptr<const Library::Data>& data, ConfigValue document, const std::string& file) {
  auto read = std::make_shared<Question::Read>();
  read->shared = data;
  read->kind = kind_of_document(kind_of(document, data->library));
  read->file = file;
  read->document = document;
  read->question = read_question(std::move(document), file, data->library);
  return Question{std::move(read)};
}

/// What a question is called where it cannot stand.
std::string_view name_of(QuestionKind kind) noexcept {
  switch (kind) {
    case QuestionKind::network: return "the training of a network of ops";
    case QuestionKind::fleet: return "a fleet";
    case QuestionKind::search: return "a search";
    case QuestionKind::side_by_side: return "a comparison";
    case QuestionKind::box: return "the curve of stated GPUs";
    case QuestionKind::simulation: return "a simulation";
    case QuestionKind::scaling: return "a series of GPU counts";
    case QuestionKind::other: return "a question of its own kind";
    case QuestionKind::plan: break;
  }
  return "a plan";
}

/// As rows of keys have it.
Kinds kinds_of(const Question::Read& read) noexcept {
  switch (read.kind) {
    case QuestionKind::network: return Kinds::network;
    case QuestionKind::fleet:
    case QuestionKind::simulation:
    case QuestionKind::box: return Kinds::serve;
    case QuestionKind::scaling:
    case QuestionKind::search: return Kinds::train;
    case QuestionKind::side_by_side:
    case QuestionKind::plan:
    case QuestionKind::other: break;
  }
  const ConfigValue* const kind = read.document.find("kind");
  const Kinds known = kind != nullptr ? kinds_of_word(kind->text) : Kinds::none;
  if (known == Kinds::batches) {
    return std::holds_alternative<TokenJob>(read.question) ? Kinds::token_job : Kinds::batch;
  }
  return known == Kinds::none || known == Kinds::training ? Kinds::train : known;
}

bool is_table(const Key& key) noexcept {
  return key.type == KeyType::table || key.type == KeyType::tables;
}

KeyOrigin origin_of(const Question::Read& read, const Key& key, Kinds kind) {
  switch (source_of(read.document, key, kind)) {
    case KeySource::stated: return KeyOrigin::stated;
    case KeySource::checkpoint: return KeyOrigin::checkpoint;
    case KeySource::publication: return KeyOrigin::publication;
    case KeySource::standard: return KeyOrigin::standard;
    case KeySource::unknown: break;
  }
  return KeyOrigin::unknown;
}

/// The member at a path of names and positions.
report::Place place_of(const Value& document, std::string_view member) {
  report::Place place{document};
  while (!member.empty() && place.there()) {
    const std::size_t end = std::min(member.find('/'), member.size());
    const std::string_view step = member.substr(0, end);
    std::size_t item = 0;
    const auto [stop, error] = std::from_chars(step.data(), step.data() + step.size(), item);
    const bool counts = error == std::errc{} && stop == step.data() + step.size();
    place = counts ? place[item] : place[step];
    member.remove_prefix(std::min(member.size(), end + 1));
  }
  return place;
}

}  // namespace

QuestionError::QuestionError(std::vector<Fault> faults, std::size_t untold)
    : std::runtime_error{text_of(faults, untold)}, faults_{std::move(faults)}, untold_{untold} {}

QuestionKind Question::kind() const noexcept {
  return read_->kind;
}

std::span<const std::string> Question::assumptions() const noexcept {
  if (const auto* const one = std::get_if<asked::OnePlan>(&read_->question)) {
    return one->scenario.assumptions;
  }
  if (const auto* const network = std::get_if<asked::NetworkRun>(&read_->question)) {
    return network->scenario.assumptions;
  }
  return {};
}

std::optional<KeyOrigin> Question::origin(std::string_view key) const {
  if (kind() == QuestionKind::side_by_side) {
    return std::nullopt;
  }
  const Kinds kind = kinds_of(*read_);
  const Key* const row = find_key(key, kind);
  return row == nullptr || is_table(*row) ? std::nullopt : std::optional{origin_of(*read_, *row, kind)};
}

std::vector<KeyWithOrigin> Question::origins() const {
  if (kind() == QuestionKind::side_by_side) {
    return {};
  }
  const Kinds kind = kinds_of(*read_);
  std::vector<KeyWithOrigin> all;
  for (const Key& key : all_keys()) {
    if (meet(key.kinds, kind) && !is_table(key)) {
      all.push_back({key.path, origin_of(*read_, key, kind)});
    }
  }
  return all;
}

Library::Library()
    : data_{at_border("", [] { return std::make_shared<const Data>(Data{QuestionLibrary::standard()}); })} {}

Library::Library(std::span<const std::string> folders)
    : data_{at_border("", [&] {
        return std::make_shared<const Data>(
            Data{QuestionLibrary::of(std::vector<std::string>(folders.begin(), folders.end()))});
      })} {}

std::vector<std::string> Library::warnings() const {
  return data_->library.sources.data.files().warnings();
}

Question Library::question_of_text(std::string_view toml, const std::string& name) const {
  return at_border(name, [&] { return read(data_, parse_toml(std::string{toml}, name), name); });
}

Question Library::question_of_file(const std::string& path, std::span<const std::string> assignments) const {
  return at_border(path, [&] { return read(data_, scenario_tree(path, assignments), path); });
}

Question Library::question(std::span<const std::string> assignments) const {
  return at_border("question", [&] { return read(data_, scenario_tree(assignments), "question"); });
}

Question Library::question(std::initializer_list<std::string> assignments) const {
  return question(std::span{assignments.begin(), assignments.size()});
}

namespace {

Question beside(const std::shared_ptr<const Library::Data>& data, std::span<const Question> questions) {
  std::vector<Fault> faults;
  asked::SideBySide all;
  asked::FleetsSideBySide fleets;
  const bool of_fleets = !questions.empty() && questions.front().kind() == QuestionKind::fleet;
  for (const Question& one : questions) {
    const auto* const plan = std::get_if<asked::OnePlan>(&one.read().question);
    const auto* const fleet = std::get_if<asked::FleetSize>(&one.read().question);
    if (plan != nullptr && !of_fleets) {
      all.scenarios.push_back(plan->scenario);
    } else if (fleet != nullptr && of_fleets) {
      fleets.fleets.push_back(fleet->question);
    } else {
      faults.push_back(
          {"", 0, 0,
           "question " + std::to_string(&one - questions.data() + 1) + " is " + std::string{name_of(one.kind())} +
               (of_fleets ? ", and fleets are held beside fleets"
                          : ", and plans of one strategy or of a fixed load alone are held side by side, or fleets") +
               "; ask it by itself"});
    }
  }
  if (questions.size() < 2) {
    faults.push_back({"", 0, 0,
                      "a comparison holds two questions or more side by side, and here " +
                          std::string{questions.empty() ? "is none" : "is one"}});
  }
  if (!faults.empty()) {
    throw QuestionError{std::move(faults)};
  }
  auto read = std::make_shared<Question::Read>();
  read->shared = data;
  read->kind = QuestionKind::side_by_side;
  if (of_fleets) {
    read->question = std::move(fleets);
  } else {
    read->question = std::move(all);
  }
  read->side_by_side.assign(questions.begin(), questions.end());
  return Question{std::move(read)};
}

}  // namespace

Question Library::question(std::span<const Question> questions) const {
  return beside(data_, questions);
}

namespace {

/// A question of another kind about the document of `question`.
template <class Make>
Question made_of(const Question& question, QuestionKind kind, Make make) {
  const Question::Read& of = question.read();
  return at_border(of.file, [&] {
    auto read = std::make_shared<Question::Read>();
    read->shared = of.shared;
    read->kind = kind;
    read->file = of.file;
    read->document = of.document;
    read->question = make(of);
    return Question{std::move(read)};
  });
}

/// The scenario of a plan or a fleet. ConfigError for other questions, of which `asked` cannot be asked.
Scenario stated_by(const Question::Read& read, std::string_view asked) {
  if (read.kind != QuestionKind::plan && read.kind != QuestionKind::fleet) {
    throw ConfigError{std::string{asked} + " is asked of what a plan states, and this is " +
                      std::string{name_of(read.kind)}};
  }
  return read_scenario(read.document, read.file, read.shared->library.sources);
}

}  // namespace

Question simulated(const Question& question, double rate_factor) {
  return made_of(question, QuestionKind::simulation, [&](const Question::Read& of) {
    Scenario scenario = stated_by(of, "a simulation");
    const auto* const serve = std::get_if<ServeScenario>(&scenario.question);
    if (serve == nullptr) {
      throw ConfigError{"a simulation is asked of serving, and this question is one of training"};
    }
    if (!std::isfinite(rate_factor) || rate_factor <= 0.0) {
      throw ConfigError{"the rate is to be multiplied by " + format_number(rate_factor) +
                        "; it takes a finite factor above 0"};
    }
    if (const std::string few = serve->traffic ? serve->traffic->too_few(rate_factor) : ""; !few.empty()) {
      throw ConfigError{few};
    }
    return AskedQuestion{asked::SimulatedFleet{std::move(scenario), rate_factor}};
  });
}

Question scaled(const Question& question, const Scaling& how) {
  return made_of(question, QuestionKind::scaling, [&](const Question::Read& of) {
    scaling::Request request;
    request.from = how.from;
    request.to = how.to;
    request.kind = how.weak ? scaling::Kind::weak : scaling::Kind::strong;
    request.least = how.least;
    return AskedQuestion{asked::GpuSeries{stated_by(of, "a series of GPU counts"), request}};
  });
}

double Number::quantile(double p) const noexcept {
  return quantile_of(Interval<double>{low, mid, high}, p);
}

bool Answer::good() const noexcept {
  return is_good(given_->answer);
}

bool Answer::complete() const noexcept {
  return is_complete(given_->answer);
}

std::optional<Number> Answer::find(std::string_view member) const {
  const report::Place place = place_of(given_->document, member);
  if (place.is_number()) {
    return Number{place.number(), place.number(), place.number()};
  }
  const report::Place low = place["low"];
  const report::Place mid = place["mid"];
  const report::Place high = place["high"];
  if (!low.is_number() || !mid.is_number() || !high.is_number()) {
    return std::nullopt;
  }
  return Number{low.number(), mid.number(), high.number()};
}

Number Answer::number(std::string_view member) const {
  if (const std::optional<Number> found = find(member)) {
    return *found;
  }
  throw std::out_of_range{"the answer has no number '" + std::string{member} + "'"};
}

std::optional<std::string> Answer::text(std::string_view member) const {
  const report::Place place = place_of(given_->document, member);
  return place.is_text() ? std::optional{place.text()} : std::nullopt;
}

namespace {

/// The question with another seed of what is drawn at random; the same where nothing is.
Question seeded(const Question& question, std::uint64_t seed) {
  const Question::Read& of = question.read();
  const Kinds kind = kinds_of(of);
  ConfigValue document = of.document;
  bool drawn = false;
  for (const std::string_view table : {"traffic", "goodput"}) {
    ConfigValue* const found = document.find(table);
    if (found == nullptr || found->kind != ConfigValue::Kind::table ||
        find_key(std::string{table} + ".seed", kind) == nullptr) {
      continue;
    }
    constexpr auto most = static_cast<std::uint64_t>(not_negative.high);
    ConfigValue value = count_value(static_cast<std::int64_t>(std::min(seed, most + 1)));
    value.file = std::make_shared<const std::string>("Options::seed");
    found->entries.erase_if([](const ConfigEntry& entry) { return entry.key == "seed"; });
    found->entries.emplace_back("seed", std::move(value));
    drawn = true;
  }
  if (of.kind == QuestionKind::side_by_side) {
    std::vector<Question> each;
    for (const Question& one : of.side_by_side) {
      each.push_back(seeded(one, seed));
    }
    return beside(of.shared, each);
  }
  if (!drawn) {
    return question;
  }
  Question again = read(of.shared, std::move(document), of.file);
  if (const auto* const simulation = std::get_if<asked::SimulatedFleet>(&of.question)) {
    return simulated(again, simulation->factor);
  }
  if (const auto* const series = std::get_if<asked::GpuSeries>(&of.question)) {
    return made_of(again, of.kind, [&](const Question::Read& read) {
      return AskedQuestion{asked::GpuSeries{stated_by(read, "a series"), series->request}};
    });
  }
  return again;
}

}  // namespace

Answer answer(const Question& question, const Options& options) {
  return at_border(question.read().file, [&] {
    if (options.threads > most_threads) {
      throw ConfigError{"Options::threads is " + std::to_string(options.threads) + "; it is from 1 to " +
                        std::to_string(most_threads) + ", or 0 for as many as the machine has"};
    }
    AnswerOptions how;
    how.part = options.memory_only ? PlanPart::memory : PlanPart::all;
    how.explain = options.explain;
    how.threads = options.threads;
    AnswerWatch watch{options.seconds, options.cancel};
    watch.set(how, [&options](const SearchProgress& p, double seconds) {
      if (options.progress) {
        options.progress({p.job, p.jobs, seconds});
      }
    });
    const Question asked = options.seed ? seeded(question, *options.seed) : question;
    auto given = std::make_shared<Answer::Given>(
        Answer::Given{asked, answer_of(asked.read().question, how), {}, options.explain});
    given->document = document_of(given->answer);
    return Answer{std::move(given)};
  });
}

std::string to_json(const Answer& answer) {
  return json_text(answer.given().document);
}

std::string to_text(const Answer& answer) {
  return headroom::to_text(answer.given().answer, answer.given().explained);
}

std::string to_csv(const Answer& answer) {
  return at_border("", [&] { return headroom::to_csv(answer.given().answer); });
}

std::string to_html(const Answer& answer) {
  return at_border("", [&] { return headroom::to_html(answer.given().answer); });
}

}  // namespace headroom
