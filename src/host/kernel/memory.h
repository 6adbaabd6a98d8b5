#pragma once
// A kernel in memory that takes changes, for tests: a tree of files, DCB, pause, rings and MTU as
// drivers keep them, and a record of every change that reached it. It behaves as mlx5 does where
// that matters: DSCP entries are replaced by code point, a new PFC mask takes the link down.
//
// A change can be made to fail, to be ignored, or to be the last one ever (the power goes).
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <linux/dcbnl.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "base/text.h"
#include "host/kernel/kernel.h"
#include "host/linux/dcb_image.h"
#include "host/linux/netlink.h"

namespace weir::host {

class MemoryKernel final : public Kernel {
 public:
  struct Netdev {
    ieee_ets ets{};
    ieee_pfc pfc{};
    std::vector<DcbApp> app;
    std::optional<std::vector<unsigned>> trust;
    std::uint8_t dcbx = DCB_CAP_DCBX_VER_IEEE | DCB_CAP_DCBX_VER_CEE;
    bool has_dcb = true;
    bool replaces_app = true;  // mlx5: one entry a code point
    bool rx_pause = true;
    bool tx_pause = true;
    std::uint32_t rx_ring = 1024;
    std::uint32_t tx_ring = 1024;
  };

  std::map<std::string, std::string> files;
  std::map<std::string, std::string> links;  // path to where it leads
  std::set<std::string> directories;         // empty ones
  std::map<std::string, Netdev> netdevs;
  std::map<std::string, std::string> cm_tos;  // by RDMA device: outlives its directory
  std::vector<std::string> changes;           // that took effect
  bool loses_link = false;                    // with PFC, for good

  enum class Fate { kTaken, kRefused, kIgnored, kDead };
  /// The nth change from now on, from 0: refused, ignored, or it and all after it lost.
  void set_fate(std::size_t nth, Fate fate) {
    doomed_ = nth;
    fate_ = fate;
    seen_ = 0;
  }
  void revive() { fate_ = Fate::kTaken; }
  [[nodiscard]] bool is_dead() const { return fate_ == Fate::kDead && seen_ > doomed_; }
  /// Everything that a setting can be, as a text to compare.
  [[nodiscard]] std::string state() const;

  Answer<std::string> read_file(const std::string& path) override {
    const auto found = files.find(path);
    if (found != files.end()) return found->second;
    return Errno{list(path) ? EISDIR : ENOENT};
  }
  Answer<std::vector<std::string>> list(const std::string& path) override;
  Answer<std::string> real_path(const std::string& path) override {
    const auto found = links.find(path);
    if (found != links.end()) return found->second;
    if (files.contains(path) || list(path)) return path;
    return Errno{ENOENT};
  }
  Answer<std::vector<std::string>> netlink(int protocol, const std::string& request) override;
  Answer<std::string> ethtool(const std::string& /*netdev*/,
                              const std::string& /*request*/) override {
    return Errno{EOPNOTSUPP};
  }
  Answer<std::string> about(std::string_view what) override {
    if (what == "time") return std::string("2026-01-01T00:00:00Z");
    if (what == "clock_ns") return std::string("1");
    return Errno{ENOENT};
  }
  Answer<Taken> write_file(const std::string& path, const std::string& text) override;
  Answer<Taken> make_directory(const std::string& path) override;
  Answer<Taken> remove_directory(const std::string& path) override;
  Answer<std::vector<std::string>> change(int protocol, const std::string& request) override;
  Answer<Taken> change_ethtool(const std::string& /*netdev*/,
                               const std::string& /*request*/) override {
    return Errno{EOPNOTSUPP};
  }

 private:
  static constexpr std::uint16_t kEthtoolFamily = 20;
  static constexpr std::string_view kConfigfs = "/sys/kernel/config/rdma_cm/";

