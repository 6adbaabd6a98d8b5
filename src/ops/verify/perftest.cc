#include "ops/verify/perftest.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "base/untrusted/quote.h"

namespace weir::ops {
namespace {

using evidence::Evidence;

std::string without_prefix(const std::string& address) {
  return address.substr(0, address.find('/'));
}

/// The first RoCEv2 GID that is not link-local.
std::optional<unsigned> gid_of(const evidence::Nic& nic) {
  if (!nic.rdma.gids.is_known()) return std::nullopt;
  for (const evidence::Gid& gid : *nic.rdma.gids)
    if (gid.type == evidence::GidType::kRoceV2 && !gid.gid.starts_with("fe80")) return gid.index;
  return std::nullopt;
}

/// The bus of the GPU nearest to the device; of the first GPU where no distance is known.
std::optional<std::string> nearest_gpu(const Evidence& seen, const std::string& device) {
  const evidence::Gpu* nearest = nullptr;
  evidence::Distance best = evidence::Distance::kSys;
  for (const evidence::GpuDistance& pair : seen.distances) {
    if (pair.nic != device || !pair.distance.is_known()) continue;
    const auto gpu =
        std::find_if(seen.gpus.begin(), seen.gpus.end(),
                     [&](const evidence::Gpu& other) { return other.index == pair.gpu; });
    if (gpu == seen.gpus.end() || (nearest != nullptr && *pair.distance >= best)) continue;
    nearest = &*gpu;
    best = *pair.distance;
  }
  if (nearest == nullptr && !seen.gpus.empty()) nearest = &seen.gpus.front();
  if (nearest == nullptr || !nearest->pcie.address.is_known()) return std::nullopt;
  return *nearest->pcie.address;
}

/// The NIC that the design names, or the one of that number.
weir::Result<const evidence::Nic*> nic_of(const Evidence& seen, const PairEnd& end, int rail) {
  if (!end.device.empty()) {
    const evidence::Nic* nic = seen.find_nic(end.device);
    if (nic != nullptr) return nic;
    return not_found_error(fmt::format("{} has no device {}; the design puts rail {} on it",
                                       end.name, end.device, rail));
  }
  if (static_cast<std::size_t>(rail) < seen.nics.size())
    return &seen.nics[static_cast<std::size_t>(rail)];
  return not_found_error(
      fmt::format("{} shows {} RDMA devices, none for rail {}", end.name, seen.nics.size(), rail));
}

}  // namespace

weir::Result<PairEnd> choose_end(const std::string& name, const Evidence* seen,
                                 const design::Intent& intent, int rail) {
  PairEnd end;
  end.name = name;
  end.seen = seen;
  const design::HostIntent* wanted = find_host(intent, name);
  if (wanted != nullptr) {
    const auto wanted_nic = std::find_if(wanted->nics.begin(), wanted->nics.end(),
                                         [&](const auto& other) { return other.rail == rail; });
    if (wanted_nic == wanted->nics.end())
      return invalid_error(
          fmt::format("--rail {}: {} has {} rails", rail, name, wanted->nics.size()));
    end.device = wanted_nic->device;
    end.address = without_prefix(wanted_nic->address);
  }
  if (seen == nullptr) {
    if (end.device.empty())
      return not_found_error(
          fmt::format("the design has no host {}, and weir is not installed there to say which "
                      "device it has",
                      name));
    return end;
  }
  WEIR_TRY(nic, nic_of(*seen, end, rail));
  end.device = nic->device;
  end.gid_index = gid_of(*nic);
  if (end.address.empty() && nic->addresses.is_known() && !nic->addresses->empty())
    end.address = without_prefix(nic->addresses->front());
  end.gpu_bus = nearest_gpu(*seen, end.device);
  return end;
}

GpuChoice choose_gpu(const PairEnd& client, const PairEnd& server) {
  for (const PairEnd* end : {&client, &server}) {
    if (end->seen == nullptr)
      return {false, fmt::format("host memory: whether {} has GPUs is not known", end->name)};
    if (!end->gpu_bus) return {false, fmt::format("host memory: {} shows no GPU", end->name)};
    if (!end->perftest_has_cuda)
      return {false, fmt::format("host memory: perftest on {} was built without CUDA", end->name)};
  }
  return {true,
          fmt::format("GPU memory: {} next to {} on {}, {} next to {} on {}", *client.gpu_bus,
                      client.device, client.name, *server.gpu_bus, server.device, server.name)};
}

std::int64_t PairTest::limit_seconds() const {
  constexpr std::int64_t kSpare = 40;
  return seconds + kSpare;
}

std::vector<std::string> perftest_words(const PairTest& test, const PairEnd& end,
                                        const std::string& server) {
  std::vector<std::string> words = test.words;
  words.emplace_back("-d");
  words.push_back(end.device);
  if (end.gid_index) {
    words.emplace_back("-x");
    words.push_back(std::to_string(*end.gid_index));
  }
  words.emplace_back("-p");
  words.push_back(std::to_string(test.port));
  words.push_back(fmt::format("--tclass={}", test.traffic_class.value()));
  words.emplace_back("-F");
  if (words.front().ends_with("_bw")) words.emplace_back("--report_gbits");
  if (test.uses_gpu && end.gpu_bus) words.push_back("--use_cuda_bus_id=" + *end.gpu_bus);
  if (!server.empty()) words.push_back(server);
  return words;
}

weir::Result<PairOutcome> run_pair(const host::Remote& remote, const PairTest& test,
                                   const std::vector<std::string>& server_words,
                                   const std::vector<std::string>& client_words) {
  // timeout(1): a server whose client never comes ends by itself, also where nobody can end it.
  std::vector<std::string> bounded = {"timeout", std::to_string(test.limit_seconds())};
  bounded.insert(bounded.end(), server_words.begin(), server_words.end());
  WEIR_TRY(server, host::RemoteLoad::start(remote, "exec " + shell_line(bounded)));
  WEIR_TRY(listening, remote.run_shell(host::wait_for_listener(test.port)));
  if (listening.exit_status != 0) {
    WEIR_TRY(ended, server->finish(Duration::raw(kPicosecondsPerSecond), remote.is_interrupted()));
    return Error{
        ErrorCode::kIo,
        fmt::format("{} on {} does not listen on port {}: {}", test.words.front(), remote.name(),
                    test.port, trim(ended.errors.empty() ? ended.output : ended.errors))};
  }
  const Duration limit = Duration::raw(test.limit_seconds() * kPicosecondsPerSecond);
  WEIR_TRY(client, host::RunningCommand::start(client_words));
  PairOutcome both;
  WEIR_TRY(client_done, client->finish(limit, remote.is_interrupted()));
  both.client = std::move(client_done);
  WEIR_TRY(server_done, server->finish(limit, remote.is_interrupted()));
  both.server = std::move(server_done);
  return both;
}

}  // namespace weir::ops
