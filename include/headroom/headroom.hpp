// SPDX-License-Identifier: Apache-2.0
// Headroom as a library: what a GPU workload will need and do, before any GPU is rented.
//
//   headroom::Library library;
//   headroom::Question question = library.question({"kind=train", "model=llama3-70b", "hardware.gpu=h100-sxm-80gb",
//   ...}); headroom::Answer answer = headroom::answer(question); answer.number("step_time_s").quantile(0.9);
//
// This is the only header that is installed. Nothing here throws but what says so. docs/library.md tells more.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// One thing that is wrong with a question: where, and what, with the value and the way out.
struct Fault {
  std::string file;  ///< or the assignment it stands in; empty: none
  int line = 0;      ///< counted from 1; 0: the file as a whole
  int column = 0;
  std::string message;
};

/// A question that cannot be read or answered as it is: every fault at once. what() is all of them, one a line.
class QuestionError : public std::runtime_error {
 public:
  explicit QuestionError(std::vector<Fault> faults, std::size_t untold = 0);
  /// The first hundred, in the order of the text.
  [[nodiscard]] std::span<const Fault> faults() const noexcept { return faults_; }
  /// How many more there are.
  [[nodiscard]] std::size_t untold() const noexcept { return untold_; }

 private:
  std::vector<Fault> faults_;
  std::size_t untold_;
};

/// Which of the questions that a document can ask it does ask.
enum class QuestionKind : std::uint8_t {
  plan,          ///< one training strategy, or serving under a fixed load
  network,       ///< the training of a network given as an op list
  fleet,         ///< replicas that keep a promise to requests that come when they come
  box,           ///< stated GPUs under fixed loads: throughput against latency
  search,        ///< the best of what a training document frees
  side_by_side,  ///< several plans, the first the one that others are held against
  other          ///< what a `kind` of its own asks
};

/// Where the value of a key of a question comes from.
enum class KeyOrigin : std::uint8_t {
  stated,       ///< the question states it
  checkpoint,   ///< the model's own file says it
  publication,  ///< a published measurement, law or price list that the question names or takes
  standard,     ///< a default: of the program, of a software, of the catalog
  unknown       ///< nothing stands for it: what it would add is not counted, or a search is to find it
};

/// A key of a scenario by its whole path, such as "strategy.tp" (docs/scenario-format.md), and its origin.
struct KeyWithOrigin {
  std::string_view key;
  KeyOrigin origin = KeyOrigin::unknown;
};

/// A question, read and resolved. Cheap to copy; keeps what it was read with alive.
class Question {
 public:
  [[nodiscard]] QuestionKind kind() const noexcept;
  /// What was left open and which value was taken: "strategy.zero = 1 (default)". A fleet's and a search's are told by
  /// their answers.
  [[nodiscard]] std::span<const std::string> assumptions() const noexcept;
  /// nullopt: questions of this kind have no such key. Questions side by side have none of their own.
  [[nodiscard]] std::optional<KeyOrigin> origin(std::string_view key) const;
  /// Of all keys that questions of this kind have, tables apart, in the order of the manual. Their names live as long
  /// as the program.
  [[nodiscard]] std::vector<KeyWithOrigin> origins() const;

  struct Read;  ///< of the library alone
  explicit Question(std::shared_ptr<const Read> read) noexcept : read_{std::move(read)} {}
  [[nodiscard]] const Read& read() const noexcept { return *read_; }

 private:
  std::shared_ptr<const Read> read_;
};

/// SKUs, nodes, clusters, prices, models, networks, software and fitted numbers: those that ship, a user's folders over
/// them. Libraries share nothing: those of different folders give their own answers in one program. Cheap to copy.
class Library {
 public:
  /// With the folders that HEADROOM_DATA_DIR and the user's configuration name. QuestionError where a file is broken.
  Library();
  /// With these folders alone, each of KIND/ID.toml; earlier ones win. Neither the environment nor a home is looked at.
  explicit Library(std::span<const std::string> folders);

  /// A TOML document; `name` stands for it in faults. QuestionError with every fault at once.
  [[nodiscard]] Question question_of_text(std::string_view toml, const std::string& name = "question") const;
  /// A file with what it is based on, and assignments over it: "strategy.tp=8". QuestionError as above.
  [[nodiscard]] Question question_of_file(const std::string& path, std::span<const std::string> assignments = {}) const;
  /// Assignments alone. QuestionError as above.
  [[nodiscard]] Question question(std::span<const std::string> assignments) const;
  [[nodiscard]] Question question(std::initializer_list<std::string> assignments) const;
  /// The same questions side by side, of any libraries; the first is what the others are held against. QuestionError
  /// for fewer than two and unless all are of QuestionKind::plan, or all of QuestionKind::fleet; for training beside
  /// serving when it is answered.
  [[nodiscard]] Question question(std::span<const Question> questions) const;

  struct Data;  ///< of the library alone

 private:
  std::shared_ptr<const Data> data_;
};

/// A number with what is known of it: 80 % of the measured runs of its class lay between low and high.
struct Number {
  double low = 0.0, mid = 0.0, high = 0.0;  ///< in SI: the name of a member ends in its unit ("step_time_s")
  /// The value that a share `p` of outcomes lies below, 0 < p < 1: log-normal on each side of mid, whose ends are the
  /// 10 % and 90 % quantiles. Normal where an end is not above zero. A number without a spread is the same for all p.
  [[nodiscard]] double quantile(double p) const noexcept;
};

/// An answer. Cheap to copy.
class Answer {
 public:
  /// Neither refused nor a promise missed.
  [[nodiscard]] bool good() const noexcept;
  /// A member of the JSON document by its way there: "step_time_s", "options/0/gpus". nullopt where there is none, or
  /// it is no number.
  [[nodiscard]] std::optional<Number> find(std::string_view member) const;
  /// The same. std::out_of_range where there is none.
  [[nodiscard]] Number number(std::string_view member) const;
  /// A member that is text: "verdict". nullopt where there is none.
  [[nodiscard]] std::optional<std::string> text(std::string_view member) const;

  struct Given;  ///< of the library alone
  explicit Answer(std::shared_ptr<const Given> given) noexcept : given_{std::move(given)} {}
  [[nodiscard]] const Given& given() const noexcept { return *given_; }

 private:
  std::shared_ptr<const Given> given_;
};

/// How far a search has come.
struct Progress {
  std::uint64_t job = 0, jobs = 0;  ///< the one at hand, counted from 0, of so many
  double seconds = 0.0;             ///< since its start
};

/// How a question is to be answered. What has no part in a question is not read.
struct Options {
  bool memory_only = false;  ///< needs no peak, no rate and no price
  bool explain = false;      ///< every term with its formula and inputs
  unsigned threads = 0;      ///< 0: as many as the machine has; the answer is the same
  /// Ends a search, a fleet's plan or a curve of stated GPUs, which then answers with what it has found: once it is
  /// set, or after so many seconds.
  const std::atomic<bool>* cancel = nullptr;
  std::optional<double> seconds;
  std::function<void(const Progress&)> progress;  ///< of a search, twice a second at most, from the calling thread
};

/// QuestionError where the question cannot be answered as it is, every fault at once.
[[nodiscard]] Answer answer(const Question& question, const Options& options = {});

/// Raw SI, the unit in the key, the schema first.
[[nodiscard]] std::string to_json(const Answer& answer);
/// For people.
[[nodiscard]] std::string to_text(const Answer& answer);
/// One file with charts. QuestionError where the library was built without its chart library.
[[nodiscard]] std::string to_html(const Answer& answer);

}  // namespace headroom
