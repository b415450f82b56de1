// SPDX-License-Identifier: Apache-2.0
// Lookup of entries by any spelling, each parsed once, and the table of refused spellings.
#include <headroom/core/number_words.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/hardware/catalog/catalog_reader.hpp>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

// Generated from hardware/catalog by the build tool headroom_embed.
namespace headroom::embedded {
[[nodiscard]] EmbeddedIndex embedded_catalog() noexcept;  // NOLINT(misc-use-internal-linkage)
}

namespace headroom {
namespace {

/// What distinguishes one kind of entry from another: its folder, its noun in messages, its reader.
template <class T>
struct EntryKind {
  std::string_view folder;
  std::string_view word;
  T (*read)(const ConfigValue&, const std::string&, Diagnostics&);
};
constexpr EntryKind<Device> gpu_kind{"gpus", "GPU", read_device};
constexpr EntryKind<Node> node_kind{"nodes", "node type", read_node};
constexpr EntryKind<Cluster> cluster_kind{"clusters", "cluster", read_cluster};
constexpr EntryKind<PriceList> price_kind{"prices", "price list", read_prices};
constexpr EntryKind<UnitLimits> architecture_kind{"architectures", "architecture", read_unit_limits};

/// Bytes of a spelling beyond which it is no name.
constexpr std::size_t longest_name = 100;

/// Parsed entries. References into a map stay valid, so they may be handed out.
template <class T>
struct Shelf {
  std::map<std::string, T, std::less<>> entries;           ///< entries by id
  std::map<std::string, const T*, std::less<>> spellings;  ///< entries by normalised spelling as requested
};

/// Whether a text is of a pattern in which '*' stands for any part.
bool matches(std::string_view text, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) {
    return text == pattern;
  }
  const std::string_view front = pattern.substr(0, star);
  if (!text.starts_with(front)) {
    return false;
  }
  text.remove_prefix(front.size());
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t skipped = 0; skipped <= text.size(); ++skipped) {
    if (matches(text.substr(skipped), rest)) {
      return true;
    }
  }
  return false;
}

/// The reason in the table of refused spellings, or an empty text.
std::string_view reason_to_refuse(std::string_view spelling) {
  if (spelling.size() > longest_name) {
    return {};
  }
  const auto rows = refused_gpus();
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const RefusedSpelling& r) { return matches(spelling, r.spelling); });
  return row == rows.end() ? std::string_view{} : row->reason;
}

/// A SKU's name without its maker's: "h100-pcie" of "nvidia-h100-pcie".
std::string_view without_maker(std::string_view spelling) {
  for (const std::string_view maker : {"nvidia-", "geforce-", "tesla-", "amd-", "instinct-", "intel-"}) {
    spelling.remove_prefix(spelling.starts_with(maker) ? maker.size() : 0);
  }
  return spelling;
}

/// The entry that a spelling means. An alias leads to an id, and the id to the file of highest precedence with that
/// name: a user's file that extends an entry hides it under all its aliases.
std::optional<DataStore::Entry> find_entry(const DataStore& store, std::string_view folder, std::string_view spelling) {
  std::optional<DataStore::Entry> entry = store.find(folder, spelling);
  return entry ? store.find(folder, entry->id) : entry;
}

/// "; did you mean 'h100-sxm-80gb'?": the id of the nearest spelling, because scenarios should use ids.
std::string suggested_id(const DataStore& store, std::string_view folder, std::string_view spelling) {
  const std::vector<std::string> known = store.spellings(folder);
  const std::vector<std::string_view> candidates{known.begin(), known.end()};
  const std::optional<std::string> nearest =
      folder == gpu_kind.folder ? closest_of_family(spelling, candidates) : closest(spelling, candidates);
  const std::optional<DataStore::Entry> entry = nearest ? find_entry(store, folder, *nearest) : std::nullopt;
  return entry ? "; did you mean '" + entry->id + "'?" : std::string{};
}

