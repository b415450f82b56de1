// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/cli/render/op_answer.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

#include <cmath>

namespace headroom::cli {
namespace {

Value object_of(std::vector<Member> members) {
  return Value::object_of(members.data(), members.size());
}

/// Less than a hundredth of a percent is the model's rounding.
std::string change_of(const Effect& effect) {
  constexpr double least = 5e-5;
  const double change = effect.time - 1.0;
  return std::abs(change) < least ? "0 %" : percent(change);
}

std::string summary(const OpAnswer& a) {
  const double ridge = (a.limits.peak / a.limits.bandwidth).raw();
  Table table{{"", "<"}};
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

Value op_document(const OpAnswer& a) {
  Value parts = object();
  for (const OpPart& part : a.parts) {
    parts.add({std::string{part.key}, part.time});
  }
  return object(
      "schema"_m = "headroom.op/1", "kind"_m = a.kind, "gpu"_m = a.gpu, object_of(a.question),
      "time_s"_m = Interval<Seconds>{a.low, a.time, a.high}, "bound"_m = a.bound, object_of(a.details),
      std::move(parts), "launch_share"_m = share(a.launch / a.time), "flop"_m = a.work, "moved_bytes"_m = a.moved,
      "of_peak"_m = share((a.work / a.time) / a.limits.peak),
      "of_bandwidth"_m = share((a.moved / a.time) / a.limits.bandwidth), "roofline_s"_m = a.roofline(),
      "helps"_m = list(a.effects, [](const Effect& e) { return row("change"_m = e.change, "time_ratio"_m = e.time); }),
      "notes"_m = a.notes, "curve"_m = a.why);
}

}  // namespace headroom::cli
