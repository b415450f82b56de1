// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/scenarios/training/data_feed.hpp>

namespace headroom {

std::string data_text(const std::optional<DataFeed>& feed, const FedStep& fed) {
  if (!feed) {
    return "data loading: taken not to bind; a [data] table says what a sample asks of a host";
  }
  const auto binds = static_cast<std::size_t>(fed.input.binds);
  std::string text = fed.exposed > Seconds{} ? "data loading: " + std::string{input_stage_names[binds]} +
                                                   " holds the step up by " + format(fed.exposed)
                                             : std::string{"data loading keeps up"};
  text += "; GPUs that never wait need of a host";
  text += feed->cpu > Seconds{} ? " " + format_number(fed.input.cores_needed) + " cores," : "";
  text += feed->stored > Bytes{} ? " " + format(fed.input.storage_needed) + " of storage," : "";
  text += feed->fed > Bytes{} ? " " + format(fed.input.copy_needed) + " of copies," : "";
  text.pop_back();
  return text;
}

}  // namespace headroom
