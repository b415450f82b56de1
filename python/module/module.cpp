// SPDX-License-Identifier: Apache-2.0
// The module `headroom._core`. The only file that includes pybind11.
#include <headroom/answers/markup/fitted.hpp>
#include <headroom/answers/schema/answer_schema.hpp>
#include <headroom/answers/schema/name_unit.hpp>
#include <headroom/cli/frame/data_date.hpp>
#include <headroom/cli/stubs/python_stub.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/core/version.hpp>
#include <headroom/python/module/ask.hpp>
#include <headroom/python/module/keywords.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace headroom::python {
namespace {

using Clock = std::chrono::steady_clock;

/// A value that no key takes, at the keyword that has it.
[[noreturn]] void refuse_value(const std::string& keyword, py::handle value) {
  throw ConfigError{{Diagnostic{keyword,
                                {},
                                "is a " + std::string{py::str(py::type::of(value).attr("__name__"))} +
                                    ", which no key takes; give a number, a text, True or False, a list or "
                                    "a dict"}}};
}

bool is_path(py::handle value) {
  return py::hasattr(value, "__fspath__");
}

std::string path_text(py::handle value) {
  return py::str(py::module_::import("os").attr("fspath")(value));
}

/// A number as TOML and the command line have it; an integer that was computed as a float is one.
std::string number_text(double value) {
  constexpr double exact = 4503599627370496.0;  // 2^52, the largest that readers take
  if (std::floor(value) == value && std::fabs(value) <= exact) {
    return std::to_string(static_cast<std::int64_t>(value));
  }
  return std::isnan(value) ? "nan" : std::isinf(value) ? (value > 0 ? "inf" : "-inf") : shortest_text(value);
}

std::string toml_of(const std::string& keyword, py::handle value);

std::string toml_list(const std::string& keyword, py::handle value) {
  std::string all = "[";
  for (const py::handle item : py::reinterpret_borrow<py::object>(value)) {
    all += (all.size() == 1 ? "" : ", ") + toml_of(keyword, item);
  }
  return all + "]";
}

std::string toml_table(const std::string& keyword, const py::dict& table) {
  std::string all = "{";
  for (const auto& [key, value] : table) {
    if (!value.is_none()) {
      const std::string name = py::str(key);
      all += (all.size() == 1 ? "" : ", ") + toml_text(name) + " = " + toml_of(keyword + "." + name, value);
    }
  }
  return all + "}";
}

std::string toml_of(const std::string& keyword, py::handle value) {
  if (py::isinstance<py::bool_>(value)) {
    return value.ptr() == Py_True ? "true" : "false";
  }
  if (py::isinstance<py::str>(value)) {
    return toml_text(value.cast<std::string>());
  }
  if (py::isinstance<py::int_>(value) || PyIndex_Check(value.ptr()) != 0) {
    const py::object number = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
    return py::str(number);
  }
  if (py::isinstance<py::float_>(value)) {
    return number_text(value.cast<double>());
  }
  if (py::isinstance<py::dict>(value)) {
    return toml_table(keyword, py::reinterpret_borrow<py::dict>(value));
  }
  if (py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value)) {
    return toml_list(keyword, value);
  }
  if (is_path(value)) {
    return toml_text(path_text(value));
  }
  if (py::hasattr(value, "isoformat")) {
    return toml_text(std::string{py::str(value.attr("isoformat")())});
  }
  if (py::hasattr(value, "__float__")) {
    return number_text(py::float_(py::reinterpret_borrow<py::object>(value)));
  }
  refuse_value(keyword, value);
}

/// As the command line has it: a text without quotes. Numbers first: to ask one for an attribute that it lacks takes
/// longer than to write it.
std::string typed_of(const std::string& keyword, py::handle value) {
  if (py::isinstance<py::str>(value)) {
    return value.cast<std::string>();
  }
  if (py::isinstance<py::int_>(value) || py::isinstance<py::float_>(value)) {
    return toml_of(keyword, value);
  }
  if (is_path(value)) {
    return path_text(value);
  }
  return py::hasattr(value, "isoformat") ? std::string{py::str(value.attr("isoformat")())} : toml_of(keyword, value);
}

