// weir tos: both readings of a number. 26 typed where a TOS byte belongs is DSCP 6, and nobody says
// so.
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/json/object.h"
#include "units/dscp_name.h"
#include "units/format.h"
#include "units/qos_code.h"

namespace weir::cli {
namespace {

constexpr std::array kAllEcn = {Ecn::kNotEct, Ecn::kEct1, Ecn::kEct0, Ecn::kCe};

enum class As { kDscp, kTos };

struct Reading {
  As as = As::kDscp;
  TosByte tos;  // holds the DSCP and the ECN bits
};

// What the user typed: a number that may be either, or a code point's name, which is a DSCP.
struct Typed {
  std::string text;
  unsigned value = 0;
  bool is_name = false;
};

struct TosAnswer {
  std::optional<Typed> typed;  // none: the table alone
  std::optional<Ecn> ecn;      // the bits that were asked for
  std::vector<Reading> readings;
};

struct Request {
  std::optional<Typed> typed;
  std::optional<As> as;
  std::optional<Ecn> ecn;
  bool table = false;
};

Result<Typed> parse_typed(const std::string& text) {
  if (const auto named = dscp_named(text)) return Typed{text, named->value(), true};
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  const char* const first = text.data() + (is_hex ? 2 : 0);
  const char* const last = text.data() + text.size();
  unsigned value = 0;
  const auto [stop, error] = std::from_chars(first, last, value, is_hex ? 16 : 10);
  const bool too_large = error == std::errc::result_out_of_range || value >= TosByte::kLimit;
  if (stop != last || first == last) {
    return parse_error(fmt::format(
        "expected a number (26, 0x6a) or a code point's name (AF31, CS3, EF), found '{}'", text));
  }
  if (too_large) {
    return parse_error(fmt::format(
        "{} is too large: a DSCP has 6 bits (0 to 63), a TOS byte 8 bits (0 to 255)", text));
  }
  return Typed{text, value, false};
}

std::optional<Ecn> parse_ecn(const std::optional<std::string>& text) {
  for (const Ecn ecn : kAllEcn) {
    if (text == to_text(ecn)) return ecn;
  }
  return std::nullopt;
}

std::string ecn_words(Ecn ecn) {
  switch (ecn) {
    case Ecn::kNotEct: return "not ECN-capable";
    case Ecn::kEct1: return "ECT(1)";
    case Ecn::kEct0: return "ECT(0)";
    case Ecn::kCe: return "CE, congestion experienced";
  }
  WEIR_UNREACHABLE("an Ecn has two bits");
}

std::string hex(TosByte tos) {
  return fmt::format("0x{:02x}", tos.value());
}

std::string with_name(Dscp dscp) {
  const std::string_view name = dscp_name(dscp);
  return name.empty() ? to_text(dscp) : fmt::format("{} ({})", dscp.value(), name);
}

// The readings of one number. An error where the request asks for one that does not exist.
Result<std::vector<Reading>> read(const Typed& typed, const Request& request) {
  const std::optional<Dscp> dscp = Dscp::make(typed.value);
  const TosByte tos = TosByte::of(typed.value);
  if (!dscp && request.as == As::kDscp) {
    return invalid_error(fmt::format(
        "{} does not fit the 6 bits of a DSCP (0 to 63); as a TOS byte it is DSCP {} with {}",
        typed.text, to_text(dscp_of(tos)), ecn_words(ecn_of(tos))));
  }
  if (typed.is_name && request.as == As::kTos) {
    return invalid_error(
        fmt::format("{} is the name of a DSCP, {}; leave --as tos out", typed.text, typed.value));
  }
  if (request.ecn && (!dscp || request.as == As::kTos)) {
    return invalid_error(
        fmt::format("--ecn adds the ECN bits to a DSCP; as a TOS byte {} already holds them ({}); "
                    "type weir tos {} "
                    "--ecn {}",
                    typed.text, to_text(ecn_of(tos)), dscp_of(tos).value(), to_text(*request.ecn)));
  }
  std::vector<Reading> readings;
  if (dscp && request.as != As::kTos) {
    if (!request.ecn) readings.push_back({As::kDscp, tos_byte(*dscp, Ecn::kNotEct)});
    readings.push_back({As::kDscp, tos_byte(*dscp, request.ecn.value_or(Ecn::kEct0))});
  }
  if (!typed.is_name && request.as != As::kDscp) readings.push_back({As::kTos, tos});
  return readings;
}

std::vector<Reading> read_all(std::optional<Ecn> ecn) {
  std::vector<Reading> readings;
  for (unsigned dscp = 0; dscp < Dscp::kLimit; ++dscp) {
    for (const Ecn bits : kAllEcn) {
      if (!ecn || ecn == bits) readings.push_back({As::kDscp, tos_byte(Dscp::of(dscp), bits)});
    }
  }
  return readings;
}

// The first line: what to type, in words. The last DSCP reading is the one with ECN bits.
std::string verdict(const TosAnswer& answer) {
  if (!answer.typed)
    return "A TOS byte is the DSCP times 4 plus the ECN bits: 0 not-ect, 1 ect1, 2 ect0, 3 ce.";
  const Typed& typed = *answer.typed;
  const Reading* as_dscp = nullptr;
  const Reading* as_tos = nullptr;
  for (const Reading& reading : answer.readings)
    (reading.as == As::kDscp ? as_dscp : as_tos) = &reading;
  std::string text;
  if (as_dscp != nullptr) {
    const Dscp dscp = dscp_of(as_dscp->tos);
    const std::string_view name = dscp_name(dscp);
    text = typed.is_name ? fmt::format("{} is DSCP {}", typed.text, dscp.value())
                         : fmt::format("{} as a DSCP{}", typed.text,
                                       name.empty() ? "" : fmt::format(" ({})", name));
    // CE is for switches to set, so only ECT(0), what RoCE sends, is advised to be typed.
    text += answer.ecn ? fmt::format(" with {}: the TOS byte is {} ({}).", to_text(*answer.ecn),
                                     as_dscp->tos.value(), hex(as_dscp->tos))
                       : fmt::format(": type {} ({}) where a TOS byte or traffic class is asked.",
                                     as_dscp->tos.value(), hex(as_dscp->tos));
  }
  if (as_tos != nullptr) {
    const Dscp dscp = dscp_of(as_tos->tos);
    text += as_dscp != nullptr
                ? fmt::format(" Typed as a TOS byte, {} means DSCP {}.", typed.text, to_text(dscp))
                : fmt::format("{} as a TOS byte: DSCP {}, {}.", typed.text, with_name(dscp),
                              ecn_words(ecn_of(as_tos->tos)));
  }
  return text;
}

std::string readings_table(const std::vector<Reading>& readings) {
  TextTable table(
      {"read as", "DSCP", "name", "ECN", "TOS byte", "hex"},
      {Align::kLeft, Align::kRight, Align::kLeft, Align::kLeft, Align::kRight, Align::kLeft});
  for (const Reading& reading : readings) {
    const Dscp dscp = dscp_of(reading.tos);
    const std::string_view name = dscp_name(dscp);
    table.add_row({reading.as == As::kDscp ? "DSCP" : "TOS byte", to_text(dscp),
                   std::string(name.empty() ? "-" : name),
                   std::string(to_text(ecn_of(reading.tos))), to_text(reading.tos),
                   hex(reading.tos)});
  }
  return table.to_text(2);
}

std::string full_table(std::optional<Ecn> only) {
  std::vector<std::string> header = {"DSCP", "name"};
  std::vector<Align> align = {Align::kRight, Align::kLeft};
  for (const Ecn ecn : kAllEcn) {
    if (only && only != ecn) continue;
    header.emplace_back(to_text(ecn));
    header.emplace_back("hex");
    align.insert(align.end(), {Align::kRight, Align::kLeft});
  }
  TextTable table(header, align);
  for (unsigned value = 0; value < Dscp::kLimit; ++value) {
    const Dscp dscp = Dscp::of(value);
    const std::string_view name = dscp_name(dscp);
    std::vector<std::string> row = {to_text(dscp), std::string(name.empty() ? "-" : name)};
    for (const Ecn ecn : kAllEcn) {
      if (only && only != ecn) continue;
      row.push_back(to_text(tos_byte(dscp, ecn)));
      row.push_back(hex(tos_byte(dscp, ecn)));
    }
    table.add_row(std::move(row));
  }
  return table.to_text(2);
}

Json to_json(const TosAnswer& answer, Json object) {
  Json readings = Json::array();
  for (const Reading& reading : answer.readings) {
    const Dscp dscp = dscp_of(reading.tos);
    Json entry;
    entry["as"] = reading.as == As::kDscp ? "dscp" : "tos";
    entry["dscp"] = dscp.value();
    entry["ecn"] = to_text(ecn_of(reading.tos));
    entry["tos"] = reading.tos.value();
    entry["tos_hex"] = hex(reading.tos);
    if (const std::string_view name = dscp_name(dscp); !name.empty()) entry["name"] = name;
    readings.push_back(std::move(entry));
  }
  object["verdict"] = verdict(answer);
  object["readings"] = std::move(readings);
  return object;
}

void print(const TosAnswer& answer, const Request& request, Context& context) {
  context.out << paint(context, Tone::kStrong, verdict(answer)) << '\n';
  if (context.quiet) return;
  if (answer.typed) {
    context.out << '\n' << readings_table(answer.readings);
  }
  if (request.table) {
    context.out << '\n' << full_table(request.ecn);
  } else {
    context.out << "\nA TOS byte (IPv4 TOS, IPv6 traffic class, traffic_class of an RDMA device, "
                   "NCCL_IB_TC)\nis the DSCP times 4 plus the ECN bits. More: weir explain "
                   "dscp.tos_confusion\n";
  }
}

Result<Request> gather_tos(const Args& args) {
  Request request;
  if (const auto text = args.get("N")) {
    WEIR_TRY(typed, parse_typed(*text));
    request.typed = typed;
  }
  if (const auto as = args.get("as")) request.as = *as == "dscp" ? As::kDscp : As::kTos;
  request.ecn = parse_ecn(args.get("ecn"));
  request.table = args.has("table");
  if (!request.typed && !request.table)
    return invalid_error("N is missing: a DSCP, a TOS byte or a name such as AF31");
  return request;
}

Result<TosAnswer> judge(const Request& request) {
  if (!request.typed) return TosAnswer{std::nullopt, request.ecn, read_all(request.ecn)};
  WEIR_TRY(readings, read(*request.typed, request));
  return TosAnswer{request.typed, request.ecn, std::move(readings)};
}

ExitCode run_tos(const Args& args, Context& context) {
  const Result<Request> request = gather_tos(args);
  if (!request) return usage_error(context, args.command(), request.error().what);
  const Result<TosAnswer> answer = judge(*request);
  if (!answer) return usage_error(context, args.command(), answer.error().what);
  if (context.json) {
    print_json(context, to_json(*answer, json_object(args.command())));
  } else {
    print(*answer, *request, context);
  }
  return ExitCode::kOk;
}

}  // namespace

Command tos_command() {
  return {
      .name = "tos",
      .group = Group::kOperators,
      .summary = "both readings of a number: as a DSCP and as a TOS byte",
      .description =
          "A DSCP has 6 bits; a TOS byte holds the DSCP and, below it, 2 ECN bits. Tools ask for "
          "one or the other and take any number: 26 typed where a TOS byte belongs marks DSCP 6, "
          "and the traffic silently leaves its lossless class. This verb shows what to type.",
      .arguments = {{.name = "N",
                     .help = "a number (26, 0x6a) or the name of a code point (AF31, CS3, EF)"}},
      .options = {{.name = "ecn",
                   .metavar = "ECN",
                   .help =
                       "ECN bits to put below the DSCP; without it both plain and ect0 are shown",
                   .choices = {"not-ect", "ect0", "ect1", "ce"}},
                  {.name = "as",
                   .metavar = "READING",
                   .help = "only this reading of N",
                   .choices = {"dscp", "tos"}},
                  {.name = "table", .help = "all 64 DSCPs with their TOS bytes"}},
      .examples = {{"weir tos 26", "as a DSCP: 104, or 106 with ECT(0); as a TOS byte: DSCP 6"},
                   {"weir tos 0x6a", "what is on the wire: DSCP 26, ECT(0)"},
                   {"weir tos AF31 --ecn ce", "the byte after a switch has marked it"},
                   {"weir tos --table", "the whole table"}},
      .exit_codes = {ExitCode::kOk},
      .rows = {"A3"},
      .run = run_tos,
  };
}

}  // namespace weir::cli
