// SPDX-License-Identifier: Apache-2.0
// The parts of the page of kind classic: the verdict with both times, what each is made of, other sizes, cures.
#include <headroom/answers/page/sections.hpp>

#include <string>

namespace headroom::report {

std::string classic_answer(const Documents& documents) {
  const Place classic = documents.find("classic");
  if (!classic.there()) {
    return {};
  }
  return verdict_line(classic["verdict"].text() == "feasible" ? "fits" : "no", classic["verdict_text"].text()) +
         headline_numbers({{"the GPUs take", classic["gpu"]["time_s"], ""},
                           {"the cores take", classic["cpu"]["time_s"], ""},
                           {"they cross at " + classic["size_name"].text(), classic["crossover_size"], ""},
                           {"memory of a GPU", classic["gpu"]["memory_bytes"], ""},
                           {"energy of the GPUs", classic["gpu"]["energy_j"], ""},
                           {"cost of the GPUs", classic["gpu"]["cost_usd"], ""}},
                          "");
}

std::string sizes_section(const Documents& documents) {
  const Place classic = documents.find("classic");
  return section(
      "sizes", "GPUs and cores", "",
      items_table("parts on the GPUs", classic["gpu"]["parts"], {"name", "time_s"}) +
          items_table("parts on the cores", classic["cpu"]["parts"], {"name", "time_s"}) +
          items_table("other sizes", classic["sweep"], {"size", "gpu_s", "cpu_s", "shards"}) +
          items_table("parts of a GPU", classic["video"]["stages"], {"name", "streams", "frame_s", "engines"}) +
          items_table("memory of all", classic["memory"], {"what", "memory_bytes"}) +
          items_table("what to try first", classic["cures"], {"what", "time_ratio", "why"}));
}

}  // namespace headroom::report
