// SPDX-License-Identifier: Apache-2.0
// Lookup of entries by any spelling, each parsed once, and the table of refused spellings.
#include <headroom/core/number_words.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/hardware/catalog/catalog_reader.hpp>
#include <headroom/hardware/catalog/partition_name.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
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
constexpr EntryKind<PartitionScheme> partition_kind{"partitions", "partition scheme", read_partitions};

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

/// A server whose cards are all cut into slices of one profile: no link between them but the host, whose NICs they
/// share (NVIDIA, Multi-Instance GPU user guide, deployment considerations: no P2P over PCIe or NVLink).
Node sliced(const Node& node, const Device& slice) {
  Node cut = node;
  cut.gpu = slice.id;
  cut.also.clear();
  cut.gpus *= slice.slice->per_card;
  cut.topology = LinkTopology::none;
  cut.switches.reset();
  cut.per_gpu.reset();
  cut.per_pair.reset();
  cut.pairs.reset();
  cut.planes.reset();
  cut.domain.reset();
  cut.peer_access = false;
  cut.gpus_per_pcie_switch *= slice.slice->per_card;
  for (auto* places : {&cut.gpu_switch, &cut.gpu_socket}) {
    if (*places) {
      std::vector<std::int64_t> each;
      for (const std::int64_t place : (*places)->value) {
        each.insert(each.end(), static_cast<std::size_t>(slice.slice->per_card), place);
      }
      (*places)->value = std::move(each);
    }
  }
  return cut;
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

struct Catalog::Cache {
  std::mutex mutex;
  Shelf<Device> devices;
  Shelf<Node> nodes;
  Shelf<Cluster> clusters;
  Shelf<PriceList> prices;
  Shelf<UnitLimits> architectures;
  Shelf<PartitionScheme> schemes;
  std::map<std::string, Device, std::less<>> slices;      ///< by id
  std::map<std::string, Node, std::less<>> sliced_nodes;  ///< by the node's id and the slice's

  /// The caller of each holds the lock.
  const PartitionScheme* scheme_of(const DataStore& store, const Device& card) {
    return card.partitions.empty() ? nullptr : &look_up(store, schemes, partition_kind, card.partitions);
  }
  const Device& slice(const DataStore& store, const PartitionName& name, std::string_view spelling);
  std::string cards_with_slices(const DataStore& store);
};

/// "a100-sxm-80gb, ...": the cards that can be cut, for whoever asked for a slice of one that cannot.
std::string Catalog::Cache::cards_with_slices(const DataStore& store) {
  std::vector<std::string> cards;
  for (const std::string& id : store.ids(gpu_kind.folder)) {
    try {
      if (!look_up(store, devices, gpu_kind, id).partitions.empty()) {
        cards.push_back(id);
      }
    } catch (const ConfigError&) {
      continue;  // a user's broken file is reported by lint or when a plan names it
    }
  }
  return joined(cards);
}

const Device& Catalog::Cache::slice(const DataStore& store, const PartitionName& name, std::string_view spelling) {
  const Device& card = look_up(store, devices, gpu_kind, name.card);
  const std::string id = card.id + "/" + name.profile;
  if (const auto known = slices.find(id); known != slices.end()) {
    return known->second;
  }
  const PartitionScheme* const scheme = scheme_of(store, card);
  const std::string refused = "GPU " + quoted(spelling) + " cannot be used: ";
  if (scheme == nullptr) {
    throw ConfigError{refused + card.id + " cannot be cut into slices; those that can are " + cards_with_slices(store)};
  }
  const PartitionProfile* const profile = scheme->find(name.profile);
  if (profile == nullptr) {
    std::vector<std::string_view> known;
    for (const PartitionProfile& one : scheme->profiles) {
      known.emplace_back(one.name);
    }
    throw ConfigError{refused + card.id + " is cut into " + scheme->profiles_text() + " and has no profile " +
                      quoted(name.profile) + suggestion(name.profile, known)};
  }
  if (name.count > profile->most.value) {
    throw ConfigError{refused + "a card has at most " + std::to_string(profile->most.value) + " slices " +
                      profile->name + "; write " + quoted(id)};
  }
  return slices.emplace(id, partition_device(card, *scheme, *profile)).first->second;
}

Catalog::Catalog(DataStore store) : store_{std::move(store)}, cache_{std::make_shared<Cache>()} {}

Catalog Catalog::of(UserFolders folders) {
  return Catalog{DataStore{embedded::embedded_catalog(), std::move(folders)}};
}

Catalog Catalog::standard() {
  return of(DataStore::user_folders());
}

const Device& Catalog::device(std::string_view spelling) const {
  const std::lock_guard lock{cache_->mutex};
  if (const std::optional<PartitionName> slice = partition_name(spelling)) {
    return cache_->slice(store_, *slice, spelling);
  }
  return look_up(store_, cache_->devices, gpu_kind, spelling);
}

const PartitionScheme* Catalog::partitions(const Device& device) const {
  const std::lock_guard lock{cache_->mutex};
  return cache_->scheme_of(store_,
                           device.slice ? look_up(store_, cache_->devices, gpu_kind, device.slice->card) : device);
}

const Node& Catalog::node(std::string_view spelling) const {
  const std::lock_guard lock{cache_->mutex};
  return look_up(store_, cache_->nodes, node_kind, spelling);
}

const Node& Catalog::node_of_slices(const Node& node, const Device& slice) const {
  const std::lock_guard lock{cache_->mutex};
  return cache_->sliced_nodes.try_emplace(node.id + ' ' + slice.id, sliced(node, slice)).first->second;
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
  if (device.slice) {
    const Node* const whole = reference_node(this->device(device.slice->card));
    return whole == nullptr ? nullptr : &node_of_slices(*whole, device);
  }
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
constexpr std::string_view slice_reason =
    "a slice is spelled CARD/PROFILE, such as a100-sxm-80gb/1g.10gb or mi300x/cpx-nps4; 'headroom catalog list "
    "partitions' lists them";
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
    RefusedSpelling{"mig:*",     slice_reason},
    RefusedSpelling{"*-mig-*",   slice_reason},
    RefusedSpelling{"*-mig",     slice_reason},
    RefusedSpelling{"*g.*gb*",   slice_reason},
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
