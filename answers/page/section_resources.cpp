// SPDX-License-Identifier: Apache-2.0
// Where the memory of a GPU and the time of a step go, and the ops behind them.
#include <headroom/answers/page/sections.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::report {
namespace {

/// The KV cache of a serving plan.
std::string cache_table(const Place& plan) {
  struct Row {
    std::string_view member, label;
  };
  constexpr std::array rows{Row{"kv_pool_bytes", "pool of a GPU"},
                            Row{"kv_bytes_per_token", "a token of the whole model"},
                            Row{"kv_bytes_per_sequence", "a sequence, per GPU"},
                            Row{"kv_capacity_sequences", "sequences held"},
                            Row{"max_sequences", "of them run at once"},
                            Row{"kv_in_use_bytes", "in use by the batch"},
                            Row{"longest_sequence_tokens", "longest sequence, tokens"}};
  HtmlTable table{"KV cache", {"<KV cache", ""}};
  for (const Row& row : rows) {
    if (plan[row.member].there()) {
      table.row({escaped(row.label), with_range(plan[row.member])});
    }
  }
  return table.html();
}

std::string memory_table(const Place& plan) {
  const Place terms = plan["memory_terms_bytes"];
  const Place capacity = plan["capacity_bytes"];
  HtmlTable table{"memory of the fullest GPU", {"<memory of the fullest GPU", "", "of capacity"}};
  const auto total = [&](std::string_view name, const Place& bytes) {
    if (bytes.is_number()) {
      table.row({escaped(name), figure(bytes), share(bytes, capacity)}, "sum");
    }
  };
  for (const std::string& name : terms.members()) {
    // Three numbers that logs print: what tensors take, what the allocator holds, what the device shows.
    if (name == "fragmentation") {
      total("live", plan["memory_live_bytes"]);
    } else if (name == "framework") {
      total("reserved", plan["memory_reserved_bytes"]);
    }
    if (terms[name].is_number() && terms[name].number() > 0.0) {
      table.row({term("m", name), figure(terms[name]), share(terms[name], capacity)});
    }
  }
  total("device", plan["memory_bytes"]["mid"]);
  if (const std::string ends = range(plan["memory_bytes"]); !ends.empty()) {
    table.row({"80 % interval", ends, ""}, "sum");
  }
  table.row({"capacity", figure(capacity), ""}, "sum");
  return table.html();
}

/// Of a replica that serves: its terms without an interval of their own.
std::string served_memory(const Place& memory) {
  const Place terms = memory["terms_bytes"];
  const Place capacity = memory["capacity_bytes"];
  HtmlTable table{"memory of the fullest GPU", {"<memory of the fullest GPU", "", "of capacity"}};
  for (const std::string& name : terms.members()) {
    table.row({term("m", name), figure(terms[name]), share(terms[name], capacity)});
  }
  table.row({"total", figure(memory["total_bytes"]), share(memory["total_bytes"], capacity)}, "sum");
  table.row({"capacity", figure(capacity), ""}, "sum");
  return section(
      "memory", "Memory of a replica", "",
      "<div class=\"pair\">" +
          chart("memory", memory,
                "Stack of what a GPU's memory holds, by term, against its capacity; the table has the numbers",
                terms.members().size() + 3) +
          "<div>" + table.html() + "</div></div>\n");
}

/// The moment of the peak.
std::string peak_text(const Place& plan) {
  if (plan["peak_moment"].there()) {
    return "At the peak, " + escaped(plan["peak_moment"].text()) + ".";
  }
  if (!plan["memory_peak_moment"].there()) {
    return {};
  }
  return "At the peak, " + escaped(plan["memory_peak_moment"].text()) + ", on stage " +
         figure(plan["memory_peak_stage"]) + " of " + figure(plan["strategy"]["pp"]) + " with " +
         figure(plan["memory_in_flight_micro_batches"]) + " micro-batches in flight.";
}

std::string time_table(const Place& plan) {
  const Place terms = plan["step_terms_s"];
  const Place step = plan["step_time_s"]["mid"];
  HtmlTable table{"time of a step", {"<time of a step", "", "of the step"}};
  for (const std::string& name : terms.members()) {
    constexpr double visible = 1e-6;  // of the step
    if (terms[name].is_number() && std::abs(terms[name].number() / step.number()) > visible) {
      table.row({term("t", name), figure(terms[name]), share(terms[name], step)});
    }
  }
  table.row({"step", figure(step), ""}, "sum");
  table.row({"80 % interval", range(plan["step_time_s"]), ""}, "sum");
  return table.html();
}

/// What more of each part of the hardware would buy.
std::string sensitivity_table(const Place& all) {
  HtmlTable table{"what more hardware would buy",
                  {"<more of", "by", "the step is faster by", "step then", "<with another strategy"}};
  for (const Place& s : all.items()) {
    std::string with;
    for (const std::string_view member : {"micro_batch", "recompute"}) {
      with += s[member].there() ? (with.empty() ? "" : ", ") + words(member) + " " + escaped(s[member].text()) : "";
    }
    if (const Place today = s["today"]; today.there()) {
      with += (with.empty() ? "" : "; ") + ("recompute " + escaped(today["recompute"].text())) + ", micro-batch " +
              figure(today["micro_batch"]) + " fits today and is " + figure(today["faster"]) + " faster";
    }
    table.row(
        {escaped(words(s["resource"].text())), figure(s["more"]), figure(s["faster"]), figure(s["step_time_s"]), with});
  }
  return table.html();
}

}  // namespace

