#include "host/bundle/bundle.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fmt/format.h>

#include "base/json.h"
#include "base/testing.h"
#include "base/text.h"
#include "evidence/json.h"
#include "host/bundle/bundle_names.h"
#include "host/bundle/bundle_secrets.h"
#include "host/kernel/faulty.h"
#include "host/kernel/memory.h"
#include "host/kernel/replay.h"
#include "host/linux/host.h"

namespace weir::host {
namespace {

const std::string kData = std::string(WEIR_TEST_DATA) + "/host/";
constexpr std::array kCaptures = {"mlx5-ofed", "mlx5-inbox", "fakenic-6.1", "veth-rxe-6.1",
                                  "bnxt",      "irdma",      "ionic",       "infiniband"};

std::unique_ptr<Kernel> kernel_of(const std::string& name) {
  auto kernel = open_replay(kData + name);
  EXPECT_TRUE(kernel) << (kernel ? "" : kernel.error().what);
  return std::move(*kernel);
}

Bundle bundle_of(const std::string& name) {
  const auto kernel = kernel_of(name);
  auto bundle = record_host(*kernel, "", false, [] {});
  EXPECT_TRUE(bundle) << (bundle ? "" : bundle.error().what);
  return std::move(*bundle);
}

evidence::Evidence observe(const std::unique_ptr<HostIo>& host) {
  auto seen = host->observe();
  EXPECT_TRUE(seen) << (seen ? "" : seen.error().what);
  return std::move(*seen);
}

evidence::Evidence observe_text(const std::string& text) {
  const auto host = open_bundle(text, "a bundle");
  EXPECT_TRUE(host) << (host ? "" : host.error().what);
  return observe(*host);
}

/// Without what differs between a capture and a bundle of it.
evidence::Evidence comparable(evidence::Evidence seen) {
  seen.provenance.origin = evidence::Origin::kLive;
  seen.provenance.detail = "";
  return seen;
}

}  // namespace

TEST(Bundle, ShowsWhatTheHostShowed) {
  COVERS("C1", "C2");
  for (const std::string name : kCaptures) {
    SCOPED_TRACE(name);
    auto direct = observe(make_host(kernel_of(name), ""));
    const std::string text = bundle_text(bundle_of(name));
    auto bundled = observe_text(text);
    if (direct.provenance.host == "localhost") {  // a host without a name has the file's
      direct.provenance.host = bundled.provenance.host;
    }
    EXPECT_EQ(to_json(comparable(direct)).dump(1), to_json(comparable(bundled)).dump(1));
    const auto again = parse_bundle(text);
    ASSERT_TRUE(again);
    EXPECT_EQ(bundle_text(*again), text) << "what was written reads back";
  }
}

namespace {

/// A capture whose kernel has this log, or refuses it.
class LoggedKernel final : public SharedKernel {
 public:
  LoggedKernel(std::unique_ptr<Kernel> inner, Answer<std::string> log)
      : SharedKernel(std::move(inner)), log_(std::move(log)) {}
  Answer<std::string> about(std::string_view what) override {
    return what == kKernelLog ? log_ : SharedKernel::about(what);
  }

