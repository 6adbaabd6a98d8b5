#include "model/headroom_tables.h"

#include <array>

namespace weir::model::tables {
namespace {

using enum HeadroomModel;
using enum HeadroomKind;

// "SONiC" rows are device/*/pg_profile_lookup.ini of sonic-buildimage 086b03b (2026-08-23).
constexpr std::array kModels = {
    HeadroomModelInfo{
        kIeee, kStandard, "ieee",
        "the sum of IEEE 802.1Qbb, for any switch: two largest frames, the PFC frame, "
        "interface delay, cable both ways, the peer's response",
        "IEEE 802.1Qbb annex; 802.3 31B.3.7; interface delays as in Cisco Press, "
        "\"Detecting, Troubleshooting, and Preventing Congestion\", ch. 7"},
    HeadroomModelInfo{kTagger, kStandard, "tagger",
                      "the Tagger paper's sum with every byte in cells of minimum-size frames",
                      "Tagger (CoNEXT 2017), appendix on headroom"},
    HeadroomModelInfo{kSpectrum1, kVendorFormula, "spectrum1", "NVIDIA Spectrum-1 (96 B cells)",
                      "SONiC buffer_headroom_mellanox.lua"},
    HeadroomModelInfo{kSpectrum2, kVendorFormula, "spectrum2", "NVIDIA Spectrum-2 (144 B cells)",
                      "SONiC buffer_headroom_mellanox.lua"},
    HeadroomModelInfo{kSpectrum3, kVendorFormula, "spectrum3", "NVIDIA Spectrum-3 (144 B cells)",
                      "SONiC buffer_headroom_mellanox.lua"},
    HeadroomModelInfo{kSpectrum3Legacy, kVendorFormula, "spectrum3-legacy",
                      "NVIDIA Spectrum-2/3 rows made before 802.3 31B.3.7 was used: far smaller",
                      "SONiC ACS-MSN4700 rows, reproduced 21 of 21"},
    HeadroomModelInfo{kSpectrum4, kVendorFormula, "spectrum4", "NVIDIA Spectrum-4 (192 B cells)",
                      "SONiC buffer_headroom_mellanox.lua; ACS-SN5600 rows, reproduced 24 of 24"},
    HeadroomModelInfo{kSpectrum5, kVendorFormula, "spectrum5", "NVIDIA Spectrum-5 (192 B cells)",
                      "SONiC buffer_headroom_mellanox.lua"},
    HeadroomModelInfo{kSpectrum6, kVendorFormula, "spectrum6", "NVIDIA Spectrum-6 (256 B cells)",
                      "SONiC buffer_headroom_mellanox.lua"},
    HeadroomModelInfo{kMlx5Nic, kVendorFormula, "mlx5-nic",
                      "the receive buffer of a ConnectX or BlueField NIC",
                      "Linux mlx5e port buffer code"},
    HeadroomModelInfo{kSpectrum4Shared, kVendorTable, "spectrum4-shared",
                      "NVIDIA SN5600-C256S1: Spectrum-4 with a shared headroom pool",
                      "SONiC SN5600-C256S1 rows"},
    HeadroomModelInfo{kSpectrum6Sn6600, kVendorTable, "spectrum6-sn6600",
                      "NVIDIA SN6600 as shipped (inputs unknown; differs from the formula)",
                      "SONiC SN6600 rows"},
    HeadroomModelInfo{kTomahawk3, kVendorTable, "tomahawk3",
                      "Broadcom Tomahawk 3 (254 B cells), Dell Z9332f",
                      "SONiC Z9332f-M-O16C64 rows"},
    HeadroomModelInfo{kTomahawk4, kVendorTable, "tomahawk4",
                      "Broadcom Tomahawk 4 (254 B cells), Nokia IXR7220-H4",
                      "SONiC Nokia-IXR7220-H4 rows"},
    HeadroomModelInfo{kTomahawk5, kVendorTable, "tomahawk5",
                      "Broadcom Tomahawk 5 (254 B cells), Nokia IXR7220-H5",
                      "SONiC Nokia-IXR7220-H5 rows"},
    HeadroomModelInfo{kTomahawk5Micas, kVendorTable, "tomahawk5-micas",
                      "Broadcom Tomahawk 5, Micas W6940: sized for 64-byte frames",
                      "SONiC M2-W6940-128QC rows"},
    HeadroomModelInfo{kTomahawk5Arista, kVendorTable, "tomahawk5-arista",
                      "Broadcom Tomahawk 5, Arista 7060X6-64PE-B (one row)",
                      "SONiC 7060X6-64PE-B-P64 row"},
    HeadroomModelInfo{kTomahawk6, kVendorTable, "tomahawk6",
                      "Broadcom Tomahawk 6 (420 B cells), Nokia IXR7220-H6",
                      "SONiC Nokia-IXR7220-H6-O256 rows"},
    HeadroomModelInfo{kTrident4, kVendorTable, "trident4",
                      "Broadcom Trident 4 (318 B cells), Dell S5448f", "SONiC S5448f rows"},
    HeadroomModelInfo{kJericho2, kVendorTable, "jericho2",
                      "Broadcom Jericho 2, Arista 7800R3: long cables only", "SONiC 7800R3 rows"},
    HeadroomModelInfo{
        kNexus9000, kVendorTable, "nexus9000",
        "Cisco Nexus 9000 default no-drop buffer: size 348,608 less pause threshold 77,376",
        "a published `show queuing` of a live box; port speed read as 100G, cable not stated"},
};

constexpr HeadroomRow row(std::int64_t gbps, std::int64_t metres, std::int64_t xoff) {
  return {BitRate::raw(gbps * 1'000'000'000), Length::raw(metres * 1'000), Bytes::raw(xoff)};
}

constexpr std::array kRowsSpectrum4Shared = {row(400, 5, 86'016), row(400, 40, 104'448),
                                             row(400, 300, 243'712)};
constexpr std::array kRowsSn6600 = {row(800, 5, 147'456), row(800, 40, 186'368),
                                    row(800, 300, 473'088)};
constexpr std::array kRowsTomahawk3 = {row(100, 5, 68'580),     row(100, 40, 74'422),
                                       row(100, 300, 117'348),  row(100, 1000, 233'172),
                                       row(100, 2000, 398'526), row(400, 5, 178'562),
                                       row(400, 40, 201'930),   row(400, 300, 373'888),
                                       row(400, 1000, 836'676), row(400, 2000, 1'498'092)};
constexpr std::array kRowsTomahawk4 = {row(100, 5, 165'568),   row(100, 40, 177'632),
                                       row(100, 300, 268'736), row(400, 5, 307'848),
                                       row(400, 40, 330'200),  row(400, 300, 499'618)};
constexpr std::array kRowsTomahawk5 = {
    row(100, 5, 165'568), row(100, 40, 177'632), row(100, 300, 268'736),
    row(400, 5, 307'848), row(400, 40, 330'200), row(400, 300, 499'618),
    row(800, 5, 572'516), row(800, 40, 614'172), row(800, 300, 929'132)};
constexpr std::array kRowsMicas = {row(400, 5, 393'192),   row(400, 40, 446'024),
                                   row(400, 300, 839'216), row(800, 5, 729'488),
                                   row(800, 40, 835'406),  row(800, 300, 1'621'536)};
constexpr std::array kRowsArista7060 = {row(800, 5, 724'662)};
constexpr std::array kRowsTomahawk6 = {row(800, 5, 797'580), row(800, 30, 835'380),
                                       row(800, 40, 850'080), row(800, 300, 1'239'840),
                                       row(800, 500, 1'539'720)};
constexpr std::array kRowsTrident4 = {row(400, 5, 470'004), row(400, 40, 536'148),
                                      row(400, 300, 1'028'412)};
constexpr std::array kRowsJericho2 = {row(400, 300, 315'392), row(400, 1000, 778'240),
                                      row(400, 2000, 1'445'888)};
constexpr std::array kRowsNexus9000 = {HeadroomRow{100_Gbps, std::nullopt, 271'232_B}};
constexpr std::array kFolklore = {row(400, 3, 2'000), row(400, 30, 20'000), row(400, 100, 65'000),
                                  row(800, 3, 4'000), row(800, 30, 40'000), row(800, 100, 130'000)};

}  // namespace

std::span<const HeadroomModelInfo> models() {
  return kModels;
}
std::span<const HeadroomRow> folklore() {
  return kFolklore;
}

std::span<const HeadroomRow> rows(HeadroomModel model) {
  switch (model) {
    case kSpectrum4Shared: return kRowsSpectrum4Shared;
    case kSpectrum6Sn6600: return kRowsSn6600;
    case kTomahawk3: return kRowsTomahawk3;
    case kTomahawk4: return kRowsTomahawk4;
    case kTomahawk5: return kRowsTomahawk5;
    case kTomahawk5Micas: return kRowsMicas;
    case kTomahawk5Arista: return kRowsArista7060;
    case kTomahawk6: return kRowsTomahawk6;
    case kTrident4: return kRowsTrident4;
    case kJericho2: return kRowsJericho2;
    case kNexus9000: return kRowsNexus9000;
    case kIeee:
    case kTagger:
    case kSpectrum1:
    case kSpectrum2:
    case kSpectrum3:
    case kSpectrum3Legacy:
    case kSpectrum4:
    case kSpectrum5:
    case kSpectrum6:
    case kMlx5Nic: return {};
  }
  WEIR_UNREACHABLE("every headroom model is listed");
}

}  // namespace weir::model::tables
