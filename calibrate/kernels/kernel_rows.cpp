// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/kernels/kernel_rows.hpp>
#include <headroom/calibrate/kernels/profile_rows.hpp>
#include <headroom/calibrate/samples/csv_columns.hpp>
#include <headroom/calibrate/samples/csv_lines.hpp>
#include <headroom/core/number_words.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <tuple>

namespace headroom {
namespace {

/// Largest relative difference between two measurements of one kernel.
constexpr double repeatable = 0.1;

struct Form {
  KernelKind kind = KernelKind::gemm;
  std::array<std::string_view, 3> texts;  ///< text columns after engine and version
  std::size_t text_count = 0;
  std::array<std::string_view, KernelRow::most_sizes> sizes;
  std::size_t size_count = 0;
  bool engine = true;  ///< false for NCCL, which has no engine column
};

/// First columns: "engine" and "version", or "nccl_version".
std::vector<std::string_view> head_of(const Form& form) {
  return form.engine ? std::vector<std::string_view>{"engine", "version"}
                     : std::vector<std::string_view>{"nccl_version"};
}

/// Whether a file may leave this size empty.
bool may_be_empty(std::string_view size) {
  return size == "nodes" || size == "ep" || size == "sms" || size == "block_rows";
}

constexpr std::array forms{
    Form{KernelKind::gemm, {"dtype"}, 1, {"m", "n", "k"}, 3},
    Form{KernelKind::prefill,
         {"attn_dtype", "kv_dtype"},
         2,
         {"batch", "seq", "heads", "kv_heads", "head_dim", "window"},
         6},
    Form{KernelKind::decode,
         {"attn_dtype", "kv_dtype"},
         2,
         {"batch", "seq", "heads", "kv_heads", "head_dim", "window"},
         6},
    Form{KernelKind::moe,
         {"kernel", "dtype", "distribution"},
         3,
         {"tokens", "hidden", "inter", "topk", "experts", "tp", "ep"},
         7},
    Form{KernelKind::quantize, {"op", "kernel", "dtype"}, 3, {"m", "k"}, 2},
    Form{KernelKind::training_attention,
         {"pass", "dtype"},
         2,
         {"batch", "seq", "heads", "kv_heads", "head_dim", "causal"},
         6},
    Form{KernelKind::pass, {"op"}, 1, {"read_bytes", "written_bytes", "block_rows"}, 3},
    Form{KernelKind::nccl, {"op", "dtype"}, 2, {"gpus", "bytes"}, 2, false},
    Form{KernelKind::custom_all_reduce, {"implementation", "dtype"}, 2, {"gpus", "bytes"}, 2},
    Form{KernelKind::moe_all_to_all, {"op"}, 1, {"nodes", "ep", "hidden", "tokens", "topk", "experts", "sms"}, 7},
};

const Form& form_of(KernelKind kind) noexcept {
  return forms[static_cast<std::size_t>(kind)];
}

/// Kinds whose columns the header has; none for an unknown header.
std::vector<KernelKind> kinds_of(const CsvReader& csv) {
  std::vector<KernelKind> kinds;
  for (const Form& form : forms) {
    bool all = form.engine || csv.column(head_of(form).front()).has_value();
    for (std::size_t i = 0; i < form.text_count; ++i) {
      all = all && csv.column(form.texts[i]).has_value();
    }
    for (std::size_t i = 0; i < form.size_count; ++i) {
      all = all && csv.column(form.sizes[i]).has_value();
    }
    if (all) {
      kinds.push_back(form.kind);
    }
  }
  return kinds;
}

std::optional<KernelKind> kind_of(const CsvReader& csv, const std::string& path, Diagnostics& diagnostics) {
  const std::vector<KernelKind> kinds = kinds_of(csv);
  if (kinds.size() == 1) {
    return kinds.front();
  }
  if (kinds.empty()) {
    diagnostics.add(path, {1, 1},
                    "these are the columns of no kind of kernel; known kinds are " + listed(kernel_kind_names));
    return std::nullopt;
  }
  const std::string name = path.substr(path.find_last_of('/') + 1);
  if (name.find("context") != std::string::npos || name.find("prefill") != std::string::npos) {
    return KernelKind::prefill;
  }
  if (name.find("generation") != std::string::npos || name.find("decode") != std::string::npos) {
    return KernelKind::decode;
  }
  diagnostics.add(path, {1, 1},
                  "prefill and decode attention have the same columns; say which with --kind attention-prefill or "
                  "--kind attention-decode");
  return std::nullopt;
}

KernelRow row_of(CsvColumns& columns, const Form& form) {
  KernelRow row;
  const std::size_t head = form.engine ? 2 : 1;
  row.engine = form.engine ? columns.text(0) : "nccl";
  row.version = columns.text(head - 1);
  std::array<std::string, 3> texts;
  for (std::size_t i = 0; i < form.text_count; ++i) {
    texts[i] = columns.text(head + i);
  }
  switch (form.kind) {
    case KernelKind::gemm:
    case KernelKind::pass: row.format = texts[0]; break;
    case KernelKind::prefill:
    case KernelKind::decode: row.format = texts[0] + "/" + texts[1]; break;
    case KernelKind::moe:
      row.format = texts[1];
      row.variant = texts[0] + ", " + texts[2];
      break;
    case KernelKind::training_attention:
      row.format = texts[1];
      row.variant = texts[0];
      break;
    case KernelKind::nccl:
    case KernelKind::custom_all_reduce:
    case KernelKind::moe_all_to_all:
      row.format = texts[0];
      row.variant = texts[1];
      break;
    case KernelKind::quantize:
    case KernelKind::count:
      row.format = texts[2];
      row.variant = texts[0] + ", " + texts[1];
      break;
  }
  for (std::size_t i = 0; i < form.size_count; ++i) {
    const std::size_t column = head + form.text_count + i;
    if (may_be_empty(form.sizes[i])) {
      row.shape[i] = columns.maybe(column).value_or(0.0);
      continue;
    }
    row.shape[i] = static_cast<double>(
        form.sizes[i] == "window" || form.sizes[i] == "causal" ? columns.count(column) : columns.integer(column));
  }
  const std::size_t latency = head + form.text_count + form.size_count;
  const bool difference = form.kind == KernelKind::quantize;
  row.latency = Seconds{(difference ? columns.amount(latency) : columns.number(latency)) * micro};
  row.line = columns.line();
  return row;
}

/// Reports a kernel measured twice with different times.
class Repeats {
 public:
  void check(const KernelRow& row, const std::string& path, Diagnostics& diagnostics) {
    const auto [at, added] = seen_.try_emplace({row.engine, row.version, row.format, row.variant, row.shape},
                                               std::pair{row.latency, row.line});
    if (!added && std::abs(row.latency / at->second.first - 1.0) > repeatable) {
      diagnostics.add(path, {row.line, 1},
                      "the kernel of line " + std::to_string(at->second.second) +
                          " again, with another time; keep one of them, or their median");
    }
  }

