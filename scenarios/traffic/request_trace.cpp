// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_value.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/date.hpp>
#include <headroom/core/input_file.hpp>
#include <headroom/core/json_reader.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/model/serve/simulation/prefix_cache.hpp>
#include <headroom/scenarios/traffic/request_trace.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <memory>
#include <optional>

namespace headroom {
namespace {

constexpr std::int64_t most_tokens = std::int64_t{1} << 30;
constexpr double most_seconds = 9.2e6;  // about 106 days, the end of simulated time

/// Columns of one format: time, input and output tokens, then the optional ones.
struct TraceColumns {
  TraceForm form;
  std::string_view time, prompt, output;
  std::array<std::string_view, 6> other;
};
constexpr std::array forms{
    TraceColumns{TraceForm::azure, "TIMESTAMP", "ContextTokens", "GeneratedTokens", {"NumImages"}},
    TraceColumns{TraceForm::burstgpt,
                 "Timestamp",
                 "Request tokens",
                 "Response tokens",
                 {"Session ID", "Elapsed time", "Model", "Total tokens", "Log Type"}},
    TraceColumns{TraceForm::own, "arrival_s", "prompt_tokens", "output_tokens", {"cached_tokens", "service_class"}},
};

/// Time since 1970 of "2023-11-16 18:17:03.9799600"; a time zone after it is ignored.
struct Instant {
  std::int64_t seconds = 0;
  std::int64_t picoseconds = 0;
};

std::optional<std::int64_t> digits(std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return !text.empty() && error == std::errc{} && rest == end && value >= 0 ? std::optional{value} : std::nullopt;
}

std::optional<Instant> parse_instant(std::string_view text) {
  if (text.size() < 19 || (text[10] != ' ' && text[10] != 'T') || text[13] != ':' || text[16] != ':') {
    return std::nullopt;
  }
  const auto day = parse_date(text.substr(0, 10));
  const auto hour = digits(text.substr(11, 2));
  const auto minute = digits(text.substr(14, 2));
  const auto second = digits(text.substr(17, 2));
  if (!day || !hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 60) {
    return std::nullopt;
  }
  std::string_view rest = text.substr(19);
  if (const std::size_t zone = rest.find_first_of("+Z"); zone != std::string_view::npos) {
    rest = rest.substr(0, zone);
  }
  Instant instant;
  instant.seconds = (day->time_since_epoch().count() * 24 + *hour) * 3600 + *minute * 60 + *second;
  if (rest.empty()) {
    return instant;
  }
  if (rest.front() != '.' || rest.size() > 13) {
    return std::nullopt;
  }
  std::string fraction{rest.substr(1)};
  fraction.resize(12, '0');
  const auto value = digits(fraction);
  if (!value) {
    return std::nullopt;
  }
  instant.picoseconds = *value;
  return instant;
}

/// Common part of all formats: rows in order of time, with token counts.
class TraceBuilder {
 public:
  TraceBuilder(const std::string& file, Diagnostics& diagnostics) : file_{file}, diagnostics_{diagnostics} {}

  void problem(Position at, std::string message) { diagnostics_.add(file_, at, std::move(message)); }
  void pass_over(std::size_t problems) { diagnostics_.pass_over(problems); }

  /// Simulated time of a time column in seconds.
  std::optional<Picoseconds> time(Position at, double seconds) {
    if (!(seconds >= 0.0)) {
      problem(at, "a request arrives at " + general_text(seconds, 6) + " s; times start at 0");
      return std::nullopt;
    }
    if (seconds > most_seconds) {
      problem(at, "a request arrives at " + general_text(seconds, 6) + " s; simulated time ends after 106 days");
      return std::nullopt;
    }
    return picoseconds(seconds);
  }

  /// A token count of at least `least`.
  std::optional<std::int32_t> tokens(Position at, std::optional<std::int64_t> value, std::int64_t least) {
    if (!value) {
      return std::nullopt;  // the reader has reported it
    }
    if (*value < least || *value > most_tokens) {
      problem(at, std::to_string(*value) + " tokens; they must be from " + std::to_string(least) + " to 2^30");
      return std::nullopt;
    }
    return static_cast<std::int32_t>(*value);
  }

  void add(Position at, const Request& request) {
    if (!trace.requests.empty() && request.arrival < trace.requests.back().arrival) {
      problem(at, "arrives " + general_text(seconds_of(trace.requests.back().arrival - request.arrival), 6) +
                      " s before the row above; sort the trace by time");
      return;
    }
    trace.requests.push_back(request);
  }

  RequestTrace trace;

 private:
  const std::string& file_;
  Diagnostics& diagnostics_;
};

/// A trace in CSV with a header.
class CsvTrace {
 public:
  CsvTrace(CsvReader& csv, TraceBuilder& builder) : csv_{csv}, builder_{builder} {}