void add_entries(std::vector<Assignment>& entries,
                 const std::string& path,
                 const std::string& keyword,
                 const py::dict& table) {
  for (const auto& [key, value] : table) {
    if (value.is_none()) {
      continue;
    }
    const std::string name = (path.empty() ? "" : path + ".") + std::string{py::str(key)};
    const std::string place = keyword.empty() ? name : keyword + "." + name;
    if (py::isinstance<py::dict>(value) && py::len(value) > 0) {
      add_entries(entries, name, keyword, py::reinterpret_borrow<py::dict>(value));
      continue;
    }
    const std::string toml = toml_of(place, value);
    entries.emplace_back(name + "=" + toml, place + "=" + toml);
  }
}

Given given_of(const std::string& keyword, py::handle value) {
  Given given;
  if (py::isinstance<py::dict>(value)) {
    given.kind = Given::Kind::table;
    add_entries(given.entries, "", keyword, py::reinterpret_borrow<py::dict>(value));
    return given;
  }
  const bool range = PyRange_Check(value.ptr());
  if (range || py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value)) {
    const py::list items = py::list(py::reinterpret_borrow<py::object>(value));
    given.kind = Given::Kind::list;
    for (const py::handle item : items) {
      given.items.push_back(typed_of(keyword, item));
    }
    given.toml = toml_list(keyword, items);
    return given;
  }
  given.typed = typed_of(keyword, value);
  return given;
}

/// The keywords that were given a value, every value that no key takes told at once.
std::vector<Keyword> keywords_of(const py::dict& given) {
  std::vector<Keyword> keywords;
  Diagnostics problems;
  for (const auto& [key, value] : given) {
    if (value.is_none()) {
      continue;
    }
    try {
      std::string name = key.cast<std::string>();
      Given one = given_of(name, value);
      keywords.push_back({std::move(name), std::move(one)});
    } catch (const ConfigError& error) {
      problems.add(error);
    }
  }
  problems.throw_if_any();
  return keywords;
}

/// An answer as Python holds it.
struct Answer {
  std::shared_ptr<const Found> found;
  double seconds = 0.0;  ///< from the keywords to the answer, without what Python's side takes
};

Source source_of(py::handle value) {
  Source source;
  if (value.is_none()) {
    return source;
  }
  if (py::isinstance<Answer>(value)) {
    const Answer& answer = value.cast<const Answer&>();
    source.kind = Source::Kind::document;
    source.document = answer.found->document();
    source.name = answer.found->file();
    if (source.document == nullptr) {
      throw ConfigError{"this answer holds no single question that could be asked again"};
    }
    return source;
  }
  if (py::isinstance<py::dict>(value)) {
    source.kind = Source::Kind::table;
    add_entries(source.entries, "", "", py::reinterpret_borrow<py::dict>(value));
    return source;
  }
  if (!py::isinstance<py::str>(value) && !is_path(value)) {
    refuse_value("scenario", value);
  }
  source.text = typed_of("scenario", value);
  const bool text = !is_path(value) && source.text.find_first_of("\n=") != std::string::npos;
  source.kind = text ? Source::Kind::text : Source::Kind::file;
  return source;
}

