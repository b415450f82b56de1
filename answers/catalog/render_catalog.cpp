// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/catalog/render_catalog.hpp>
#include <headroom/answers/catalog/render_partitions.hpp>
#include <headroom/core/version.hpp>
#include <headroom/model/estimate/number_format.hpp>
#include <headroom/model/workload/parameters.hpp>

#include <algorithm>

namespace headroom {
namespace {

/// The value without its source; absent where there is none.
template <class T>
Value plain(const std::optional<Sourced<T>>& value) {
  return value ? Value{value->value} : Value{};
}

Value rates_value(const RateTable& rates) {
  Value all = row();
  for (std::size_t i = 0; i < rate_count; ++i) {
    all.add({std::string{rate_names[i]}, plain(rates[i])});
  }
  return all;
}

Value gpus_value(const Catalog& catalog) {
  Value all = Value::empty_list();
  catalog.store().each("gpus", [&](const std::string& id) {
    const Device& d = catalog.device(id);
    const bool has_memory = d.memory.usable || d.memory.marketed;
    all.push(object("id"_m = id, "name"_m = d.name, "vendor"_m = d.vendor, "generation"_m = d.generation,
                    "memory_bytes"_m = has_memory ? Value{d.capacity().value} : Value{},
                    "memory_bytes_per_s"_m = plain(d.memory.bandwidth), "dense_flop_per_s"_m = rates_value(d.peak),
                    "tdp_w"_m = plain(d.power.tdp), "scale_up_bytes_per_s"_m = plain(d.scale_up.per_gpu)));
  });
  return all;
}

Value nodes_value(const Catalog& catalog) {
  Value all = Value::empty_list();
  catalog.store().each("nodes", [&](const std::string& id) {
    const Node& n = catalog.node(id);
    const auto out = n.scale_out_per_gpu();
    all.push(object("id"_m = id, "name"_m = n.name, "gpu"_m = n.gpu, "gpus"_m = n.gpus,
                    "scale_up_bytes_per_s"_m = plain(n.per_gpu), "nics"_m = plain(n.nics),
                    "scale_out_bytes_per_s_per_gpu"_m = out ? Value{*out} : Value{}));
  });
  return all;
}

Value clusters_value(const Catalog& catalog) {
  Value all = Value::empty_list();
  catalog.store().each("clusters", [&](const std::string& id) {
    const Cluster& c = catalog.cluster(id);
    all.push(object("id"_m = id, "name"_m = c.name, "node"_m = c.node, "transport"_m = c.transport,
                    "tiers"_m = list(c.tiers, [](const ClusterTier& tier) {
                      return row("name"_m = tier.name, "nodes"_m = tier.nodes,
                                 "oversubscription"_m = tier.oversubscription);
                    })));
  });
  return all;
}

Value prices_value(const Catalog& catalog) {
  Value all = Value::empty_list();
  catalog.store().each("prices", [&](const std::string& id) {
    const PriceList& prices = catalog.prices(id);
    const auto gpu = [](const PriceOffer& offer) {
      return row("gpu"_m = offer.gpu, "market"_m = market_names[static_cast<std::size_t>(offer.market)],
                 "region"_m = offer.region, "price_usd_per_s_per_gpu"_m = offer.price.value);
    };
    const auto storage = [](const StorageOffer& offer) {
      return row("service"_m = offer.service, "region"_m = offer.region,
                 "price_usd_per_s_per_byte"_m = Value{offer.price.value.raw(), Hint::usd_per_hour});
    };
    const auto egress = [](const EgressOffer& offer) {
      return row("region"_m = offer.region, "price_usd_per_byte"_m = Value{offer.price.value.raw(), Hint::usd});
    };
    all.push(object("id"_m = id, "provider"_m = prices.provider, "date"_m = prices.date,
                    "gpus"_m = list(prices.offers, gpu), "storage"_m = list(prices.storage, storage),
                    "egress"_m = list(prices.egress, egress)));
  });
  return all;
}

Value architectures_value(const Catalog& catalog) {
  Value all = Value::empty_list();
  catalog.store().each("architectures", [&](const std::string& id) {
    const UnitLimits& u = catalog.architecture(id);
    all.push(
        object("id"_m = id, "name"_m = u.name, "vendor"_m = u.vendor, "generation"_m = u.generation,
               "warp_threads"_m = u.threads.warp.value, "warps_per_unit"_m = u.threads.warps_per_unit.value,
               "blocks_per_unit"_m = u.threads.blocks_per_unit.value,
               "registers_per_unit"_m = u.registers.per_unit.value, "shared_bytes_per_unit"_m = u.shared.per_unit.value,
               "shared_bytes_per_block"_m = u.shared.per_block.value, "memory_latency_s"_m = plain(u.latency.memory)));
  });
  return all;
}

Value models_value(const ModelLibrary& models) {
  Value all = Value::empty_list();
  models.each([&](const std::string& id) {
    const Architecture a = models.find(id);
    all.push(object("id"_m = id, "name"_m = a.name, "parameters"_m = count_parameters(a).total, "layers"_m = a.layers,
                    "hidden"_m = a.hidden, "heads"_m = a.heads, "kv_heads"_m = a.kv_heads, "vocab"_m = a.vocab));
  });
  return all;
}

Value networks_value(const NetworkLibrary& networks) {
  Value all = Value::empty_list();
  networks.each([&](const std::string& id) {
    const Network n = networks.find(id);
    all.push(object("id"_m = id, "name"_m = n.name, "parameters"_m = n.parameters, "ops"_m = n.ops.size(),
                    "forward_flop_per_sample"_m = n.forward, "input_bytes_per_sample"_m = n.input_bytes(),
                    "parts"_m = n.parts()));
  });
  return all;
}

Value formats_value() {
  return list(number_formats, [](const NumberFormat& f) {
    return object("id"_m = f.name, "bits"_m = f.bits(), "exponent_bits"_m = f.exponent_bits,
                  "mantissa_bits"_m = f.mantissa_bits, "largest"_m = f.largest(),
                  "smallest_normal"_m = f.smallest_normal(),
                  "smallest_subnormal"_m = when(f.mantissa_bits > 0, f.smallest_subnormal()), "epsilon"_m = f.epsilon(),
                  "source"_m = f.source);
  });
}

Value list_of(std::string_view kind,
              const Catalog& catalog,
              const ModelLibrary& models,
              const NetworkLibrary& networks) {
  if (kind == "gpus") return gpus_value(catalog);
  if (kind == "nodes") return nodes_value(catalog);
  if (kind == "clusters") return clusters_value(catalog);
  if (kind == "prices") return prices_value(catalog);
  if (kind == "architectures") return architectures_value(catalog);
  if (kind == "formats") return formats_value();
  if (kind == "networks") return networks_value(networks);
  if (kind == "partitions") return partitions_value(catalog);
  return models_value(models);
}

}  // namespace

Value catalog_document(std::span<const std::string_view> kinds,
                       const Catalog& catalog,
                       const ModelLibrary& models,
                       const NetworkLibrary& networks) {
  Value document = object("schema"_m = "headroom.catalog/1", "version"_m = version());
  for (const std::string_view kind : kinds) {
    document.add({std::string{kind}, list_of(kind, catalog, models, networks)});
  }
  return document;
}

Value lint_document(std::span<const LintFinding> findings) {
  const auto excused = std::count_if(findings.begin(), findings.end(),
                                     [](const LintFinding& finding) { return !finding.excused.empty(); });
  return object("schema"_m = "headroom.lint/1", "version"_m = version(), "checks"_m = lint_checks().size(),
                "failures"_m = static_cast<std::int64_t>(findings.size()) - excused, "excused"_m = excused,
                "findings"_m = list(findings, [](const LintFinding& finding) {
                  return row("check"_m = finding.check, "file"_m = finding.place.file,
                             "line"_m = when(finding.place.at.line > 0, finding.place.at.line),
                             "column"_m = when(finding.place.at.line > 0, finding.place.at.column),
                             "message"_m = finding.place.message,
                             "excused"_m = when(!finding.excused.empty(), finding.excused));
                }));
}

}  // namespace headroom