 private:
  Answer<std::string> log_;
};

constexpr std::string_view kLog =
    "<6>[    3.100000] Command line: root=UUID=1234 secret=hunter2\n"
    "<6>[   14.000001] mlx5_core 0000:18:00.0 eth2: Link up\n"
    "<4>[  500.000001] mlx5_core 0000:18:00.0 eth2: Link down\n"
    "<4>[  501.000001] mlx5_core 0000:18:00.0 eth2: Link up\n"
    "<4>[  600.000001] mlx5_core 0000:99:00.0 payroll0: Link down\n"
    "<3>[  700.000001] Out of memory: Killed process 4242 (topsecret_train) total-vm:99kB\n"
    "<3>[  701.000001] nfs: server vault.corp.example not responding, timed out\n"
    "<4>[  702.000001] NVRM: Xid (PCI:0000:5e:00): 79, pid=77, name=topsecret_train, GPU has "
    "fallen off the bus.\n"
    "<6>[  703.000001] usb 1-1: SerialNumber: A1B2C3D4\n";

}  // namespace

TEST(Bundle, HoldsOfTheKernelsLogOnlyWhatIsJudged) {
  COVERS("C5", "C2");
  LoggedKernel kernel(kernel_of("mlx5-ofed"), std::string(kLog));
  auto bundle = record_host(kernel, "", false, [] {});
  ASSERT_TRUE(bundle);
  const std::vector<std::string> withheld = withhold(*bundle);
  EXPECT_NE(std::find(withheld.begin(), withheld.end(), "dmesg"), withheld.end());
  const std::string text = bundle_text(*bundle);
  for (const std::string_view secret :
       {"hunter2", "topsecret", "vault", "payroll", "A1B2C3D4", "4242", "pid=77"})
    EXPECT_EQ(text.find(secret), std::string::npos) << secret;
  const evidence::Evidence seen = observe_text(text);
  ASSERT_TRUE(seen.host.kernel_log.is_known());
  const std::vector<std::string> expected = {
      "[   14.000001] mlx5_core 0000:18:00.0 eth2: Link up",
      "[  500.000001] mlx5_core 0000:18:00.0 eth2: Link down",
      "[  501.000001] mlx5_core 0000:18:00.0 eth2: Link up",
      "[  600.000001] mlx5_core 0000:99:00.0: Link down",
      "[  700.000001] Out of memory: Killed process",
      "[  701.000001] nfs: server  not responding",
      "[  702.000001] NVRM: Xid (PCI): 79"};
  EXPECT_EQ(*seen.host.kernel_log, expected);
}

TEST(Bundle, ALogThatWasRefusedIsAGapWithItsReason) {
  COVERS("C5");
  const auto seen =
      observe(make_host(std::make_unique<LoggedKernel>(kernel_of("mlx5-ofed"), Errno{EPERM}), ""));
  ASSERT_TRUE(seen.host.kernel_log.is_missing());
  EXPECT_EQ(seen.host.kernel_log.why(), counters::Missing::kPermission);
  const bool is_said = std::any_of(seen.gaps.begin(), seen.gaps.end(), [](const auto& gap) {
    return gap.what.find("kernel_log") != std::string::npos &&
           gap.how.find("root") != std::string::npos;
  });
  EXPECT_TRUE(is_said);
}

TEST(Bundle, LeavesNoNameAndNoAddressWhenAskedTo) {
  COVERS("C2");
  Bundle bundle = bundle_of("mlx5-ofed");
  const std::string plain = bundle_text(bundle);
  ASSERT_NE(plain.find("gpu01"), std::string::npos);
  pseudonymise(bundle, Pseudonyms("key"));
  const std::string text = bundle_text(bundle);
  for (const std::string_view secret :
       {"gpu01", "10.10.1.5", "0a0a:0105", "0a 0a 01 05", "lldpad_other", "root=UUID"}) {
    EXPECT_EQ(text.find(secret), std::string::npos) << secret;
  }
  const evidence::Evidence open = observe_text(plain);
  const evidence::Evidence closed = observe_text(text);
  ASSERT_EQ(open.nics.size(), closed.nics.size());
  EXPECT_EQ(closed.provenance.host, Pseudonyms("key").of_host("gpu01"));
  // What Weir concludes from is the same; only names and addresses differ.
  Json a = to_json(comparable(open));
  Json b = to_json(comparable(closed));
  for (Json* entry : {&a, &b}) {
    (*entry)["provenance"]["host"] = "";
    (*entry)["host"].erase("command_line");
    for (Json& nic : (*entry)["nics"]) {
      nic.erase("addresses");
      nic["rdma"].erase("gids");
    }
  }
  EXPECT_EQ(a.dump(1), b.dump(1));
  // An address and the GID made of it still belong together.
  ASSERT_TRUE(closed.nics[0].addresses.is_known() && closed.nics[0].rdma.gids.is_known());
  const std::string address = closed.nics[0].addresses->front();
  EXPECT_TRUE(address.ends_with("/24")) << address;
  bool has_gid = false;
  for (const evidence::Gid& gid : *closed.nics[0].rdma.gids) {
    const auto bytes = parse_gid(gid.gid);
    ASSERT_TRUE(bytes);
    const std::string v4 =
        fmt::format("{}.{}.{}.{}/24", bytes->at(12), bytes->at(13), bytes->at(14), bytes->at(15));
    has_gid = has_gid || v4 == address;
  }
  EXPECT_TRUE(has_gid) << address;
}

TEST(Bundle, TheNameOfTheHostIsInNoFileOfIt) {
  COVERS("C2");
  Bundle bundle = bundle_of("mlx5-ofed");
  for (Recording& look : bundle.looks) {
    look.files.insert_or_assign("/proc/sys/kernel/hostname",
                                std::string("gpu07.site.corp.example\n"));
    look.files.insert_or_assign("/proc/driver/nvidia/version",
                                std::string("GCC (root@gpu07) 12.2\n"));
    look.files.insert_or_assign("/etc/nccl.conf",
                                std::string("NCCL_HOSTID=gpu07.site.corp.example\n"));
    look.files.insert_or_assign("/proc/1/cgroup",
                                std::string("0::/pod-of-gpu07/site.corp.example\n"));
  }
  pseudonymise(bundle, Pseudonyms("key"));
  const std::string text = bundle_text(bundle);
  for (const std::string_view secret : {"gpu07", "site.corp"})
    EXPECT_EQ(text.find(secret), std::string::npos) << secret;
}

TEST(Bundle, NorInCapitalsNorAreOtherHostsOfItsDomain) {
  COVERS("C2");
  Bundle bundle = bundle_of("mlx5-ofed");
  const auto seen = observe_text(bundle_text(bundle));
  const std::string address = seen.nics[0].addresses->front();
  ASSERT_TRUE(address.starts_with("10.10.1.5/")) << address;
  for (Recording& look : bundle.looks) {
    look.files.insert_or_assign("/proc/sys/kernel/hostname",
                                std::string("gpu07.site.corp.example\n"));
    look.files.insert_or_assign(
        "/proc/1/cgroup",
        std::string("0::/GPU07/Gpu07/gpu08.SITE.corp.example/ip-10-10-1-5/0A0A0105/10.10.1.5\n"
                    "1::/10.10.1.55/ip-10-10-1-50/0a0a01055\n"));
  }
  const Pseudonyms names("key");
  pseudonymise(bundle, names);
  const std::string text = bundle_text(bundle);
  for (const std::string_view secret : {"GPU07", "Gpu07", "gpu07", "gpu08", "SITE", "10-10-1-5/",
                                        "0A0A0105", "10.10.1.5\\n", "0a0a0105"})
    EXPECT_TRUE(text.find(secret) == std::string::npos || secret == "0a0a0105") << secret;
  const std::string& cgroup = *bundle.looks[0].files.at("/proc/1/cgroup");
  EXPECT_NE(cgroup.find(names.of_host("gpu08")), std::string::npos) << cgroup;
  EXPECT_NE(cgroup.find("1::/10.10.1.55/ip-10-10-1-50/0a0a01055\n"), std::string::npos)
      << cgroup << ": other numbers stay";
}

TEST(Bundle, AnInterfaceThatIsCalledAfterTheHostGetsAnotherName) {
  COVERS("C2");
  Bundle bundle = bundle_of("mlx5-ofed");
  const auto open = observe_text(bundle_text(bundle));
  const std::string name = *open.nics[0].netdev;
  for (Recording& look : bundle.looks)
    look.files.insert_or_assign("/proc/sys/kernel/hostname", name + "\n");
  pseudonymise(bundle, Pseudonyms("key"));
  const std::string text = bundle_text(bundle);
  EXPECT_EQ(text.find(name), std::string::npos) << text.substr(text.find(name) - 60, 120);
  const auto closed = observe_text(text);
  ASSERT_EQ(closed.nics.size(), open.nics.size());
  ASSERT_TRUE(closed.nics[0].netdev.is_known());
  EXPECT_NE(*closed.nics[0].netdev, name);
  EXPECT_EQ(closed.nics[0].netdev->size(), name.size());
  ASSERT_TRUE(closed.nics[0].rdma.gids.is_known() && closed.nics[0].addresses.is_known());
  EXPECT_EQ(closed.nics[0].rdma.gids->front().netdev, *closed.nics[0].netdev);
  EXPECT_EQ(closed.gaps.size(), open.gaps.size());
}

TEST(BundleSecrets, AddressesOfTheKernelDoNotLeave) {
  Bundle bundle = bundle_of("mlx5-ofed");
  bundle.looks[0].files.insert_or_assign(
      "/proc/modules",
      std::string("ib_core 1 2 a,b, Live 0xffffffffc0de1234 (OE)\nx 1 0 - Live 0x0\n"));
  (void)withhold(bundle);
  EXPECT_EQ(*bundle.looks[0].files.at("/proc/modules"),
            "ib_core 1 2 a,b, Live 0x0 (OE)\nx 1 0 - Live 0x0\n");
}

TEST(Bundle, GivesTheNamesBackToWhoHasTheDesign) {
  COVERS("C2");
  Bundle bundle = bundle_of("mlx5-ofed");
  const evidence::Evidence open = observe_text(bundle_text(bundle));
  const Pseudonyms key("ours");
  pseudonymise(bundle, key);
  evidence::Evidence closed = observe_text(bundle_text(bundle));
  design::Intent intent;
  design::HostIntent host;
  host.name = "gpu01";
  intent.hosts.push_back(host);
  evidence::Evidence other = closed;
  EXPECT_FALSE(restore_names(other, intent, Pseudonyms("theirs")));
  EXPECT_EQ(other, closed);
  EXPECT_TRUE(restore_names(closed, intent, key));
  EXPECT_EQ(closed.provenance.host, "gpu01");
  EXPECT_EQ(*closed.nics[0].addresses, *open.nics[0].addresses);
  EXPECT_EQ(*closed.nics[0].rdma.gids, *open.nics[0].rdma.gids);
}

TEST(Bundle, CountsTwiceWhereAsked) {
  COVERS("D1");
  const auto kernel = kernel_of("fakenic-6.1");
  bool waited = false;
  const auto bundle = record_host(*kernel, "", true, [&] { waited = true; });
  ASSERT_TRUE(bundle);
  EXPECT_TRUE(waited);
  const evidence::Evidence seen = observe_text(bundle_text(*bundle));
  ASSERT_EQ(seen.snapshots.size(), 2U);
  EXPECT_EQ(seen.snapshots[0].nics, seen.snapshots[1].nics) << "a capture is still";
}

TEST(Bundle, KnowsNothingOfWhatWasNotAsked) {
  COVERS("C1");
  Bundle bundle = bundle_of("mlx5-ofed");
  const auto kernel = make_bundle_kernel(bundle.looks[0]);
  EXPECT_TRUE(kernel->read_file("/sys/class/infiniband/mlx5_0/a_new_file").is(ENODATA));
  EXPECT_TRUE(kernel->list("/sys/class/new").is(ENODATA));
  EXPECT_EQ(missing_of(Errno{ENODATA}), counters::Missing::kError) << "not an absence";
  // And each answer that is taken out leaves no invented fact behind.
  bundle.looks[0].files.erase("/sys/class/net/eth2/mtu");
  const evidence::Evidence seen = observe_text(bundle_text(bundle));
  EXPECT_TRUE(seen.nics[0].link.mtu.is_missing());
}

TEST(Bundle, NamesTheLineThatIsWrong) {
  EXPECT_NE(parse_bundle("weir bundle 2\n").error().what.find("another version"),
            std::string::npos);
  const auto error = [](const std::string& rest) {
    const auto bundle = parse_bundle("weir bundle 1\nnames\tkept\n" + rest);
    return bundle ? std::string("none") : bundle.error().what;
  };
  EXPECT_EQ(error("file\t/a\tb\n"), "line 3: expected 'look' and a number, by a tab");
  EXPECT_EQ(error("look\t1\nfile\t/a\n"), "line 4: expected kind, name and answer, by tabs");
  EXPECT_EQ(error("look\t1\nno-file\t/a\tEHUH\n"), "line 4: 'EHUH' is not an errno");
  EXPECT_EQ(error("look\t1\nfile\t/a\tb\nfile\t/a\tc\n"), "line 5: '/a' is here twice");
  EXPECT_NE(error("look\t1\ntalk\nREQUEST 2 bytes\n00\n").find("1 of 2 bytes"), std::string::npos);
  EXPECT_EQ(error(""), "it ends before anything was looked at");
  EXPECT_EQ(error("look\t1\nno-file\t/a\t524\n"), "none") << "a driver's own number";
}

TEST(Bundle, SpendsItsTwoSecondsAndSaysWhatIsMissing) {
  COVERS("C10");
  // A kernel whose every answer takes a tenth of a second.
  class SlowKernel final : public SharedKernel {
   public:
    explicit SlowKernel(std::unique_ptr<Kernel> inner) : SharedKernel(std::move(inner)) {}
    Answer<std::string> read_file(const std::string& path) override {
      now_ += 100'000'000;
      return SharedKernel::read_file(path);
    }
    Answer<std::string> about(std::string_view what) override {
      if (what == "clock_ns") return fmt::format("{}", now_);
      return SharedKernel::about(what);
    }
    [[nodiscard]] std::int64_t now() const { return now_; }

   private:
    std::int64_t now_ = 0;
  };
  auto owned = std::make_unique<SlowKernel>(kernel_of("mlx5-ofed"));
  const SlowKernel& slow = *owned;
  const auto host = make_host(std::move(owned), "");
  const auto seen = host->observe();
  ASSERT_TRUE(seen);
  EXPECT_LT(slow.now(), 4'000'000'000) << "two seconds, and the few reads between two looks at it";
  EXPECT_FALSE(seen->gaps.empty());
}

namespace {

TEST(BundleSecrets, OfNcclConfOnlySettingsLeaveAndNoKeys) {
  const std::string conf =
      "# cluster\nNCCL_IB_TC=106\nAWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY\n"
      "NCCL_SOCKET_IFNAME=^docker,lo\nNCCL_API_TOKEN=abc\nUCX_NET_DEVICES=mlx5_0:1\n"
      "NCCL_NET=AKIAIOSFODNN7EXAMPLE1\nNCCL_PLUGIN=https://user:pw@host/x\npassword=hunter2\n";
  EXPECT_EQ(conf_without_secrets(conf),
            "NCCL_IB_TC=106\nNCCL_SOCKET_IFNAME=^docker,lo\nNCCL_API_TOKEN=(left out)\n"
            "UCX_NET_DEVICES=mlx5_0:1\nNCCL_NET=(left out)\nNCCL_PLUGIN=(left out)\n");
}

TEST(BundleSecrets, OfTheKernelsWordsOnlyKnownValuesLeave) {
  EXPECT_EQ(short_command_line("BOOT_IMAGE=/vmlinuz root=/dev/sda1 iommu=pt intel_iommu=on,sm_on "
                               "pci=realloc=off,pcie_bus_perf isolcpus=managed_irq,2-15,18 "
                               "hugepagesz=1G hugepages=16 rcu_nocb_poll mitigations=auto,nosmt\n"),
            "iommu=pt intel_iommu=on,sm_on pci=realloc=off,pcie_bus_perf "
            "isolcpus=managed_irq,2-15,18 hugepagesz=1G hugepages=16 rcu_nocb_poll "
            "mitigations=auto,nosmt\n");
  const std::string kept = short_command_line(
      "pci=hunter2 pci=noaer,password=hunter2 iommu.token=hunter2 pci_secret=hunter2 "
      "iommu=pt,hunter2 processor.ignore=hunter2 hugepages=hunter2 isolcpus=2,hunter2,10.1.2.3 "
      "numa=hunter2 pcie_aspm.policy=hunter2 pci=disable_acs_redir=0000:81:00.0 iommu\thunter2 "
      "pci=\"noaer hunter2\"");
  EXPECT_EQ(kept.find("hunter2"), std::string::npos) << kept;
  EXPECT_EQ(kept.find("10.1"), std::string::npos) << kept;
  EXPECT_EQ(kept.find("81:00"), std::string::npos) << kept;
  EXPECT_NE(kept.find("pci=noaer,(left out)"), std::string::npos) << kept;
  EXPECT_EQ(short_command_line(kept), kept) << "a second time changes nothing";
}

TEST(BundleSecrets, OfOsReleaseOnlyTheNameLeaves) {
  EXPECT_EQ(short_os_release("NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"
                             "SUPPORT_TOKEN=hunter2\n"),
            "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
  EXPECT_EQ(short_os_release("PRETTY_NAME='Ubuntu 24.04.1 LTS'\n"),
            "PRETTY_NAME=\"Ubuntu 24.04.1 LTS\"\n");
  EXPECT_EQ(short_os_release("PRETTY_NAME=\"token=hunter2\"\n"), "PRETTY_NAME=\"(left out)\"\n");
  EXPECT_EQ(short_os_release("password hunter2\n"), "-\n");
}

TEST(BundleSecrets, NoFormOfASecretInNcclConfLeaves) {
  for (const char* line : {"NCCL_PLUGIN_PASSPHRASE=hunter2",
                           "NCCL_MY_OWN=hunter2",
                           "NCCL_IB_TC=106 PW=hunter2",
                           "NCCL_IB_TC=\"hunter2\"",
                           "NCCL_IB_TC='hunter2'",
                           "NCCL_IB_TC=$(echo hunter2)",
                           "NCCL_NET_PLUGIN=https://hunter2@host/x",
                           "NCCL_DEBUG_FILE=~hunter2/log",
                           "NCCL_TOPO_FILE=/srv/hunter2/topo.xml",
                           "NCCL_NET=\\\nhunter2",
                           "export NCCL_X=hunter2",
                           "NCCL_IB_TC=106 # hunter2",
                           "NCCL_hunter2 x=1",
                           "UCX_TLS=rc hunter2",
                           "  hunter2=1",
                           "UCX_SECRET=hunter2",
                           "NCCL_SOCKET_IFNAME=hunter2@eth0",
                           "NCCL_IB_TC\t=\thunter2 x",
                           "UCX_X=hunter2",
                           "UCX_TLS=hunter2",
                           "UCX_TLS=rc,hunter2",
                           "NCCL_ALGO=hunter2",
                           "NCCL_IB_HCA=hunter2",
                           "NCCL_IB_HCA==mlx5_0,hunter2",
                           "NCCL_IB_HCA=mlx5_hunter2",
                           "NCCL_SOCKET_IFNAME=enhunter2",
                           "NCCL_SOCKET_IFNAME=hunter2",
                           "NCCL_NET=hunter2",
                           "NCCL_NET_PLUGIN=hunter2",
                           "NCCL_HOSTID=hunter2",
                           "NCCL_DEBUG=hunter2",
                           "NCCL_IB_TC=hunter2",
                           "NCCL_IB_TC=106hunter2",
                           "NCCL_IB_PKEY_VALUE=hunter2",
                           "NCCL_BUFFSIZE=8hunter2",
                           "NCCL_PROTO=LL,hunter2",
                           "NCCL_FOO=hunter2",
                           "NCCL_hunter2=1",
                           "NCCL_IB_HCA=mlx5_0:hunter2",
                           "UCX_LOG_LEVEL=hunter2",
                           "MPI_X=hunter2"})
    EXPECT_EQ(conf_without_secrets(line).find("hunter2"), std::string::npos)
        << line << ": " << conf_without_secrets(line);
  EXPECT_EQ(conf_without_secrets("UCX_TLS=rc,cuda_copy\n NCCL_ALGO = ring;allreduce:^tree,nvls\n"),
            "UCX_TLS=rc,cuda_copy\nNCCL_ALGO=ring;allreduce:^tree,nvls\n");
}

TEST(BundleSecrets, ValuesThatAreDocumentedLeave) {
  for (const std::string line : {"NCCL_IB_TC=106",
                                 "NCCL_IB_GID_INDEX=-1",
                                 "NCCL_BUFFSIZE=8388608",
                                 "NCCL_DEBUG=WARN",
                                 "NCCL_IB_HCA=^=mlx5_0:1,mlx5_bond_0",
                                 "NCCL_IB_HCA=bnxt_re0",
                                 "NCCL_IB_HCA=rocep65s0f1",
                                 "NCCL_IB_HCA=mlx5",
                                 "NCCL_SOCKET_IFNAME=enp65s0f1np1",
                                 "NCCL_SOCKET_IFNAME=ens",
                                 "NCCL_SOCKET_IFNAME==eth0,bond0",
                                 "NCCL_NET_GDR_LEVEL=PHB",
                                 "NCCL_NET_GDR_LEVEL=4",
                                 "NCCL_PROTO=^LL128",
                                 "NCCL_NET=IB",
                                 "NCCL_SOCKET_FAMILY=AF_INET6",
                                 "UCX_TLS=rc_x,sm,self",
                                 "UCX_NET_DEVICES=mlx5_0:1,mlx5_3:1",
                                 "UCX_RNDV_THRESH=8k",
                                 "UCX_RC_TIMEOUT=1.00s",
                                 "UCX_IB_TRAFFIC_CLASS=auto"})
    EXPECT_EQ(conf_without_secrets(line), line + "\n");
  EXPECT_EQ(conf_without_secrets("NCCL_SOCKET_IFNAME=storage,rail\n", {"storage0", "rail1"}),
            "NCCL_SOCKET_IFNAME=storage,rail\n")
      << "names of this host's NICs are in the bundle anyway";
  EXPECT_EQ(conf_without_secrets("NCCL_SOCKET_MAGIC=81985529216486895\n"),
            "NCCL_SOCKET_MAGIC=(left out)\n");
}

TEST(BundleSecrets, OnlyWhatIsListedLeaves) {
  for (const char* path : {"/sys/class/net/eth0/mtu", "/proc/cmdline", "/etc/nccl.conf",
                           "/root/.nccl.conf", "/proc/17/comm", "/sys/devices/x/config"})
    EXPECT_TRUE(may_leave(path)) << path;
  for (const char* path :
       {"/etc/shadow", "/root/.ssh/id_rsa", "/proc/1/environ", "/etc/nccl.conf.d",
        "/sys/class/net/../../../etc/shadow", "/proc/17/cmdline", "/etc/passwd"})
    EXPECT_FALSE(may_leave(path)) << path;
}

TEST(BundleSecrets, NothingThatWeirReadsIsLostButWhatPeopleWrote) {
  for (const std::string name : kCaptures) {
    Bundle bundle = bundle_of(name);
    for (const std::string& path : withhold(bundle))
      EXPECT_TRUE(path == "/proc/cmdline" || path == "/proc/modules" ||
                  path.ends_with("nccl.conf") || path.ends_with("os-release"))
          << name << ": " << path;
    EXPECT_TRUE(withhold(bundle).empty()) << "a second time finds nothing";
    EXPECT_FALSE(leaving(bundle).empty());
  }
}

TEST(BundleSecrets, PlacesAndLoginsDoNotLeaveTheHost) {
  const std::string kept = conf_without_secrets(
      "NCCL_COMM_ID=10.0.0.1:5000\nNCCL_DEBUG_FILE=/srv/alice/log.%h\nNCCL_X=user:word@gpu1\n"
      "NCCL_IB_HCA==mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1\nNCCL_IB_TC=106\n");
  EXPECT_EQ(kept.find("10.0.0.1"), std::string::npos) << kept;
  EXPECT_EQ(kept.find("alice"), std::string::npos) << kept;
  EXPECT_EQ(kept.find("user"), std::string::npos) << kept;
  EXPECT_NE(kept.find("=mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1"), std::string::npos) << kept;
  EXPECT_NE(kept.find("NCCL_IB_TC=106"), std::string::npos) << kept;
}

}  // namespace
}  // namespace weir::host
