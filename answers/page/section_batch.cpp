// SPDX-License-Identifier: Apache-2.0
// The parts of the page of kind batch: calls of a network, requests, clients, jobs, and the way of samples.
#include <headroom/answers/page/sections.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::report {
namespace {

std::string tails_table(const std::string& label, const Place& list) {
  return items_table(label, list,
                     {"max_batch", "window_s", "mean_batch", "utilisation", "latency_mean_s", "latency_p95_s",
                      "latency_p99_s", "latency_p999_s"});
}

}  // namespace

std::string items_table(const std::string& label, const Place& list, const std::vector<std::string_view>& members) {
  const std::vector<Place> items = list.items();
  if (items.empty()) {
    return {};
  }
  std::vector<std::string> titles;
  titles.reserve(members.size());
  for (const std::string_view member : members) {
    titles.push_back((titles.empty() ? "<" : "") + label_of(member));
  }
  HtmlTable table{label, titles};
  for (const Place& item : items) {
    std::vector<std::string> cells;
    for (const std::string_view member : members) {
      const Place value = middle(item[member]);
      cells.push_back(value.is_number() || value.is_text() ? figure(value) : escaped(value.text()));
    }
    table.row(std::move(cells));
  }
  return "<h3>" + escaped(label) + "</h3>\n" + table.html();
}

std::string object_table(const std::string& label, const Place& object) {
  const std::string table = member_table(label, object);
  return table.empty() ? table : "<h3>" + escaped(label) + "</h3>\n" + table;
}

std::string batch_answer(const Documents& documents) {
  const Place batch = documents.find("batch");
  if (!batch.there()) {
    return {};
  }
  const bool fits = batch["verdict"].text() == "feasible";
  const Place requests = batch["requests"], job = batch["job"], clients = batch["clients"];
  const auto verdict_of = [&](const Place& part) {
    return (part["holds"].is_true() ? std::string{"take "} : std::string{"does not hold: "}) + part["gpus"].text() +
           " x " + batch["gpu"].text();
  };
  std::string text;
  for (const Place& part : {requests, job}) {
    if (part.there()) {
      text += verdict_line(part["holds"].is_true() ? "fits" : "no", verdict_of(part));
      const std::string why = part["why"].text();
      text += why.empty() ? "" : paragraph("note", escaped(why));
    }
  }
  if (text.empty()) {
    text = verdict_line(fits ? "fits" : "no", fits ? "fits" : "does not fit");
  }
  const std::string why = batch["why"].text();
  text += why.empty() ? "" : paragraph("note", escaped(why));
  text += headline_numbers({{"GPUs for the requests", requests["gpus"], ""},
                            {"p95", requests["taken"]["latency_p95_s"], ""},
                            {"p99", requests["taken"]["latency_p99_s"], ""},
                            {"requests at the peak", requests["peak_requests_per_s"], ""},
                            {"busy at the mean", requests["mean_utilisation"], ""},
                            {"streams", requests["streams"], ""},
                            {"a million requests", requests["usd_per_million_requests"], ""},
                            {"samples of the clients", clients["samples_per_s"], ""},
                            {"GPUs for the job", job["gpus"], ""},
                            {"half of runs end within", job["time_p50_s"], ""},
                            {"95 % of runs", job["time_p95_s"], ""},
                            {"the job costs", job["cost_usd"], ""},
                            {"a million records", job["usd_per_million_records"], ""},
                            {"probability of the deadline", job["probability"], ""}},
                           "");
  if (batch["binds"].there()) {
    text += paragraph("note", "Binds: " + escaped(batch["binds"].text()));
  }
  return text;
}

std::string calls_section(const Documents& documents) {
  const Place batch = documents.find("batch");
  std::string source = escaped(batch["call_width_source"].text());
  return section("calls", "Calls", source.empty() ? "" : "Intervals: " + source + ".",
                 items_table("calls by batch", batch["calls"],
                             {"batch", "time_s", "samples_per_s", "memory_bytes", "fits", "measured"}));
}

std::string load_of_batch_section(const Documents& documents) {
  const Place batch = documents.find("batch");
  const Place requests = batch["requests"];
  return section("requests", "Requests, clients, jobs", "",
                 object_table("taken", requests["taken"]) + tails_table("other windows", requests["windows"]) +
                     tails_table("other batches", requests["batches"]) +
                     items_table("classes", requests["classes"],
                                 {"name", "latency_p50_s", "latency_p95_s", "latency_p99_s", "late", "dropped"}) +
                     object_table("clients in a loop", batch["clients"]) + object_table("job", batch["job"]) +
                     object_table("rack", batch["rack"]));
}

std::string choices_section(const Documents& documents) {
  const Place batch = documents.find("batch");
  return section("choices", "Which GPU", "What was searched, the one taken first.",
                 items_table("choices", batch["choices"],
                             {"gpu", "engine", "precision", "instances", "gpus", "holds", "usd_per_million_samples",
                              "samples_per_usd"}));
}

std::string pipeline_section(const Documents& documents) {
  const Place pipeline = documents.find("batch")["pipeline"];
  return section(
      "pipeline", "The way of the samples", "",
      object_table("of one host", pipeline) +
          items_table("stages", pipeline["stages"], {"name", "on", "time_s", "share", "samples_per_s", "needed"}) +
          object_table("each stage at its best place", pipeline["best"]) + object_table("copies", pipeline["copy"]) +
          object_table("cache", pipeline["cache"]) + object_table("kept on the GPU", pipeline["resident"]) +
          object_table("reads", pipeline["reads"]) +
          items_table("loader", pipeline["loader"]["by_prefetch"],
                      {"prefetch", "busy", "waiting", "stall_s", "stall_p99_s"}));
}

std::string replica_section(const Documents& documents) {
  const Place batch = documents.find("batch");
  std::string body =
      object_table("the replica", batch["serving"]) + object_table("its ranks", batch["serving"]["layout"]);
  body += items_table("tried", batch["tried"], {"in_flight", "fits", "records_per_s_per_gpu", "why"});
  const std::string assumed = text_list(batch["assumptions"]), notes = text_list(batch["notes"]);
  body += assumed.empty() ? "" : "<h3>Assumed</h3>\n" + assumed;
  body += notes.empty() ? "" : "<h3>Also</h3>\n" + notes;
  return section("assumed", "Behind it", "", body);
}

}  // namespace headroom::report
