// SPDX-License-Identifier: Apache-2.0
// Credits of tenants: granted, reserved when a job is admitted, debited and refunded when it ends.
#pragma once

#include <headroom/model/scheduler/cluster_jobs.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace headroom::scheduler {

/// Balances and the lines that moved them (Entry::Kind says which account each line moves between). No balance is ever
/// below 0, since a reserve moves at most the balance and the end of a job at most what was reserved for it.
class CreditLedger {
 public:
  /// Grants each tenant its credit, where it has one, at time 0.
  explicit CreditLedger(std::span<const Tenant> tenants);

  /// Whether the tenant's jobs are charged at all.
  [[nodiscard]] bool charges(std::size_t tenant) const noexcept { return balances_[tenant].has_value(); }
  /// Precondition of this and what follows: the tenant's jobs are charged.
  [[nodiscard]] double balance(std::size_t tenant) const noexcept { return *balances_[tenant]; }
  /// Precondition: amount <= balance.
  void reserve(Seconds at, std::size_t tenant, std::size_t job, double amount);
  void refuse(Seconds at, std::size_t tenant, std::size_t job, double amount);
  /// The job is over: debits `used` of its reserve, no more than that, and refunds the rest.
  void settle(Seconds at, std::size_t tenant, std::size_t job, double reserved, double used);

  [[nodiscard]] std::vector<Entry> take() { return std::move(lines_); }

 private:
  std::vector<std::optional<double>> balances_;
  std::vector<Entry> lines_;
};

}  // namespace headroom::scheduler
