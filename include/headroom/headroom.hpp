// SPDX-License-Identifier: Apache-2.0
// Headroom as a library. It tells what a GPU workload will need and do, before any GPU is rented.
//
//   headroom::Library library;
//   headroom::Question question = library.question(
//       {"kind=train", "model=llama3-70b", "hardware.gpu=h100-sxm-80gb", "hardware.gpus=512", ...});
//   headroom::Answer answer = headroom::answer(question);
//   double slow = answer.number("step_time_s").quantile(0.9);
//
// This is the only header that is installed. A function throws only the exceptions that its comment names, and
// std::bad_alloc where memory runs out. docs/library.md is the manual.
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

/// What kind of thing is wrong. docs/json.md has the first two as the codes "input" and "missing_key".
enum class FaultCode : std::uint8_t {
  input,        ///< a value, a file or a combination of them cannot be used
  missing_key,  ///< a key that the question needs is not stated
  system,       ///< the operating system refused a file or a thread
  internal      ///< a defect of the library
};

/// One thing that is wrong with a question. The message holds the value that is wrong and what to write instead.
struct Fault {
  std::string file;  ///< path of the file, name of the text, or the assignment ("--set strategy.tp=0"); may be empty
  int line = 0;      ///< from 1; 0 means the file as a whole
  int column = 0;    ///< from 1; 0 means the line as a whole
  std::string message{};
  FaultCode code = FaultCode::input;
  std::string key{};  ///< name of the missing key ("gpus"); empty unless the code is missing_key
};

/// The exception for a question that cannot be read or answered. It holds all faults that were found; what() lists
/// them, one a line.
class QuestionError : public std::runtime_error {
 public:
  explicit QuestionError(std::vector<Fault> faults, std::size_t untold = 0);
  /// The faults in the order of the text, at most one hundred.
  [[nodiscard]] std::span<const Fault> faults() const noexcept { return faults_; }
  /// The number of faults beyond those one hundred.
  [[nodiscard]] std::size_t untold() const noexcept { return untold_; }

 private:
  std::vector<Fault> faults_;
  std::size_t untold_;
};

/// The kind of question that a document asks.
enum class QuestionKind : std::uint8_t {
  plan,          ///< one training strategy, or one serving layout under a fixed load
  network,       ///< the training of a network that is given as an op list
  fleet,         ///< the number of replicas that keeps a latency promise under arriving requests
  box,           ///< a fixed number of GPUs under several fixed loads: throughput against latency
  search,        ///< the best training strategy, job or machine of a stated space
  side_by_side,  ///< several plans or fleets; the first one is what the others are compared with
  simulation,    ///< arriving requests on the replicas that a document states (see simulated())
  scaling,       ///< one training plan at a series of GPU counts (see scaled())
  other          ///< a kind that the document names in its key `kind`
};

/// Where the value of a key comes from.
enum class KeyOrigin : std::uint8_t {
  stated,       ///< the question states it
  checkpoint,   ///< the model's own configuration file states it
  publication,  ///< a published measurement, law or price list that the question uses
  standard,     ///< a default of the program, of a training or serving software, or of the catalog
  unknown       ///< no value is known: its effect is not counted, or a search looks for it
};

/// A key of a scenario by its full path, such as "strategy.tp" (docs/scenario-format.md), with its origin.
struct KeyWithOrigin {
  std::string_view key;
  KeyOrigin origin = KeyOrigin::unknown;
};

/// A question that was read and resolved. Copies are cheap. A question keeps its library alive.
class Question {
 public:
  [[nodiscard]] QuestionKind kind() const noexcept;
  /// The keys that were not stated and the values that were taken, such as "strategy.zero = 1 (default)". The list is
  /// empty for fleets and searches, whose answers hold their assumptions.
  [[nodiscard]] std::span<const std::string> assumptions() const noexcept;
  /// The origin of a key. The result is nullopt for a key that this kind of question does not have, and for every key
  /// of questions side by side.
  [[nodiscard]] std::optional<KeyOrigin> origin(std::string_view key) const;
  /// All keys that this kind of question has, without tables, in the order of the manual. The names stay valid until
  /// the program ends.
  [[nodiscard]] std::vector<KeyWithOrigin> origins() const;

  struct Read;  ///< private to the library
  explicit Question(std::shared_ptr<const Read> read) noexcept : read_{std::move(read)} {}
  [[nodiscard]] const Read& read() const noexcept { return *read_; }

 private:
  std::shared_ptr<const Read> read_;
};

/// The data that questions are answered with: GPUs, nodes, clusters, prices, models, networks, training and serving
/// software, and fitted numbers. A user's files take precedence over those that ship. Libraries share no state, so that
/// two of them with different folders can be used in one program. Copies are cheap and share one state.
class Library {
 public:
  /// Uses the folders that HEADROOM_DATA_DIR and the user's configuration name. Throws QuestionError if
  /// HEADROOM_DATA_DIR names a folder that does not exist. A broken file is reported when a question first needs it.
  Library();
  /// Uses these folders, which hold KIND/ID.toml; earlier folders take precedence. Environment variables and the home
  /// folder are not read.
  explicit Library(std::span<const std::string> folders);

  /// Warnings about the user's files that could not be read and were left out of a list, one warning a file, in the
  /// order in which the library met them.
  [[nodiscard]] std::vector<std::string> warnings() const;

