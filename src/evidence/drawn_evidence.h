#pragma once
// Evidence drawn at random, for property tests: every field, every state of every fact.
#include "base/rng.h"
#include "evidence/enum_names.h"
#include "evidence/fields.h"

namespace weir::evidence {

class Drawer {
 public:
  explicit Drawer(RandomStream& random) : random_(random) {}

  template <class T>
  void field(std::string_view key, T& out, std::string_view /*help*/) {
    draw(out);
    if constexpr (std::is_same_v<T, std::string>) {
      if (is_name(key)) out = draw_name();
    }
  }
  template <class T>
  void fact(std::string_view key, Fact<T>& out, std::string_view /*help*/) {
    std::string source;
    draw(source);
    switch (random_.below(3)) {
      case 0: return;  // nobody looked
      case 1:
        out = Fact<T>::missing(static_cast<Missing>(random_.below(4)), std::move(source));
        return;
      default: break;
    }
    T value{};
    draw(value);
    if constexpr (std::is_same_v<T, std::string>) {
      if (is_name(key)) value = draw_name();
    }
    out = Fact<T>::of(std::move(value), std::move(source));
  }
  template <class S>
  void section(std::string_view /*key*/, S& out, std::string_view /*help*/) {
    draw(out);
  }
  template <class S>
  void list(std::string_view /*key*/, std::vector<S>& out, std::string_view /*help*/) {
    draw(out);
  }

  void draw(bool& out) { out = random_.below(2) == 1; }
  void draw(unsigned& out) {
    out = static_cast<unsigned>(random_.next() >> 32U >> random_.below(32));
  }
  void draw(std::int64_t& out) {
    out = static_cast<std::int64_t>(random_.next()) >> random_.below(64);
  }
  void draw(std::string& out) {
    static constexpr std::string_view kTexts[] = {"",       "mlx5_0",     "a \"quoted\" text",
                                                  "\t\n/~", "Größe 3 µs", "0000:18:00.0"};
    out = kTexts[random_.below(std::size(kTexts))];
  }
  void draw(PrioritySet& out) {
    out = PrioritySet::from_mask(static_cast<std::uint8_t>(random_.next()));
  }
  void draw(Alpha& out) { out = Alpha::from_log2(static_cast<int>(random_.below(23)) - 15); }
  void draw(Duration& out) {
    out = Duration::raw(static_cast<std::int64_t>(random_.below(1U << 30U)) * 1000);  // whole ns
  }
  template <class Tag>
  void draw(Quantity<Tag>& out) {
    out = Quantity<Tag>::raw(static_cast<std::int64_t>(random_.next() >> 1U >> random_.below(63)));
  }
  template <class Tag, unsigned Limit>
  void draw(Code<Tag, Limit>& out) {
    out = Code<Tag, Limit>::of(static_cast<unsigned>(random_.below(Limit)));
  }
  template <class E>
  requires std::is_enum_v<E>
  void draw(E& out) { out = static_cast<E>(random_.below(vocab::EnumNames<E>::kNames.size())); }
  template <class T>
  void draw(std::optional<T>& out) {
    if (random_.below(2) == 0) return;
    T value{};
    draw(value);
    out = std::move(value);
  }
  template <class T, std::size_t N>
  void draw(std::array<T, N>& out) {
    for (T& value : out)
      draw(value);
  }
  template <class T>
  void draw(std::vector<T>& out) {
    out.resize(random_.below(3));
    for (T& value : out)
      draw(value);
  }
  template <class T>
  void draw(T& out) {
    visit(*this, out);
  }

 private:
  /// Fields that evidence/names.h holds to the policy of names.
  static bool is_name(std::string_view key) {
    return key == "host" || key == "device" || key == "name" || key == "netdev";
  }
  std::string draw_name() {
    static constexpr std::string_view kNames[] = {"mlx5_0", "gpu-01", "leaf1.pod2", "_x"};
    return std::string(kNames[random_.below(std::size(kNames))]);
  }
  RandomStream& random_;
};

inline Evidence draw_evidence(std::uint64_t seed) {
  RandomStream random(seed, 0, 0);
  Drawer drawer(random);
  Evidence evidence;
  drawer.draw(evidence.provenance);
  drawer.draw(evidence.host);
  drawer.draw(evidence.nics);
  drawer.draw(evidence.gpus);
  drawer.draw(evidence.distances);
  drawer.draw(evidence.switches);
  drawer.draw(evidence.gaps);
  for (std::uint64_t n = random.below(3); n > 0; --n) {
    using counters::Place;
    using counters::Reading;
    counters::Snapshot snapshot;
    snapshot.clock_ns = static_cast<std::int64_t>(random.next() >> 1U);
    snapshot.nics.emplace_back(
        "mlx5_0", "eth2", "mlx5_core",
        std::vector<counters::Sample>{
            {Place::kHwCounters, "np_cnp_sent", Reading::of(random.next())},
            {Place::kEthtool, "rx_prio3_pause", Reading::missing(Missing::kAbsent)}});
    evidence.snapshots.push_back(std::move(snapshot));
  }
  return evidence;
}

}  // namespace weir::evidence
