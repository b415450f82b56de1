// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/cli/render/render_collective.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/model/collectives/collective_steps.hpp>

#include <utility>
#include <vector>

namespace headroom::cli {
namespace {

std::vector<TextbookTime> times_of(const LinkQuestion& q) {
  return textbook_times(q.collective, q.bytes, q.ranks, q.link, q.message);
}

BytesPerSecond busbw_of(const LinkQuestion& q, Seconds time) {
  return bytes_per_rank(q.collective, q.bytes, q.ranks) / time;
}

}  // namespace

std::string collective_text(const LinkQuestion& q) {
  const std::vector<TextbookTime> times = times_of(q);
  std::string text = std::string{name_of(q.collective)} + " of " + format(q.bytes) + " on " + counted(q.ranks, "rank") +
                     ", each with a link of " + format(q.link) + " in one direction, " +
                     (q.message > Seconds{} ? format(q.message) + " a message" : "messages cost nothing") + "\n\n";
  const Seconds best = times.front().time;
  Table table{{"", "<"}};
  table.row({"time", format(best) + ", " + std::string{times.front().algorithm}});
  table.row({"algbw", format(q.bytes / best)});
  table.row({"busbw", format(busbw_of(q, best))});
  table.row({"sent per rank", format(bytes_per_rank(q.collective, q.bytes, q.ranks))});
  text += table.text(0) + "\n";
  Table all{{"algorithm", "time"}};
  for (const TextbookTime& t : times) {
    all.row({std::string{t.algorithm}, format(t.time)});
  }
  return text + all.text(0) +
         "\ntextbook times on one switch that all links enter: what no software beats, not what NCCL reaches; --gpu ID "
         "prices that\n";
}

Value collective_document(const LinkQuestion& q) {
  const std::vector<TextbookTime> times = times_of(q);
  const Seconds best = times.front().time;
  return object("schema"_m = "headroom.collective/1", "collective"_m = name_of(q.collective), "bytes"_m = q.bytes,
                "gpus"_m = q.ranks, "link_bytes_per_s"_m = q.link, "message_s"_m = q.message, "time_s"_m = best,
                "algbw_bytes_per_s"_m = q.bytes / best, "busbw_bytes_per_s"_m = busbw_of(q, best),
                "sent_bytes_per_rank"_m = bytes_per_rank(q.collective, q.bytes, q.ranks),
                "algorithm"_m = times.front().algorithm, "algorithms"_m = list(times, [](const TextbookTime& t) {
                                                           return row("algorithm"_m = t.algorithm, "time_s"_m = t.time);
                                                         }));
}

}  // namespace headroom::cli
