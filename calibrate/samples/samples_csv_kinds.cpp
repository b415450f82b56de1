// SPDX-License-Identifier: Apache-2.0
// CSV of attention, decode, passes over memory, transfers, layers and units.
#include <headroom/calibrate/samples/csv_columns.hpp>
#include <headroom/calibrate/samples/csv_lines.hpp>
#include <headroom/calibrate/samples/samples_csv.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace headroom {
namespace {

constexpr std::string_view half_type = "bfloat16";

constexpr std::array<std::string_view, 11> attention_header{
    "engine", "version", "pass", "dtype", "batch", "seq", "heads", "kv_heads", "head_dim", "causal", "latency_us"};
constexpr std::array<std::string_view, 11> decode_header{"engine",   "version", "attn_dtype", "kv_dtype",
                                                         "batch",    "seq",     "heads",      "kv_heads",
                                                         "head_dim", "window",  "latency_us"};
constexpr std::array<std::string_view, 5> pass_header{"op", "array_bytes", "width", "bytes", "latency_us"};
constexpr std::array<std::string_view, 3> transfer_header{"op", "bytes", "latency_us"};
constexpr std::array<std::string_view, 3> layer_header{"op", "tokens", "latency_us"};
constexpr std::array<std::string_view, 4> unit_header{"op", "width", "count", "latency_us"};

/// Op named in a cell; an unknown name is reported.
template <class Op, std::size_t n>
Op op_of(CsvColumns& columns, std::size_t column, const std::array<std::string_view, n>& names) {
  const std::string text = columns.text(column);
  const auto at = std::find(names.begin(), names.end(), text);
  if (at == names.end()) {
    columns.refuse(column, "is " + quoted(text) + ", which is no op of this file" + suggestion(text, names));
    return Op{};
  }
  return static_cast<Op>(at - names.begin());
}

}  // namespace

std::string csv_of(std::span<const AttentionRow> rows) {
  std::string text = csv_line(attention_header);
  for (const AttentionRow& row : rows) {
    const AttentionProbe& p = row.probe;
    text +=
        csv_line({row.engine, row.version, p.backward ? "backward" : "forward", std::string{half_type},
                  std::to_string(p.batch), std::to_string(p.tokens), std::to_string(p.heads),
                  std::to_string(p.kv_heads), std::to_string(p.head_dim), p.causal ? "1" : "0", micros(row.latency)});
  }
  return text;
}

std::string csv_of(std::span<const DecodeRow> rows) {
  std::string text = csv_line(decode_header);
  for (const DecodeRow& row : rows) {
    const DecodeProbe& p = row.probe;
    text += csv_line({row.engine, row.version, std::string{half_type}, std::string{half_type}, std::to_string(p.batch),
                      std::to_string(p.context), std::to_string(p.heads), std::to_string(p.kv_heads),
                      std::to_string(p.head_dim), "0", micros(row.latency)});
  }
  return text;
}

std::string csv_of(std::span<const PassRow> rows) {
  std::string text = csv_line(pass_header);
  for (const PassRow& row : rows) {
    const PassProbe& p = row.probe;
    text += csv_line({std::string{pass_op_names[static_cast<std::size_t>(p.op)]}, std::to_string(p.array_bytes),
                      std::to_string(p.width), std::to_string(p.moved()), micros(row.latency)});
  }
  return text;
}

std::string csv_of(std::span<const TransferRow> rows) {
  std::string text = csv_line(transfer_header);
  for (const TransferRow& row : rows) {
    text += csv_line({row.op, std::to_string(row.bytes), micros(row.latency)});
  }
  return text;
}

std::string csv_of(std::span<const LayerRow> rows) {
  std::string text = csv_line(layer_header);
  for (const LayerRow& row : rows) {
    text += csv_line({std::string{probed_pass_names[static_cast<std::size_t>(row.probe.op)]},
                      std::to_string(row.probe.tokens), micros(row.latency)});
  }
  return text;
}

std::string csv_of(std::span<const UnitRow> rows) {
  std::string text = csv_line(unit_header);
  for (const UnitRow& row : rows) {
    const UnitProbe& p = row.probe;
    text += csv_line({std::string{unit_op_names[static_cast<std::size_t>(p.op)]}, std::to_string(p.width),
                      std::to_string(p.count), micros(row.latency)});
  }
  return text;
}

std::vector<UnitRow> read_unit_rows(CsvReader& csv) {
  return read_rows<UnitRow>(csv, unit_header, [](CsvColumns& c) {
    UnitRow row;
    row.probe.op = op_of<UnitOp>(c, 0, unit_op_names);
    row.probe.width = c.count(1);
    row.probe.count = c.integer(2);
    row.latency = Seconds{c.number(3) * micro};
    if (c.row_good() && row.probe.width == 0 && row.probe.op != UnitOp::occupancy) {
      c.refuse(1, "is 0; only occupancy has a width of 0, for all CTAs that an SM holds");
    }
    return row;
  });
}

std::vector<LayerRow> read_layer_rows(CsvReader& csv) {
  return read_rows<LayerRow>(csv, layer_header, [](CsvColumns& c) {
    LayerRow row;
    row.probe.op = op_of<ProbedPass>(c, 0, probed_pass_names);
    row.probe.tokens = c.integer(1);
    row.latency = Seconds{c.number(2) * micro};
    return row;
  });
}

std::vector<PassRow> read_pass_rows(CsvReader& csv) {
  return read_rows<PassRow>(csv, pass_header, [](CsvColumns& c) {
    PassRow row;
    row.probe.op = op_of<PassOp>(c, 0, pass_op_names);
    row.probe.array_bytes = c.integer(1);
    row.probe.width = c.count(2);
    const std::int64_t bytes = c.integer(3);
    row.latency = Seconds{c.number(4) * micro};
    if (c.row_good() && bytes != row.probe.moved()) {
      c.refuse(3, "is " + std::to_string(bytes) + "; this pass moves " + std::to_string(row.probe.moved()));
    }
    return row;
  });
}

std::vector<TransferRow> read_transfer_rows(CsvReader& csv) {
  return read_rows<TransferRow>(csv, transfer_header, [](CsvColumns& c) {
    TransferRow row;
    row.op = transfer_op_names[static_cast<std::size_t>(op_of<TransferOp>(c, 0, transfer_op_names))];
    row.bytes = c.integer(1);
    row.latency = Seconds{c.number(2) * micro};
    return row;
  });
}

}  // namespace headroom
