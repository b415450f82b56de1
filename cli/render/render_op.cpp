// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/cli/render/op_answer.hpp>
#include <headroom/core/json_writer.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

#include <cmath>

namespace headroom::cli {
namespace {

void write(JsonWriter& json, const OpField& field) {
  json.key(field.key);
  if (const double* number = std::get_if<double>(&field.value)) {
    json.number(*number);
  } else if (const bool* yes = std::get_if<bool>(&field.value)) {
    json.boolean(*yes);
  } else {
    json.text(std::get<std::string>(field.value));
  }
}

/// Less than a hundredth of a percent is the model's rounding.
std::string change_of(const Effect& effect) {
  constexpr double least = 5e-5;
  const double change = effect.time - 1.0;
  return std::abs(change) < least ? "0 %" : percent(change);
}

std::string summary(const OpAnswer& a) {
  const double ridge = (a.limits.peak / a.limits.bandwidth).raw();
  Table table{{"", ""}};
  table.left(1);
  table.row({"time", format(a.time) + "  (" + format(a.low) + " to " + format(a.high) + ")"});
  table.row({"bound by", std::string{a.bound}});
  for (const auto& [label, text] : a.rows) {
    table.row({std::string{label}, text});
  }
  if (a.launch > Seconds{}) {
    table.row({"launch", format(a.launch) + ", " + percent(a.launch / a.time) + " of the time"});
  }
  if (a.work > Flops{}) {
    const FlopsPerSecond rate = a.work / a.time;
    table.row({"rate", format(rate) + ", " + percent(rate / a.limits.peak) + " of the dense peak"});
  }
  const BytesPerSecond bandwidth = a.moved / a.time;
  table.row({"bandwidth", format(bandwidth) + ", " + percent(bandwidth / a.limits.bandwidth) + " of the memory's"});
  if (a.work > Flops{}) {
    table.row(
        {"intensity", format_number((a.work / a.moved).raw()) + " FLOP/B, ridge " + format_number(ridge) + " FLOP/B"});
  }
  table.row({"roofline", format(a.roofline()) + ": headroom " + format_number(a.time / a.roofline()) + "x"});
  return table.text(0);
}

}  // namespace

std::string op_text(const OpAnswer& a) {
  std::string text = std::string{a.kind} + " " + a.title + ", on " + a.gpu + "\n\n" + summary(a) + "\n";
  Table parts{{"part", "time"}};
  for (const OpPart& part : a.parts) {
    if (part.time > Seconds{}) {
      parts.row({std::string{part.label}, format(part.time)});
    }
  }
  text += parts.text(0) + "\n";
  Table help{{"what would help", "time"}};
  for (const Effect& effect : a.effects) {
    help.row({effect.change, change_of(effect)});
  }
  text += help.text(0) + "\n";
  for (const std::string& note : a.notes) {
    text += note + "\n";
  }
  return text + "curve: " + a.why + "\n";
}

std::string op_json(const OpAnswer& a) {
  JsonWriter json;
  json.begin_object();
  json.member("schema", "headroom.op/1");
  json.member("kind", a.kind);
  json.member("gpu", std::string_view{a.gpu});
  for (const OpField& field : a.question) {
    write(json, field);
  }
  json.member("time_s", a.time.raw());
  json.member("low_s", a.low.raw());
  json.member("high_s", a.high.raw());
  json.member("bound", a.bound);
  for (const OpField& field : a.details) {
    write(json, field);
  }
  for (const OpPart& part : a.parts) {
    json.member(part.key, part.time.raw());
  }
  json.member("launch_share", a.launch / a.time);
  json.member("flop", a.work.raw());
  json.member("moved_bytes", a.moved.raw());
  json.member("of_peak", (a.work / a.time) / a.limits.peak);
  json.member("of_bandwidth", (a.moved / a.time) / a.limits.bandwidth);
  json.member("roofline_s", a.roofline().raw());
  json.key("helps");
  json.begin_array();
  for (const Effect& effect : a.effects) {
    json.compact_next();
    json.begin_object();
    json.member("change", std::string_view{effect.change});
    json.member("time_ratio", effect.time);
    json.end_object();
  }
  json.end_array();
  json.key("notes");
  json.begin_array();
  for (const std::string& note : a.notes) {
    json.text(note);
  }
  json.end_array();
  json.member("curve", std::string_view{a.why});
  json.end_object();
  return json.take();
}

}  // namespace headroom::cli
