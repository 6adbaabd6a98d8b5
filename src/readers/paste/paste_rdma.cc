// RDMA devices: show_gids, ibdev2netdev, ibv_devinfo, rdma link, rdma resource, rdma system.
#include <algorithm>
#include <array>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "base/text.h"
#include "readers/paste/paste_tools.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

using evidence::GidType;

/// As sysfs writes it: eight groups of four digits. Empty where it is no address.
std::string full_gid(std::string_view text) {
  std::array<unsigned char, 16> bytes{};
  if (inet_pton(AF_INET6, std::string(text).c_str(), bytes.data()) != 1) return "";
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += 2)
    out += fmt::format("{}{:02x}{:02x}", at == 0 ? "" : ":", bytes.at(at), bytes.at(at + 1));
  return out;
}

/// Replaces the entry of its index; tables are printed in any order, and again.
void add_gid(PastedNic& nic, evidence::Gid gid, const PasteLine& line, PasteSink& out) {
  std::vector<evidence::Gid> gids =
      nic.nic.rdma.gids.is_known() ? *nic.nic.rdma.gids : std::vector<evidence::Gid>();
  const auto same = std::find_if(
      gids.begin(), gids.end(), [&](const evidence::Gid& item) { return item.index == gid.index; });
  if (same == gids.end()) {
    gids.push_back(std::move(gid));
  } else {
    if (gid.netdev.empty()) gid.netdev = same->netdev;
    *same = std::move(gid);
  }
  std::sort(gids.begin(), gids.end(),
            [](const evidence::Gid& a, const evidence::Gid& b) { return a.index < b.index; });
  out.set(nic.nic.rdma.gids, std::move(gids), line);
}

// ---- show_gids ----

struct GidRow {
  std::string_view device;
  evidence::Gid gid;
};

/// "mlx5_0 1 3 0000:…:0a0a:0105 10.10.1.5 v2 eth2"; columns may be tabs or blanks.
std::optional<GidRow> gid_row(std::string_view line) {
  const auto words = words_of(line);
  if (words.size() < 5) return std::nullopt;
  const auto port = parse_u64(words[1]);
  const auto index = parse_u64(words[2]);
  if (!port || !index || *index > 65535) return std::nullopt;
  GidRow row;
  row.device = words[0];
  row.gid.index = static_cast<unsigned>(*index);
  row.gid.gid = full_gid(words[3]);
  if (row.gid.gid.empty()) return std::nullopt;
  for (std::size_t at = 4; at < words.size(); ++at) {
    if (words[at] == "v1" || words[at] == "v2") {
      row.gid.type = words[at] == "v2" ? GidType::kRoceV2 : GidType::kRoceV1;
      if (at + 1 < words.size()) row.gid.netdev = words[at + 1];
      return row;
    }
  }
  return std::nullopt;
}

bool is_gid_heading(std::string_view line) {
  const auto words = words_of(line);
  return words.size() >= 4 && words[0] == "DEV" && words[1] == "PORT" && words[2] == "INDEX";
}

bool has_routable_gid(const evidence::Nic& nic) {
  return nic.rdma.gids.is_known() &&
         std::any_of(nic.rdma.gids->begin(), nic.rdma.gids->end(), [](const evidence::Gid& gid) {
           return gid.type == GidType::kRoceV2 && !gid.gid.starts_with("fe80");
         });
}

/// `show_gids | head -9`
bool is_cut_short(const Mark& mark) {
  const std::size_t bar = mark.command.find('|');
  return bar != std::string::npos && mark.command.find("head", bar) != std::string::npos;
}

}  // namespace

bool begins_show_gids(const PasteAt& at) {
  return is_gid_heading(at.line(0)) || gid_row(at.line(0)).has_value();
}

std::size_t read_show_gids(const PasteAt& at, PasteSink& out) {
  const bool is_cut = is_cut_short(at.mark);
  PastedNic* last = nullptr;
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const std::string_view text = at.line(taken);
    if (auto row = gid_row(text)) {
      out.hosts().connect(out.host(), row->device, row->gid.netdev);
      PastedNic& nic = out.hosts().by_device(out.host(), row->device);
      if (out.device.empty()) out.device = row->device;
      add_gid(nic, std::move(row->gid), at.lines[taken], out);
      last = &nic;
    } else if (is_gid_heading(text) || is_rule(text) || text.starts_with("n_gids_found")) {
      continue;
    } else if (words_of(text).size() > 3 && is_rdma_name(words_of(text)[0])) {
      out.unread(at.lines[taken], "expected device, port, index, GID, version and interface");
    } else {
      break;
    }
  }
  // The table of the last device goes on behind the cut: what it lacks is not known.
  constexpr unsigned kBehindCut = 65'536;
  if (is_cut && last != nullptr && !has_routable_gid(last->nic))
    last->untyped_gids.insert(kBehindCut);
  return taken;
}