  /// What becomes of a change; nullopt: it takes its course.
  std::optional<Fate> fate_of(const std::string& record) {
    const std::size_t now = seen_++;
    const bool is_struck =
        fate_ == Fate::kDead ? now >= doomed_ : fate_ != Fate::kTaken && now == doomed_;
    if (is_struck) return fate_;
    changes.push_back(record);
    return std::nullopt;
  }
  template <class T>
  static Answer<T> end(Fate fate, T taken) {
    if (fate == Fate::kIgnored) return taken;
    return Errno{fate == Fate::kDead ? EIO : EINVAL};
  }
  static std::string hex(std::string_view bytes) {
    std::string out;
    for (const char byte : bytes)
      out += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return out;
  }
  template <class T>
  static std::string bytes_of(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
  }
  static std::string name_in(const Attributes& attributes, int type) {
    const std::string_view text = attributes.find(type).value_or("");
    return std::string(text.substr(0, text.find('\0')));
  }
  Answer<std::vector<std::string>> dcb_reply(const std::string& request);
  Answer<std::vector<std::string>> ethtool_reply(const std::string& request);
  Answer<std::vector<std::string>> change_dcb_of(const std::string& request);
  Answer<std::vector<std::string>> change_ethtool_of(const std::string& request);
  Answer<std::vector<std::string>> change_mtu(const std::string& request);
  int set_app(Netdev& netdev, const DcbApp& entry, bool is_deletion);
  int set_ieee(const std::string& name, Netdev& netdev, std::string_view ieee, bool is_deletion);

  std::size_t doomed_ = 0;
  std::size_t seen_ = 0;
  Fate fate_ = Fate::kTaken;
};

/// A kernel that a host owns while a test holds on to it; a test may answer some questions itself.
class SharedKernel : public Kernel {
 public:
  explicit SharedKernel(std::shared_ptr<Kernel> inner) : inner_(std::move(inner)) {}
  Answer<std::string> read_file(const std::string& path) override {
    return inner_->read_file(path);
  }
  Answer<std::vector<std::string>> list(const std::string& path) override {
    return inner_->list(path);
  }
  Answer<std::string> real_path(const std::string& path) override {
    return inner_->real_path(path);
  }
  Answer<std::vector<std::string>> netlink(int protocol, const std::string& request) override {
    return inner_->netlink(protocol, request);
  }
  Answer<std::string> ethtool(const std::string& netdev, const std::string& request) override {
    return inner_->ethtool(netdev, request);
  }
  Answer<std::string> about(std::string_view what) override { return inner_->about(what); }
  Answer<Taken> write_file(const std::string& path, const std::string& text) override {
    return inner_->write_file(path, text);
  }
  Answer<Taken> make_directory(const std::string& path) override {
    return inner_->make_directory(path);
  }
  Answer<Taken> remove_directory(const std::string& path) override {
    return inner_->remove_directory(path);
  }
  Answer<std::vector<std::string>> change(int protocol, const std::string& request) override {
    return inner_->change(protocol, request);
  }
  Answer<Taken> change_ethtool(const std::string& netdev, const std::string& request) override {
    return inner_->change_ethtool(netdev, request);
  }

