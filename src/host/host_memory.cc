#include "host/host_memory.h"

#include <limits>

#include <fmt/format.h>
#include <linux/dcbnl.h>

#include "base/json.h"
#include "base/json_cursor.h"
#include "base/untrusted/json_parse.h"

namespace weir::host {

namespace {

std::string to_hex(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes)
    out += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return out;
}

std::optional<unsigned> hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<unsigned>(digit - 'a') + 10;
  return std::nullopt;
}

Result<std::optional<std::string>> bytes_at(const JsonCursor& parent, std::string_view key,
                                            std::size_t size) {
  const auto place = parent.find(key);
  if (!place) return std::optional<std::string>();
  WEIR_TRY(text, place->text());
  std::string bytes;
  bool is_well = text.size() == 2 * size;
  for (std::size_t i = 0; is_well && i < text.size(); i += 2) {
    const auto high = hex_digit(text[i]);
    const auto low = hex_digit(text[i + 1]);
    is_well = high && low;
    if (is_well) bytes.push_back(static_cast<char>(*high * 16 + *low));
  }
  if (!is_well) return place->wrong(fmt::format("{} hexadecimal digits", 2 * size));
  return std::optional<std::string>(std::move(bytes));
}

Result<unsigned> small_number(const JsonCursor& place, unsigned most) {
  WEIR_TRY(number, place.whole_number());
  if (number > most) return place.wrong(fmt::format("a number up to {}", most));
  return static_cast<unsigned>(number);
}

/// An array of exactly `size`.
Status expect_size(const JsonCursor& place, std::size_t size) {
  WEIR_TRY_STATUS(place.expect_array());
  if (place.size() != size) return place.wrong(fmt::format("a list of {}", size));
  return {};
}

Result<std::vector<DcbApp>> app_of(const JsonCursor& place) {
  WEIR_TRY_STATUS(place.expect_array());
  std::vector<DcbApp> out;
  for (std::size_t i = 0; i < place.size(); ++i) {
    const JsonCursor entry = place.at(i);
    WEIR_TRY_STATUS(expect_size(entry, 3));
    WEIR_TRY(selector, small_number(entry.at(0), 255));
    WEIR_TRY(priority, small_number(entry.at(1), 255));
    WEIR_TRY(protocol, small_number(entry.at(2), 65535));
    out.push_back({selector, priority, protocol});
  }
  return out;
}

Json dcb_json(const DcbImage& dcb) {
  Json out = Json::object();
  if (dcb.ets) out["ets"] = to_hex(*dcb.ets);
  if (dcb.pfc) out["pfc"] = to_hex(*dcb.pfc);
  if (dcb.max_rate) out["max_rate"] = to_hex(*dcb.max_rate);
  if (dcb.app) {
    out["app"] = Json::array();
    for (const DcbApp& entry : *dcb.app)
      out["app"].push_back({entry.selector, entry.priority, entry.protocol});
  }
  if (dcb.trust) out["trust"] = *dcb.trust;
  if (dcb.dcbx) out["dcbx"] = *dcb.dcbx;
  return out;
}

Result<DcbImage> dcb_of(const JsonCursor& place) {
  WEIR_TRY_STATUS(place.expect_object());
  DcbImage dcb;
  WEIR_TRY(ets, bytes_at(place, "ets", sizeof(ieee_ets)));
  WEIR_TRY(pfc, bytes_at(place, "pfc", sizeof(ieee_pfc)));
  WEIR_TRY(max_rate, bytes_at(place, "max_rate", sizeof(ieee_maxrate)));
  dcb.ets = std::move(ets);
  dcb.pfc = std::move(pfc);
  dcb.max_rate = std::move(max_rate);
  if (const auto app = place.find("app")) {
    WEIR_TRY(entries, app_of(*app));
    dcb.app = std::move(entries);
  }
  if (const auto trust = place.find("trust")) {
    WEIR_TRY_STATUS(trust->expect_array());
    dcb.trust.emplace();
    for (std::size_t i = 0; i < trust->size(); ++i) {
      WEIR_TRY(selector, small_number(trust->at(i), 255));
      dcb.trust->push_back(selector);
    }
  }
  if (const auto dcbx = place.find("dcbx")) {
    WEIR_TRY(flags, small_number(*dcbx, 255));
    dcb.dcbx = flags;
  }
  return dcb;
}

