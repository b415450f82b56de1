// SPDX-License-Identifier: Apache-2.0
// `headroom collective`: one collective answered, or a file of measured ones scored against the committed curves.
#include <headroom/calibrate/kernels/score_collectives.hpp>
#include <headroom/cli/frame/command.hpp>
#include <headroom/cli/frame/format_option.hpp>
#include <headroom/cli/frame/kernel_files.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/cli/render/render_collective.hpp>
#include <headroom/cli/render/render_link_collective.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/hardware/catalog/partition.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace headroom::cli {

extern const Verb collective_verb;

namespace collective_parts {
namespace {

enum class Asks : std::uint8_t { hosts, cluster, files, link };
constexpr std::array forms{
    Form{"a collective on hosts of one SKU", "a collective and --gpu ID", formats_in<"text|{}">},
    Form{"a collective on a cluster, which says its hosts", "a collective and --cluster ID", formats_in<"text|{}">},
    Form{"a file of measured collectives", "a file of measured collectives", formats_in<"text|{}|csv">},
    Form{"a collective over links as stated", "a collective and --link RATE", formats_in<"text|{}|svg|html">},
};

constexpr std::array options{
    Option{"--gpu", OptionKind::one, "ID", "SKU of the catalog"}.of(Asks::hosts, Asks::files),
    Option{"--curves", OptionKind::one, "ID", "another SKU's curves with this one's links"}.of(Asks::hosts,
                                                                                               Asks::files),
    Option{"--bytes", OptionKind::one, "SIZE", "buffer as nccl-tests counts it, e.g. \"1 GiB\": gathered, unscattered"}
        .of(Asks::hosts, Asks::cluster, Asks::link),
    Option{"--gpus", OptionKind::one, "N", "ranks; default all GPUs of the reference node"}.of(
        Asks::hosts, Asks::cluster, Asks::link),
    Option{"--nodes", OptionKind::one, "N", "hosts they are spread over, on one rail; default 1"}.of(Asks::hosts),
    Option{"--network", OptionKind::one, "ID", "with --nodes: efa, infiniband, roce"}.of(Asks::hosts),
    Option{"--cluster", OptionKind::one, "ID", "a cluster of the catalog: its hosts, its network, its GPUs"}.of(
        Asks::cluster),
    Option{"--stride", OptionKind::one, "N", "with --cluster: ranks between neighbours of the group, default 1"}.of(
        Asks::cluster),
    Option{"--job", OptionKind::one, "N",
           "with --cluster: ranks of the job, all of whose groups of this form move at once"}
        .of(Asks::cluster),
    Option{"--link", OptionKind::one, "RATE",
           "\"50 GB/s\": a rank's link in one direction, for the textbook's times without a SKU"}
        .of(Asks::link),
    Option{"--latency", OptionKind::one, "TIME", "with --link: fixed time of a message, e.g. 5us; default none"}.of(
        Asks::link),
    Option{"--per-node", OptionKind::one, "N", "with --link: ranks of a node, each with a NIC; default 1"}.of(
        Asks::link),
    Option{"--inside", OptionKind::one, "RATE", "with --per-node: a rank's link within its node"}.of(Asks::link),
    Option{"--inside-latency", OptionKind::one, "TIME", "with --per-node: fixed time of a message within a node"}.of(
        Asks::link),
    Option{"--algorithm", OptionKind::one,
           "ring|rings|double-tree|tree|recursive-doubling|halving-doubling|hierarchical|nvls|sharp|pairwise|bruck|"
           "chain|scattered|all",
           "with --link: this one, or all with the sizes at which the fastest changes; default what NCCL has"}
        .of(Asks::link),
    Option{"--count", OptionKind::one, "N", "buffers of that size, one after another; default 1"}.of(
        Asks::hosts, Asks::cluster, Asks::link),
    Option{"--bucket", OptionKind::one, "SIZE", "fused into buckets of that size; 'any': of the best"}.of(
        Asks::hosts, Asks::cluster, Asks::link),
    Option{"--backward", OptionKind::one, "TIME", "backward pass that makes the buffers: how much stays exposed"}.of(
        Asks::hosts, Asks::cluster, Asks::link),
    Option{"--compress", OptionKind::one, "FORM", "fp32 gradients as bf16, fp8 or topk:SHARE: bytes, time"}.of(
        Asks::hosts, Asks::cluster, Asks::link),
    Option{"--nvls", OptionKind::one, "on|off", "reductions in the NVSwitch (NCCL_NVLS_ENABLE), on by default"}.of(
        Asks::hosts, Asks::cluster),
    Option{"--dtype", OptionKind::one, "bf16|fp16|fp32|int8", "bf16 by default; int8 cannot be reduced in the switch"}
        .of(Asks::hosts, Asks::cluster),
    Option{"--registered", OptionKind::flag, "", "user buffers are registered or symmetric: no copies, fewer SMs"}.of(
        Asks::hosts, Asks::cluster),
    Option{"--sharp", OptionKind::flag, "", "switches of InfiniBand reduce (CollNet)"}.of(Asks::hosts, Asks::cluster),
    Option{"--pxn", OptionKind::one, "on|off", "all-to-alls reach other hosts over the receiver's rail"}.of(
        Asks::hosts, Asks::cluster),
    Option{"--eager", OptionKind::flag, "", "called from Python, outside a graph"}.of(Asks::hosts, Asks::cluster),
    Option{"--measured-busbw", OptionKind::one, "RATE", "\"12 GB/s\": is this the transport you think it is?"}.of(
        Asks::hosts, Asks::cluster),
    Option{"--kind", OptionKind::one, "nccl|custom-all-reduce|moe-all-to-all",
           "with a file: the kind of collectives, where the columns do not tell"}
        .of(Asks::files),
    Option{"--budget", OptionKind::one, "FILE", "with a file: TOML with [[bar]]; exit 1 if missed"}
        .of(Asks::files)
        .that(FileUse::reads),
    Option{"--format", OptionKind::one, formats_in<"text|{}|csv|svg|html">,
           meanings_in<"text (default), {}, csv (rows of a file), svg and html (over stated links)">},
};

/// Collective for a name in any spelling: "all-reduce", "all_reduce", "allreduce".
std::optional<Collective> collective_named(std::string_view text) {
  const auto plain = [](std::string_view word) {
    std::string letters;
    for (const char c : word) {
      if (c != '-' && c != '_') {
        letters += c;
      }
    }
    return letters;
  };
  for (std::size_t i = 0; i < collective_count; ++i) {
    if (plain(collective_names[i]) == plain(text)) {
      return static_cast<Collective>(i);
    }
  }
  return std::nullopt;
}

/// Options read one by one, with every problem of them.
class OptionReader {
 public:
  explicit OptionReader(const Arguments& arguments) : arguments_{arguments} {}