  void read() {
    if (csv_.header().empty() || !find_columns()) {
      return;
    }
    builder_.trace.form = form_->form;
    while (csv_.next()) {
      row();
    }
  }

 private:
  bool find_columns() {
    for (const TraceColumns& form : forms) {
      if (csv_.column(form.time)) {
        form_ = &form;
      }
    }
    if (form_ == nullptr) {
      builder_.problem({1, 1},
                       "no column says when requests arrive: TIMESTAMP (Azure), Timestamp (BurstGPT) or arrival_s with "
                       "prompt_tokens and output_tokens");
      return false;
    }
    std::vector<std::string_view> known{form_->time, form_->prompt, form_->output};
    known.insert(known.end(), form_->other.begin(), std::find(form_->other.begin(), form_->other.end(), ""));
    for (std::size_t i = 0; i < csv_.header().size(); ++i) {
      const std::string& name = csv_.header()[i];
      if (!name.empty() && std::find(known.begin(), known.end(), name) == known.end()) {
        builder_.problem(csv_.at(i), "unknown column " + quoted(name) + suggestion(name, known));
      }
    }
    time_ = csv_.column(form_->time);
    prompt_ = need(form_->prompt);
    output_ = need(form_->output);
    if (form_->form == TraceForm::own) {
      cached_ = csv_.column("cached_tokens");
      class_ = csv_.column("service_class");
    }
    return prompt_ && output_;
  }

  std::optional<std::size_t> need(std::string_view name) {
    const auto found = csv_.column(name);
    if (!found) {
      builder_.problem({1, 1}, "no column " + quoted(name));
    }
    return found;
  }

  void row() {
    const auto at = arrival();
    const auto prompt = cell(*prompt_, 1);
    const auto output = cell(*output_, form_->form == TraceForm::burstgpt ? 0 : 1);
    const auto cached = cached_ ? cell(*cached_, 0, true) : std::optional<std::int32_t>{0};
    const auto of = class_ ? cell(*class_, 0, true) : std::optional<std::int32_t>{0};
    if (!at || !prompt || !output || !cached || !of) {
      return;
    }
    if (*of > 1000) {
      builder_.problem(csv_.at(*class_), "service class " + std::to_string(*of) + "; classes are from 0 to 1000");
      return;
    }
    if (*output == 0) {
      ++builder_.trace.failed;
      return;
    }
    builder_.add(csv_.at(*time_), {*at, *prompt, *output, *cached, *of});
  }

  std::optional<std::int32_t> cell(std::size_t column, std::int64_t least, bool may_be_blank = false) {
    if (csv_.fields()[column].empty()) {
      if (may_be_blank) {
        return 0;
      }
      builder_.problem(csv_.at(column), "an empty cell; a request has tokens");
      return std::nullopt;
    }
    return builder_.tokens(csv_.at(column), csv_.integer(column), least);
  }

  std::optional<Picoseconds> arrival() {
    if (form_->form != TraceForm::azure) {
      const auto seconds = csv_.number(*time_);
      if (!seconds && csv_.fields()[*time_].empty()) {
        builder_.problem(csv_.at(*time_), "an empty cell; every request arrives at some time");
      }
      return seconds ? builder_.time(csv_.at(*time_), *seconds) : std::nullopt;
    }
    const std::string& text = csv_.fields()[*time_];
    const auto instant = parse_instant(text);
    if (!instant) {
      builder_.problem(csv_.at(*time_), quoted(text) + " is no time; it is written 2023-11-16 18:17:03.9799600");
      return std::nullopt;
    }
    first_ = first_.value_or(*instant);
    const std::int64_t seconds = instant->seconds - first_->seconds;
    if (static_cast<double>(seconds < 0 ? -seconds : seconds) > most_seconds) {
      builder_.problem(csv_.at(*time_), quoted(text) + " is more than 106 days from the first request");
      return std::nullopt;
    }
    return Picoseconds{seconds * 1'000'000'000'000 + instant->picoseconds - first_->picoseconds};
  }

  CsvReader& csv_;
  TraceBuilder& builder_;
  const TraceColumns* form_ = nullptr;
  std::optional<std::size_t> time_, prompt_, output_, cached_, class_;
  std::optional<Instant> first_;
};

/// A trace with one JSON object per line.
class JsonTrace {
 public:
  JsonTrace(const std::string& file, TraceBuilder& builder, std::int64_t cache_blocks)
      : file_{file}, builder_{builder}, cache_{cache_blocks} {}

  void read(std::istream& stream) {
    builder_.trace.form = TraceForm::mooncake;
    std::string text;
    for (line_ = 1; read_line(stream, text, file_, line_, longest_record); ++line_) {
      if (text.find_first_not_of(" \t\r") == std::string::npos) {
        continue;
      }
      try {
        row(parse_json(text, file_));
      } catch (const ConfigError& error) {
        for (const Diagnostic& one : error.diagnostics()) {
          builder_.problem({line_, one.at.column}, one.message);
        }
        builder_.pass_over(error.untold());
      }
    }
    if (const PromptPrefixes prefixes = numbering_.take(); !prefixes.empty()) {
      builder_.trace.prefixes = prefixes;
    }
  }

