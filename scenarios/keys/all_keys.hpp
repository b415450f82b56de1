// SPDX-License-Identifier: Apache-2.0
// Every key of a scenario: readers take bounds and words from it, the schema and the manual are held against it.
#pragma once

#include <headroom/scenarios/keys/key.hpp>

#include <span>
#include <string_view>

namespace headroom {

// One file each.
[[nodiscard]] std::span<const KeyTable> keys_of_root() noexcept;
[[nodiscard]] std::span<const KeyTable> keys_of_hardware() noexcept;
[[nodiscard]] std::span<const KeyTable> keys_of_training() noexcept;  ///< [training], [sweep] and [data]
[[nodiscard]] std::span<const KeyTable> keys_of_goodput() noexcept;   ///< [goodput] and [target]
[[nodiscard]] std::span<const KeyTable> keys_of_strategy() noexcept;
[[nodiscard]] std::span<const KeyTable> keys_of_serving() noexcept;
[[nodiscard]] std::span<const KeyTable> keys_of_traffic() noexcept;  ///< [traffic] and [slo]
[[nodiscard]] std::span<const KeyTable> keys_of_fleet() noexcept;
[[nodiscard]] std::span<const KeyTable> keys_of_money() noexcept;   ///< [money] and [energy]
[[nodiscard]] std::span<const KeyTable> keys_of_search() noexcept;  ///< [search] and [objective]

/// All of them with their whole paths. A path stands in several rows where kinds of questions take it differently; no
/// two of these know the same kind.
[[nodiscard]] std::span<const Key> all_keys();

/// nullptr: that kind has no such key.
[[nodiscard]] const Key* find_key(std::string_view path, Kinds kind);
/// For readers, which know that it is there: std::logic_error where it is not.
[[nodiscard]] const Key& key_of(std::string_view path, Kinds kind);

}  // namespace headroom