/// Long work in a thread of its own, while this one waits for signals and for the end of its time. Called without the
/// interpreter's lock.
class Waiter {
 public:
  explicit Waiter(std::optional<double> seconds) {
    if (seconds) {
      end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*seconds));
    }
  }

  [[nodiscard]] Stopping stopping() {
    return {&stop_, [this] { return over_.load(); }, [this](const std::function<void()>& work) { run(work); }};
  }

  /// Gives back the exception that a signal's handler raised.
  void throw_if_interrupted() {
    if (interrupted_) {
      interrupted_->restore();
      interrupted_.reset();
      throw py::error_already_set{};
    }
  }

 private:
  void run(const std::function<void()>& work) {
    std::mutex mutex;
    std::condition_variable done;
    bool finished = false;
    std::exception_ptr failure;
    std::thread worker{[&] {
      try {
        work();
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard lock{mutex};
      finished = true;
      done.notify_one();
    }};
    {
      std::unique_lock lock{mutex};
      while (!done.wait_for(lock, std::chrono::milliseconds{20}, [&] { return finished; })) {
        lock.unlock();
        look();
        lock.lock();
      }
    }
    worker.join();
    if (failure && !interrupted_) {
      std::rethrow_exception(failure);
    }
    if (interrupted_) {
      throw Interrupted{};
    }
  }

  void look() {
    if (end_ && Clock::now() >= *end_) {
      over_.store(true);
      stop_.store(true);
    }
    if (interrupted_) {
      return;
    }
    const py::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) {
      interrupted_ = std::make_unique<py::error_already_set>();
      stop_.store(true);
    }
  }

 public:
  /// Unwinds to where the interpreter's lock is held again.
  struct Interrupted {};

 private:
  std::atomic<bool> stop_{false};
  std::atomic<bool> over_{false};
  std::optional<Clock::time_point> end_;
  std::unique_ptr<py::error_already_set> interrupted_;
};

/// What an answer looks into.
struct Library {
  std::shared_ptr<const QuestionLibrary> data;
};

/// That of the environment, read when it is first needed.
const Library& standard_library() {
  static const Library library{std::make_shared<const QuestionLibrary>(QuestionLibrary::standard())};
  return library;
}

Answer ask_with(const std::string& function,
                const py::tuple& scenarios,
                const py::dict& given,
                const py::object& library) {
  Call call;
  call.function = call_named(function);
  call.keywords = keywords_of(given);
  for (const py::handle scenario : scenarios) {
    Source source = source_of(scenario);
    if (source.kind != Source::Kind::none) {
      call.sources.push_back(std::move(source));
    }
  }
  const std::shared_ptr<const QuestionLibrary> data =
      library.is_none() ? standard_library().data : library.cast<const Library&>().data;
  std::shared_ptr<const Found> found;
  std::optional<Waiter> waiter;
  double seconds = 0.0;
  {
    const py::gil_scoped_release released;
    const Sorted kept = sorted(call);
    waiter.emplace(kept.own.has("within") ? std::optional{seconds_of(kept.own.one("within"), "within")} : std::nullopt);
    try {
      const Clock::time_point begin = Clock::now();
      found = ask(call, kept, data, waiter->stopping());
      seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    } catch (const Waiter::Interrupted&) {
    }
  }
  waiter->throw_if_interrupted();
  return {std::move(found), seconds};
}

Answer command_with(const std::string& verb, const py::tuple& words, const py::dict& given) {
  std::vector<std::string> typed;
  for (const py::handle word : words) {
    typed.push_back(typed_of(verb, word));
  }
  const std::vector<Keyword> keywords = keywords_of(given);
  Waiter waiter{std::nullopt};
  std::shared_ptr<const Found> found;
  {
    const py::gil_scoped_release released;
    try {
      waiter.stopping().run([&] { found = command(verb, typed, keywords); });
    } catch (const Waiter::Interrupted&) {
    }
  }
  waiter.throw_if_interrupted();
  return {std::move(found)};
}

void raise_faults(const std::vector<std::tuple<std::string, int, int, std::string, std::string, std::string>>& faults,
                  std::size_t untold) {
  const py::object type = py::module_::import("headroom._errors").attr("QuestionError");
  py::list all;
  for (const auto& [file, line, column, message, code, key] : faults) {
    all.append(py::make_tuple(file, line, column, message, code, key));
  }
  PyErr_SetObject(type.ptr(), type(all, untold).ptr());
}