 private:
  void row(const ConfigValue& object) {
    constexpr std::array<std::string_view, 4> keys{"timestamp", "input_length", "output_length", "hash_ids"};
    for (const ConfigEntry& entry : object.entries) {
      if (std::find(keys.begin(), keys.end(), entry.key) == keys.end()) {
        builder_.problem({line_, entry.value.key_at.column},
                         "unknown key " + quoted(entry.key) + suggestion(entry.key, keys));
      }
    }
    const auto milliseconds = number(object, keys[0]);
    const auto prompt = whole(object, keys[1], 1);
    const auto output = whole(object, keys[2], 1);
    const auto cached = hits(object);
    if (!milliseconds || !prompt || !output || !cached) {
      return;
    }
    const Position at = place(*object.find(keys[0]));
    if (const auto arrival = builder_.time(at, *milliseconds * 1e-3)) {
      const std::int64_t held = std::min(*cached * mooncake_block_tokens, std::int64_t{*prompt} - 1);
      builder_.add(at, {*arrival, *prompt, *output, static_cast<std::int32_t>(held), 0});
      numbering_.add(*prompt, ids_);
    }
  }

  [[nodiscard]] Position place(const ConfigValue& value) const { return {line_, value.at.column}; }

  const ConfigValue* need(const ConfigValue& object, std::string_view key) {
    const ConfigValue* const value = object.find(key);
    if (value == nullptr) {
      builder_.problem({line_, 1}, "no key " + quoted(key));
    }
    return value;
  }

  std::optional<double> number(const ConfigValue& object, std::string_view key) {
    const ConfigValue* const value = need(object, key);
    if (value == nullptr) {
      return std::nullopt;
    }
    if (value->kind == ConfigValue::Kind::integer) {
      return static_cast<double>(value->integer);
    }
    if (value->kind == ConfigValue::Kind::number) {
      return value->number;
    }
    builder_.problem(place(*value), quoted(key) + " must be a number, not " + std::string{kind_name(value->kind)});
    return std::nullopt;
  }

  std::optional<std::int32_t> whole(const ConfigValue& object, std::string_view key, std::int64_t least) {
    const ConfigValue* const value = need(object, key);
    if (value == nullptr) {
      return std::nullopt;
    }
    if (value->kind != ConfigValue::Kind::integer) {
      builder_.problem(place(*value),
                       quoted(key) + " must be a whole number, not " + std::string{kind_name(value->kind)});
      return std::nullopt;
    }
    return builder_.tokens(place(*value), value->integer, least);
  }

  std::optional<std::int64_t> hits(const ConfigValue& object) {
    const ConfigValue* const value = object.find("hash_ids");
    ids_.clear();
    if (value == nullptr) {
      return 0;
    }
    if (value->kind != ConfigValue::Kind::array) {
      builder_.problem(place(*value), "'hash_ids' must be a list of whole numbers");
      return std::nullopt;
    }
    for (const ConfigValue& id : value->items) {
      if (id.kind != ConfigValue::Kind::integer) {
        builder_.problem(place(id), "'hash_ids' must hold whole numbers, not " + std::string{kind_name(id.kind)});
        return std::nullopt;
      }
      ids_.push_back(id.integer);
    }
    return cache_.look_up(ids_);
  }

  const std::string& file_;
  TraceBuilder& builder_;
  PrefixCache cache_;
  PrefixNumbering numbering_{mooncake_block_tokens};
  std::vector<std::int64_t> ids_;
  int line_ = 1;
};

}  // namespace

RequestTrace read_request_trace(std::istream& stream,
                                const std::string& file,
                                Diagnostics& diagnostics,
                                std::int64_t cache_blocks) {
  TraceBuilder builder{file, diagnostics};
  if (stream.peek() == '{') {
    JsonTrace{file, builder, cache_blocks}.read(stream);
  } else {
    CsvReader csv{stream, file, diagnostics};
    CsvTrace{csv, builder}.read();
  }
  if (builder.trace.requests.empty() && diagnostics.empty()) {
    builder.problem({}, "the trace has no requests; write one a line, below the header of a CSV");
  }
  return std::move(builder.trace);
}

RequestTrace load_request_trace(const std::string& path, std::int64_t cache_blocks) {
  std::unique_ptr<InputFile> file;
  try {
    file = std::make_unique<InputFile>(path, most_rows_text);
  } catch (const ConfigError& error) {
    // The problem concerns the path, so it has no line and column.
    throw ConfigError{path + ": " + error.diagnostics().front().message};
  }
  Diagnostics diagnostics;
  RequestTrace trace = read_request_trace(*file, path, diagnostics, cache_blocks);
  diagnostics.throw_if_any();
  return trace;
}

}  // namespace headroom