  /// nullopt where it is not given or wrong.
  template <class Q>
  std::optional<Q> quantity(std::string_view option) {
    if (!arguments_.has(option)) {
      return std::nullopt;
    }
    const std::string text = arguments_.one(option);
    const std::variant<double, TextError> parsed = parse_quantity(text, dimension_of<Q>);
    if (const auto* error = std::get_if<TextError>(&parsed)) {
      add(std::string{option} + " " + error->message);
    } else if (std::get<double>(parsed) <= 0.0) {
      add(std::string{option} + " " + quoted(text) + " must be positive");
    } else {
      return Q{std::get<double>(parsed)};
    }
    return std::nullopt;
  }
  /// A buffer: from one byte up to 1 EiB.
  std::optional<Bytes> buffer(std::string_view option) {
    const std::optional<Bytes> bytes = quantity<Bytes>(option);
    constexpr Bytes least{1.0}, most{0x1p60};
    if (bytes && (*bytes < least || *bytes > most)) {
      add(std::string{option} + " " + quoted(arguments_.one(option)) + " must lie between 1 B and 1 EiB");
      return std::nullopt;
    }
    return bytes;
  }
  /// nullopt where it is not given or wrong.
  std::optional<std::int64_t> stated_count(std::string_view option) {
    if (!arguments_.has(option)) {
      return std::nullopt;
    }
    constexpr std::int64_t most = std::int64_t{1} << 24;
    const std::string text = arguments_.one(option);
    const std::optional<std::int64_t> value = integer_of(text);
    if (!value || *value <= 0) {
      add(std::string{option} + " " + quoted(text) + " must be a positive integer");
    } else if (*value > most) {
      add(std::string{option} + " " + quoted(text) + " is above " + std::to_string(most) + ", the most");
    } else {
      return value;
    }
    return std::nullopt;
  }
  std::int64_t count(std::string_view option, std::int64_t fallback) { return stated_count(option).value_or(fallback); }
  void add(std::string problem) { problems_.add("", {}, std::move(problem)); }
  void throw_if_any() const { problems_.throw_if_any(); }
  [[nodiscard]] bool clean() const noexcept { return problems_.empty(); }

