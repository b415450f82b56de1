// SPDX-License-Identifier: Apache-2.0
// The parts of a report's page. Each reads its members from the documents and is empty where they are not there.
#pragma once

#include <headroom/answers/markup/html.hpp>
#include <headroom/answers/markup/place.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headroom::report {

/// The plan of an answer: of a search the one taken, else the answer itself.
[[nodiscard]] Place plan_of(const Documents& documents);

/// Whose money, energy and assumptions a page tells: the plan's, a fleet's, a simulation's.
[[nodiscard]] Place bearer_of(const Documents& documents);

/// What is asked, and of what; one line for the browser's title.
[[nodiscard]] std::string title_text(const Documents& documents);
[[nodiscard]] std::string heading(const Documents& documents);

/// The verdict with its ways out, and every headline number with its interval.
[[nodiscard]] std::string answer_section(const Documents& documents);

/// A number of the head of a page: `more` is HTML beside it.
struct NamedFigure {
  std::string label;
  Place place;
  std::string more;
};
/// The first of them as cards, the others as rows, with their intervals on one scale; `note` ends the key. Numbers that
/// are not there are left out.
[[nodiscard]] std::string headline_numbers(std::vector<NamedFigure> figures, std::string_view note);
/// A verdict in its colour: `kind` is "fits", "maybe" or "no".
[[nodiscard]] std::string verdict_line(std::string_view kind, std::string text);

/// Where the memory goes, where the step goes, what more hardware would buy, the ops of a layer against the roofs.
[[nodiscard]] std::string memory_section(const Documents& documents);
[[nodiscard]] std::string time_section(const Documents& documents);
[[nodiscard]] std::string roofline_section(const Documents& documents);

/// What a search found beside the plan taken; other numbers of GPUs; other batches, sweeps and lost hosts.
[[nodiscard]] std::string search_section(const Documents& documents);
[[nodiscard]] std::string scaling_section(const Documents& documents);
[[nodiscard]] std::string advice_section(const Documents& documents);
[[nodiscard]] std::string comparison_section(const Documents& documents);
[[nodiscard]] std::string fleets_section(const Documents& documents);

/// Of kind batch: the verdict with its numbers, calls by batch, requests and jobs, ways that were searched, the way of
/// samples, and what was assumed.
[[nodiscard]] std::string batch_answer(const Documents& documents);
[[nodiscard]] std::string calls_section(const Documents& documents);
[[nodiscard]] std::string load_of_batch_section(const Documents& documents);
[[nodiscard]] std::string choices_section(const Documents& documents);
[[nodiscard]] std::string pipeline_section(const Documents& documents);
[[nodiscard]] std::string replica_section(const Documents& documents);

/// Of classic machine learning: the verdict with both times, their parts, other sizes and cures.
[[nodiscard]] std::string classic_answer(const Documents& documents);
[[nodiscard]] std::string sizes_section(const Documents& documents);

/// Of a cluster: the verdict with its numbers, who holds which GPUs when, pools, tenants and jobs, what credit was
/// booked, other orders and one more node, rollouts.
[[nodiscard]] std::string cluster_answer(const Documents& documents);
[[nodiscard]] std::string timeline_section(const Documents& documents);
[[nodiscard]] std::string cluster_section(const Documents& documents);
[[nodiscard]] std::string ledger_section(const Documents& documents);
[[nodiscard]] std::string beside_cluster_section(const Documents& documents);

/// Of post-training: the verdict, its phases over time, and ways to lay it out.
[[nodiscard]] std::string post_training_answer(const Documents& documents);
[[nodiscard]] std::string post_training_section(const Documents& documents);

/// Of tenants on one card: the verdict, ways to share it, and what each tenant gets.
[[nodiscard]] std::string sharing_answer(const Documents& documents);
[[nodiscard]] std::string sharing_section(const Documents& documents);

/// Of stated GPUs under fixed loads: tokens/s per GPU against tokens/s per user.
[[nodiscard]] std::string box_section(const Documents& documents);

/// Of a fleet and of a simulation: ways to serve, times and promises, other rates, how full the replicas are, a day.
[[nodiscard]] std::string fleet_section(const Documents& documents);
[[nodiscard]] std::string times_section(const Documents& documents);
[[nodiscard]] std::string load_section(const Documents& documents);
[[nodiscard]] std::string replicas_section(const Documents& documents);
[[nodiscard]] std::string day_section(const Documents& documents);
/// Objects of the answer that no other part shows, member by member.
[[nodiscard]] std::string more_section(const Documents& documents);

/// Where the dollars and the joules go; where the calendar goes.
[[nodiscard]] std::string money_section(const Documents& documents);
[[nodiscard]] std::string goodput_section(const Documents& documents);

/// How far off this class of prediction has been; how terms came about; what was assumed and from whom numbers are.
[[nodiscard]] std::string accuracy_section(const Documents& documents);
[[nodiscard]] std::string explain_section(const Documents& documents);
[[nodiscard]] std::string sources_section(const Documents& documents);

/// Of a fit: curves with their errors beside the base, every sample against its curve, what was measured on.
[[nodiscard]] std::string fit_section(const Documents& documents);
[[nodiscard]] std::string curves_section(const Documents& documents);
[[nodiscard]] std::string conditions_section(const Documents& documents);

/// "tp 8, pp 4, dp 16, ...": what of a strategy's members is not as usual.
[[nodiscard]] std::vector<std::string> strategy_words(const Place& strategy);

/// Name and value of the members that are numbers, intervals or short texts, with the unit that their names say;
/// nothing of an absent object.
[[nodiscard]] std::string member_table(const std::string& label, const Place& object);

/// The same under a heading of its label.
[[nodiscard]] std::string object_table(const std::string& label, const Place& object);
/// Under a heading, a table of the members of each item of a list, in the document's order; those without any value are
/// left out.
[[nodiscard]] std::string items_table(const std::string& label,
                                      const Place& list,
                                      const std::vector<std::string_view>& members);

/// The strings of an array as a list.
[[nodiscard]] std::string text_list(const Place& array);

}  // namespace headroom::report
