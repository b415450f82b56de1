// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/hardware/catalog/partition.hpp>
#include <headroom/model/infer/call_rates.hpp>
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/model/kernels/roofline.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/measured/words/config_words.hpp>
#include <headroom/scenarios/measured/words/slice_row.hpp>
#include <headroom/scenarios/measured/words/workload_row.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom {
namespace {

constexpr std::string_view products = "PyTorch GEMM ";
constexpr std::string_view lost = "SMs lost by enabling MIG";

/// "1g.10gb" in one of the parts; empty: the whole card.
std::string profile_in(const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    const std::string word = part.substr(0, part.find(' '));
    if (word.find("g.") != std::string::npos && word.ends_with("gb")) {
      return word;
    }
  }
  return {};
}

}  // namespace

bool slice_row(const RunFile& file, const RunRow& row) {
  const std::string config = cell(file, row, "config").value_or("");
  return cell(file, row, "workload") == "mig" && (config.starts_with(products) || config.starts_with(lost));
}

RowPrediction predict_slice(const Catalog& catalog, const ModelData& data, const RunFile& file, const RunRow& row) {
  const std::string config = cell(file, row, "config").value_or("");
  RowDevices devices{catalog};
  std::string why;
  const Device* const card = written_device(data, devices, cell(file, row, "hardware").value_or(""), why);
  if (card == nullptr) {
    return unsupported(why);
  }
  const PartitionScheme* const scheme = catalog.partitions(*card);
  if (scheme == nullptr) {
    return unsupported(card->id + " cannot be cut into slices");
  }
  RowPrediction answer;
  answer.status = RowStatus::ok;
  if (config.starts_with(lost) && row.metric == "sm_loss_pct") {
    // All slices of the smallest profile, of which a card has the most.
    const PartitionProfile& least = scheme->profiles.front();
    const Device slice = partition_device(*card, *scheme, least);
    answer.predicted = answer.low = answer.high = 100.0 * (1.0 - real(least.most.value) * slice.slice->compute);
    return answer;
  }
  if (row.metric != "tflops") {
    return unsupported("metric " + row.metric + " of a slice is not answered");
  }
  const std::vector<std::string> parts = parts_of(config);
  const std::string profile = profile_in(parts);
  const PartitionProfile* const cut = scheme->find(profile);
  if (!profile.empty() && cut == nullptr) {
    return unsupported(card->id + " has no profile '" + profile + "'; it is cut into " + scheme->profiles_text());
  }
  const Device device = cut == nullptr ? *card : partition_device(*card, *scheme, *cut);
  const double clock = cut == nullptr ? 1.0 : call_rates(data).physics.slice;
  const Rate rate = config.find("TF32") != std::string::npos ? Rate::tf32 : Rate::bf16;
  const auto& peak = device.peak[static_cast<std::size_t>(rate)];
  const auto& half = device.peak[static_cast<std::size_t>(Rate::bf16)];
  if (!peak || !half) {
    return unsupported("the catalog has no peak of that format for " + device.id);
  }
  try {
    const GemmFormat& format = *find_gemm_format("bf16");
    const auto chosen = choose_gemm(find_curve_set(data, *card), device, format);
    const GemmModel model{chosen.curve->values, kernel_device(device, Rate::bf16), format};
    constexpr double side = 8192.0;
    // Formats of one kind of unit reach the same share of their peaks in products as large as this.
    const double share = (gemm_flops(side, side, side) / model.time({side, side, side})) / half->value;
    const double over = 1.0 + chosen.curve->provenance.p90;
    answer.roofline = clock * peak->value.raw() / 1e12;
    answer.predicted = share * answer.roofline;
    answer.low = answer.predicted / over;
    answer.high = answer.predicted * over;
    answer.assumed = "products of 8,192 x 8,192 x 8,192";
  } catch (const ConfigError& error) {
    return unsupported(error);
  }
  return answer;
}

}  // namespace headroom