 private:
  const Arguments& arguments_;
  Diagnostics problems_;
};

std::int64_t count_option(const Arguments& arguments, std::string_view option, std::int64_t fallback) {
  OptionReader reader{arguments};
  const std::int64_t count = reader.count(option, fallback);
  reader.throw_if_any();
  return count;
}

/// Many of a collective of `bytes`, which is nullopt where it is wrong.
SeriesQuestion read_series(OptionReader& reader,
                           const Arguments& arguments,
                           Collective collective,
                           std::optional<Bytes> bytes) {
  SeriesQuestion q;
  q.count = reader.count("--count", 1);
  q.best_bucket = arguments.one("--bucket") == "any";
  if (!q.best_bucket) {
    q.bucket = reader.quantity<Bytes>("--bucket");
  }
  q.backward = reader.quantity<Seconds>("--backward");
  if (q.bucket && bytes) {
    const CollectiveSeries series{*bytes, q.count};
    constexpr double most_buckets = 1 << 24;
    if (*q.bucket > series.total()) {
      reader.add("--bucket " + quoted(arguments.one("--bucket")) + " is above the " + format(series.total()) +
                 " of all buffers; name less, or 'any' for the best");
    } else if (q.count > 1 && *q.bucket < *bytes) {
      reader.add("--bucket " + quoted(arguments.one("--bucket")) + " is below one buffer of " + format(*bytes) +
                 ", which --count " + std::to_string(q.count) + " does not cut");
    } else if (series.total() / *q.bucket > most_buckets) {
      reader.add("--bucket " + quoted(arguments.one("--bucket")) + " makes more than " +
                 std::to_string(std::int64_t{1} << 24) + " buckets of " + format(series.total()));
    }
  }
  if (arguments.has("--compress")) {
    const std::string text = arguments.one("--compress");
    q.compress = gradient_compression_of(text);
    if (!q.compress || q.compress->form == GradientForm::fp32) {
      reader.add("--compress " + quoted(text) +
                 " is none of bf16, fp8 and topk:SHARE, whose share of the elements lies in (0, 1], e.g. topk:0.01");
    } else if (q.compress->form == GradientForm::topk && collective != Collective::all_reduce) {
      reader.add("--compress " + quoted(text) + " gathers what an all-reduce would add; it does not go with " +
                 std::string{name_of(collective)});
    }
  }
  return q;
}

/// View of the ranks on hosts of the reference node, spread evenly.
GroupView view_of(const Arguments& arguments, const Catalog& catalog, const Device& device) {
  if (const std::string why = why_no_group(device); !why.empty()) {
    throw ConfigError{"--gpu " + device.id + ": slices of a card have no collectives: " + why};
  }
  const Node* node = catalog.reference_node(device);
  const std::int64_t nodes = count_option(arguments, "--nodes", 1);
  const std::int64_t all = nodes * (node != nullptr ? node->gpus : device.scale_up.domain);
  const std::int64_t ranks = count_option(arguments, "--gpus", all);
  if (ranks < 2 || ranks < nodes || ranks % nodes != 0) {
    throw ConfigError{"--gpus " + std::to_string(ranks) + " must be at least 2 and divide evenly over --nodes " +
                      std::to_string(nodes)};
  }
  return hosts_view(device, node, ranks, nodes);
}

/// Places the group on hosts of the SKU's reference node.
void place_on_hosts(const Arguments& arguments,
                    const Catalog& catalog,
                    const ModelData& data,
                    const Device& device,
                    CollectiveQuestion& q) {
  q.view = view_of(arguments, catalog, device);
  if (q.view.domains > 1) {
    if (!arguments.has("--network")) {
      throw ConfigError{"--nodes " + std::to_string(q.view.domains) +
                        " needs --network: which class joins the hosts (efa, infiniband, roce)"};
    }
    q.transport = find_transport(data, arguments.one("--network"));
  } else if (arguments.has("--network")) {
    throw ConfigError{"--network says how hosts are joined; ask for several with --nodes"};
  }
}

/// Whether every rank sends the same amount to every other rank.
bool uniform(Collective collective) {
  return collective == Collective::all_to_all || collective == Collective::dispatch ||
         collective == Collective::combine;
}

/// Places the group on a cluster, among the equal groups that together form the job.
void place_on_cluster(const Arguments& arguments,
                      const Catalog& catalog,
                      const ModelData& data,
                      CollectiveQuestion& q) {
  if (!arguments.has("--gpus")) {
    throw ConfigError{"--cluster needs --gpus, the ranks of the group"};
  }
  const Cluster& cluster = catalog.cluster(arguments.one("--cluster"));
  const std::int64_t ranks = count_option(arguments, "--gpus", 0);
  const std::int64_t stride = count_option(arguments, "--stride", 1);
  const std::int64_t job = count_option(arguments, "--job", ranks * stride);
  if (ranks < 2) {
    throw ConfigError{"--gpus 1: a group needs at least two ranks"};
  }
  const FabricGraph graph = graph_of(catalog, cluster, job);
  q.view = Fabric{graph, job}.view(ranks, stride);
  if (q.view.domains > 1) {
    q.transport = find_transport(data, cluster.transport);
  }
  q.placed = counted(stride, "rank") + " apart in a job of " + std::to_string(job) + " on " + cluster.id;
  if (q.view.tier > 0) {
    const std::size_t tier = static_cast<std::size_t>(q.view.tier) - 1;
    q.placed += ", up to its tier '" + cluster.tiers[tier].name + "'";
    q.placed += q.view.one_rail ? ", on one rail" : "";
    const std::int64_t binds = uniform(q.collective) ? q.view.all_binding_tier : q.view.binding_tier;
    q.placed +=
        binds > 0 ? ", bound by the uplinks of '" + cluster.tiers[static_cast<std::size_t>(binds) - 1].name + "'" : "";
  }
}

Outcome answer_one(const Arguments& arguments,
                   const Catalog& catalog,
                   const ModelData& data,
                   const Device& device,
                   Collective collective) {
  if (!arguments.has("--bytes")) {
    throw ConfigError{
        "a collective needs --bytes, e.g. 'headroom collective all-reduce --bytes \"1 GiB\" --gpu "
        "h100-sxm-80gb --gpus 8'"};
  }
  CollectiveQuestion q;
  q.collective = collective;
  OptionReader reader{arguments};
  const std::optional<Bytes> bytes = reader.buffer("--bytes");
  q.measured = reader.quantity<BytesPerSecond>("--measured-busbw");
  q.series = read_series(reader, arguments, collective, bytes);
  reader.throw_if_any();
  q.bytes = bytes.value_or(Bytes{});
  if (arguments.has("--cluster")) {
    place_on_cluster(arguments, catalog, data, q);
  } else {
    place_on_hosts(arguments, catalog, data, device, q);
  }
  q.options.nvls = arguments.one("--nvls", "on") == "on";
  q.options.floating = arguments.one("--dtype", "bf16") != "int8";
  q.eager = arguments.has("--eager");
  q.knobs.registered = arguments.has("--registered");
  q.knobs.sharp = arguments.has("--sharp");
  if (arguments.has("--pxn")) {
    q.knobs.pxn = arguments.one("--pxn") == "on";
  }
  const CollectiveAnswer answer = answer_collective(data, device, q);
  const DocumentFormat* const format = document_format(arguments);
  return {format != nullptr ? format->print(collective_document(answer)) : collective_text(answer), "",
          answer.as_expected ? 0 : 1};
}

/// The nodes of a group over stated links.
TextbookGroup read_group(OptionReader& reader, const Arguments& arguments) {
  TextbookGroup g;
  const std::optional<std::int64_t> ranks = reader.stated_count("--gpus");
  g.ranks = ranks.value_or(2);
  if (g.ranks < 2) {
    reader.add("--gpus 1: a group needs at least two ranks");
  }
  g.link = reader.quantity<BytesPerSecond>("--link").value_or(BytesPerSecond{});
  g.message = reader.quantity<Seconds>("--latency").value_or(Seconds{});
  g.per_node = reader.count("--per-node", 1);
  if (g.ranks % g.per_node != 0) {
    if (ranks) {
      reader.add("--per-node " + std::to_string(g.per_node) + " does not divide --gpus " + std::to_string(g.ranks));
    }
    g.per_node = 1;
  }
  g.inside = reader.quantity<BytesPerSecond>("--inside").value_or(BytesPerSecond{});
  g.inside_message = reader.quantity<Seconds>("--inside-latency").value_or(Seconds{});
  for (const std::string_view option : {"--inside", "--inside-latency"}) {
    if (arguments.has(option) && !arguments.has("--per-node")) {
      reader.add(std::string{option} + " is of the ranks of one node; say how many those are with --per-node");
    }
  }
  if (arguments.has("--per-node") && arguments.one("--per-node") != "1" && !arguments.has("--inside")) {
    reader.add("--per-node needs --inside, a rank's link within its node, e.g. --inside \"450 GB/s\"");
  }
  return g;
}

/// The algorithm that --algorithm names, of those that serve the collective.
std::optional<TextbookAlgorithm> read_algorithm(OptionReader& reader,
                                                const std::string& word,
                                                Collective collective,
                                                const TextbookGroup& group) {
  std::string serve;
  for (const TextbookTime& t : textbook_times(collective, Bytes{1e6}, group)) {
    if (name_of(t.algorithm).word == word) {
      return t.algorithm;
    }
    serve += (serve.empty() ? "" : ", ") + std::string{name_of(t.algorithm).word};
  }
  const bool levels = (word == "hierarchical" || word == "rings") && group.per_node == 1;
  reader.add("--algorithm " + word + " does not serve " + std::string{name_of(collective)} + " on this group" +
             (levels ? ", which states no nodes (--per-node)" : "") + "; it is served by " + serve);
  return std::nullopt;
}

Outcome answer_link(const Arguments& arguments, Collective collective) {
  for (const std::string_view needed : {"--bytes", "--gpus"}) {
    if (!arguments.has(needed)) {
      throw ConfigError{"--link needs " + std::string{needed} +
                        ", e.g. 'headroom collective all-reduce --bytes \"1 GB\" --gpus 64 --link \"50 GB/s\" "
                        "--latency 5us'"};
    }
  }
  OptionReader reader{arguments};
  LinkQuestion q;
  q.collective = collective;
  const std::optional<Bytes> bytes = reader.buffer("--bytes");
  q.group = read_group(reader, arguments);
  q.series = read_series(reader, arguments, collective, bytes);
  const std::string algorithm = arguments.one("--algorithm");
  q.all = algorithm == "all";
  if (!algorithm.empty() && !q.all && q.group.ranks > 1) {
    q.algorithm = read_algorithm(reader, algorithm, collective, q.group);
  }
  reader.throw_if_any();
  q.bytes = bytes.value_or(Bytes{});
  const LinkAnswer answer = answer_link_collective(q);
  const DocumentFormat* const format = document_format(arguments);
  const std::string form = arguments.one("--format", "text");
  return {format != nullptr ? format->print(collective_document(answer))
          : form == "svg"   ? collective_svg(answer)
          : form == "html"  ? collective_page(answer)
                            : collective_text(answer),
          "", 0};
}

/// ConfigError where a collective stands among other words: files are scored by themselves.
void require_one(const std::vector<std::string>& what) {
  const auto named = std::find_if(what.begin(), what.end(),
                                  [](const std::string& word) { return collective_named(word).has_value(); });
  if (what.size() > 1 && named != what.end()) {
    const std::string& other = named == what.begin() ? what[1] : what.front();
    throw ConfigError{"one collective is answered at a time, and " + quoted(*named) + " stands beside " +
                      quoted(other) + "; call 'headroom collective' once for each"};
  }
}

Outcome run(const Arguments& arguments) {
  const std::vector<std::string> what = arguments.many("");
  require_one(what);
  const bool stated = arguments.has("--link");
  const bool placed = arguments.has("--cluster");
  if (what.empty() || (!placed && !stated && !arguments.has("--gpu"))) {
    throw ConfigError{
        "name a collective or a file of measured collectives, and --gpu, --cluster or --link; e.g. 'headroom "
        "collective all-reduce --bytes \"1 GiB\" --gpu h100-sxm-80gb --gpus 8'"};
  }
  const std::optional<Collective> collective = what.size() == 1 ? collective_named(what.front()) : std::nullopt;
  if (!collective && what.size() == 1 && what.front().find_first_of("./") == std::string::npos) {
    throw ConfigError{"collective " + quoted(what.front()) + " is not known" +
                      suggestion(what.front(), collective_names)};
  }
  require_form(collective_verb,
               !collective ? Asks::files
               : stated    ? Asks::link
               : placed    ? Asks::cluster
                           : Asks::hosts,
               arguments);
  if (collective && stated) {
    return answer_link(arguments, *collective);
  }
  const Catalog catalog = own_catalog();
  const ModelData data{catalog.store().shared()};
  Device device = catalog.device(placed ? catalog.node(catalog.cluster(arguments.one("--cluster")).node).gpu
                                        : arguments.one("--gpu"));
  if (arguments.has("--curves")) {
    device.curves = catalog.device(arguments.one("--curves")).id;
  }
  if (collective) {
    return answer_one(arguments, catalog, data, device, *collective);
  }
  return score_kernel_files(arguments, device.id, [&](std::span<const KernelFile> files) {
    return score_collectives(data, files, device, catalog.reference_node(device));
  });
}

constexpr std::string_view examples =
    "  headroom collective all-reduce --bytes \"1 GiB\" --gpu h100-sxm-80gb --gpus 8\n"
    "  headroom collective all-reduce --bytes \"256 MiB\" --gpu b200-sxm-180gb --nodes 4 --network efa\n"
    "  headroom collective reduce-scatter --bytes \"2 GiB\" --cluster dgx-superpod-h100 --gpus 16 --stride 8 --job "
    "512\n"
    "  headroom collective all-reduce --bytes \"1 GiB\" --gpu h100-sxm-80gb --measured-busbw \"12 GB/s\"\n"
    "  headroom collective all-reduce --bytes \"1 GB\" --gpus 64 --link \"50 GB/s\" --latency 5us\n"
    "  headroom collective all-reduce --bytes \"1 GB\" --gpus 64 --per-node 8 --link \"50 GB/s\" --inside \"450 GB/s\" "
    "--algorithm all\n"
    "  headroom collective all-reduce --bytes \"100 kB\" --count 300 --gpus 8 --link \"200 GB/s\" --latency 5us "
    "--bucket any\n"
    "  headroom collective nccl_mine.csv --kind nccl --gpu h200-sxm-141gb\n";

std::vector<PositionalWord> words() {
  std::vector<PositionalWord> result;
  for (const std::string_view name : collective_names) {
    std::string typed{name};
    std::replace(typed.begin(), typed.end(), '_', '-');
    result.push_back({std::move(typed), ""});
  }
  return result;
}

}  // namespace
}  // namespace collective_parts

const Verb collective_verb{"collective",
                           "the time of one collective, what NCCL picks, what binds it; or a file of them scored",
                           "all-reduce|FILE.csv",
                           10000,
                           collective_parts::options,
                           collective_parts::examples,
                           collective_parts::run,
                           collective_parts::words,
                           collective_parts::forms};

}  // namespace headroom::cli