/// Exceptions of the floors as QuestionError, as the library's border has them.
void translate(std::exception_ptr thrown) {
  const auto one = [](const char* code, const std::string& message) {
    raise_faults({{"", 0, 0, message, code, ""}}, 0);
  };
  try {
    std::rethrow_exception(std::move(thrown));
  } catch (const ConfigError& error) {
    std::vector<std::tuple<std::string, int, int, std::string, std::string, std::string>> faults;
    for (const Diagnostic& diagnostic : error.diagnostics()) {
      const Diagnostic d = in_python(diagnostic);
      faults.emplace_back(d.file, d.at.line, d.at.column, d.message, d.missing.empty() ? "input" : "missing_key",
                          d.missing);
    }
    raise_faults(faults, error.untold());
  } catch (const std::system_error& error) {
    one("system", std::string{"the system refuses what this takes: "} + error.what());
  } catch (const std::logic_error& error) {
    one("internal", std::string{"this is a defect of Headroom, please report it with the question: "} + error.what());
  }
}

py::list keys_list() {
  py::list all;
  for (const Key& key : all_keys()) {
    py::list kinds;
    for (const KindName& known : kind_names) {
      if (meet(key.kinds, known.kind)) {
        kinds.append(std::string{known.name});
      }
    }
    all.append(py::make_tuple(std::string{key.path}, key.option.empty() ? std::string{} : keyword_of(key.option),
                              type_of(key), docs_of(key), kinds));
  }
  return all;
}

constexpr std::array<std::string_view, 14> member_types{
    "text",    "texts",    "boolean",          "number",    "number_list", "number_or_text",
    "numbers", "interval", "interval_or_text", "intervals", "dates",       "object",
    "objects", "any"};

py::list members_list(const std::string& schema) {
  py::list all;
  const AnswerSchema* const answer = find_answer(schema);
  if (answer == nullptr) {
    return all;
  }
  for (const AnswerMember& member : answer->members) {
    const std::optional<NameUnit> unit = name_unit(member.path.substr(member.path.rfind('/') + 1));
    all.append(py::make_tuple(std::string{member.path},
                              std::string{member_types[static_cast<std::size_t>(member.type)]},
                              std::string{member.meaning}, unit ? std::string{unit->words} : std::string{}));
  }
  return all;
}

py::object member_of(const std::string& schema, const std::string& path) {
  const AnswerSchema* const answer = find_answer(schema);
  const AnswerMember* const member = answer == nullptr ? nullptr : find_member(*answer, path);
  return member == nullptr ? py::object{py::none()} : py::object{py::str(std::string{member->meaning})};
}

std::string unit_of(const std::string& name) {
  const std::optional<NameUnit> unit = name_unit(name);
  return unit ? std::string{unit->words} : std::string{};
}

std::vector<std::string> user_folders(const py::args& folders) {
  std::vector<std::string> all;
  for (const py::handle folder : folders) {
    all.push_back(typed_of("folder", folder));
  }
  return all;
}

}  // namespace
}  // namespace headroom::python

PYBIND11_MODULE(_core, module) {
  using namespace headroom::python;
  using Release = py::call_guard<py::gil_scoped_release>;
  py::register_exception_translator(translate);
  module.attr("version") = std::string{headroom::version_number()};
  module.attr("data_date") = headroom::cli::data_date();
  py::class_<Answer>(module, "Answer")
      .def(
          "json", [](const Answer& a) { return a.found->json(); }, Release{})
      .def(
          "text",
          [](const Answer& a, bool brief, std::size_t width) { return headroom::fitted(a.found->text(brief), width); },
          Release{})
      .def(
          "html", [](const Answer& a) { return a.found->html(); }, Release{})
      .def(
          "csv", [](const Answer& a) { return a.found->csv(); }, Release{})
      .def_property_readonly("good", [](const Answer& a) { return a.found->good(); })
      .def_property_readonly("complete", [](const Answer& a) { return a.found->complete(); })
      .def_property_readonly("seconds", [](const Answer& a) { return a.seconds; });
  py::class_<Library>(module, "Library")
      .def(py::init([](const py::args& folders) {
        return Library{
            std::make_shared<const headroom::QuestionLibrary>(headroom::QuestionLibrary::of(user_folders(folders)))};
      }))
      .def("warnings", [](const Library& library) { return library.data->sources.data.files().warnings(); });
  module.def("ask", ask_with);
  module.def("command", command_with);
  module.def("keys", keys_list);
  module.def("members", members_list);
  module.def("meaning", member_of);
  module.def("unit", unit_of);
}