 private:
  using Key = std::tuple<std::string, std::string, std::string, std::string, std::array<double, KernelRow::most_sizes>>;
  std::map<Key, std::pair<Seconds, int>> seen_;
};

KernelFile rows_of_table(CsvReader& csv, const std::string& path, std::optional<KernelKind> kind) {
  Diagnostics& diagnostics = csv.diagnostics();
  KernelFile file;
  file.path = path;
  file.kind = kind.value_or(KernelKind::gemm);
  if (!kind) {
    const std::optional<KernelKind> found = kind_of(csv, path, diagnostics);
    if (!found) {
      return file;
    }
    file.kind = *found;
  }
  const Form& form = form_of(file.kind);
  std::vector<std::string_view> names = head_of(form);
  names.insert(names.end(), form.texts.begin(), form.texts.begin() + static_cast<std::ptrdiff_t>(form.text_count));
  names.insert(names.end(), form.sizes.begin(), form.sizes.begin() + static_cast<std::ptrdiff_t>(form.size_count));
  names.emplace_back("latency_us");
  CsvColumns columns{csv, names};
  Repeats repeats;
  while (columns.next()) {
    KernelRow row = row_of(columns, form);
    if (columns.row_good() && row.latency <= Seconds{}) {
      ++file.below_noise;
    } else if (columns.row_good()) {
      repeats.check(row, path, diagnostics);
      file.rows.push_back(std::move(row));
    }
  }
  return file;
}

}  // namespace

std::span<const std::string_view> shape_columns(KernelKind kind) noexcept {
  return {form_of(kind).sizes.data(), form_of(kind).size_count};
}

std::span<const std::string_view> text_columns(KernelKind kind) noexcept {
  return {form_of(kind).texts.data(), form_of(kind).text_count};
}

KernelFile read_kernel_rows(std::istream& stream,
                            const std::string& path,
                            std::optional<KernelKind> kind,
                            Diagnostics& diagnostics) {
  CsvReader csv{stream, path, diagnostics};
  return rows_of_table(csv, path, kind);
}

std::vector<KernelFile> read_kernel_tables(std::istream& stream,
                                           const std::string& path,
                                           std::optional<KernelKind> kind,
                                           std::string_view id,
                                           Diagnostics& diagnostics) {
  CsvReader csv{stream, path, diagnostics};
  if (!is_profile(csv)) {
    return {rows_of_table(csv, path, kind)};
  }
  std::vector<KernelFile> files = read_profile_rows(csv, id);
  if (kind) {
    files.erase(std::remove_if(files.begin(), files.end(), [&](const KernelFile& f) { return f.kind != *kind; }),
                files.end());
  }
  return files;
}

std::uint64_t shape_hash(const KernelRow& row) noexcept {
  // Splitmix64 (Steele et al. 2014) over the sizes' bits.
  std::uint64_t hash = 0;
  for (const double size : row.shape) {
    hash += std::bit_cast<std::uint64_t>(size) + 0x9e3779b97f4a7c15ULL;
    hash = (hash ^ (hash >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    hash = (hash ^ (hash >> 27U)) * 0x94d049bb133111ebULL;
    hash ^= hash >> 31U;
  }
  return hash;
}

}  // namespace headroom