Result<std::vector<std::pair<std::string, std::string>>> files_of(const JsonCursor& place) {
  WEIR_TRY_STATUS(place.expect_array());
  std::vector<std::pair<std::string, std::string>> out;
  for (std::size_t i = 0; i < place.size(); ++i) {
    const JsonCursor entry = place.at(i);
    WEIR_TRY_STATUS(expect_size(entry, 2));
    WEIR_TRY(path, entry.at(0).text());
    WEIR_TRY(text, entry.at(1).text());
    if (!path.starts_with('/')) return entry.at(0).wrong("an absolute path");
    out.emplace_back(std::move(path), std::move(text));
  }
  return out;
}

Result<std::vector<std::pair<std::string, unsigned>>> mtus_of(const JsonCursor& place) {
  WEIR_TRY_STATUS(place.expect_array());
  std::vector<std::pair<std::string, unsigned>> out;
  for (std::size_t i = 0; i < place.size(); ++i) {
    const JsonCursor entry = place.at(i);
    WEIR_TRY_STATUS(expect_size(entry, 2));
    WEIR_TRY(netdev, entry.at(0).text());
    WEIR_TRY(mtu, small_number(entry.at(1), 65536));
    out.emplace_back(std::move(netdev), mtu);
  }
  return out;
}

}  // namespace

std::string to_text(const HostMemory& memory) {
  Json out = Json::object();
  out["netdev"] = memory.netdev;
  if (const Json dcb = dcb_json(memory.dcb); !dcb.empty()) out["dcb"] = dcb;
  if (!memory.files.empty()) out["files"] = Json::array();
  for (const auto& [path, text] : memory.files)
    out["files"].push_back(Json::array({path, text}));
  if (!memory.mtus.empty()) out["mtus"] = Json::array();
  for (const auto& [netdev, mtu] : memory.mtus)
    out["mtus"].push_back(Json::array({netdev, mtu}));
  if (memory.pause) out["pause"] = Json::array({memory.pause->first, memory.pause->second});
  if (memory.rings) out["rings"] = Json::array({memory.rings->first, memory.rings->second});
  if (!memory.absent.empty()) out["absent"] = memory.absent;
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<HostMemory> parse_memory(std::string_view text) {
  WEIR_TRY(document, parse_json(text));
  const JsonCursor root(document);
  WEIR_TRY_STATUS(root.expect_object());
  HostMemory memory;
  WEIR_TRY(netdev_place, root.member("netdev"));
  WEIR_TRY(netdev, netdev_place.text());
  memory.netdev = std::move(netdev);
  if (const auto place = root.find("dcb")) {
    WEIR_TRY(dcb, dcb_of(*place));
    memory.dcb = std::move(dcb);
  }
  if (const auto place = root.find("files")) {
    WEIR_TRY(files, files_of(*place));
    memory.files = std::move(files);
  }
  if (const auto place = root.find("mtus")) {
    WEIR_TRY(mtus, mtus_of(*place));
    memory.mtus = std::move(mtus);
  }
  if (const auto place = root.find("pause")) {
    WEIR_TRY_STATUS(expect_size(*place, 2));
    WEIR_TRY(rx, place->at(0).boolean());
    WEIR_TRY(tx, place->at(1).boolean());
    memory.pause.emplace(rx, tx);
  }
  if (const auto place = root.find("rings")) {
    WEIR_TRY_STATUS(expect_size(*place, 2));
    WEIR_TRY(rx, small_number(place->at(0), std::numeric_limits<unsigned>::max()));
    WEIR_TRY(tx, small_number(place->at(1), std::numeric_limits<unsigned>::max()));
    memory.rings.emplace(rx, tx);
  }
  if (const auto place = root.find("absent")) {
    WEIR_TRY_STATUS(place->expect_array());
    for (std::size_t i = 0; i < place->size(); ++i) {
      WEIR_TRY(path, place->at(i).text());
      memory.absent.push_back(std::move(path));
    }
  }
  return memory;
}

}  // namespace weir::host