template <class T>
T parse(const DataStore& store, const EntryKind<T>& kind, const DataStore::Entry& entry) {
  const auto base = [&](std::string_view id, const std::string& file) -> std::optional<ConfigSource> {
    std::optional<DataStore::Entry> found = find_entry(store, kind.folder, id);
    if (found && found->file == file) {
      found = store.find_below(kind.folder, found->id, file);  // a user's file that extends the entry it hides
    }
    return found ? std::optional{ConfigSource{found->file, found->text}} : std::nullopt;
  };
  Diagnostics diagnostics;
  T result = kind.read(load_with_bases({entry.file, entry.text}, base), entry.file, diagnostics);
  diagnostics.throw_if_any();
  return result;
}

/// The caller holds the lock of the shelf.
template <class T>
const T& look_up(const DataStore& store, Shelf<T>& shelf, const EntryKind<T>& kind, std::string_view spelling) {
  std::string asked = normalised(spelling);
  if (const auto known = shelf.spellings.find(asked); known != shelf.spellings.end()) {
    return *known->second;
  }
  std::optional<DataStore::Entry> entry = find_entry(store, kind.folder, asked);
  if (!entry && kind.folder == gpu_kind.folder) {
    const std::string bare{without_maker(asked)};
    for (const std::string& name : {asked, bare}) {
      if (const std::string_view reason = reason_to_refuse(name); !reason.empty()) {
        throw ConfigError{std::string{kind.word} + " " + quoted(spelling) + " cannot be used: " + std::string{reason}};
      }
    }
    for (const std::string& name : {bare, "nvidia-" + bare}) {
      entry = entry ? std::move(entry) : find_entry(store, kind.folder, name);
    }
    asked = bare;
  }
  if (!entry) {
    throw ConfigError{"unknown " + std::string{kind.word} + " " + quoted(spelling) +
                      suggested_id(store, kind.folder, asked) + store.unreadable_text(kind.folder) +
                      " (see 'headroom catalog list')"};
  }
  auto place = shelf.entries.find(entry->id);
  if (place == shelf.entries.end()) {
    place = shelf.entries.emplace(entry->id, parse(store, kind, *entry)).first;
  }
  shelf.spellings.emplace(asked, &place->second);
  return place->second;
}

/// Builds of clouds and sites serve plans that name them, but do not show how a SKU is usually sold.
bool is_site_build(const Node& node) {
  constexpr std::array<std::string_view, 6> prefixes{"aws-", "azure-", "gcp-", "oci-", "meta-", "jean-zay-"};
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return node.id.starts_with(p); });
}

/// Whether two SKUs fit the same board: same generation and fabric. A PCIe card implies nothing about its server.
bool same_board(const Device& a, const Device& b) {
  const auto fabric = [](const Device& d) {
    return std::tuple{d.generation, d.scale_up.link, d.scale_up.topology, d.scale_up.domain};
  };
  const bool board = a.scale_up.topology != LinkTopology::none && a.scale_up.topology != LinkTopology::bridge;
  return board && fabric(a) == fabric(b);
}

}  // namespace

std::optional<BytesPerSecond> Node::scale_out_per_gpu() const {
  if (!nics || !nic_rate) {
    return std::nullopt;
  }
  return static_cast<double>(nics->value) * nic_rate->value / static_cast<double>(gpus);
}

namespace {

/// "T4" of "MIG:T4 (2x1g.5gb MIG)": the SKU that a MIG slice is part of; empty if the spelling is no slice.
std::string cut_device(std::string_view spelling) {
  constexpr std::string_view mark = "mig:";
  if (!normalised(spelling).starts_with(mark)) {
    return {};
  }
  const std::string_view rest = spelling.substr(mark.size());
  return std::string{rest.substr(0, rest.find_first_of(" ("))};
}

/// Throws ConfigError for a MIG slice: the SKU has no slices, or the table of refused spellings gives the reason.
void refuse_slice(const Device& device, std::string_view spelling) {
  if (device.mig_profiles.empty()) {
    throw ConfigError{quoted(std::string{spelling}) + ": " + device.id +
                      " does not support MIG (its file states no profiles); 'headroom catalog show ID' tells the "
                      "profiles of those that do, such as a100-sxm-80gb"};
  }
}

}  // namespace

