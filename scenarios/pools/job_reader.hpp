// SPDX-License-Identifier: Apache-2.0
// Tables [[job]] of a cluster: which pools a job may run on, what it takes there, and what it waits for.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/scenarios/pools/cluster_question.hpp>
#include <headroom/scenarios/pools/named_list.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace headroom::pools {

/// Scenarios that jobs name, each read once for a pool and a number of GPUs.
class ScenarioBook {
 public:
  explicit ScenarioBook(const QuestionReader& reader) : reader_{&reader} {}

  struct Entry {
    std::shared_ptr<const JobQuestion> question;  ///< null: it cannot be read on this SKU
    std::optional<Diagnostics> problems;          ///< why not
  };
  /// The scenario of a path on the SKU of a pool, at its price. `gpus`: in place of the scenario's own.
  const Entry& find(const std::string& path,
                    std::size_t place,
                    const AskedPool& pool,
                    std::optional<std::int64_t> gpus);

 private:
  struct File {
    std::optional<ConfigValue> document;
    std::optional<Diagnostics> problems;
  };
  const File& file_of(const std::string& path);

  const QuestionReader* reader_;
  std::map<std::string, File> files_;
  std::map<std::tuple<std::string, std::size_t, std::int64_t>, Entry> entries_;
};

/// What jobs refer to.
struct JobContext {
  const std::vector<AskedPool>* pools = nullptr;
  const NamedList* pool_names = nullptr;
  const NamedList* tenant_names = nullptr;
  std::optional<Seconds> horizon;
  ScenarioBook* book = nullptr;
  std::vector<std::string>* assumptions = nullptr;
};

/// Reads every [[job]] of a document's root; `names` are filled with theirs. Problems go to the diagnostics of `root`:
/// also a cycle of `after`, and more jobs or waits than are counted.
[[nodiscard]] std::vector<AskedJob> read_jobs(ConfigTable& root, const JobContext& context, NamedList& names);

/// Labels with their values, as `key` of a table holds them.
[[nodiscard]] std::map<std::string, std::string> read_labels(ConfigTable& table, std::string_view key);

}  // namespace headroom::pools
