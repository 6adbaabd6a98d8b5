#include "host/linux/ethtool.h"

#include <cstring>

#include <linux/ethtool.h>

#include "base/testing.h"
#include "host/bundle/bundle.h"

namespace weir::host {
namespace {

template <class T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string without_zeros(const std::string& bytes) {
  return bytes.substr(0, bytes.find_last_not_of('\0') + 1);
}

/// A NIC with these private flags, of which the mask are on.
std::unique_ptr<Kernel> kernel_with_flags(const std::vector<std::string>& names,
                                          std::uint32_t mask) {
  const auto count = static_cast<std::uint32_t>(names.size());
  Recording recording;
  const auto put = [&](const std::string& request, const std::string& reply) {
    const std::string question = without_zeros(request);
    recording.talks[{"ens1", question}] = {"ens1", question, {reply}, std::nullopt};
  };
  ethtool_sset_info info{};
  info.cmd = ETHTOOL_GSSET_INFO;
  info.sset_mask = 1ULL << ETH_SS_PRIV_FLAGS;
  put(bytes_of(info), bytes_of(info) + bytes_of(count));
  ethtool_gstrings strings{};
  strings.cmd = ETHTOOL_GSTRINGS;
  strings.string_set = ETH_SS_PRIV_FLAGS;
  strings.len = count;
  std::string reply = bytes_of(strings);
  for (std::string name : names) {
    name.resize(ETH_GSTRING_LEN, '\0');
    reply += name;
  }
  put(bytes_of(strings), reply);
  ethtool_value value{};
  value.cmd = ETHTOOL_GPFLAGS;
  ethtool_value answer = value;
  answer.data = mask;
  put(bytes_of(value), bytes_of(answer));
  return make_bundle_kernel(std::move(recording));
}

}  // namespace

TEST(LinuxEthtool, KnowsWhetherTheFirmwaresLldpAgentRuns) {
  COVERS("C1");
  const std::vector<std::string> names = {"link-down-on-close", "fw-lldp-agent", "legacy-rx"};
  const auto flag = [&](std::uint32_t mask, std::string_view name) {
    const auto kernel = kernel_with_flags(names, mask);
    return read_private_flag(*kernel, "ens1", name);
  };
  EXPECT_TRUE(flag(0b010, "fw-lldp-agent").is(true));
  EXPECT_TRUE(flag(0b101, "fw-lldp-agent").is(false));
  EXPECT_EQ(flag(0b111, "no-such-flag").why(), evidence::Missing::kAbsent);
  const auto other = kernel_with_flags(names, 2);
  EXPECT_EQ(read_private_flag(*other, "eth9", "fw-lldp-agent").why(), evidence::Missing::kError)
      << "what was not asked is not known";
}

}  // namespace weir::host
