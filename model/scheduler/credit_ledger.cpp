// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/scheduler/credit_ledger.hpp>

#include <algorithm>

namespace headroom::scheduler {

CreditLedger::CreditLedger(std::span<const Tenant> tenants) {
  for (std::size_t t = 0; t < tenants.size(); ++t) {
    balances_.push_back(tenants[t].credit);
    if (tenants[t].credit) {
      lines_.push_back({Entry::Kind::grant, Seconds{}, t, std::nullopt, *tenants[t].credit, *tenants[t].credit});
    }
  }
}

void CreditLedger::reserve(Seconds at, std::size_t tenant, std::size_t job, double amount) {
  double& balance = *balances_[tenant];
  balance = std::max(balance - amount, 0.0);
  lines_.push_back({Entry::Kind::reserve, at, tenant, job, amount, balance});
}

void CreditLedger::refuse(Seconds at, std::size_t tenant, std::size_t job, double amount) {
  lines_.push_back({Entry::Kind::refuse, at, tenant, job, amount, balance(tenant)});
}

void CreditLedger::settle(Seconds at, std::size_t tenant, std::size_t job, double reserved, double used) {
  double& balance = *balances_[tenant];
  const double spent = std::min(used, reserved);
  lines_.push_back({Entry::Kind::debit, at, tenant, job, spent, balance});
  if (spent < reserved) {
    balance += reserved - spent;
    lines_.push_back({Entry::Kind::refund, at, tenant, job, reserved - spent, balance});
  }
}

}  // namespace headroom::scheduler
