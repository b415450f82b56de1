// SPDX-License-Identifier: Apache-2.0
// The parts of the page of post-training.
#include <headroom/answers/page/sections.hpp>
#include <headroom/answers/post_training/phase_timeline.hpp>

#include <string>
#include <vector>

namespace headroom::report {
namespace {

std::string placements_table(const std::vector<Place>& ways) {
  HtmlTable table{"ways to lay the step out",
                  {"<placement", "<order", "GPUs that sample", "GPUs that train", "rollout", "train side", "step",
                   "engines idle", "trainers idle", "<why not"}};
  for (const Place& way : ways) {
    table.row({escaped(way["placement"].text()), escaped(way["order"].text()), figure(way["rollout_gpus"]),
               figure(way["train_gpus"]), figure(way["rollout_busy_s"]), figure(way["train_busy_s"]),
               way["possible"].is_true() ? figure(way["step_s"]) : "impossible", figure(way["rollout_idle"]),
               figure(way["train_idle"]), escaped(way["why_not"].text())});
  }
  return table.html();
}

std::string balanced_table(const std::vector<Place>& stages) {
  HtmlTable table{"stages", {"<stage", "GPUs", "exact", "units/s", "idle"}};
  for (const Place& stage : stages) {
    table.row({escaped(stage["name"].text()), figure(stage["gpus"]), figure(stage["gpus_exact"]),
               figure(stage["units_per_s"]), figure(stage["idle"])});
  }
  return table.html();
}

}  // namespace

std::string post_training_answer(const Documents& documents) {
  const Place answer = documents.find("post_training");
  if (!answer.there()) {
    return {};
  }
  return verdict_line(answer["verdict"].text() == "feasible" ? "fits" : "no", answer["verdict_text"].text()) +
         headline_numbers({{"a step", answer["step_s"], ""},
                           {"samples/s", answer["samples_per_s"], ""},
                           {"tokens/s", answer["tokens_per_s"], ""},
                           {"the run", answer["run_s"], ""},
                           {"costs", answer["run_usd"], ""},
                           {"units of the flow a second", answer["flow_units_per_s"], ""}},
                          "");
}

std::string post_training_section(const Documents& documents) {
  const Place answer = documents.find("post_training");
  const std::vector<Place> ways = answer["ways"].items(), stages = answer["stages"].items();
  if (ways.empty() && stages.empty()) {
    return {};
  }
  std::string body = phase_timeline(answer);
  body += ways.empty() ? std::string{} : placements_table(ways);
  body += stages.empty() ? std::string{} : balanced_table(stages);
  const std::string notes = text_list(answer["notes"]);
  body += notes.empty() ? "" : "<h3>Notes</h3>\n" + notes;
  return section("post-training", "Phases and pools", "", body);
}

}  // namespace headroom::report
