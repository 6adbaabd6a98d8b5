// What looks like a fault in a pasted text and is none, each beside the fault that it looks like.
#include <fmt/format.h>

#include "base/testing.h"
#include "diagnose/core/view.h"
#include "diagnose/paste/configs.h"
#include "diagnose/paste/pasted.h"
#include "readers/paste/merge.h"

namespace weir::diagnose {
namespace {

/// How loudly this is said of a text; empty where it is not.
std::string loudness(std::string_view text, std::string_view id) {
  const readers::Paste paste = readers::read_paste({{"paste.txt", text}});
  std::vector<evidence::Evidence> pieces = paste.evidence;
  for (evidence::Evidence& piece : pasted_configs(paste))
    pieces.push_back(std::move(piece));
  const std::vector<evidence::Evidence> merged = readers::merge_texts(std::move(pieces));
  const View view({merged, nullptr, {}});
  const finding::Judgement judgement = diagnose_paste(paste, view);
  for (const finding::Finding& finding : judgement.findings)
    if (finding.id == id) return std::string(finding::to_text(finding.severity));
  return "";
}

std::string port(std::string_view name, std::string_view link, std::string_view configured,
                 std::string_view active) {
  return fmt::format(
      "root@n1:~# ethtool {0}\nSettings for {0}:\n\tSpeed: {1}\n\tLink detected: {2}\n"
      "root@n1:~# ethtool --show-fec {0}\nFEC parameters for {0}:\n"
      "Supported/Configured FEC encodings: {3}\nActive FEC encoding: {4}\n",
      name, link == "yes" ? "200000Mb/s" : "Unknown!", link, configured, active);
}

TEST(PastedQuiet, APortWithoutALinkHasNoFecInEffect) {
  COVERS("I18");
  const std::string up = port("ens1np0", "yes", "RS", "RS");
  EXPECT_EQ(loudness(up + port("ens2np0", "no", "Off", "Off"), "fec.wrong"), "error");
  EXPECT_EQ(loudness(up + port("ens2np0", "no", "Auto", "None"), "fec.wrong"), "");
  EXPECT_EQ(loudness(up + port("ens2np0", "no (No cable)", "Off", "None"), "fec.wrong"), "");
  EXPECT_EQ(loudness(up + port("ens2np0", "no (No cable)", "Auto", "None"), "link.degraded"),
            "info");
  EXPECT_EQ(loudness(up + port("ens2np0", "no", "Off", "Off") + port("ens3np0", "no", "Off", "Off"),
                     "fec.wrong"),
            "")
      << "spare ports";
}

/// eth1 to eth4 are rails; `without` has no route.
std::string rails(std::string_view others, std::string_view without) {
  std::string out = "root@n7:~# ip -4 -br addr\n" + std::string(others);
  for (int i = 1; i < 5; ++i)
    out += fmt::format("eth{0}  UP  10.4{0}.7.1/31\n", i);
  out += "root@n7:~# ip route\ndefault via 172.16.0.1 dev bond0 proto dhcp\n";
  for (int i = 1; i < 5; ++i)
    if (without != fmt::format("eth{}", i))
      out += fmt::format("10.4{0}.0.0/16 via 10.4{0}.7.0 dev eth{0}\n", i);
  return out;
}
std::string devices() {
  std::string out = "root@n7:~# ibdev2netdev\n";
  for (int i = 1; i < 5; ++i)
    out += fmt::format("mlx5_{0} port 1 ==> eth{0} (Up)\n", i);
  return out;
}

TEST(PastedQuiet, AnInterfaceForManagementNeedsNoRouteOfARail) {
  COVERS("I18");
  constexpr std::string_view kId = "rail.no_route";
  const std::string bond = "bond0  UP  172.16.0.4/24\n";
  EXPECT_EQ(loudness(rails(bond, "eth3"), kId), "error");
  EXPECT_EQ(loudness(devices() + rails(bond, "eth3"), kId), "error");
  EXPECT_EQ(loudness(rails(bond + "eth0  UP  192.168.12.7/24\n", ""), kId), "info");
  EXPECT_EQ(loudness(rails(bond + "eth0  UP  10.0.3.7/24\n", ""), kId), "info");
  EXPECT_EQ(loudness(devices() + rails(bond + "eth0  UP  10.40.7.1/31\n", ""), kId), "info")
      << "an address like theirs, and no RDMA device";
}

std::string limited(std::string_view description, std::string_view body) {
  return fmt::format(
      "leaf3#show running-config interfaces Ethernet48\ninterface Ethernet48\n"
      "   description {0}\n   shape rate 1000000 kbps\n{1}"
      "leaf3#show interfaces Ethernet48 status\n"
      "Port       Name            Status       Vlan     Duplex Speed  Type\n"
      "Et48       {0}     connected    routed   full   10G   10GBASE-SR\n",
      description, body);
}

TEST(PastedQuiet, ALimitAtAnUplinkIsNoFault) {
  COVERS("I18");
  constexpr std::string_view kId = "shaper.on_rdma_path";
  EXPECT_EQ(loudness(limited("internet uplink", ""), kId), "info");
  EXPECT_EQ(loudness(limited("gpu05 rail0", ""), kId), "error");
  EXPECT_EQ(loudness(limited("to rack 4",
                             "   priority-flow-control on\n"
                             "   priority-flow-control priority 3 no-drop\n"),
                     kId),
            "error");
  EXPECT_EQ(loudness(limited("to n7", "") + devices(), kId), "error") << "a host of the text";
}

std::string gids(std::string_view host, std::vector<std::pair<std::string_view, bool>> ports) {
  std::string out = fmt::format(
      "{}:~$ show_gids\n"
      "DEV     PORT    INDEX   GID                                     IPv4            VER     "
      "DEV\n"
      "---     ----    -----   ---                                     ------------    ---     "
      "---\n",
      host);
  for (const auto& [device, is_ipv4] : ports)
    out += fmt::format("{}  1       3       {} v2      ens1np0\n", device,
                       is_ipv4 ? "0000:0000:0000:0000:0000:ffff:0a0a:0105 10.10.1.5      "
                               : "fd42:0010:0001:0000:0000:0000:0000:0006                ");
  return out;
}

TEST(PastedQuiet, ADeviceThatTheJobLeavesOutMayHaveAnotherGid) {
  COVERS("I18");
  constexpr std::string_view kId = "gid.index_differs";
  const std::string first = gids("gpu01", {{"mlx5_0", true}, {"mlx5_3", true}});
  const std::string storage = gids("gpu02", {{"mlx5_0", true}, {"mlx5_3", false}});
  const std::string wrong = gids("gpu02", {{"mlx5_0", false}, {"mlx5_3", true}});
  const std::string job = "NCCL_IB_GID_INDEX=3\n";
  EXPECT_EQ(loudness(job + "NCCL_IB_HCA=mlx5_0\n" + first + storage, kId), "");
  EXPECT_EQ(loudness(job + "NCCL_IB_HCA=^mlx5_3\n" + first + storage, kId), "");
  EXPECT_EQ(loudness(job + "NCCL_IB_HCA==mlx5_0:1\n" + first + storage, kId), "");
  EXPECT_EQ(loudness(job + gids("gpu01", {{"mlx5_0", true}}) + storage, kId), "")
      << "only mlx5_0 is shown of both";
  EXPECT_EQ(loudness(job + "NCCL_IB_HCA=mlx5_0\n" + first + wrong, kId), "error");
  EXPECT_EQ(loudness(job + first + storage, kId), "error") << "every device is used";
}

std::string protocols(std::string_view host, std::vector<std::pair<std::string_view, bool>> all) {
  std::string out = fmt::format("{} # ibv_devinfo\n", host);
  for (const auto& [device, is_iwarp] : all)
    out += fmt::format("hca_id:\t{}\n\ttransport:\t\t\t{}\n\tfw_ver:\t\t\t\t1.71\n", device,
                       is_iwarp ? "iWARP (1)" : "InfiniBand (0)");
  return out;
}

TEST(PastedQuiet, ACardWithIwarpBesideOneWithRoceIsNoFault) {
  COVERS("I18");
  constexpr std::string_view kId = "fleet.drift";
  const std::string roce = protocols("gpu02", {{"mlx5_0", false}});
  const std::string both = protocols("gpu01", {{"irdma0", true}, {"mlx5_0", false}});
  const std::string iwarp = protocols("gpu01", {{"irdma0", true}});
  EXPECT_EQ(loudness(roce + both, kId), "");
  EXPECT_EQ(loudness(both + roce, kId), "");
  EXPECT_EQ(loudness(roce + iwarp, kId), "error");
  EXPECT_EQ(loudness(iwarp + roce, kId), "error");
}

std::string flaps(std::string_view first_day, std::string_view second_day) {
  return fmt::format(
      "{0} 10:00:01 gpu01 kernel: mlx5_core 0000:18:00.0 rail0: Link down\n"
      "{0} 10:00:09 gpu01 kernel: mlx5_core 0000:18:00.0 rail0: Link up\n"
      "{1} 10:00:03 gpu01 kernel: mlx5_core 0000:19:00.0 rail1: Link down\n"
      "{1} 10:00:09 gpu01 kernel: mlx5_core 0000:19:00.0 rail1: Link up\n",
      first_day, second_day);
}

TEST(PastedQuiet, LinksThatWentDownOnOtherDaysDidNotGoDownTogether) {
  COVERS("I18");
  EXPECT_EQ(loudness(flaps("Jun  3", "Jun  3"), "link.flapping"), "info");
  EXPECT_EQ(loudness("[Tue Jun  3 10:00:01 2025] mlx5_core 0000:18:00.0 rail0: Link down\n"
                     "[Tue Jun  3 10:00:02 2025] mlx5_core 0000:19:00.0 rail1: Link down\n"
                     "[Tue Jun  3 10:00:09 2025] mlx5_core 0000:18:00.0 rail0: Link up\n"
                     "[Tue Jun  3 10:00:09 2025] mlx5_core 0000:19:00.0 rail1: Link up\n",
                     "link.flapping"),
            "info");
  EXPECT_EQ(loudness(flaps("Jun  3", "Jun 20"), "link.flapping"), "warning");
  EXPECT_EQ(loudness(flaps("Jun  3", "Jun  4"), "link.flapping"), "warning");
}

TEST(PastedQuiet, AdaptiveRoutingOnTheSpinesNeedNotBeOn) {
  COVERS("I18");
  const std::string counts = "\nout_of_sequence: 400123\nno drops on any switch\n";
  for (const std::string_view text :
       {"Adaptive routing on all spines is off since Monday, we wait for the vendor.",
        "Adaptive routing on all spines.", "adaptive routing on the leaves was disabled yesterday",
        "adaptive routing is not enabled"})
    EXPECT_EQ(loudness(std::string(text) + counts, "path.reordering"), "") << text;
  for (const std::string_view text :
       {"adaptive routing on", "adaptive routing on since Monday", "packet spraying on; slow now",
        "adaptive routing on / off on the leaves:", "we turned on adaptive routing on the leaves",
        "enabled adaptive routing on all spines, drops are not seen"})
    EXPECT_EQ(loudness(std::string(text) + counts, "path.reordering"), "warning") << text;
}

TEST(PastedQuiet, OnlyWhatClearsCountersMakesThemBeginAtZero) {
  COVERS("I18");
  constexpr std::string_view kErrors =
      "leaf3#show interfaces Ethernet1 counters errors\n"
      "Port             FCS    Align   Symbol       Rx    Runts   Giants       Tx\n"
      "Et1             8123        0        0     8123        0        0        0\n";
  const auto told = [&](std::string_view words) {
    return loudness(std::string(words) + std::string(kErrors), "link.physical_errors");
  };
  EXPECT_EQ(told("counters cleared at 10:02.\n"), "error");
  EXPECT_EQ(told("The temperature alarm cleared at 10:02.\n"), "info");
  EXPECT_EQ(told(""), "info");
}

}  // namespace
}  // namespace weir::diagnose
