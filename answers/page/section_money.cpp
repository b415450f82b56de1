// SPDX-License-Identifier: Apache-2.0
// Where the dollars, the joules and the calendar go.
#include <headroom/answers/page/sections.hpp>
#include <headroom/answers/page/serving_parts.hpp>

namespace headroom::report {
namespace {

/// "source, region, date" of a number, what the source does not say of itself.
std::string provenance(const Place& number) {
  std::string text = number["source"].text();
  for (const std::string_view member : {"region", "date"}) {
    const std::string more = number[member].text();
    if (!more.empty() && text.find(more) == std::string::npos) {
      text += (text.empty() ? "" : ", ") + more;
    }
  }
  return escaped(text);
}

std::string bill_table(const Place& money) {
  HtmlTable table{"bill", {"<where the dollars go", "", "<80 % interval", "of the bill", "<source"}};
  const Place total = money["total_usd"]["mid"];
  for (const Place& item : money["bill"].items()) {
    table.row({escaped(words(item["item"].text())), figure(middle(item["usd"])), range(item["usd"]),
               share(middle(item["usd"]), total), provenance(item)});
  }
  if (!table.empty() && total.is_number()) {
    table.row({"the whole bill", figure(total), range(money["total_usd"]), "", ""}, "sum");
  }
  return table.html();
}

/// When another way to pay is worth it: "useful share 61 %: below it on-demand is cheaper".
std::string break_even(const Place& alternative) {
  const Place at = alternative["break_even"];
  return at["text"].there() ? escaped(at["text"].text()) : figure(at["value"]) + escaped(at["unit"].text());
}

std::string alternatives_table(const Place& money) {
  HtmlTable table{"other ways to pay",
                  {"<other ways to pay", "<market", "per GPU", "per M output tokens", "the run", "<80 % interval",
                   "<<breaks even", "<<source"}};
  for (const Place& a : money["alternatives"].items()) {
    table.row({escaped(a["name"].text()), escaped(a["market"].text()), figure(a["price_usd_per_s_per_gpu"]),
               figure(a["usd_per_million_output_tokens"]), figure(middle(a["usd"])), range(a["usd"]), break_even(a),
               provenance(a)});
  }
  return table.html();
}

/// What a GPU-hour of hardware of one's own is made of.
std::string price_parts(const Place& money) {
  HtmlTable table{"a GPU-hour", {"<a GPU-hour", ""}};
  const Place parts = money["price_parts_usd_per_s_per_gpu"];
  for (const std::string& name : parts.members()) {
    table.row({escaped(words(name)), figure(parts[name])});
  }
  return table.html();
}

std::string what_if_table(const Place& variants) {
  HtmlTable table{"what if",
                  {"<what if", "FLOP, of the plan's", "time, of the plan's", "cost", "<<on what that rests"}};
  for (const Place& v : variants.items()) {
    table.row({escaped(v["what"].text()), figure(v["flops"]), figure(v["time"]), figure(v["usd"]),
               escaped(v["basis"].text())});
  }
  return table.html();
}

std::string energy_part(const Place& energy) {
  if (!energy.there()) {
    return {};
  }
  HtmlTable parts{"power by what runs", {"<while", "of the step", "power of a GPU"}};
  for (const Place& part : energy["parts"].items()) {
    parts.row({escaped(words(part["kind"].text())), figure(part["share"]), figure(part["power_w"])});
  }
  return "<h3>Energy</h3>\n" + member_table("energy", energy) + details("Power by what runs", parts.html());
}

}  // namespace

std::string money_section(const Documents& documents) {
  const Place plan = bearer_of(documents);
  const Place money = plan["money"];
  const Place& priced = money["price_usd_per_s_per_gpu"].there() ? money : plan;
  std::string lead;
  if (priced["price_usd_per_s_per_gpu"].there()) {
    lead =
        "A GPU at " + figure(priced["price_usd_per_s_per_gpu"]) + " (" + escaped(priced["price_source"].text()) + ").";
  }
  if (const Place hourly = plan["cost"]["price_usd_per_s_per_gpu"]; hourly.there()) {
    lead = "A GPU at " + figure(hourly) + " (" + escaped(plan["cost"]["price_source"].text()) + ").";
  }
  std::string body = cost_part(documents);
  const std::size_t items = money["bill"].items().size();
  if (items > 0) {
    if (items > 1) {  // a single bar shows nothing
      body +=
          chart("bill", money, "Bars of the bill's items with their intervals; the table has the numbers", items + 1);
    }
    body += bill_table(money);
  } else if (plan["cost_usd"].there()) {
    HtmlTable table{"cost", {"<cost", "", "<80 % interval"}};
    table.row({"GPU-hours", figure(middle(plan["gpu_hours"])), range(plan["gpu_hours"])});
    table.row({"the run", figure(middle(plan["cost_usd"])), range(plan["cost_usd"])});
    table.row(
        {"a million tokens", figure(middle(plan["usd_per_million_tokens"])), range(plan["usd_per_million_tokens"])});
    body += table.html();
  }
  body +=
      price_parts(money) + alternatives_table(money) + what_if_table(money["what_if"]) + energy_part(plan["energy"]);
  return section("money", "Money and energy", lead, body);
}

std::string goodput_section(const Documents& documents) {
  const Place plan = plan_of(documents);
  const Place goodput = plan["goodput"];
  std::string body;
  if (goodput["shares"].there()) {
    HtmlTable table{"where the calendar goes", {"<where the calendar goes", "of the time"}};
    for (const std::string& name : goodput["shares"].members()) {
      table.row({term("g", name), figure(goodput["shares"][name])});
    }
    body += chart("calendar", goodput, "Bar of the shares of the calendar: useful work and what is lost", 2) +
            "<div class=\"pair even\">" + table.html() + member_table("goodput", goodput) + "</div>\n";
  }
  body += details("Checkpoints", member_table("checkpoint", goodput["checkpoint"])) +
          details("Simulated", member_table("simulated", goodput["simulated"]));
  const std::string target = member_table("target", plan["target"]);
  body += target.empty() ? "" : "<h3>Target</h3>\n" + target;
  return section("goodput", "Goodput and the calendar", "", body);
}

}  // namespace headroom::report