  /// Reads a TOML document. `name` is the file name in faults. Throws QuestionError with all faults.
  [[nodiscard]] Question question_of_text(std::string_view toml, const std::string& name = "question") const;
  /// Reads a file with its bases, then applies assignments such as "strategy.tp=8". Throws QuestionError with all
  /// faults.
  [[nodiscard]] Question question_of_file(const std::string& path, std::span<const std::string> assignments = {}) const;
  /// Reads assignments without a file. Throws QuestionError with all faults.
  [[nodiscard]] Question question(std::span<const std::string> assignments) const;
  [[nodiscard]] Question question(std::initializer_list<std::string> assignments) const;
  /// Makes one question of several, which may come from different libraries; the first one is what the others are
  /// compared with. Throws QuestionError for fewer than two, and unless all are plans or all are fleets. Training
  /// beside serving is refused when the question is answered.
  [[nodiscard]] Question question(std::span<const Question> questions) const;

  struct Data;  ///< private to the library

 private:
  std::shared_ptr<const Data> data_;
};

/// A simulation of arriving requests on the replicas that the question states, with the rate of its traffic multiplied
/// by `rate_factor`, above 0. Throws QuestionError unless the question is a serving plan or a fleet.
[[nodiscard]] Question simulated(const Question& question, double rate_factor = 1.0);

/// The GPU counts of a series.
struct Scaling {
  std::optional<std::int64_t> from;  ///< first count; default: the plan's, halved as long as replicas stay whole
  std::optional<std::int64_t> to;    ///< largest count; default: eight times the plan's
  bool weak = false;                 ///< the global batch grows with the GPUs; otherwise it stays
  double least = 0.5;                ///< marginal efficiency, 0 to 1, below which more GPUs are not worth their price
};
/// A training plan at a series of GPU counts. Throws QuestionError unless the question is a plan.
[[nodiscard]] Question scaled(const Question& question, const Scaling& how = {});

/// A number with its interval: 80 % of the measured runs of its class lay between low and high.
struct Number {
  double low = 0.0, mid = 0.0, high = 0.0;  ///< in SI units; the member's name ends in its unit ("step_time_s")
  /// The value that a share `p` of outcomes lies below, 0 < p < 1. Each side of mid is log-normal, with low at 10 % and
  /// high at 90 %; it is normal if an end is not above zero. A number without an interval is the same for all p.
  [[nodiscard]] double quantile(double p) const noexcept;
};

/// An answer. Copies are cheap.
class Answer {
 public:
  /// Whether the plan is feasible and keeps its promises, and nothing cut the answer short.
  [[nodiscard]] bool good() const noexcept;
  /// Whether everything was looked at: false if Options::cancel or Options::seconds ended the answer early.
  [[nodiscard]] bool complete() const noexcept;
  /// A number of the JSON document by its path, such as "step_time_s" or "options/0/gpus". The result is nullopt if the
  /// member does not exist or is not a number.
  [[nodiscard]] std::optional<Number> find(std::string_view member) const;
  /// The same, but throws std::out_of_range where find() returns nullopt.
  [[nodiscard]] Number number(std::string_view member) const;
  /// A text of the JSON document, such as "verdict". The result is nullopt if the member does not exist or is not text.
  [[nodiscard]] std::optional<std::string> text(std::string_view member) const;

  struct Given;  ///< private to the library
  explicit Answer(std::shared_ptr<const Given> given) noexcept : given_{std::move(given)} {}
  [[nodiscard]] const Given& given() const noexcept { return *given_; }

 private:
  std::shared_ptr<const Given> given_;
};

/// The progress of a search.
struct Progress {
  std::uint64_t job = 0, jobs = 0;  ///< index of the current job, from 0, and number of jobs
  double seconds = 0.0;             ///< since the search began
};

/// How a question is answered. An option that has no meaning for a question has no effect on it.
struct Options {
  bool memory_only = false;  ///< computes memory only, which needs no peak, no rate and no price
  bool explain = false;      ///< adds every term with its formula and inputs, to the text too
  unsigned threads = 0;      ///< 1 to 1024, or 0 for as many as the machine has; the answer does not depend on it
  /// Seed of what is drawn at random, 0 to 2^52, in place of the question's traffic.seed and goodput.seed.
  std::optional<std::uint64_t> seed{};
  /// Ends a search, a fleet's plan or a box's curve early, as soon as it is true. The answer then holds what was found.
  const std::atomic<bool>* cancel = nullptr;
  std::optional<double> seconds{};  ///< the same after so many seconds
  /// Called by a search from the calling thread, at most twice a second.
  std::function<void(const Progress&)> progress{};
};

/// Answers a question. Throws QuestionError with all faults if it cannot be answered.
[[nodiscard]] Answer answer(const Question& question, const Options& options = {});

/// The JSON document (docs/json.md): SI values, with the unit in each member's name.
[[nodiscard]] std::string to_json(const Answer& answer);
/// Text for people.
[[nodiscard]] std::string to_text(const Answer& answer);
/// The rows of a series of GPU counts. Throws QuestionError for other answers.
[[nodiscard]] std::string to_csv(const Answer& answer);
/// A page with charts in one file. Throws QuestionError if the library was built without its chart library.
[[nodiscard]] std::string to_html(const Answer& answer);

}  // namespace headroom