struct Catalog::Cache {
  std::mutex mutex;
  Shelf<Device> devices;
  Shelf<Node> nodes;
  Shelf<Cluster> clusters;
  Shelf<PriceList> prices;
  Shelf<UnitLimits> architectures;
};

Catalog::Catalog(DataStore store) : store_{std::move(store)}, cache_{std::make_shared<Cache>()} {}

Catalog Catalog::of(UserFolders folders) {
  return Catalog{DataStore{embedded::embedded_catalog(), std::move(folders)}};
}

Catalog Catalog::standard() {
  return of(DataStore::user_folders());
}

const Device& Catalog::device(std::string_view spelling) const {
  const std::lock_guard lock{cache_->mutex};
  if (const std::string whole = cut_device(spelling); !whole.empty()) {
    refuse_slice(look_up(store_, cache_->devices, gpu_kind, whole), spelling);
  }
  return look_up(store_, cache_->devices, gpu_kind, spelling);
}

const Node& Catalog::node(std::string_view spelling) const {
  const std::lock_guard lock{cache_->mutex};
  return look_up(store_, cache_->nodes, node_kind, spelling);
}

const Cluster& Catalog::cluster(std::string_view spelling) const {
  const std::lock_guard lock{cache_->mutex};
  return look_up(store_, cache_->clusters, cluster_kind, spelling);
}

const PriceList& Catalog::prices(std::string_view spelling) const {
  const std::lock_guard lock{cache_->mutex};
  return look_up(store_, cache_->prices, price_kind, spelling);
}

const UnitLimits& Catalog::architecture(std::string_view spelling) const {
  const std::lock_guard lock{cache_->mutex};
  return look_up(store_, cache_->architectures, architecture_kind, spelling);
}

const UnitLimits& Catalog::unit_limits(const Device& device) const {
  const std::string& spelling = architecture_of(device);
  if (!store_.find(architecture_kind.folder, spelling)) {
    throw ConfigError{"the catalog states no limits of a unit of " + device.id + " (" +
                      (device.compute_capability.empty() ? "generation " : "compute capability ") + spelling +
                      "); it has those of " + joined(store_.ids(architecture_kind.folder))};
  }
  return architecture(spelling);
}

std::optional<std::string> Catalog::why_no_device(std::string_view spelling) const {
  try {
    static_cast<void>(device(spelling));
    return std::nullopt;
  } catch (const ConfigError& error) {
    return error.what();
  }
}

const Node* Catalog::reference_node(const Device& device) const {
  struct Candidate {
    int rank;
    std::int64_t smaller;  ///< minus the number of GPUs
    const Node* node;
    bool operator<(const Candidate& other) const {
      return std::tie(rank, smaller, node->id) < std::tie(other.rank, other.smaller, other.node->id);
    }
  };
  const auto means = [&](const std::string& spelling) {
    const std::optional<DataStore::Entry> entry = find_entry(store_, gpu_kind.folder, spelling);
    return entry && entry->id == device.id;
  };
  std::optional<Candidate> best;
  for (const std::string& id : store_.ids(node_kind.folder)) {
    try {
      const Node& candidate = node(id);
      const bool site = is_site_build(candidate);
      int rank = site ? 2 : 0;
      if (!means(candidate.gpu)) {
        rank += 1;
        if (std::none_of(candidate.also.begin(), candidate.also.end(), means)) {
          rank = 4;
          if (site || !same_board(device, this->device(candidate.gpu))) {
            continue;
          }
        }
      }
      const Candidate next{rank, -candidate.gpus, &candidate};
      if (!best || next < *best) {
        best = next;
      }
    } catch (const ConfigError&) {
      continue;  // a user's broken file is reported by lint or when a plan names it
    }
  }
  return best ? best->node : nullptr;
}

// Each names what is missing; none is a slip of a name that the catalog has.
constexpr std::string_view mig_reason =
    "MIG slices are not modelled: the share of L2 and memory bandwidth of a slice is not in the catalog yet";
constexpr std::string_view tpu_reason =
    "TPUs are not modelled: their compiler, kernels and torus are none that the model knows";
