// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/scenarios/training/data_feed.hpp>

namespace headroom {

std::string data_text(const std::optional<DataFeed>& feed, const FedStep& fed) {
  if (!feed) {
    return "Data loading is assumed fast enough. Add a [data] table to check it.";
  }
  const auto binds = static_cast<std::size_t>(fed.input.binds);
  std::string text = fed.exposed > Seconds{} ? "data loading: " + std::string{input_stage_names[binds]} +
                                                   " holds the step up by " + format(fed.exposed)
                                             : std::string{"data loading keeps up"};
  std::string needs;
  needs += feed->cpu > Seconds{} ? " " + format_number(fed.input.cores_needed) + " cores," : "";
  needs += feed->stored > Bytes{} ? " " + format(fed.input.storage_needed) + " of storage," : "";
  needs += feed->fed > Bytes{} ? " " + format(fed.input.copy_needed) + " of copies," : "";
  if (!needs.empty()) {
    needs.pop_back();
    text += "; GPUs that never wait need of a host";
    text += feed->gpu_rate > 0.0 ? " at " + format_number(feed->gpu_rate) + " samples/s, as measured," : "";
    text += needs;
  }
  return text;
}

}  // namespace headroom
