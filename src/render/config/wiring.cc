#include "render/config/wiring.h"

#include <fmt/format.h>

#include "design/file/words.h"
#include "units/format.h"

namespace weir::render {
namespace {

struct CableEnd {
  std::string node;
  std::string port;  // of a host: its network interface
};

CableEnd cable_end(const design::Intent& intent, design::PortRef end) {
  if (end.kind == design::NodeKind::kHost) {
    const design::HostIntent& host = intent.hosts[end.node];
    return {host.name, host.nics[end.port].netdev};
  }
  const design::SwitchIntent& node = intent.switches[end.node];
  return {node.name, node.ports[end.port].name};
}

std::string csv(const design::Intent& intent) {
  std::string out = "node,port,peer,peer_port,speed,cable,length\n";
  for (const design::LinkIntent& link : intent.links) {
    const CableEnd lower = cable_end(intent, link.lower);
    const CableEnd upper = cable_end(intent, link.upper);
    out += fmt::format("{},{},{},{},{},{},{}\n", lower.node, lower.port, upper.node, upper.port,
                       to_text(link.speed), design::to_word(link.cable), to_text(link.length));
  }
  return out;
}

std::string ptm(const design::Intent& intent) {
  std::string out = "graph fabric {\n";
  for (const design::LinkIntent& link : intent.links) {
    const CableEnd lower = cable_end(intent, link.lower);
    const CableEnd upper = cable_end(intent, link.upper);
    out += fmt::format("    \"{}\":\"{}\" -- \"{}\":\"{}\"\n", lower.node, lower.port, upper.node,
                       upper.port);
  }
  return out + "}\n";
}

}  // namespace

std::vector<std::string_view> wiring_formats() {
  return {"csv", "ptm"};
}

platforms::ConfigFile wiring_table(const design::Intent& intent, std::string_view format) {
  if (format == "ptm") return {"topology.dot", ptm(intent)};
  return {"wiring.csv", csv(intent)};
}

}  // namespace weir::render
