// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/kernels/profile_rows.hpp>
#include <headroom/calibrate/samples/csv_columns.hpp>
#include <headroom/calibrate/samples/csv_lines.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/model/kernels/memory_ops.hpp>

#include <algorithm>
#include <cctype>
#include <set>
#include <tuple>

namespace headroom {
namespace {

/// Bytes of an element of activations.
constexpr double wide = 2.0;

/// What the tables leave out of a model and its config.json states.
struct ProfiledModel {
  std::string_view word;  ///< in the model's name, in lower case; the first match decides
  double head_dim = 0.0;
  bool plain = true;    ///< one product is the whole projection of queries, keys and values
  bool rotates = true;  ///< rotary embedding turns whole heads, and norms are single kernels
};
// Qwen/Qwen3-30B-A3B, Qwen/Qwen3-Next-80B-A3B-Instruct, microsoft/Phi-tiny-MoE-instruct and stepfun-ai/step3: Qwen3
// norms queries and keys after the projection, Step narrows the queries and projects them again.
constexpr std::array profiled_models{
    ProfiledModel{"qwen3-next", 256.0, false, false}, ProfiledModel{"qwen3", 128.0, false, true},
    ProfiledModel{"phi-tiny-moe", 128.0, true, true}, ProfiledModel{"step2mini", 128.0, false, true},
    ProfiledModel{"step-moe", 256.0, false, true},
};

std::string lower_words(std::string_view text) {
  std::string words;
  for (const char c : text) {
    words += c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return words;
}

/// The first word of a fabric, "a800_pairwise_nvlink", is its GPU.
std::string gpu_of_fabric(const std::string& fabric) {
  return fabric.substr(0, fabric.find('_'));
}

/// The cells of a row by the names of their columns; unknown columns are allowed.
class ProfileCells {
 public:
  ProfileCells(CsvReader& csv, std::vector<std::string_view> needed) : names_{std::move(needed)} {
    for (const std::string& name : csv.header()) {
      if (std::find(names_.begin(), names_.end(), name) == names_.end()) {
        names_.emplace_back(name);
      }
    }
    columns_.emplace(csv, names_);
  }
  [[nodiscard]] bool next() { return columns_->next(); }
  [[nodiscard]] bool good() const { return columns_->row_good(); }
  [[nodiscard]] int line() const { return columns_->line(); }
  [[nodiscard]] const std::string& text(std::string_view name) const { return columns_->maybe_text(at(name)); }
  [[nodiscard]] bool has(std::string_view name) const {
    return std::find(names_.begin(), names_.end(), name) != names_.end();
  }
  double integer(std::string_view name) { return static_cast<double>(columns_->integer(at(name))); }
  double count(std::string_view name) { return static_cast<double>(columns_->count(at(name))); }
  Seconds micros(std::string_view name) { return Seconds{columns_->number(at(name)) * micro}; }

 private:
  [[nodiscard]] std::size_t at(std::string_view name) const {
    return static_cast<std::size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
  }
  std::vector<std::string_view> names_;
  std::optional<CsvColumns> columns_;
};

/// Sizes of the model that a row states, of one rank of a tensor-parallel group.
struct Sizes {
  double tokens, tp, hidden, heads, kv_heads, head_dim;
  const ProfiledModel* known = nullptr;
};

const ProfiledModel* profiled_model(const std::string& name) {
  const std::string words = lower_words(name);
  const auto* const at = std::find_if(profiled_models.begin(), profiled_models.end(),
                                      [&](const ProfiledModel& m) { return words.find(m.word) != std::string::npos; });
  return at == profiled_models.end() ? nullptr : at;
}

Sizes sizes_of(ProfileCells& cells, double tokens) {
  Sizes s{};
  s.tokens = tokens;
  s.tp = cells.integer("tp");
  s.hidden = cells.integer("hidden");
  s.known = profiled_model(cells.text("model"));
  const double heads = cells.integer("heads");
  s.head_dim = s.known != nullptr ? s.known->head_dim : s.hidden / heads;
  s.heads = heads / s.tp;
  s.kv_heads = std::max(1.0, cells.integer("kv_heads") / s.tp);
  return s;
}

KernelRow head_of(ProfileCells& cells) {
  KernelRow row;
  row.engine = "vllm";
  row.version = cells.text("measurement");
  row.eager = row.version == "CUDA_EVENT";
  row.op = cells.text("op");
  row.latency = cells.micros("latency_us");
  row.line = cells.line();
  return row;
}

/// A kernel of a profile, or none where no kind of kernel is its op.
struct Profiled {
  KernelKind kind = KernelKind::gemm;
  KernelRow row;
};
using Found = std::optional<Profiled>;

Found product_of(KernelRow row, bool fp8, double m, double n, double k) {
  row.format = fp8 ? "fp8" : "bfloat16";
  row.shape = {m, n, k};
  return Profiled{KernelKind::gemm, std::move(row)};
}

/// `one_by_one`: threads read and write its elements singly, as vLLM's kernels of rotary embeddings, gated activations,
/// norms and the cache's write do (csrc of releases before 0.9); PyTorch's take 16 bytes at once.
Found pass_of_op(KernelRow row, const MemoryOp& op, bool one_by_one) {
  row.format = row.op;
  row.shape = {op.read.raw(), op.written.raw(), op.rows, one_by_one ? op.moved().raw() / wide : 0.0};
  return Profiled{KernelKind::pass, std::move(row)};
}

/// Reads and writes the elements of each row, with one CTA per row.
MemoryOp rows_pass(double rows, double read, double written) {
  return {Bytes{rows * read * wide}, Bytes{rows * written * wide}, rows};
}

Found linear_op(ProfileCells& cells) {
  KernelRow row = head_of(cells);
  const Sizes s = sizes_of(cells, cells.integer("tokens"));
  const std::string op = row.op;
  const bool fp8 = cells.text("quant") == "fp8";
  const double gates = cells.text("gated") == "1" ? 2.0 : 1.0;
  const double queries = s.heads * s.head_dim;
  const double keys = s.kv_heads * s.head_dim;
  const bool plain = s.known == nullptr || s.known->plain;
  const bool simple = s.known == nullptr || s.known->rotates;
  if (op == "attn_pre_proj" && plain) {
    return product_of(std::move(row), fp8, s.tokens, queries + 2.0 * keys, s.hidden);
  }
  if (op == "attn_post_proj") {
    return product_of(std::move(row), fp8, s.tokens, s.hidden, queries);
  }
  if (op == "mlp_up_proj") {
    return product_of(std::move(row), fp8, s.tokens, gates * cells.integer("ffn") / s.tp, s.hidden);
  }
  if (op == "mlp_down_proj") {
    return product_of(std::move(row), fp8, s.tokens, s.hidden, cells.integer("ffn") / s.tp);
  }
  if (op == "lm_head_linear") {
    return product_of(std::move(row), false, s.tokens, cells.integer("vocab") / s.tp, s.hidden);
  }
  if (op == "mtp_fusion_proj") {
    return product_of(std::move(row), false, s.tokens, s.hidden, 2.0 * s.hidden);
  }
  if (op == "mlp_act") {
    const double ffn = cells.integer("ffn") / s.tp;
    return pass_of_op(std::move(row), rows_pass(s.tokens, gates * ffn, ffn), true);
  }
  if (op == "attn_rope" && simple) {
    return pass_of_op(std::move(row), rows_pass(s.tokens, queries + keys, queries + keys), true);
  }
  if ((op == "input_layernorm" || op == "post_attention_layernorm") && simple) {
    MemoryOp pass = norm(s.tokens, s.hidden, wide);
    pass.rows = s.tokens;
    return pass_of_op(std::move(row), pass, true);
  }
  if (op == "add") {
    return pass_of_op(std::move(row), elementwise(s.tokens * s.hidden, 2.0, wide), false);
  }
  if (op == "emb") {
    return pass_of_op(std::move(row), gather(s.tokens, s.hidden, wide), false);
  }
  return std::nullopt;
}

Found attention_op(ProfileCells& cells) {
  KernelRow row = head_of(cells);
  const std::string phase = cells.text("phase");
  if (phase != "prefill" && phase != "decode") {
    return std::nullopt;
  }
  const double batch = cells.integer("batch");
  const double fresh = phase == "prefill" ? cells.integer("new_tokens") : 1.0;
  const double cached = cells.count("kv_len");
  const Sizes s = sizes_of(cells, batch * fresh);
  if (row.op == "attn_kv_cache_save") {
    return pass_of_op(std::move(row), rows_pass(s.tokens, 2.0 * s.kv_heads * s.head_dim, 2.0 * s.kv_heads * s.head_dim),
                      true);
  }
  const bool decode = row.op == "attn_decode" && phase == "decode";
  if (!decode && (row.op != "attn_prefill" || phase != "prefill")) {
    return std::nullopt;
  }
  row.format = "bfloat16/bfloat16";
  row.variant = cells.has("backend") && cells.text("backend") == "FLASHINFER" ? "flashinfer" : "";
  // Frontier gives every sequence of a batch the same blocks (@ a4b22df, attention_wrapper.py); Vidur's rows, which do
  // not state how they were measured, have blocks of their own.
  const double sharers = row.version == "unstated" ? 1.0 : batch;
  row.shape = {batch, decode ? cached + 1.0 : fresh, s.heads, s.kv_heads, s.head_dim, 0.0, decode ? sharers : cached};
  return Profiled{decode ? KernelKind::decode : KernelKind::prefill, std::move(row)};
}

Found expert_op(ProfileCells& cells) {
  KernelRow row = head_of(cells);
  const double tokens = cells.integer("tokens");
  const double hidden = cells.integer("hidden");
  if (row.op == "moe_gating_linear") {
    return product_of(std::move(row), false, tokens, cells.integer("experts"), hidden);
  }
  if (row.op != "moe_grouped_gemm" || cells.text("distribution") != "uniform") {
    return std::nullopt;
  }
  // Older profiles drew the experts of every token among those of the rank.
  const bool all = cells.text("backend") == "vllm_fused";
  row.format = "bfloat16";
  row.variant = "triton, uniform";
  row.shape = {tokens,
               hidden,
               cells.integer("inter"),
               cells.integer("topk"),
               cells.integer(all ? "experts" : "experts_per_gpu"),
               cells.integer("tp"),
               all ? cells.integer("ep") : 1.0};
  return Profiled{KernelKind::moe, std::move(row)};
}

Found network_op(ProfileCells& cells) {
  KernelRow row;
  row.engine = "nccl";
  row.version = "profile";
  row.op = cells.text("op");
  row.format = row.op == "send_recv" ? "sendrecv" : row.op;
  row.variant = "half";
  row.latency = cells.micros("latency_us_max_rank");
  row.line = cells.line();
  const double gpus = cells.integer("gpus");
  row.shape = {gpus, cells.integer("bytes")};
  const bool one_host = cells.integer("devices_per_node") == gpus;
  return one_host ? Found{Profiled{KernelKind::nccl, std::move(row)}} : std::nullopt;
}

/// A table of a profile: the columns that it needs, and what its rows are.
struct ProfileTable {
  std::string_view own;  ///< a column that only this table has
  std::vector<std::string_view> needed;
  Found (*read)(ProfileCells&);
};
std::vector<ProfileTable> profile_tables() {
  return {{"fabric", {"fabric", "op", "gpus", "devices_per_node", "bytes", "latency_us_max_rank"}, network_op},
          {"phase",
           {"gpu", "model", "op", "measurement", "hidden", "heads", "kv_heads", "tp", "phase", "batch", "new_tokens",
            "kv_len", "latency_us"},
           attention_op},
          {"topk",
           {"gpu", "model", "op", "measurement", "tokens", "experts", "experts_per_gpu", "ep", "tp", "topk", "hidden",
            "inter", "distribution", "backend", "latency_us"},
           expert_op},
          {"ffn",
           {"gpu", "model", "file", "op", "measurement", "quant", "tokens", "tp", "hidden", "ffn", "heads", "kv_heads",
            "vocab", "gated", "latency_us"},
           linear_op}};
}

/// The ops of a layer run one after another, so that all its weights pass through L2 between two calls of one product.
class LayerWeights {
 public:
  void add(ProfileCells& cells, std::size_t kernel, const KernelRow& row) {
    const Key key{cells.text("model"), cells.text("file"), cells.text("tp")};
    layers_[key].insert({row.shape[1], row.shape[2]});
    keys_.emplace_back(kernel, key);
  }
  void share_out(std::vector<KernelRow>& rows) const {
    for (const auto& [kernel, key] : keys_) {
      double all = 0.0;
      for (const auto& [n, k] : layers_.at(key)) {
        all += n * k;
      }
      rows[kernel].copies = all / (rows[kernel].shape[1] * rows[kernel].shape[2]);
    }
  }

 private:
  using Key = std::tuple<std::string, std::string, std::string>;
  std::map<Key, std::set<std::pair<double, double>>> layers_;
  std::vector<std::pair<std::size_t, Key>> keys_;
};

}  // namespace

bool is_profile(const CsvReader& csv) {
  return csv.column("op") && (csv.column("gpu") || csv.column("fabric"));
}

bool names_device(std::string_view name, std::string_view id) {
  const std::string words = lower_words(name);
  return !words.empty() && (words == id || id.substr(0, words.size() + 1) == words + "-");
}

std::vector<KernelFile> read_profile_rows(CsvReader& csv, std::string_view id) {
  const std::vector<ProfileTable> tables = profile_tables();
  const auto table =
      std::find_if(tables.begin(), tables.end(), [&](const ProfileTable& t) { return csv.column(t.own).has_value(); });
  if (table == tables.end()) {
    csv.diagnostics().add(csv.file(), {1, 1},
                          "a profile of ops has the columns of products (ffn), attention (phase), experts (topk) or a "
                          "network (fabric)");
    return {};
  }
  const bool network = table->own == "fabric";
  ProfileCells cells{csv, table->needed};
  std::map<KernelKind, KernelFile> files;
  std::map<std::string, std::size_t> passed_over;
  std::set<std::string> others;
  LayerWeights weights;
  const std::size_t before = csv.diagnostics().size();
  while (cells.next()) {
    const std::string gpu = network ? gpu_of_fabric(cells.text("fabric")) : cells.text("gpu");
    if (!names_device(gpu, id)) {
      others.insert(gpu);
      continue;
    }
    Found found = table->read(cells);
    if (!cells.good()) {
      continue;
    }
    if (!found) {
      ++passed_over[cells.text("op")];
      continue;
    }
    KernelFile& file = files[found->kind];
    file.path = csv.file();
    file.kind = found->kind;
    if (table->own == "ffn" && found->kind == KernelKind::gemm) {
      weights.add(cells, file.rows.size(), found->row);
    }
    file.rows.push_back(std::move(found->row));
  }
  if (const auto products = files.find(KernelKind::gemm); products != files.end()) {
    weights.share_out(products->second.rows);
  }
  if (files.empty() && csv.diagnostics().size() == before) {
    csv.diagnostics().add(
        csv.file(), {},
        "no kernel of " + std::string{id} + " is in this profile" +
            (others.empty() ? "" : "; its GPUs are " + joined(std::vector<std::string>{others.begin(), others.end()})));
  }
  std::vector<KernelFile> all;
  for (auto& [kind, file] : files) {
    all.push_back(std::move(file));
  }
  if (!all.empty()) {
    all.front().passed_over = std::move(passed_over);
  }
  return all;
}

}  // namespace headroom
