#include "counters/catalog.h"

#include <cstdlib>
#include <new>
#include <set>
#include <tuple>

#include "base/file.h"
#include "base/testing.h"
#include "base/text.h"
#include "counters/explain.h"
#include "counters/tables.h"

namespace {
// Allocations of this binary, counted so that a test can prove a lookup makes none.
std::size_t allocations = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  void* memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  return memory;
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return operator new(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace weir::counters {
namespace {

std::string data(const std::string& file) {
  auto text = read_file(std::string(WEIR_TEST_DATA) + "/counters/" + file);
  EXPECT_TRUE(text.has_value()) << file;
  return text.value_or("");
}

/// The names of an `ethtool -S` output.
std::vector<std::string> ethtool_names(const std::string& file) {
  std::vector<std::string> names;
  const std::string text = data(file);
  for (const std::string_view line : split(text, '\n')) {
    const std::string_view entry = trim(line);
    const std::size_t colon = entry.rfind(": ");
    if (colon != std::string_view::npos) names.emplace_back(entry.substr(0, colon));
  }
  return names;
}

std::vector<std::string> first_column(const std::string& file) {
  std::vector<std::string> names;
  const std::string text = data(file);
  for (const std::string_view line : split(text, '\n')) {
    if (!line.empty()) names.emplace_back(split(line, '\t').front());
  }
  return names;
}

std::vector<RawName> all_names() {
  std::vector<RawName> names;
  for (const Counter& counter : catalog()) {
    const auto some = names_of(counter);
    names.insert(names.end(), some.begin(), some.end());
  }
  return names;
}

TEST(Catalog, IdsAreUniqueAndSortedAndEndWithTheirUnit) {
  COVERS("D1");
  ASSERT_GT(catalog().size(), 250U);
  for (std::size_t i = 0; i < catalog().size(); ++i) {
    const Counter& counter = catalog()[i];
    if (i > 0) {
      EXPECT_LT(catalog()[i - 1].id, counter.id);
    }
    const auto parts = split(counter.id, '.');
    ASSERT_GE(parts.size(), 3U) << counter.id;
    EXPECT_TRUE(parts[0] == "nic" || parts[0] == "switch" || parts[0] == "host") << counter.id;
    EXPECT_EQ(parts.back(), to_text(counter.unit)) << counter.id;
    EXPECT_EQ(find(counter.id), &counter);
  }
  EXPECT_EQ(find("nic.np.cnp_sent"), nullptr);
}

TEST(Catalog, EveryCounterSaysWhatItMeansWhatIsNormalAndWhatGrowthMeans) {
  COVERS("D1");
  for (const Counter& counter : catalog()) {
    for (const std::string_view text : {counter.meaning, counter.normal, counter.climbing}) {
      EXPECT_FALSE(text.empty()) << counter.id;
      EXPECT_TRUE(text.ends_with('.')) << counter.id << ": " << text;
    }
    EXPECT_TRUE(counter.caveat.empty() || counter.caveat.ends_with('.')) << counter.id;
    EXPECT_FALSE(counter.rows.empty()) << counter.id;
    EXPECT_FALSE(names_of(counter).empty()) << counter.id;
  }
}

TEST(Catalog, ADriverPlaceAndRawNameStandForOneCounter) {
  COVERS("D1");
  std::set<std::tuple<Driver, Place, std::string_view>> seen;
  const auto names = all_names();
  EXPECT_GT(names.size(), 500U);
  for (const RawName& name : names) {
    EXPECT_TRUE(seen.emplace(name.driver, name.place, name.pattern).second) << name.pattern;
    ASSERT_NE(find(name.id), nullptr) << name.id;
    EXPECT_TRUE(name.bits >= 4 && name.bits <= 64) << name.pattern;
    EXPECT_GE(name.scale, 1) << name.pattern;
  }
}

TEST(Catalog, EverySpellingOfEveryRawNameIsFoundWithItsNumber) {
  for (const RawName& name : all_names()) {
    const bool has_number = name.pattern.find('#') != std::string_view::npos;
    if (has_number) {
      EXPECT_NE(find(name.id)->per, Per::kNothing) << name.pattern;
    }
    for (unsigned number = 0; number < (has_number ? 8U : 1U); ++number) {
      const std::string raw = spell(name, number);
      const Match match = find_raw(name.driver, name.place, raw);
      ASSERT_TRUE(match) << raw;
      EXPECT_EQ(match.counter->id, name.id) << raw;
      EXPECT_EQ(match.name->pattern, name.pattern) << raw;
      EXPECT_EQ(match.number.has_value(), has_number) << raw;
      if (has_number) {
        EXPECT_EQ(match.number, number) << raw;
      }
    }
  }
}

TEST(Catalog, APriorityOverSevenIsNoPriority) {
  EXPECT_EQ(find_raw(Driver::kMlx5, Place::kEthtool, "rx_prio7_pause").number, 7U);
  EXPECT_FALSE(find_raw(Driver::kMlx5, Place::kEthtool, "rx_prio8_pause"));
  EXPECT_FALSE(find_raw(Driver::kMlx5, Place::kEthtool, "rx_prio_pause"));
  EXPECT_FALSE(find_raw(Driver::kMlx5, Place::kEthtool, "rx_prio99999999999999999999_pause"));
  EXPECT_EQ(find_raw(Driver::kMlx5, Place::kEthtool, "rx127_packets").number, 127U);
}

TEST(Catalog, TheSameNameInAnotherPlaceIsAnotherCounter) {
  COVERS("D1");
  EXPECT_FALSE(find_raw(Driver::kMlx5, Place::kCounters, "np_cnp_sent"));
  EXPECT_FALSE(find_raw(Driver::kBnxt, Place::kHwCounters, "roce_adp_retrans"));
  EXPECT_EQ(find_key(Driver::kRxe, "hw_counters/link_downed").counter->id,
            "nic.phy.link_down.events");
  EXPECT_EQ(find_key(Driver::kMlx5, "counters/link_downed").counter->id,
            "nic.ibspec.link_downed.events");
  EXPECT_EQ(find_key(Driver::kBnxt, "hw_counters/rx_bytes").counter->id, "nic.rdma.rx.bytes");
  EXPECT_EQ(find_key(Driver::kBnxt, "ethtool/rx_bytes").counter->id, "nic.port.rx.bytes");
  EXPECT_EQ(find_key(Driver::kMlx5, "statistics/rx_bytes").counter->id, "nic.netdev.rx.bytes");
  EXPECT_FALSE(find_key(Driver::kMlx5, "np_cnp_sent"));
  EXPECT_FALSE(find_key(Driver::kMlx5, "nowhere/np_cnp_sent"));
}

TEST(Catalog, OneIdHoldsTheNamesOfAllDrivers) {
  COVERS("D1");
  const Counter& sent = *find("nic.np.cnp_sent.packets");
  EXPECT_EQ(name_for(sent, Driver::kMlx5)->pattern, "np_cnp_sent");
  EXPECT_EQ(name_for(sent, Driver::kBnxt)->pattern, "tx_cnp_pkts");
  EXPECT_EQ(name_for(sent, Driver::kIrdma)->pattern, "cnpSent");
  EXPECT_EQ(name_for(sent, Driver::kIonic)->pattern, "tx_rdma_cnp_pkts");
  EXPECT_EQ(name_for(sent, Driver::kRxe), nullptr);
  // The kernel's names serve every driver.
  const RawName* data = name_for(*find("nic.rdma.tx.bytes"), Driver::kMlx5);
  EXPECT_EQ(data->pattern, "port_xmit_data");  // before the optional rdma_tx_bytes
  EXPECT_EQ(name_for(*find("nic.netdev.rx.bytes"), Driver::kIonic)->place, Place::kStatistics);
}

TEST(Catalog, WidthsAndUnitsAreThoseOfTheDriver) {
  COVERS("D1", "D2");
  const RawName& writes = *find_key(Driver::kMlx5, "hw_counters/rx_write_requests").name;
  EXPECT_EQ(writes.bits, 32);
  EXPECT_EQ(writes.overflow, Overflow::kWraps);
  const RawName& symbols = *find_key(Driver::kMlx5, "counters/symbol_error").name;
  EXPECT_EQ(symbols.bits, 16);
  EXPECT_EQ(symbols.overflow, Overflow::kSaturates);
  const RawName& data = *find_key(Driver::kMlx5, "counters/port_xmit_data").name;
  EXPECT_EQ(data.scale, 4);
  EXPECT_EQ(to_text(unit_of(find_key(Driver::kMlx5, "counters/port_xmit_data"))), "4-byte words");
  EXPECT_EQ(find_key(Driver::kMlx5, "hw_counters/lifespan").counter->kind, Kind::kSetting);
  EXPECT_EQ(find_key(Driver::kMlx5, "ethtool/outbound_pci_stalled_wr").counter->kind, Kind::kGauge);
  EXPECT_TRUE(find_key(Driver::kIonic, "ethtool/frames_rx_dropped").name->maximum_is_invalid);
}

TEST(Catalog, EveryNameOfTheCapturedEthtoolOutputsIsKnown) {
  COVERS("D1");
  const std::tuple<Driver, std::string, std::size_t> captures[] = {
      {Driver::kMlx5, "ethtool_S_mlx5_pfc3.txt", 136},
      {Driver::kMlx5, "ethtool_S_mlx5_global_pause_no_pfc.txt", 136},
      {Driver::kMlx5, "ethtool_S_mlx5_kernel_module.txt", 123},
      {Driver::kBnxt, "ethtool_S_bnxt_pfc3.txt", 108},
      {Driver::kIrdma, "ethtool_S_ice_pfc3.txt", 38},
      {Driver::kIonic, "ethtool_S_ionic_pfc3.txt", 39},
  };
  for (const auto& [driver, file, count] : captures) {
    const auto names = ethtool_names(file);
    EXPECT_EQ(names.size(), count) << file;
    for (const std::string& name : names)
      EXPECT_TRUE(find_raw(driver, Place::kEthtool, name)) << file << ": " << name;
  }
}

TEST(Catalog, EveryFileOfTheCapturedSysfsTreesIsKnown) {
  COVERS("D1");
  const std::tuple<Driver, std::string, std::size_t> captures[] = {
      {Driver::kMlx5, "sysfs_mlx5.txt", 52},
      {Driver::kMlx5, "host_mlx5.tsv", 51},
      {Driver::kRxe, "host_rxe.tsv", 16},
      {Driver::kAny, "host_netdev.tsv", 24},
  };
  for (const auto& [driver, file, count] : captures) {
    const auto keys = first_column(file);
    EXPECT_EQ(keys.size(), count) << file;
    for (const std::string& key : keys)
      EXPECT_TRUE(find_key(driver, key)) << file << ": " << key;
  }
}

TEST(Catalog, EveryCounterOfRdmaStatisticIsKnown) {
  COVERS("D1");
  const std::string text = data("rdma_statistic_mlx5.json");
  std::size_t count = 0;
  for (const std::string_view field : split(text, ',')) {
    const auto name = split(field, '"');
    ASSERT_GE(name.size(), 2U) << field;
    if (name[1] == "ifname" || name[1] == "port") continue;
    EXPECT_TRUE(find_raw(Driver::kMlx5, Place::kHwCounters, name[1])) << name[1];
    ++count;
  }
  EXPECT_EQ(count, 30U);
}

TEST(Catalog, EveryNameTheDocumentsPrintResolvesWithAWordWhereItIsNotTheRealOne) {
  COVERS("D1");
  const std::string text = data("source_names.txt");
  std::size_t count = 0;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    const auto fields = split(line, '\t');
    ASSERT_EQ(fields.size(), 4U) << line;
    const auto resolution = resolve(fields[3]);
    ASSERT_TRUE(resolution) << line;
    EXPECT_EQ(resolution->word.empty(), fields[2] == "=") << line << ": " << resolution->word;
    EXPECT_FALSE(explain(*resolution).empty());
    ++count;
  }
  EXPECT_EQ(count, 122U);
}

TEST(Catalog, AWrongSpellingKeepsItsPriority) {
  COVERS("D1");
  const auto bytes = resolve("tx_prio_3_bytes");
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->match.counter->id, "nic.prio.tx.bytes");
  EXPECT_EQ(bytes->match.number, 3U);
  EXPECT_NE(bytes->word.find("tx_prio3_bytes"), std::string::npos);
  EXPECT_FALSE(resolve("tx_prio_9_bytes"));
}

TEST(Catalog, KeysPathsIdsAndExportersNamesResolve) {
  COVERS("D1");
  const auto id_of = [](std::string_view printed) {
    const auto resolution = resolve(printed);
    return resolution ? std::string(resolution->match.counter->id) : "";
  };
  EXPECT_EQ(id_of("nic.np.cnp_sent.packets"), "nic.np.cnp_sent.packets");
  EXPECT_EQ(id_of("/sys/class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent"),
            "nic.np.cnp_sent.packets");
  EXPECT_EQ(id_of("counters/link_downed"), "nic.ibspec.link_downed.events");
  EXPECT_EQ(id_of("rdma_np_cnp_sent_total"), "nic.np.cnp_sent.packets");
  EXPECT_EQ(id_of("node_infiniband_port_data_received_bytes_total"), "nic.rdma.rx.bytes");
  EXPECT_EQ(id_of("switch/prio3.pause_rx.frames"), "switch.prio.pause_rx.frames");
  EXPECT_EQ(id_of("RCVD out-of-order packets"), "nic.resp.out_of_sequence.packets");
  EXPECT_EQ(id_of("EcnMarked/pkts"), "switch.queue.ecn_marked.packets");
  EXPECT_FALSE(resolve("no_such_counter"));
  EXPECT_FALSE(resolve(""));
  EXPECT_FALSE(resolve("_total"));
}

TEST(Catalog, AmbiguousNamesListTheOtherMeanings) {
  const auto downed = resolve("link_downed");
  ASSERT_TRUE(downed);
  EXPECT_EQ(downed->match.counter->id, "nic.ibspec.link_downed.events");
  ASSERT_EQ(downed->others.size(), 1U);
  EXPECT_EQ(downed->others[0]->id, "nic.phy.link_down.events");
}

TEST(Catalog, AliasesAreFoldedAndPointAtCounters) {
  std::set<std::string_view> seen;
  for (const Alias& alias : aliases()) {
    EXPECT_TRUE(seen.insert(alias.printed).second) << alias.printed;
    EXPECT_EQ(alias.printed.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_#"),
              std::string_view::npos)
        << alias.printed;
    EXPECT_NE(find(alias.id), nullptr) << alias.printed;
    EXPECT_TRUE(alias.word.ends_with('.')) << alias.printed;
    EXPECT_TRUE(find_anywhere(alias.printed).empty()) << alias.printed << " is a real name";
    for (const std::string_view id : split(alias.also, ' ')) {
      if (!id.empty()) {
        EXPECT_NE(find(id), nullptr) << alias.printed << ": " << id;
      }
    }
  }
}

TEST(Catalog, KernelDriversBelongToFamilies) {
  EXPECT_EQ(driver_of("mlx5_core"), Driver::kMlx5);
  EXPECT_EQ(driver_of("bnxt_en"), Driver::kBnxt);
  EXPECT_EQ(driver_of("ice"), Driver::kIrdma);
  EXPECT_EQ(driver_of("ionic_rdma"), Driver::kIonic);
  EXPECT_EQ(driver_of("rdma_rxe"), Driver::kRxe);
  EXPECT_EQ(driver_of("virtio_net"), Driver::kAny);
}

TEST(Catalog, SoftRoceHasTheEthtoolNamesOfTheNicBelowIt) {
  const Match pause = find_raw(Driver::kRxe, Place::kEthtool, "rx_prio3_pause");
  ASSERT_TRUE(pause);
  EXPECT_EQ(pause.counter->id, "nic.prio.pause_rx.frames");
  EXPECT_EQ(pause.number, 3U);
  EXPECT_FALSE(find_raw(Driver::kRxe, Place::kHwCounters, "np_cnp_sent"));  // not its own
}

TEST(Catalog, ALookupAllocatesNothing) {
  ASSERT_TRUE(find_raw(Driver::kMlx5, Place::kEthtool, "rx_prio3_pause"));  // builds the index
  const std::size_t before = allocations;
  const Match hit = find_raw(Driver::kMlx5, Place::kEthtool, "rx_prio3_pause_duration");
  const Match miss = find_raw(Driver::kMlx5, Place::kEthtool, "rx_3_nothing_4_of_the_kind");
  const Match key = find_key(Driver::kIonic, "ethtool/rx_pripause_3_1us_count");
  const Counter* counter = find("nic.np.cnp_sent.packets");
  EXPECT_EQ(allocations, before);
  EXPECT_TRUE(hit);
  EXPECT_FALSE(miss);
  EXPECT_EQ(key.number, 3U);
  EXPECT_NE(counter, nullptr);
}

TEST(Explain, SaysWidthUnitNamesPerDriverAndTheUsualMistake) {
  COVERS("D1", "D4");
  const std::string wait = explain(*resolve("port_xmit_wait"));
  EXPECT_NE(wait.find("credit waits, not PFC"), std::string::npos) << wait;
  EXPECT_NE(wait.find("32 bits, stops at its maximum"), std::string::npos) << wait;
  const std::string cnp = explain(*find("nic.np.cnp_sent.packets"));
  for (const std::string_view name : {"np_cnp_sent", "tx_cnp_pkts", "cnpSent", "tx_rdma_cnp_pkts"})
    EXPECT_NE(cnp.find(name), std::string::npos) << cnp;
  const std::string pause = explain(*resolve("tx_prio3_pause"));
  EXPECT_NE(pause.find("This NIC is the bottleneck"), std::string::npos) << pause;
  EXPECT_NE(pause.find("tx_prioN_pause"), std::string::npos) << pause;
  const std::string received = explain(*resolve("rx_prio3_pause"));
  EXPECT_NE(received.find("not this NIC"), std::string::npos) << received;
  for (const Counter& counter : catalog()) {
    const std::string text = explain(counter);
    for (const std::string_view line : split(text, '\n'))
      EXPECT_LE(display_width(line), 120U) << line;
  }
}

}  // namespace
}  // namespace weir::counters
