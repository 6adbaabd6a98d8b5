// What rows show: each fault, and a text near it that shows none.
#include "diagnose/paste/rows.h"

#include <fmt/format.h>

#include "base/testing.h"
#include "finding/shown.h"

namespace weir::diagnose {
namespace {

/// How loudly an id is said of a whole text; empty where it is not.
std::string said(std::string_view text, std::string_view id) {
  const readers::Paste paste = readers::read_paste({{"paste.txt", text}});
  const Case subject{.evidence = paste.evidence};
  const View view(subject);
  const finding::Judgement judgement = diagnose_paste(paste, view);
  (void)finding::is_raised(judgement.findings, id);
  for (const finding::Finding& finding : judgement.findings)
    if (finding.id == id) return std::string(finding::to_text(finding.severity));
  return {};
}

struct RowsCase {
  std::string_view what;
  std::string text;
  std::string_view id;
  std::string_view severity;
};

void check_rows(const std::vector<RowsCase>& cases) {
  for (const RowsCase& item : cases)
    EXPECT_EQ(said(item.text, item.id), item.severity) << item.what;
}

std::string addresses(std::string_view first, std::string_view second,
                      std::string_view netdev = "rail2") {
  return fmt::format(
      "$ pdsh -w gpu[14,41] 'ip -4 -br addr'\n"
      "gpu14: {2}            UP             {0} \n"
      "gpu41: {2}            UP             {1} \n",
      first, second, netdev);
}

TEST(PastedRows, OneAddressAtTwoHosts) {
  const std::string neighbour = "gpu07 % ip neigh show 10.30.2.41 dev rail2\n";
  const std::string first = neighbour + "10.30.2.41 lladdr b8:ce:f6:11:a0:41 REACHABLE\n";
  const std::string second = neighbour + "10.30.2.41 lladdr b8:ce:f6:27:3c:14 REACHABLE\n";
  constexpr std::string_view kId = "address.duplicate";
  check_rows({
      {"configured twice", addresses("10.30.2.41/24", "10.30.2.41/24"), kId, "error"},
      {"a machine and a container on it",
       "root@gpu14:~# ip -4 -br addr\nrail2   UP   10.30.2.41/24\n"
       "root@nccl-b-0:/# ip -4 -br addr\nrail2   UP   10.30.2.41/24\n",
       kId, "info"},
      {"each its own", addresses("10.30.2.14/24", "10.30.2.41/24"), kId, ""},
      {"of containers", addresses("172.17.0.1/16", "172.17.0.1/16", "docker0"), kId, ""},
      {"one that moves", addresses("10.30.2.9/32", "10.30.2.9/32"), kId, ""},
      {"link-local", addresses("169.254.3.1/24", "169.254.3.1/24"), kId, ""},
      {"the entry goes back and forth", first + second + first, kId, "warning"},
      {"the NIC was replaced", first + second, kId, ""},
      {"a switch's log",
       "leaf3 Arp: %ARP-4-DUP_SRCIP: Source address of packet received from b8ce.f611.a041 on "
       "Vlan230 is duplicate of 10.30.2.41\n",
       kId, "error"},
  });
}

std::string channel(std::string_view first, std::string_view second, std::string_view hash) {
  return fmt::format(
      "leaf-st2# show port-channel traffic\n"
      "ChanId      Port Rx-Ucst Tx-Ucst Rx-Mcst Tx-Mcst Rx-Bcst Tx-Bcst\n"
      "    10    Eth1/49  24.10%   {}%  25.00%  25.02%    0.0%    0.0%\n"
      "    10    Eth1/50  25.77%   {}%  25.00%  24.99%    0.0%    0.0%\n"
      "leaf-st2# show port-channel load-balance\n  IP: {} rotate 0\n",
      first, second, hash);
}

TEST(PastedRows, AChannelThatUsesOneMember) {
  check_rows({
      {"by addresses", channel("1.98", "98.02", "src-dst ip"), "ecmp.imbalance", "error"},
      {"by ports: few flows", channel("1.98", "98.02", "src-dst ip-l4port"), "ecmp.imbalance",
       "info"},
      {"even", channel("48.98", "51.02", "src-dst ip"), "ecmp.imbalance", ""},
  });
}

std::string uplinks(std::string_view odd) {
  std::string out =
      "admin@spine-2:~$ show interfaces counters -p 60\n"
      "       IFACE    STATE        RX_OK         RX_BPS    RX_UTIL    RX_ERR    RX_DRP    RX_OVR  "
      " "
      "     TX_OK         TX_BPS    TX_UTIL    TX_ERR    TX_DRP    TX_OVR\n";
  for (int port = 0; port < 6; ++port)
    out += fmt::format(
        " Ethernet{}        U  180,000,000  12110.20 MB/s     24.00%         0         0         0 "
        " "
        "703,119,442  48321.11 MB/s    {}%         0         0         0\n",
        128 + port * 8, port < 2 ? "96.64" : odd);
  return out;
}
std::string seed(std::string_view name, int value) {
  return fmt::format(
      "admin@{}:~$ sonic-db-cli APPL_DB hget SWITCH_TABLE:switch ecmp_hash_seed\n{}\n", name,
      value);
}

TEST(PastedRows, TheSameSeedInTwoTiers) {
  constexpr std::string_view kId = "ecmp.same_seed";
  check_rows({
      {"idle uplinks", uplinks("0.00") + seed("spine-2", 10) + seed("leaf-07", 10), kId, "error"},
      {"other seeds", uplinks("0.00") + seed("spine-2", 10) + seed("leaf-07", 20), kId, ""},
      {"of one tier", uplinks("0.00") + seed("spine-2", 10) + seed("spine-3", 10), kId, ""},
      {"even load", uplinks("95.00") + seed("spine-2", 10) + seed("leaf-07", 10), kId, ""},
  });
}

std::string profile(int min, int max) {
  return fmt::format(
      "admin@spine-5:~$ show ecn\nProfile: ROCE_ECN\n-----  -----\necn  ecn_all\n"
      "green_max_threshold  {}\ngreen_min_threshold  {}\n-----  -----\n",
      max, min);
}
std::string scheduler(std::string_view name, std::string_view more) {
  return fmt::format(
      "netops@leaf2> show configuration class-of-service schedulers {0} | display set\n"
      "set class-of-service schedulers {0} transmit-rate percent 70\n"
      "set class-of-service schedulers {0} drop-profile-map loss-priority any protocol any "
      "drop-profile DP\n{1}",
      name, more);
}
std::string red(std::string_view name, int dropped, int marked) {
  return fmt::format(
      "netops@leaf2> show interfaces queue et-0/0/11 forwarding-class {0}\n"
      "Physical interface: et-0/0/11, up, Physical link is Up\n"
      "Queue: 4, Forwarding classes: {0}\n"
      "    RED-dropped packets  :     {1}     211 pps\n"
      "    ECN-CE packets       :     {2}       0 pps\n",
      name, dropped, marked);
}

TEST(PastedRows, MarkingThatCannotWork) {
  constexpr std::string_view kOff = "ecn.off_on_lossless";
  check_rows({
      {"exchanged", profile(1'500'000, 100'000), "ecn.thresholds_too_high", "error"},
      {"as meant", profile(100'000, 1'500'000), "ecn.thresholds_too_high", ""},
      {"a scheduler without ECN", scheduler("S-NO-LOSS", ""), kOff, "error"},
      {"with ECN",
       scheduler("S-NO-LOSS",
                 "set class-of-service schedulers S-NO-LOSS explicit-congestion-notification\n"),
       kOff, ""},
      {"best effort", scheduler("S-BE", ""), kOff, ""},
      {"drops and no marks", red("NO-LOSS", 2'882'815, 0), kOff, "error"},
      {"marks too", red("NO-LOSS", 12, 44'120'117), kOff, ""},
      {"drops of best effort", red("best-effort", 2'882'815, 0), kOff, ""},
  });
}

std::string ecn_of(std::string_view name, std::string_view row) {
  return fmt::format(
      "{}#show qos interfaces ethernet 1/1 ecn\nEthernet1/1:\n   Tx-Queue  Units  ECN Min  ECN "
      "Max\n"
      "   3   {}\n",
      name, row);
}

TEST(PastedRows, OneSwitchThatDoesNotMark) {
  constexpr std::string_view kOff = "ecn.off_on_lossless";
  const std::string on = "kbytes  500  1500";
  check_rows({
      {"one of two", ecn_of("leaf21", "-  -  -") + ecn_of("leaf22", on), kOff, "warning"},
      {"of another tier", ecn_of("spine1", "-  -  -") + ecn_of("leaf22", on), kOff, ""},
      {"neither", ecn_of("leaf21", "-  -  -") + ecn_of("leaf22", "-  -  -"), kOff, ""},
      {"both", ecn_of("leaf21", on) + ecn_of("leaf22", on), kOff, ""},
  });
}

std::string cnps(int sent, int heard) {
  return fmt::format(
      "gpu-s09: CNP_DSCP_P1 48\n"
      "                           start           end           delta\n"
      "gpu-s09 np_cnp_sent        100             {}            {}\n"
      "gpu-s02 rp_cnp_handled     100             {}            {}\n\n",
      sent + 100, sent, heard + 100, heard);
}
std::string sorting(std::string_view more) {
  return fmt::format(
      "leaf-s1# show running-config ipqos\n"
      "class-map type qos match-all ROCE\n  match dscp 26\n"
      "class-map type qos match-all CNP\n  match dscp 48\n"
      "policy-map type qos PM\n  class ROCE\n    set qos-group 3\n{}"
      "  class class-default\n    set qos-group 0\n",
      more);
}

TEST(PastedRows, CnpsAmongAllOtherTraffic) {
  constexpr std::string_view kId = "cnp.lost";
  const std::string none = sorting("");
  check_rows({
      {"few arrive", cnps(4'118'220, 303'884) + none, kId, "warning"},
      {"with a class of their own",
       cnps(4'118'220, 303'884) + sorting("  class CNP\n    set qos-group 6\n"), kId, ""},
      {"most arrive", cnps(4'118'220, 4'103'884) + none, kId, ""},
  });
}

std::string lanes(std::string_view last) {
  std::string out;
  for (int port = 0; port < 7; ++port)
    out += fmt::format("mlx5_{} 400 Gb/sec (4X NDR)\n", port);
  return out + fmt::format("mlx5_7 {}\n", last);
}
std::string kernel_links(std::string_view down, std::string_view up) {
  return fmt::format(
      "[Mon May  5 06:02:33 2025] mlx5_core 0000:1a:00.0 ens1np0: renamed from eth4\n"
      "[Mon May  5 06:02:41 2025] mlx5_core 0000:1a:00.0 ens1np0: Link up\n"
      "[Mon May  5 {} 2025] mlx5_core 0000:1a:00.0 ens1np0: Link down\n"
      "[Mon May  5 {} 2025] mlx5_core 0000:1a:00.0 ens1np0: Link up\n",
      down, up);
}

TEST(PastedRows, LinksThatLostLanesOrWentDownAtTheStart) {
  check_rows({
      {"one lane", lanes("100 Gb/sec (1X NDR)"), "link.degraded", "warning"},
      {"one more than the rails: storage",
       lanes("400 Gb/sec (4X NDR)") + "mlx5_8 200 Gb/sec (2X NDR)\n", "link.degraded", "info"},
      {"another generation", lanes("100 Gb/sec (4X EDR)"), "link.degraded", "info"},
      {"all alike", lanes("400 Gb/sec (4X NDR)"), "link.degraded", ""},
      {"while the host started", kernel_links("06:03:12", "06:03:16"), "link.flapping", "info"},
      {"hours later", kernel_links("11:13:12", "11:13:16"), "link.flapping", "warning"},
  });
}

TEST(PastedRows, ATicketThatWasClosed) {
  const std::string fault = "gpu-12 mlx5_3: Priority trust state: pcp\n";
  check_rows({
      {"closed, with what was done", "NET-991  status: CLOSED\n" + fault + "applied trust dscp\n",
       "trust.not_dscp", "info"},
      {"open", "NET-991  status: open\n" + fault, "trust.not_dscp", "error"},
      {"opened again", "NET-991  status: resolved, reopened\n" + fault + "applied trust dscp\n",
       "trust.not_dscp", "error"},
  });
}

std::string list_of_job(std::string_view listing) {
  return fmt::format(
      "{}\ngpu01:77:99 [0] NCCL INFO NCCL_IB_HCA set by environment to mlx5_0,mlx5_7\n"
      "gpu01:77:99 [0] NCCL INFO Using network IB\n",
      listing);
}

TEST(PastedRows, DevicesThatAListingDoesNotShow) {
  constexpr std::string_view kGid =
      "$ show_gids mlx5_0\nDEV\tPORT\tINDEX\tGID\tIPv4\tVER\tDEV\n"
      "mlx5_0\t1\t3\t0000:0000:0000:0000:0000:ffff:0a15:0003\t10.21.0.3\tv2\tens1\n";
  check_rows({
      {"a listing of all", list_of_job("$ ibdev2netdev\nmlx5_0 port 1 ==> ens1 (Up)\n"),
       "nccl.hca_unknown", "error"},
      {"of one device", list_of_job(kGid), "nccl.hca_unknown", ""},
  });
}

}  // namespace
}  // namespace weir::diagnose
