// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/views/json_members.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_money.hpp>
#include <headroom/core/number_words.hpp>

#include <cmath>

namespace headroom {
namespace {

/// "2.99 $/h" or, of an API, what a million tokens cost.
std::string price_cell(const Alternative& a) {
  return a.price.price ? format(*a.price.price) : format(*a.per_million) + " per M";
}

std::string cost_cell(const Alternative& a) {
  if (a.cost) {
    return interval_text(*a.cost);
  }
  return a.per_million ? format(*a.per_million) + " per M output tokens" : std::string{};
}

std::string items_text(const Bill& bill) {
  Table table{{"bill", "", "source"}};
  table.left(1), table.left(2);
  for (const BillItem& item : bill.items) {
    table.row(
        {item.item, interval_text(item.cost),
         item.source + (item.date.empty() || item.source.ends_with(item.date) ? std::string{} : ", " + item.date)});
  }
  table.row({"total", interval_text(bill.total), ""});
  return table.text();
}

std::string alternatives_text(const Bill& bill) {
  Table table{{"other ways to pay", "", "", "source"}};
  table.left(2), table.left(3);
  std::string sentences;
  for (const Alternative& a : bill.alternatives) {
    table.row({a.price.name, price_cell(a), cost_cell(a), a.price.source});
    sentences += a.break_even ? "  " + a.price.name + ": " + a.break_even->text + "\n" : "";
  }
  return table.text() + sentences;
}

std::string variants_text(const std::vector<Variant>& variants) {
  Table table{{"what if", "FLOP", "time", "cost", ""}};
  table.left(4);
  for (const Variant& v : variants) {
    table.row({v.what, format_number(v.flops), format_number(v.time), v.cost ? format(*v.cost) : "-", v.basis});
  }
  return table.text();
}

void dated(JsonWriter& json, std::string_view source, std::string_view date) {
  json.member("source", source);
  json.key("date");
  date.empty() ? json.null() : json.text(date);
}

void word(JsonWriter& json, std::string_view name, const std::string& value) {
  json.key(name);
  value.empty() ? json.null() : json.text(value);
}

void bill_members(JsonWriter& json, const Bill& bill) {
  json.key("bill");
  json.begin_array();
  for (const BillItem& item : bill.items) {
    json.begin_object();
    json.member("item", std::string_view{item.item});
    interval(json, "usd", item.cost);
    dated(json, item.source, item.date);
    json.end_object();
  }
  json.end_array();
  if (!bill.items.empty()) {
    interval(json, "total_usd", bill.total);
  }
}

void alternative_members(JsonWriter& json, const std::vector<Alternative>& alternatives) {
  json.key("alternatives");
  json.begin_array();
  for (const Alternative& a : alternatives) {
    json.begin_object();
    json.member("name", std::string_view{a.price.name});
    word(json, "market", a.price.market);
    word(json, "region", a.price.region);
    if (a.price.price) {
      json.member("price_usd_per_gpu_s", a.price.price->raw());
    }
    dated(json, a.price.source, a.price.date);
    if (a.cost) {
      interval(json, "usd", *a.cost);
    }
    if (a.per_million) {
      json.member("usd_per_million_output_tokens", a.per_million->raw());
    }
    if (a.break_even) {
      json.key("break_even");
      json.begin_object();
      json.member("value", a.break_even->value);
      json.member("unit", std::string_view{a.break_even->unit});
      json.member("text", std::string_view{a.break_even->text});
      json.end_object();
    }
    json.end_object();
  }
  json.end_array();
}

void variant_members(JsonWriter& json, const std::vector<Variant>& variants) {
  json.key("what_if");
  json.begin_array();
  for (const Variant& v : variants) {
    json.compact_next();
    json.begin_object();
    json.member("what", std::string_view{v.what});
    json.member("flops", v.flops);
    json.member("time", v.time);
    if (v.cost) {
      json.member("usd", v.cost->raw());
    }
    json.member("basis", std::string_view{v.basis});
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string price_text(const Money& money) {
  if (!money.price) {
    return "\nno price given: add [money] price = \"... $/h\" with its date, or prices = \"ID\" (see 'headroom catalog "
           "list prices')\n";
  }
  std::string text = "  price " + format(*money.price) + " per GPU (" + money.source + ")\n";
  for (const PricePart& part : money.parts) {
    text += "    " + std::string{part.name} + " " + format(part.per_gpu);
    text += part.name == "electricity"
                ? ", " + format(money.owned->terms.power) + " a GPU: " + money.owned->power_source
                : std::string{};
    text += "\n";
  }
  return text;
}

std::string energy_text(const std::optional<PlanEnergy>& energy) {
  if (!energy) {
    return {};
  }
  const PlanEnergy& e = *energy;
  std::string text = "  power " + format(e.gpu) + " a GPU of " + format(e.model.cap.value_or(e.model.tdp)) + ", " +
                     format(e.host) + " of host beside it; " +
                     (e.pue ? "PUE " + format_number(*e.pue) : std::string{"no PUE stated: the machines alone"}) + "\n";
  if (e.nodes_per_rack) {
    text += "  rack: " + format_count(*e.nodes_per_rack) + " nodes of " + format(e.node) + " at their GPUs' limit\n";
  }
  return text;
}

void energy_row(Table& table, const std::optional<PlanEnergy>& energy, std::string_view items) {
  if (!energy) {
    return;
  }
  const bool runs = energy->run.mid > Joules{};
  const std::string priced = energy->dollars ? ", " + format(energy->dollars->mid) + " of electricity" : std::string{};
  table.row({runs ? std::string{"energy"} : "energy per M " + std::string{items},
             interval_text(runs ? energy->run : energy->per_million) + priced});
}

std::string bill_text(const Bill& bill, const std::vector<Variant>& variants) {
  std::string text = bill.several() ? "\n" + items_text(bill) : std::string{};
  text += bill.alternatives.empty() ? "" : "\n" + alternatives_text(bill);
  return text + (variants.empty() ? "" : "\n" + variants_text(variants));
}

void money_members(JsonWriter& json, const Money& money, const Bill& bill, const std::vector<Variant>& variants) {
  if (!money.price) {
    return;
  }
  json.key("money");
  json.begin_object();
  json.member("price_usd_per_gpu_s", money.price->raw());
  json.member("price_source", std::string_view{money.source});
  word(json, "price_date", money.date);
  word(json, "market", money.market);
  word(json, "region", money.region);
  if (!money.parts.empty()) {
    json.key("price_parts_usd_per_gpu_s");
    json.compact_next();
    json.begin_object();
    for (const PricePart& part : money.parts) {
      json.member(part.name, part.per_gpu.raw());
    }
    json.end_object();
  }
  bill_members(json, bill);
  alternative_members(json, bill.alternatives);
  if (!variants.empty()) {
    variant_members(json, variants);
  }
  json.end_object();
}

void energy_members(JsonWriter& json, const std::optional<PlanEnergy>& energy, std::string_view per_million) {
  if (!energy) {
    return;
  }
  const PlanEnergy& e = *energy;
  json.key("energy");
  json.begin_object();
  json.member("gpu_power_w", e.gpu.raw());
  json.member("host_power_w_per_gpu", e.host.raw());
  json.member("node_power_w", e.node.raw());
  if (e.model.cap) {
    json.member("power_cap_w", e.model.cap->raw());
    json.member("clock", e.clock);
  }
  if (e.step.mid > Joules{}) {
    interval(json, "step_j", e.step);
  }
  if (e.run.mid > Joules{}) {
    interval(json, "run_j", e.run);
  }
  interval(json, per_million, e.per_million);
  json.key("pue");
  e.pue ? json.number(*e.pue) : json.null();
  if (e.dollars) {
    interval(json, "electricity_usd", *e.dollars);
  }
  if (e.nodes_per_rack) {
    json.member("nodes_per_rack", *e.nodes_per_rack);
  }
  json.key("parts");
  json.begin_array();
  for (const EnergyPart& part : e.parts) {
    json.compact_next();
    json.begin_object();
    json.member("kind", draw_names[static_cast<std::size_t>(part.kind)]);
    json.member("share", part.share);
    json.member("power_w", part.power.raw());
    json.end_object();
  }
  json.end_array();
  json.member("source", std::string_view{e.source});
  json.end_object();
}

}  // namespace headroom