std::string memory_section(const Documents& documents) {
  if (const Place memory = bearer_of(documents)["memory"]; memory["terms_bytes"].there()) {
    return served_memory(memory);
  }
  const Place plan = plan_of(documents);
  const std::size_t terms = plan["memory_terms_bytes"].members().size();
  if (terms == 0) {
    return {};
  }
  const std::string picture =
      chart("memory", plan,
            "Stack of what a GPU's memory holds, by term, against its capacity; the table has the numbers", terms + 3);
  return section("memory", "Memory", peak_text(plan),
                 "<div class=\"pair\">" + picture + "<div>" + memory_table(plan) + cache_table(plan) +
                     "</div></div>\n" +
                     details("What is kept off the device", member_table("offloaded", plan["offloaded"])));
}

std::string time_section(const Documents& documents) {
  const Place plan = plan_of(documents);
  const std::size_t terms = plan["step_terms_s"].members().size();
  if (terms == 0 || !plan["step_time_s"]["mid"].is_number()) {
    return {};
  }
  const std::string picture = chart(
      "waterfall", plan, "Waterfall of a step's exposed times, term after term; the table has the numbers", terms + 1);
  const std::string more = sensitivity_table(plan["sensitivities"]);
  return section("time", "Time of a step", "Only what is exposed counts: communication behind compute takes no time.",
                 "<div class=\"pair\">" + picture + time_table(plan) + "</div>\n" + more +
                     details("What the host has to deliver", member_table("data loading", plan["data"])));
}

std::string roofline_section(const Documents& documents) {
  const Place roofs = documents.find("roofline");
  HtmlTable table{"ops of a layer",
                  {"<op", "<phase", "layers", "time", "work", "moved", "FLOP/byte", "rate", "of roof", "<bound by"}};
  for (const Place& row : roofs["rows"].items()) {
    table.row({escaped(row["op"].text()), escaped(row["phase"].text()), figure(row["layers"]), figure(row["time_s"]),
               figure(row["flop"]), figure(row["moved_bytes"]), figure(row["flop_per_byte"]), figure(row["flop_per_s"]),
               figure(row["of_roof"]), escaped(row["bound"].text())});
  }
  if (table.empty()) {
    return {};
  }
  const std::string lead = "Peak " + figure(roofs["peak_flop_per_s"]) + ", memory " +
                           figure(roofs["bandwidth_bytes_per_s"]) + ": ops left of the ridge at " +
                           figure(roofs["ridge_flop_per_byte"]) +
                           " FLOP/byte are bound by memory, those right of it by arithmetic.";
  return section(
      "roofline", "Ops of a layer against the roofs", lead,
      chart("roofline", roofs, "Roofline: every op's rate over its FLOP per byte; the table has the numbers") +
          details("Every op", table.html()));
}

}  // namespace headroom::report
