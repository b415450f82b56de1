// SPDX-License-Identifier: Apache-2.0
// The library's public face over the sums of questions and answers.
#include <headroom/answers/document/print.hpp>
#include <headroom/answers/door/format.hpp>
#include <headroom/answers/markup/place.hpp>
#include <headroom/core/config_value.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/on_threads.hpp>
#include <headroom/headroom.hpp>
#include <headroom/model/estimate/spread.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <type_traits>
#include <utility>

namespace headroom {

struct Library::Data {
  QuestionLibrary library;
};

struct Question::Read {
  std::shared_ptr<const Library::Data> library;  ///< which the question looks into
  QuestionKind kind = QuestionKind::plan;
  AskedQuestion question;
  ConfigValue document;                ///< with its bases and assignments; none of questions side by side
  std::vector<Question> side_by_side;  ///< whose libraries this one needs
};

struct Answer::Given {
  Question question;  ///< whose libraries the answer refers to
  GivenAnswer answer;
  Value document;
};

namespace {

[[noreturn]] void throw_faults(const ConfigError& error) {
  std::vector<Fault> faults;
  for (const Diagnostic& d : error.diagnostics()) {
    faults.push_back({d.file, d.at.line, d.at.column, d.message});
  }
  throw QuestionError{std::move(faults), error.untold()};
}

/// The library's own errors become the public one at the border, and nowhere else.
template <class Make>
auto at_border(Make make) -> decltype(make()) {
  try {
    return make();
  } catch (const ConfigError& error) {
    throw_faults(error);
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
  read->library = data;
  read->kind = kind_of_document(kind_of(document, data->library));
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
    case QuestionKind::box: return Kinds::serve;
    case QuestionKind::search: return Kinds::train;
    case QuestionKind::side_by_side:
    case QuestionKind::plan:
    case QuestionKind::other: break;
  }
  const ConfigValue* const kind = read.document.find("kind");
  const Kinds known = kind != nullptr ? kinds_of_word(kind->text) : Kinds::none;
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

/// Stops a search, a fleet's plan or a curve that is cancelled or has had its time: at the latest a twentieth of a
/// second later, and where a search tells its progress.
class Watch {
 public:
  explicit Watch(const Options& options) : options_{options} {}

  void set(AnswerOptions& how) {
    how.stop = &stop_;
    how.progress = [this](const SearchProgress& p) {
      look();
      if (options_.progress) {
        options_.progress({p.job, p.jobs, passed()});
      }
    };
    if (options_.seconds || options_.cancel != nullptr) {
      timer_.emplace(0.05, [this] { return !look(); });
    }
  }

 private:
  [[nodiscard]] double passed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  /// Whether it is stopped.
  bool look() {
    if ((options_.seconds && passed() >= *options_.seconds) ||
        (options_.cancel != nullptr && options_.cancel->load())) {
      stop_.store(true);
    }
    return stop_.load();
  }

  const Options& options_;
  std::atomic<bool> stop_{false};
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::optional<Timer> timer_;  ///< last, for it looks at the others until it is gone
};

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

Library::Library() : data_{at_border([] { return std::make_shared<const Data>(Data{QuestionLibrary::standard()}); })} {}

Library::Library(std::span<const std::string> folders)
    : data_{at_border([&] {
        return std::make_shared<const Data>(Data{QuestionLibrary::of({folders.begin(), folders.end()})});
      })} {}

Question Library::question_of_text(std::string_view toml, const std::string& name) const {
  return at_border([&] { return read(data_, parse_toml(std::string{toml}, name), name); });
}

Question Library::question_of_file(const std::string& path, std::span<const std::string> assignments) const {
  return at_border([&] { return read(data_, scenario_tree(path, assignments), path); });
}

Question Library::question(std::span<const std::string> assignments) const {
  return at_border([&] { return read(data_, scenario_tree(assignments), "question"); });
}

Question Library::question(std::initializer_list<std::string> assignments) const {
  return question(std::span{assignments.begin(), assignments.size()});
}

Question Library::question(std::span<const Question> questions) const {
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
  read->library = data_;
  read->kind = QuestionKind::side_by_side;
  if (of_fleets) {
    read->question = std::move(fleets);
  } else {
    read->question = std::move(all);
  }
  read->side_by_side.assign(questions.begin(), questions.end());
  return Question{std::move(read)};
}

double Number::quantile(double p) const noexcept {
  return quantile_of(Interval<double>{low, mid, high}, p);
}

bool Answer::good() const noexcept {
  return is_good(given_->answer);
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

Answer answer(const Question& question, const Options& options) {
  return at_border([&] {
    AnswerOptions how;
    how.part = options.memory_only ? PlanPart::memory : PlanPart::all;
    how.explain = options.explain;
    how.threads = options.threads;
    Watch watch{options};
    watch.set(how);
    const Question::Read& read = question.read();
    auto given = std::make_shared<Answer::Given>(Answer::Given{question, answer_of(read.question, how), {}});
    given->document = document_of(given->answer);
    return Answer{std::move(given)};
  });
}

std::string to_json(const Answer& answer) {
  return json_text(answer.given().document);
}

std::string to_text(const Answer& answer) {
  return headroom::to_text(answer.given().answer);
}

std::string to_html(const Answer& answer) {
  return at_border([&] { return headroom::to_html(answer.given().answer); });
}

}  // namespace headroom
