#pragma once
// What reading configurations has in common: defaults of a system where a file says nothing, and
// the statements that EOS and NX-OS share.
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "evidence/evidence.h"
#include "platforms/common/statement.h"

namespace weir::platforms {

using evidence::Fact;

/// What a system does where its configuration says nothing.
struct Defaults {
  std::string_view source;  // "default of EOS"

  template <class T>
  [[nodiscard]] Fact<T> value(T value) const {
    return Fact<T>::of(std::move(value), std::string(source));
  }
  template <class T>
  [[nodiscard]] Fact<T> unless(const Fact<T>& said, T value) const {
    return said.is_known() ? said : this->value(std::move(value));
  }
  /// A map entry by entry; its source is that of the last entry that was said.
  template <class Slot, class Code, std::size_t N, class DefaultOf>
  [[nodiscard]] Fact<std::array<Slot, N>> unless(const std::array<Fact<Code>, N>& said,
                                                 DefaultOf default_of) const {
    std::array<Slot, N> map{};
    std::string from(source);
    for (unsigned i = 0; i < N; ++i) {
      map.at(i) = said.at(i).is_known() ? *said.at(i) : Code::of(default_of(i));
      if (said.at(i).is_known()) from = said.at(i).source();
    }
    return Fact<std::array<Slot, N>>::of(map, from);
  }
  /// A queue neither marks, drops early nor is limited unless something says so.
  void settle(evidence::EgressQueue& queue) const;
};

/// The definition that a fact names; nullptr where it names none, or one that is not there.
template <class Map>
[[nodiscard]] const typename Map::mapped_type* find_named(const Map& map,
                                                          const Fact<std::string>& name) {
  if (!name.is_known()) return nullptr;
  const auto found = map.find(*name);
  return found == map.end() ? nullptr : &found->second;
}

/// Whether a line starts with one of these.
[[nodiscard]] bool has_line_with(std::string_view text,
                                 std::initializer_list<std::string_view> starts);

// ---- EOS and NX-OS ----

using Interfaces = std::map<std::string, evidence::SwitchInterface, std::less<>>;

[[nodiscard]] bool is_ethernet(std::string_view name);
/// VLAN interfaces and port channels; nullptr for any other name.
evidence::SwitchInterface* interface_in(Interfaces& all, const std::string& name);
/// "interface Ethernet1 | channel-group 7": `channel` is "Port-Channel7".
void add_member(Interfaces& all, const std::string& channel, const std::string& port,
                const Place& at);

/// What follows `random-detect`, thresholds in bytes: "minimum-threshold 100 kbytes
/// maximum-threshold … drop-probability 10 weight 0 ecn". `marks`: ECN is on without that word.
[[nodiscard]] Status read_random_detect(std::string_view text, bool marks, const Place& at,
                                        evidence::EgressQueue& queue);

/// "random-detect …" of the queue at the end of the path.
template <class... Path>
[[nodiscard]] auto sets_marking(bool marks, Path... path) {
  return [=](auto& said, const Taken& taken, const Place& at) -> Status {
    return follow(
        said, Words(taken, at),
        [&](evidence::EgressQueue& queue, Words words) {
          return read_random_detect(words.next(), marks, at, queue);
        },
        path...);
  };
}

/// "interface NAME".
template <class Said>
Status name_interface(Said& said, const Taken& t, const Place&) {
  if (is_ethernet(t[0]))
    said.ports[t[0]];
  else
    interface_in(said.interfaces, t[0]);
  return {};
}

/// "interface NAME | mtu BYTES".
[[nodiscard]] inline auto sets_mtu(std::int64_t low, std::int64_t high) {
  return [=](auto& said, const Taken& t, const Place& at) -> Status {
    WEIR_TRY(bytes, read_number(t[1], low, high, "an MTU"));
    if (is_ethernet(t[0]))
      assign(said.ports[t[0]].mtu, Bytes::raw(bytes), at);
    else if (evidence::SwitchInterface* const interface = interface_in(said.interfaces, t[0]))
      assign(interface->mtu, Bytes::raw(bytes), at);
    return {};
  };
}

/// "interface NAME | flowcontrol receive|send on|off": either direction pauses.
template <class Said>
Status set_pause(Said& said, const Taken& t, const Place& at) {
  Fact<bool>& pause = said.ports[t[0]].pause;
  assign(pause, t[2] == "on" || t[2] == "desired" || pause.is(true), at);
  return {};
}

}  // namespace weir::platforms