// ---- ibdev2netdev ----

namespace {

/// "mlx5_0 port 1 ==> eth2 (Up)"
bool is_mapping(const std::vector<std::string_view>& words) {
  return words.size() >= 5 && words[1] == "port" && words[3] == "==>";
}

/// The command lists all RDMA devices of the host: no filter, no name of one.
void note_listing(const PasteAt& at, std::string_view tool, PasteSink& out) {
  const std::string_view command = at.mark.command;
  const std::size_t begin = command.find(tool);
  if (begin == std::string_view::npos) return;
  for (const std::string_view word : words_of(command.substr(begin + tool.size())))
    if (word != "show" && !word.starts_with('-')) return;
  out.paste().rows.listed_hosts.insert(out.hosts().shown(out.host()));
}

}  // namespace

bool begins_ibdev2netdev(const PasteAt& at) {
  return is_mapping(words_of(at.line(0)));
}

std::size_t read_ibdev2netdev(const PasteAt& at, PasteSink& out) {
  const bool is_filtered = at.mark.command.find('|') != std::string::npos;
  out.paste().rows.lists_devices = out.paste().rows.lists_devices || !is_filtered;
  note_listing(at, "ibdev2netdev", out);
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const auto words = words_of(at.line(taken));
    if (!is_mapping(words)) break;
    out.hosts().connect(out.host(), words[0], words[4]);
    PastedNic& nic = out.hosts().by_device(out.host(), words[0]);
    if (words.size() > 5 && (words[5] == "(Up)" || words[5] == "(Down)"))
      out.set(nic.nic.link.up, words[5] == "(Up)", at.lines[taken]);
  }
  return taken;
}

// ---- ibv_devinfo ----