constexpr std::string_view aws_reason =
    "Trainium and Inferentia are not modelled: their compiler, kernels and links are none that the model knows";
constexpr std::string_view other_reason =
    "it is not modelled: its software, kernels and links are none that the model knows";

// clang-format off
constexpr std::array refused_rows{
    RefusedSpelling{"a100",
                    "the A100 comes as a100-sxm-80gb, a100-sxm-40gb, a100-pcie-80gb and a100-pcie-40gb; say which"},
    RefusedSpelling{"a100-80gb", "it may be a100-sxm-80gb or a100-pcie-80gb; say which"},
    RefusedSpelling{"a100-40gb", "it may be a100-sxm-40gb or a100-pcie-40gb; say which"},
    RefusedSpelling{"a100-sxm4", "it may be a100-sxm-80gb or a100-sxm-40gb; say which"},
    RefusedSpelling{"a100-pcie", "it may be a100-pcie-80gb or a100-pcie-40gb; say which"},
    RefusedSpelling{"h100",      "the H100 comes as h100-sxm-80gb, h100-pcie-80gb and h100-nvl-94gb; say which"},
    RefusedSpelling{"a800",      "the A800 comes as SXM4 and PCIe with 40 or 80 GB; the catalog has a800-sxm-80gb"},
    RefusedSpelling{"h100-80gb", "it may be h100-sxm-80gb or h100-pcie-80gb; say which"},
    RefusedSpelling{"h20",       "the H20 comes as h20-sxm-96gb and h20-3e-141gb; say which"},
    RefusedSpelling{"h800",      "the H800 comes as SXM5 and PCIe; the catalog has h800-sxm-80gb"},
    RefusedSpelling{"v100",      "the V100 comes as SXM2, SXM3 and PCIe, 16 or 32 GB; say which, e.g. v100-sxm2-32gb"},
    RefusedSpelling{"v100-16gb", "it may be v100-sxm2-16gb or v100-pcie-16gb; say which"},
    RefusedSpelling{"v100-32gb", "it may be v100-sxm2-32gb, v100-sxm3-32gb or v100-pcie-32gb; say which"},
    RefusedSpelling{"v100-sxm2", "it may be v100-sxm2-16gb or v100-sxm2-32gb; say which"},
    RefusedSpelling{"v100-pcie", "it may be v100-pcie-16gb or v100-pcie-32gb; say which"},
    RefusedSpelling{"gh200",     "the GH200 comes as gh200-96gb and gh200-144gb; say which"},
    RefusedSpelling{"mig:*",     mig_reason},
    RefusedSpelling{"*-mig-*",   mig_reason},
    RefusedSpelling{"*-mig",     mig_reason},
    RefusedSpelling{"*g.*gb*",   mig_reason},
    RefusedSpelling{"*tpu*",     tpu_reason},
    RefusedSpelling{"v5e",       tpu_reason},
    RefusedSpelling{"v5p",       tpu_reason},
    RefusedSpelling{"v6e",       tpu_reason},
    RefusedSpelling{"trillium*", tpu_reason},
    RefusedSpelling{"ironwood*", tpu_reason},
    RefusedSpelling{"*trainium*", aws_reason},
    RefusedSpelling{"*inferentia*", aws_reason},
    RefusedSpelling{"trn1*",     aws_reason},
    RefusedSpelling{"trn2*",     aws_reason},
    RefusedSpelling{"inf1*",     aws_reason},
    RefusedSpelling{"inf2*",     aws_reason},
    RefusedSpelling{"ascend*",   other_reason},
    RefusedSpelling{"910b*",     other_reason},
    RefusedSpelling{"groq*",     other_reason},
    RefusedSpelling{"cerebras*", other_reason},
    RefusedSpelling{"wse*",      other_reason},
    RefusedSpelling{"sambanova*", other_reason},
    RefusedSpelling{"graphcore*", other_reason},
};
// clang-format on

std::span<const RefusedSpelling> refused_gpus() noexcept {
  return refused_rows;
}

}  // namespace headroom
