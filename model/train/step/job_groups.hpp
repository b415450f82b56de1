// SPDX-License-Identifier: Apache-2.0
// The communicating groups of one job: ranks a stride apart on its hosts, with the time of their collectives.
#pragma once

#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/hardware/fabric/fabric.hpp>
#include <headroom/hardware/fabric/placement.hpp>
#include <headroom/model/collectives/collective_time.hpp>

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {

class ModelData;

/// Where a job runs. What is not stated is the reference node's.
struct JobHosts {
  std::optional<Node> node;
  std::int64_t gpus_per_node = 0;             ///< 0: the node's
  std::optional<BytesPerSecond> nic_per_gpu;  ///< scale-out rate of one GPU, one direction
  std::optional<Cluster> cluster;             ///< its tiers, rails and transport; else one non-blocking switch
};

/// The class of network that a node's NICs are of: "efa", "roce", else "infiniband".
[[nodiscard]] std::string_view transport_of(const Node& node) noexcept;

/// What one GPU and its host exchange each way: as a scenario states it, else the link to the CPU on its module, else
/// the narrower of its slot and its own PCIe. nullopt where nobody states it.
[[nodiscard]] std::optional<BytesPerSecond> host_link_of(const Device& device, const Node* node) noexcept;

/// Groups are built on first use and kept; their addresses stay. Safe to call from several threads.
class JobGroups {
 public:
  /// ConfigError when the SKU states no link between the GPUs that the job needs, or the cluster does not hold it.
  /// `data` must outlive the groups.
  JobGroups(const ModelData& data, const Device& device, const JobHosts& hosts, std::int64_t ranks);
  ~JobGroups();
  JobGroups(const JobGroups&) = delete;
  JobGroups& operator=(const JobGroups&) = delete;
  JobGroups(JobGroups&&) = delete;
  JobGroups& operator=(JobGroups&&) = delete;

  [[nodiscard]] const ModelData& data() const noexcept { return data_; }
  [[nodiscard]] std::int64_t ranks() const noexcept { return ranks_; }
  /// nullptr where ranks x stride does not divide the job, and for a group of one.
  [[nodiscard]] const GroupCollectives* find(std::int64_t ranks, std::int64_t stride) const {
    return find(GroupForm{ranks, stride});
  }
  [[nodiscard]] const GroupCollectives* find(const GroupForm& form) const;
  /// What the times stand on: "NCCL 2.26 on h100-sxm-80gb".
  [[nodiscard]] const std::string& why() const noexcept { return why_; }

 private:
  struct Hosts;
  const ModelData& data_;
  std::int64_t ranks_ = 1;
  std::unique_ptr<const Hosts> hosts_;
  std::string why_;
  mutable std::mutex mutex_;
  using FormKey = std::array<std::int64_t, 4>;
  mutable std::map<FormKey, std::unique_ptr<const GroupCollectives>> groups_;
};

}  // namespace headroom