 private:
  std::shared_ptr<Kernel> inner_;
};

inline std::string MemoryKernel::state() const {
  std::string out;
  for (const auto& [path, text] : files) {
    // Whether configfs shows a default is no setting; its value is below.
    if (!path.starts_with(kConfigfs)) out += fmt::format("{}={}\n", path, trim(text));
  }
  for (const auto& [device, tos] : cm_tos)
    out += fmt::format("cm_tos {}={}\n", device, tos);
  for (const auto& [name, netdev] : netdevs) {
    std::vector<DcbApp> app = netdev.app;
    std::sort(app.begin(), app.end());
    out += fmt::format("{} ets {} pfc {:02x} delay {} dcbx {} pause {}{} rings {},{} app", name,
                       hex(bytes_of(netdev.ets)), netdev.pfc.pfc_en, netdev.pfc.delay, netdev.dcbx,
                       netdev.rx_pause, netdev.tx_pause, netdev.rx_ring, netdev.tx_ring);
    for (const DcbApp& entry : app)
      out += fmt::format(" {}:{}:{}", entry.selector, entry.protocol, entry.priority);
    for (const unsigned selector : netdev.trust.value_or(std::vector<unsigned>()))
      out += fmt::format(" trust {}", selector);
    out += '\n';
  }
  return out;
}

inline Answer<std::vector<std::string>> MemoryKernel::list(const std::string& path) {
  const std::string prefix = path + "/";
  std::set<std::string> names;
  const auto add = [&](const std::string& other) {
    if (other.starts_with(prefix))
      names.insert(other.substr(prefix.size(), other.find('/', prefix.size()) - prefix.size()));
  };
  for (const auto& [other, text] : files)
    add(other);
  for (const auto& [other, target] : links)
    add(other);
  for (const std::string& other : directories)
    add(other);
  if (names.empty() && !directories.contains(path)) return Errno{ENOENT};
  return std::vector<std::string>(names.begin(), names.end());
}

inline Answer<Taken> MemoryKernel::write_file(const std::string& path, const std::string& text) {
  const auto file = files.find(path);
  if (file == files.end()) return Errno{ENOENT};
  const std::string value(trim(text));
  if (const auto fate = fate_of(fmt::format("write {} {}", path, value)))
    return end(*fate, Taken());
  if (path.ends_with("/traffic_class")) {
    file->second = value == "-1" ? "" : fmt::format("Global tclass={}\n", value);
  } else {
    file->second = value + "\n";
  }
  if (path.ends_with("/np_cnp_prio") && files.contains(path + "_mode"))
    files[path + "_mode"] = "0\n";
  if (path.starts_with(kConfigfs))
    cm_tos[path.substr(kConfigfs.size(), path.find('/', kConfigfs.size()) - kConfigfs.size())] =
        value;
  return Taken();
}

inline Answer<Taken> MemoryKernel::make_directory(const std::string& path) {
  if (list(path)) return Errno{EEXIST};
  const std::string device = path.substr(path.rfind('/') + 1);
  if (!path.starts_with(kConfigfs) || !cm_tos.contains(device)) return Errno{ENOENT};
  if (const auto fate = fate_of("mkdir " + path)) return end(*fate, Taken());
  files[path + "/ports/1/default_roce_tos"] = cm_tos[device] + "\n";
  return Taken();
}

inline Answer<Taken> MemoryKernel::remove_directory(const std::string& path) {
  if (!list(path)) return Errno{ENOENT};
  if (const auto fate = fate_of("rmdir " + path)) return end(*fate, Taken());
  std::erase_if(files, [&](const auto& file) { return file.first.starts_with(path + "/"); });
  return Taken();
}

inline Answer<std::vector<std::string>> MemoryKernel::netlink(int protocol,
                                                              const std::string& request) {
  const auto header = number_at<nlmsghdr>(request, 0);
  if (protocol == NETLINK_GENERIC) return ethtool_reply(request);
  if (header.nlmsg_type == RTM_GETDCB) return dcb_reply(request);
  if (header.nlmsg_type == RTM_GETADDR) return std::vector<std::string>();
  return Errno{EOPNOTSUPP};
}

inline Answer<std::vector<std::string>> MemoryKernel::dcb_reply(const std::string& request) {
  const auto top = Attributes::of_message(request, sizeof(dcbmsg));
  const auto found = netdevs.find(name_in(*top, DCB_ATTR_IFNAME));
  if (found == netdevs.end()) return Errno{ENODEV};
  const Netdev& netdev = found->second;
  if (!netdev.has_dcb) return Errno{EOPNOTSUPP};
  NetlinkRequest reply(RTM_GETDCB, 0, request.substr(NLMSG_HDRLEN, sizeof(dcbmsg)));
  reply.begin_nest(DCB_ATTR_IEEE);
  reply.put(DCB_ATTR_IEEE_ETS, bytes_of(netdev.ets));
  reply.put(DCB_ATTR_IEEE_PFC, bytes_of(netdev.pfc));
  reply.put(DCB_ATTR_IEEE_MAXRATE, bytes_of(ieee_maxrate{}));
  reply.begin_nest(DCB_ATTR_IEEE_APP_TABLE);
  for (const DcbApp& entry : netdev.app) {
    reply.put(DCB_ATTR_IEEE_APP, bytes_of(dcb_app{static_cast<std::uint8_t>(entry.selector),
                                                  static_cast<std::uint8_t>(entry.priority),
                                                  static_cast<std::uint16_t>(entry.protocol)}));
  }
  reply.end_nest();
  if (netdev.trust) {
    reply.begin_nest(11);
    for (const unsigned selector : *netdev.trust)
      reply.put(1, bytes_of(static_cast<std::uint8_t>(selector)));
    reply.end_nest();
  }
  reply.end_nest();
  reply.put(DCB_ATTR_DCBX, bytes_of(netdev.dcbx));
  return std::vector<std::string>{reply.bytes()};
}

inline Answer<std::vector<std::string>> MemoryKernel::ethtool_reply(const std::string& request) {
  const auto type = number_at<nlmsghdr>(request, 0).nlmsg_type;
  const auto command = number_at<genlmsghdr>(request, NLMSG_HDRLEN);
  NetlinkRequest reply(type, 0, bytes_of(command));
  if (type == GENL_ID_CTRL) {
    reply.put(CTRL_ATTR_FAMILY_ID, bytes_of(kEthtoolFamily));
    return std::vector<std::string>{reply.bytes()};
  }
  const auto top = Attributes::of_message(request, GENL_HDRLEN);
  const auto found =
      netdevs.find(name_in(Attributes(top->find(1).value_or("")), ETHTOOL_A_HEADER_DEV_NAME));
  if (found == netdevs.end()) return Errno{ENODEV};
  const Netdev& netdev = found->second;
  if (command.cmd == ETHTOOL_MSG_PAUSE_GET) {
    reply.put(ETHTOOL_A_PAUSE_RX, bytes_of(std::uint8_t{netdev.rx_pause}));
    reply.put(ETHTOOL_A_PAUSE_TX, bytes_of(std::uint8_t{netdev.tx_pause}));
  } else if (command.cmd == ETHTOOL_MSG_RINGS_GET) {
    constexpr std::uint32_t kMost = 8192;
    reply.put(ETHTOOL_A_RINGS_RX, bytes_of(netdev.rx_ring));
    reply.put(ETHTOOL_A_RINGS_TX, bytes_of(netdev.tx_ring));
    reply.put(ETHTOOL_A_RINGS_RX_MAX, bytes_of(kMost));
    reply.put(ETHTOOL_A_RINGS_TX_MAX, bytes_of(kMost));
  } else {
    return Errno{EOPNOTSUPP};
  }
  return std::vector<std::string>{reply.bytes()};
}

inline Answer<std::vector<std::string>> MemoryKernel::change(int protocol,
                                                             const std::string& request) {
  if (protocol == NETLINK_GENERIC) return change_ethtool_of(request);
  const auto type = number_at<nlmsghdr>(request, 0).nlmsg_type;
  if (type == RTM_SETDCB) return change_dcb_of(request);
  if (type == RTM_NEWLINK) return change_mtu(request);
  return Errno{EOPNOTSUPP};
}

inline int MemoryKernel::set_app(Netdev& netdev, const DcbApp& entry, bool is_deletion) {
  std::vector<DcbApp>& table = netdev.app;
  const auto found = std::find(table.begin(), table.end(), entry);
  if (is_deletion) {
    if (found == table.end()) return -ENOENT;
    table.erase(found);
    return 0;
  }
  if (found != table.end()) return -EEXIST;
  if (netdev.replaces_app) {
    std::erase_if(table, [&](const DcbApp& other) {
      return other.selector == entry.selector && other.protocol == entry.protocol;
    });
  }
  table.insert(table.begin(), entry);
  return 0;
}

inline int MemoryKernel::set_ieee(const std::string& name, Netdev& netdev, std::string_view ieee,
                                  bool is_deletion) {
  const Attributes attributes(ieee);
  for (const Attributes::One& attribute : attributes.all()) {
    if (attribute.type == DCB_ATTR_IEEE_ETS) {
      const auto wanted = number_at<ieee_ets>(attribute.payload, 0);
      unsigned sum = 0;
      bool has_ets = false;
      for (std::size_t tc = 0; tc < 8; ++tc) {
        if (wanted.tc_tsa[tc] != IEEE_8021QAZ_TSA_ETS) continue;
        has_ets = true;
        sum += wanted.tc_tx_bw[tc];
      }
      if (has_ets && sum != 100) return -EINVAL;
      netdev.ets = wanted;
    } else if (attribute.type == DCB_ATTR_IEEE_PFC) {
      const auto wanted = number_at<ieee_pfc>(attribute.payload, 0);
      if (netdev.rx_pause || netdev.tx_pause) return -EINVAL;  // they exclude each other
      if (wanted.pfc_en != netdev.pfc.pfc_en && loses_link)
        files["/sys/class/net/" + name + "/carrier"] = "0\n";
      netdev.pfc.pfc_en = wanted.pfc_en;
      netdev.pfc.delay = wanted.delay;
    } else if (attribute.type == DCB_ATTR_IEEE_APP_TABLE) {
      const Attributes entries(attribute.payload);
      for (const Attributes::One& entry : entries.all()) {
        const auto raw = number_at<dcb_app>(entry.payload, 0);
        const int failed = set_app(netdev, {raw.selector, raw.priority, raw.protocol}, is_deletion);
        if (failed != 0) return failed;
      }
    } else if (attribute.type == 11) {
      netdev.trust.emplace();
      const Attributes selectors(attribute.payload);
      for (const Attributes::One& selector : selectors.all())
        netdev.trust->push_back(static_cast<unsigned char>(selector.payload.front()));
    }
  }
  return 0;
}

inline Answer<std::vector<std::string>> MemoryKernel::change_dcb_of(const std::string& request) {
  const auto command = number_at<dcbmsg>(request, NLMSG_HDRLEN);
  const auto top = Attributes::of_message(request, sizeof(dcbmsg));
  const std::string name = name_in(*top, DCB_ATTR_IFNAME);
  const auto found = netdevs.find(name);
  if (found == netdevs.end()) return Errno{ENODEV};
  if (!found->second.has_dcb) return Errno{EOPNOTSUPP};
  NetlinkRequest reply(RTM_SETDCB, 0, bytes_of(command));
  const bool is_dcbx = command.cmd == DCB_CMD_SDCBX;
  const std::string what = is_dcbx                           ? "dcbx"
                           : command.cmd == DCB_CMD_IEEE_DEL ? "ieee-del"
                                                             : "ieee-set";
  const std::string payload(top->find(is_dcbx ? DCB_ATTR_DCBX : DCB_ATTR_IEEE).value_or(""));
  if (const auto fate = fate_of(fmt::format("{} {} {}", what, name, hex(payload))))
    return end(*fate, std::vector<std::string>());
  int verdict = 0;
  if (!is_dcbx) {
    verdict = set_ieee(name, found->second, payload, command.cmd == DCB_CMD_IEEE_DEL);
  } else {
    // mlx5: 0 is firmware mode, everything else needs the HOST flag.
    const auto flags = static_cast<std::uint8_t>(payload.front());
    constexpr std::uint8_t kBoth = DCB_CAP_DCBX_VER_IEEE | DCB_CAP_DCBX_VER_CEE;
    const bool is_refused = flags != 0 && (flags & DCB_CAP_DCBX_HOST) == 0;
    if (!is_refused) found->second.dcbx = flags == 0 ? kBoth : flags;
    verdict = is_refused ? 1 : 0;
  }
  if (verdict != 0) changes.pop_back();
  reply.put(is_dcbx ? DCB_ATTR_DCBX : DCB_ATTR_IEEE, bytes_of(static_cast<std::int8_t>(verdict)));
  return std::vector<std::string>{reply.bytes()};
}

inline Answer<std::vector<std::string>> MemoryKernel::change_ethtool_of(
    const std::string& request) {
  const auto command = number_at<genlmsghdr>(request, NLMSG_HDRLEN);
  const auto top = Attributes::of_message(request, GENL_HDRLEN);
  const std::string name =
      name_in(Attributes(top->find(1).value_or("")), ETHTOOL_A_HEADER_DEV_NAME);
  const auto found = netdevs.find(name);
  if (found == netdevs.end()) return Errno{ENODEV};
  Netdev& netdev = found->second;
  if (command.cmd == ETHTOOL_MSG_PAUSE_SET) {
    const bool rx = *top->u8(ETHTOOL_A_PAUSE_RX) != 0;
    const bool tx = *top->u8(ETHTOOL_A_PAUSE_TX) != 0;
    if ((rx || tx) && netdev.pfc.pfc_en != 0) return Errno{EINVAL};
    if (const auto fate = fate_of(fmt::format("pause {} rx {} tx {}", name, rx, tx)))
      return end(*fate, std::vector<std::string>());
    netdev.rx_pause = rx;
    netdev.tx_pause = tx;
  } else if (command.cmd == ETHTOOL_MSG_RINGS_SET) {
    const std::uint32_t rx = *top->u32(ETHTOOL_A_RINGS_RX);
    const std::uint32_t tx = *top->u32(ETHTOOL_A_RINGS_TX);
    if (const auto fate = fate_of(fmt::format("rings {} rx {} tx {}", name, rx, tx)))
      return end(*fate, std::vector<std::string>());
    netdev.rx_ring = rx;
    netdev.tx_ring = tx;
  } else {
    return Errno{EOPNOTSUPP};
  }
  return std::vector<std::string>();
}

/// A VLAN is never larger than the device below it: it shrinks with that, and does not grow again.
inline Answer<std::vector<std::string>> MemoryKernel::change_mtu(const std::string& request) {
  const auto header = number_at<ifinfomsg>(request, NLMSG_HDRLEN);
  const auto top = Attributes::of_message(request, sizeof(ifinfomsg));
  const std::uint32_t mtu = *top->u32(IFLA_MTU);
  for (const auto& [path, text] : files) {
    if (!path.ends_with("/ifindex") || trim(text) != std::to_string(header.ifi_index)) continue;
    const std::string folder = path.substr(0, path.rfind('/'));
    const std::string name = folder.substr(folder.rfind('/') + 1);
    const auto number = [&](const std::string& file) {
      return std::stoul(std::string(trim(files[file])));
    };
    for (const auto& [lower, target] : links)
      if (lower.ends_with("/upper_" + name) &&
          number(lower.substr(0, lower.rfind('/')) + "/mtu") < mtu)
        return Errno{ERANGE};
    if (const auto fate = fate_of(fmt::format("mtu {} {}", name, mtu)))
      return end(*fate, std::vector<std::string>());
    files[folder + "/mtu"] = fmt::format("{}\n", mtu);
    for (const auto& [upper, target] : links) {
      const std::string mark = folder + "/upper_";
      if (!upper.starts_with(mark)) continue;
      const std::string file = "/sys/class/net/" + upper.substr(mark.size()) + "/mtu";
      if (number(file) > mtu) files[file] = fmt::format("{}\n", mtu);
    }
    return std::vector<std::string>();
  }
  return Errno{ENODEV};
}

}  // namespace weir::host