namespace {

/// "4096 (5)"
std::optional<Bytes> mtu_of(std::string_view value) {
  const auto bytes = parse_u64(value.substr(0, value.find(' ')));
  if (!bytes || *bytes < 256 || *bytes > 4096) return std::nullopt;
  return Bytes::raw(static_cast<std::int64_t>(*bytes));
}

/// "GID[  3]: fe80::1, RoCE v2"; older ones print no type.
bool read_gid_line(std::string_view text, PastedNic& nic, const PasteLine& line, PasteSink& out) {
  const std::size_t close = text.find(']');
  if (!text.starts_with("GID[") || close == std::string_view::npos) return false;
  const auto index = parse_u64(trim(text.substr(4, close - 4)));
  const std::size_t colon = text.find(':', close);
  if (!index || *index > 65535 || colon == std::string_view::npos) return true;
  const std::string_view value = trim(text.substr(colon + 1));
  const std::size_t comma = value.find(',');
  evidence::Gid gid;
  gid.index = static_cast<unsigned>(*index);
  gid.gid = full_gid(value.substr(0, comma));
  if (gid.gid.empty()) {
    out.unread(line, "expected a GID");
    return true;
  }
  if (comma == std::string_view::npos) return true;  // of what kind is not said
  gid.type = value.find("RoCE v2") != std::string_view::npos ? GidType::kRoceV2
             : value.find("v1") != std::string_view::npos    ? GidType::kRoceV1
                                                             : GidType::kInfiniband;
  add_gid(nic, std::move(gid), line, out);
  return true;
}

/// "active_mtu: …", "GID[ 0]: …": also where a web page ate the indentation.
bool is_attribute(std::string_view text) {
  if (text.starts_with("GID[")) return true;
  const std::string_view key = text.substr(0, text.find(':'));
  return key.size() < text.size() && std::all_of(key.begin(), key.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

void read_devinfo_line(const KeyValue& pair, PastedNic& pasted, const PasteLine& line,
                       PasteSink& out) {
  evidence::Nic& nic = pasted.nic;
  if (pair.key == "fw_ver" && !pair.value.empty()) {
    out.set(nic.firmware, std::string(pair.value), line);
  } else if (pair.key == "board_id") {
    out.set(nic.board, std::string(pair.value), line);
  } else if (pair.key == "state") {
    out.set(nic.rdma.active, pair.value.starts_with("PORT_ACTIVE"), line);
  } else if (pair.key == "active_mtu") {
    if (const auto mtu = mtu_of(pair.value)) {
      out.set(nic.link.active_mtu, *mtu, line);
    } else {
      out.unread(line, "expected an MTU from 256 to 4096");
    }
  } else if (pair.key == "transport") {
    out.paste().protocols.push_back(
        {out.host(), nic.device, pair.value.starts_with("iWARP"), out.cite(line)});
  } else if (pair.key == "link_layer") {
    out.set(nic.link_layer,
            pair.value == "InfiniBand" ? evidence::LinkLayer::kInfiniband
                                       : evidence::LinkLayer::kEthernet,
            line);
  } else if (pair.key == "phys_state") {
    out.set(nic.link.up, pair.value.starts_with("LINK_UP"), line);
  }
}

}  // namespace

bool begins_devinfo(const PasteAt& at) {
  const auto pair = key_value(at.line(0));
  if (!pair) return at.line(0) == "No IB devices found";
  // A part that was cut off above begins at its port.
  return pair->key == "hca_id" || (pair->key == "active_mtu" && mtu_of(pair->value)) ||
         (pair->key == "state" && pair->value.starts_with("PORT_"));
}

std::size_t read_devinfo(const PasteAt& at, PasteSink& out) {
  if (at.line(0) == "No IB devices found") {
    out.set(out.facts().uverbs_visible, false, at.lines[0]);
    return 1;
  }
  std::string device = at.mark.device;
  std::size_t taken = 0;
  std::size_t last = 0;
  for (; taken < at.lines.size(); ++taken) {
    const std::string_view text = at.line(taken);
    const auto pair = key_value(text);
    if (text.empty()) continue;
    const bool is_indented =
        at.lines[taken].text.starts_with('\t') || at.lines[taken].text.starts_with("  ");
    if (pair && pair->key == "hca_id") {
      device = pair->value;
      out.device = out.device.empty() ? device : out.device + ", " + device;
    } else if (taken > 0 && !is_indented && !is_attribute(text)) {
      break;
    }
    PastedNic& nic = out.hosts().by_device(out.host(), device);
    if (!read_gid_line(text, nic, at.lines[taken], out) && pair)
      read_devinfo_line(*pair, nic, at.lines[taken], out);
    last = taken;
  }
  return last + 1;
}

// ---- rdma link, rdma system ----

namespace {

bool is_link_line(const std::vector<std::string_view>& words) {
  return words.size() >= 4 && words[0] == "link" && words[2] == "state" &&
         words[1].find('/') != std::string_view::npos;
}

}  // namespace

bool begins_rdma_link(const PasteAt& at) {
  const auto words = words_of(at.line(0));
  return is_link_line(words) || (words.size() >= 2 && words[0] == "netns" &&
                                 (words[1] == "shared" || words[1] == "exclusive"));
}

std::size_t read_rdma_link(const PasteAt& at, PasteSink& out) {
  if (is_link_line(words_of(at.line(0)))) note_listing(at, "rdma link", out);
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const auto words = words_of(at.line(taken));
    const PasteLine& line = at.lines[taken];
    if (words.size() >= 2 && words[0] == "netns") {
      out.set(out.facts().rdma_namespaces, std::string(words[1]), line);
      continue;
    }
    if (!is_link_line(words)) break;
    const std::string_view device = words[1].substr(0, words[1].find('/'));
    for (std::size_t at_word = 3; at_word + 1 < words.size(); ++at_word)
      if (words[at_word] == "netdev") out.hosts().connect(out.host(), device, words[at_word + 1]);
    PastedNic& nic = out.hosts().by_device(out.host(), device);
    out.set(nic.nic.rdma.active, words[3] == "ACTIVE", line);
    // A port that was shut says nothing of its link.
    if (std::find(words.begin(), words.end(), "DISABLED") != words.end()) {
      out.paste().shut.emplace_back(device);
      continue;
    }
    for (std::size_t at_word = 3; at_word + 1 < words.size(); ++at_word)
      if (words[at_word] == "physical_state")
        out.set(nic.nic.link.up, words[at_word + 1] == "LINK_UP", line);
  }
  return taken;
}

// ---- rdma resource, rdma dev ----

namespace {

/// "0: mlx5_0: pd 3 cq 5 qp 4 …", "link mlx5_0/1 lqpn 17 type RC state RTS …", "0: mlx5_0:
/// node_type ca fw 28.43.2026 …"
bool is_resource_line(const std::vector<std::string_view>& words) {
  if (words.size() < 4) return false;
  if (words[0] == "link" && words[2] == "lqpn") return true;
  return words[0].ends_with(':') && words[1].ends_with(':') &&
         (words[2] == "pd" || words[2] == "curr" || words[2] == "node_type");
}

}  // namespace

bool begins_rdma_resource(const PasteAt& at) {
  return is_resource_line(words_of(at.line(0)));
}

std::size_t read_rdma_resource(const PasteAt& at, PasteSink& out) {
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const auto words = words_of(at.line(taken));
    if (!words.empty() && words[0] == "caps:") continue;
    if (!is_resource_line(words)) break;
    if (words[0] == "link") continue;
    const std::string_view device = words[1].substr(0, words[1].size() - 1);
    PastedNic& nic = out.hosts().by_device(out.host(), device);
    for (std::size_t at_word = 2; at_word + 1 < words.size(); ++at_word)
      if (words[at_word] == "fw")
        out.set(nic.nic.firmware, std::string(words[at_word + 1]), at.lines[taken]);
  }
  return taken;
}

}  // namespace weir::readers
