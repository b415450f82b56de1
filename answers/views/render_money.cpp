// SPDX-License-Identifier: Apache-2.0
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
  Table table{{"bill", "<", "<source"}};
  for (const BillItem& item : bill.items) {
    table.row(
        {item.item, interval_text(item.cost),
         item.source + (item.date.empty() || item.source.ends_with(item.date) ? std::string{} : ", " + item.date)});
  }
  table.row({"total", interval_text(bill.total), ""});
  return table.text();
}

std::string alternatives_text(const Bill& bill) {
  Table table{{"other ways to pay", "", "<", "<source"}};
  std::string sentences;
  for (const Alternative& a : bill.alternatives) {
    table.row({a.price.name, price_cell(a), cost_cell(a), a.price.source});
    sentences += a.break_even ? "  " + a.price.name + ": " + a.break_even->text + "\n" : "";
  }
  return table.text() + sentences;
}

std::string variants_text(const std::vector<Variant>& variants) {
  Table table{{"what if", "FLOP", "time", "cost", "<"}};
  for (const Variant& v : variants) {
    table.row({v.what, format_number(v.flops), format_number(v.time), v.cost ? format(*v.cost) : "-", v.basis});
  }
  return table.text();
}

Value dated(const std::string& source, const std::string& date) {
  return object("source"_m = source, "date"_m = or_null(date));
}

Value bill_value(const Bill& bill) {
  return object("bill"_m = list(bill.items,
                                [](const BillItem& item) {
                                  return object("item"_m = item.item, "usd"_m = item.cost,
                                                dated(item.source, item.date));
                                }),
                "total_usd"_m = when(!bill.items.empty(), bill.total));
}

Value alternative(const Alternative& a) {
  return object("name"_m = a.price.name, "market"_m = or_null(std::string{name_of(a.price.market)}),
                "region"_m = or_null(a.price.region), "price_usd_per_s_per_gpu"_m = a.price.price,
                dated(a.price.source, a.price.date), "usd"_m = a.cost,
                "usd_per_million_output_tokens"_m = a.per_million,
                "break_even"_m = a.break_even ? object("value"_m = a.break_even->value, "unit"_m = a.break_even->unit,
                                                       "text"_m = a.break_even->text)
                                              : Value{});
}

Value variant(const Variant& v) {
  return row("what"_m = v.what, "flops"_m = share(v.flops), "time"_m = share(v.time), "usd"_m = v.cost,
             "basis"_m = v.basis);
}

Value price_parts(const std::vector<PricePart>& parts) {
  Value object = row();
  for (const PricePart& part : parts) {
    object.add({std::string{part.name()}, part.per_gpu});
  }
  return when(!parts.empty(), std::move(object));
}

}  // namespace

std::string price_text(const Money& money) {
  if (!money.price) {
    return "\nno price given: add [money] price = \"... $/h\" with its date, or prices = \"ID\" (see 'headroom catalog "
           "list prices')\n";
  }
  std::string text = "  price " + format(*money.price) + " per GPU (" + money.source + ")\n";
  for (const PricePart& part : money.parts) {
    text += "    " + std::string{part.name()} + " " + format(part.per_gpu);
    text += part.part == CostPart::electricity
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
  if (e.phases) {
    text += "  of it, by phase: idle " + format(e.phases->idle) + ", prompts " + format(e.phases->prefill) +
            ", decodes " + format(e.phases->decode) + "\n";
  }
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

Value money_value(const Money& money, const Bill& bill, const std::vector<Variant>& variants) {
  return money.price
             ? object(price(money), "price_date"_m = or_null(money.date),
                      "market"_m = or_null(std::string{name_of(money.market)}), "region"_m = or_null(money.region),
                      "price_parts_usd_per_s_per_gpu"_m = price_parts(money.parts), bill_value(bill),
                      "alternatives"_m = list(bill.alternatives, alternative),
                      "what_if"_m = when(!variants.empty(), list(variants, variant)))
             : Value{};
}

Value energy_value(const std::optional<PlanEnergy>& energy, std::string_view per_million) {
  if (!energy) {
    return {};
  }
  const PlanEnergy& e = *energy;
  return object("gpu_power_w"_m = e.gpu, "host_power_w_per_gpu"_m = e.host, "node_power_w"_m = e.node,
                "idle_power_w"_m = e.phases ? Value{e.phases->idle} : Value{},
                "prefill_power_w"_m = e.phases ? Value{e.phases->prefill} : Value{},
                "decode_power_w"_m = e.phases ? Value{e.phases->decode} : Value{}, "power_cap_w"_m = e.model.cap,
                "clock"_m = when(e.model.cap.has_value(), e.clock), "step_j"_m = when(e.step.mid > Joules{}, e.step),
                "run_j"_m = when(e.run.mid > Joules{}, e.run), Member{std::string{per_million}, e.per_million},
                "pue"_m = or_null(e.pue), "electricity_usd"_m = e.dollars, "nodes_per_rack"_m = e.nodes_per_rack,
                "parts"_m = list(e.parts,
                                 [](const EnergyPart& part) {
                                   return row("kind"_m = draw_names[static_cast<std::size_t>(part.kind)],
                                              "share"_m = share(part.share), "power_w"_m = part.power);
                                 }),
                "source"_m = e.source);
}

}  // namespace headroom
