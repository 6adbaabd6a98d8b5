#pragma once
// Words of the design file with a fixed set of values. The simulator and the renderers use the same
// types: a choice exists once.
#include <cstdint>

namespace weir::design {

enum class Trust : std::uint8_t { kDscp, kPcp };
enum class Wiring : std::uint8_t { kBlock, kRail, kMesh, kStripe };
enum class CableKind : std::uint8_t { kDac, kAec, kAoc, kFibre };
enum class AddressFamily : std::uint8_t { kIpv4, kIpv6 };
enum class Boundary : std::uint8_t { kLeaf, kSpine, kHost };
enum class Scheduling : std::uint8_t { kDwrr, kStrict, kVendor };
enum class MarkAt : std::uint8_t { kDequeue, kEnqueue };
enum class WatchdogAction : std::uint8_t { kDrop, kForward, kAlert };
enum class BufferProfile : std::uint8_t { kVendor, kRoceBalanced, kRoceAggressive };
enum class Threshold : std::uint8_t { kDynamic, kStatic };
enum class DcqcnVariant : std::uint8_t { kConnectx, kPaper, kPaperNs3, kHpccNs3 };
enum class LoadBalancing : std::uint8_t { kEcmp, kSpray, kAdaptive };
enum class EcmpSeeds : std::uint8_t { kPerSwitch, kSame };
enum class Fec : std::uint8_t { kAuto, kRs, kFc, kNone };
enum class Routing : std::uint8_t { kUpDown, kBounce };
enum class HostStack : std::uint8_t { kOfed, kInbox };
/// What a notification point paces its CNPs by: each queue pair, each peer (IP pair), or the port.
enum class CnpScope : std::uint8_t { kQp, kDestination, kPort };
enum class Forwarding : std::uint8_t { kCutThrough, kStoreAndForward };

}  // namespace weir::design
