// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/cli/render/render_series.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

#include <utility>

namespace headroom::cli {
namespace {

std::vector<CompressedSeries> forms_of(const SeriesAnswer& a,
                                       Collective collective,
                                       std::int64_t ranks,
                                       const TimeOfCollective& time) {
  std::vector<CompressedSeries> forms;
  std::vector<GradientCompression> asked{
      {GradientForm::fp32, 1.0}, {GradientForm::bf16, 1.0}, {GradientForm::fp8, 1.0}};
  if (a.question.compress->form == GradientForm::topk) {
    asked.push_back(*a.question.compress);
  }
  const Bytes total = a.series.total();
  for (const GradientCompression& form : asked) {
    CompressedSeries c;
    c.form = form;
    c.sent = compressed_collective(collective, total, ranks, form);
    c.bytes = compressed_bytes(total, form);
    c.error_feedback = error_feedback_bytes(total, form);
    c.per_rank = bytes_per_rank(c.sent.collective, c.sent.buffer, ranks);
    // Buckets hold as many elements as those of fp32.
    c.time = bucketed(a.series, a.fused.bucket, a.question.backward.value_or(Seconds{}), [&](Bytes fp32) {
      const SentCollective sent = compressed_collective(collective, fp32, ranks, form);
      return time(sent.collective, sent.buffer);
    });
    forms.push_back(std::move(c));
  }
  return forms;
}

Value bucketing(const Bucketing& b, bool beside) {
  return row("bucket_bytes"_m = b.bucket, "buckets"_m = b.buckets, "last_bucket_bytes"_m = b.last, "time_s"_m = b.time,
             "exposed_s"_m = when(beside, b.exposed));
}

std::vector<std::string> cells(std::string what, const Bucketing& b, bool beside) {
  std::vector<std::string> row{std::move(what), std::to_string(b.buckets), format(b.bucket), format(b.last),
                               format(b.time)};
  if (beside) {
    row.push_back(format(b.exposed));
  }
  return row;
}

bool fuses(const SeriesAnswer& a) {
  return a.question.bucket || a.question.best_bucket;
}

std::string how_of(const SeriesAnswer& a) {
  return fuses(a) ? "in buckets" : a.series.count == 1 ? "in one" : "unfused";
}

std::string buckets_text(const SeriesAnswer& a) {
  const bool beside = a.question.backward.has_value();
  const bool one = a.series.count == 1;
  std::string text =
      "\n" + (one ? "one buffer of " : std::to_string(a.series.count) + " of them, ") + format(a.series.total()) +
      (one ? "" : " in all") +
      (beside ? ", whose gradients a backward pass of " + format(*a.question.backward) + " makes at an even rate"
              : "") +
      "\n";
  std::vector<std::string> header{"", "collectives", "each", "last", "time"};
  if (beside) {
    header.emplace_back("exposed");
  }
  Table table{header};
  table.row(cells(one ? "in one" : "unfused", a.alone, beside));
  if (fuses(a)) {
    table.row(cells(a.question.best_bucket ? "best buckets" : "in buckets", a.fused, beside));
  }
  text += table.text(0) + "\n";
  if (beside) {
    text += how_of(a) + " " + format(a.fused.exposed) + " stay after the backward pass; all of " +
            format(a.fused.time) + " would if they waited for its end\n\n";
  }
  header.front() = "bucket";
  header.erase(header.begin() + 2);
  Table sizes{header};
  for (const Bucketing& b : a.sizes) {
    std::vector<std::string> row = cells(format(b.bucket), b, beside);
    row.erase(row.begin() + 2);
    sizes.row(std::move(row));
  }
  return text + sizes.text(0);
}

std::string compression_text(const SeriesAnswer& a) {
  const bool beside = a.question.backward.has_value();
  std::string text = "\nfp32 gradients compressed\n";
  std::vector<std::string> header{"form", "bytes", "<collective", "sent per rank", "error feedback", "time"};
  if (beside) {
    header.emplace_back("exposed");
  }
  Table table{header};
  bool lists = false;
  for (const CompressedSeries& c : a.forms) {
    std::vector<std::string> row{c.form.text(),
                                 format(c.bytes),
                                 std::string{name_of(c.sent.collective)},
                                 format(c.per_rank),
                                 c.error_feedback > Bytes{} ? format(c.error_feedback) : "none",
                                 format(c.time.time)};
    if (beside) {
      row.push_back(format(c.time.exposed));
    }
    table.row(std::move(row));
    lists |= c.form.form == GradientForm::topk;
  }
  text += table.text(0);
  text +=
      "error feedback keeps what was not sent in fp32 on every rank; the kernels that compress are not in the time\n";
  if (lists) {
    text +=
        "top-k sends a value and an index of 4 bytes each; ranks keep other elements, so that all lists are gathered "
        "and not added on the way\n";
  }
  return text;
}

}  // namespace

SeriesAnswer answer_series(const SeriesQuestion& question,
                           Collective collective,
                           std::int64_t ranks,
                           Bytes each,
                           const TimeOfCollective& time) {
  SeriesAnswer a;
  a.question = question;
  a.series = {each, question.count};
  const Seconds backward = question.backward.value_or(Seconds{});
  const TimeOfBytes one = [&](Bytes bytes) { return time(collective, bytes); };
  a.alone = unfused(a.series, backward, one);
  a.fused = question.best_bucket ? best_bucketing(a.series, backward, one)
            : question.bucket    ? bucketed(a.series, *question.bucket, backward, one)
                                 : a.alone;
  if (question.of_buckets()) {
    a.sizes = bucket_sweep(a.series, backward, one);
  }
  if (question.compress) {
    a.forms = forms_of(a, collective, ranks, time);
  }
  return a;
}

std::string series_text(const SeriesAnswer& a) {
  return (a.question.of_buckets() ? buckets_text(a) : "") + (a.question.compress ? compression_text(a) : "");
}

std::vector<LabTable> series_tables(const SeriesAnswer& a) {
  std::vector<LabTable> tables;
  const bool beside = a.question.backward.has_value();
  const auto finished = [&](LabTable& table, const std::vector<Value>& row, Seconds exposed) {
    table.rows.push_back(row);
    if (beside) {
      table.rows.back().emplace_back(exposed);
    }
  };
  if (a.question.of_buckets()) {
    LabTable table{"buckets",
                   {{"<", "what"},
                    {"collectives", "buckets"},
                    {"each", "bucket_bytes"},
                    {"last", "last_bucket_bytes"},
                    {"time", "time_s"}},
                   {}};
    const auto add = [&](const std::string& what, const Bucketing& b) {
      finished(table, {what, b.buckets, b.bucket, b.last, b.time}, b.exposed);
    };
    if (beside) {
      table.columns.push_back({"exposed", "exposed_s"});
    }
    add(a.series.count == 1 ? "in one" : "unfused", a.alone);
    if (fuses(a)) {
      add(a.question.best_bucket ? "best buckets" : "in buckets", a.fused);
    }
    for (const Bucketing& b : a.sizes) {
      add("in buckets of " + format(b.bucket), b);
    }
    tables.push_back(std::move(table));
  }
  if (!a.forms.empty()) {
    LabTable table{"compression",
                   {{"<form", "form"},
                    {"bytes", "bytes"},
                    {"<collective", "collective"},
                    {"sent per rank", "sent_bytes_per_rank"},
                    {"error feedback", "error_feedback_bytes"},
                    {"time", "time_s"}},
                   {}};
    if (beside) {
      table.columns.push_back({"exposed", "exposed_s"});
    }
    for (const CompressedSeries& c : a.forms) {
      finished(table, {c.form.text(), c.bytes, name_of(c.sent.collective), c.per_rank, c.error_feedback, c.time.time},
               c.time.exposed);
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

Value series_document(const SeriesAnswer& a) {
  const bool beside = a.question.backward.has_value();
  const auto one = [&](const Bucketing& b) { return bucketing(b, beside); };
  return object(
      "series"_m = when(a.question.of_buckets(),
                        object("count"_m = a.series.count, "total_bytes"_m = a.series.total(),
                               "backward_s"_m = a.question.backward, "unfused"_m = one(a.alone),
                               "fused"_m = fuses(a) ? one(a.fused) : Value{}, "bucket_sizes"_m = list(a.sizes, one))),
      "compression"_m = when(!a.forms.empty(), list(a.forms, [&](const CompressedSeries& c) {
        return row("form"_m = c.form.text(), "bytes"_m = c.bytes, "collective"_m = name_of(c.sent.collective),
                   "sent_bytes_per_rank"_m = c.per_rank, "error_feedback_bytes"_m = c.error_feedback,
                   "time_s"_m = c.time.time, "exposed_s"_m = when(beside, c.time.exposed));
      })));
}

}  // namespace headroom::cli
