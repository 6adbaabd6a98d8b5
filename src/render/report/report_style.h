#pragma once
// The style sheet of the HTML report. Screen first; the print part below it makes two sheets of A4
// or Letter. Greys only, but for the curves, which have line styles as well.
#include <string_view>

namespace weir::render {

inline constexpr std::string_view kReportStyle = R"css(
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0; background: #e9edf1; color: #1b2530;
  font: 14px/1.42 Helvetica, Arial, "Liberation Sans", sans-serif; }
main { max-width: 800px; margin: 24px auto; padding: 34px 42px; background: #fff;
  border: 1px solid #d5dbe1; }
h1 { font-size: 27px; line-height: 1.18; margin: 0; }
h2 { font-size: 15.5px; margin: 22px 0 6px; padding-bottom: 3px; border-bottom: 1.5px solid #1b2530;
  break-after: avoid; }
h3 { font-size: 14px; margin: 12px 0 3px; break-after: avoid; }
p { margin: 3px 0; }
ul { margin: 3px 0; padding-left: 20px; }
code, pre { font-family: "SFMono-Regular", Menlo, Consolas, "Liberation Mono", monospace;
  font-size: 12px; }
pre { margin: 3px 0 5px; padding: 5px 9px; background: #f4f6f8; border-left: 3px solid #5b6672;
  white-space: pre-wrap; overflow-wrap: anywhere; }
code { overflow-wrap: anywhere; }
svg { max-width: 100%; height: auto; }
.strip { font-size: 12.5px; color: #3d4955; margin-bottom: 12px; }
.origin { border: 1.5px solid #1b2530; color: #1b2530; font-weight: bold; padding: 1px 6px;
  letter-spacing: .06em; margin-right: 4px; }
.verdict { display: flex; gap: 14px; align-items: center; }
.verdict > svg { flex: none; width: 46px; height: 46px; }
.summary { font-size: 15px; margin-top: 5px; }
.caution { margin-top: 10px; font-size: 12.5px; color: #3d4955; }
.numbers { display: grid; grid-template-columns: repeat(auto-fit, minmax(104px, 1fr));
  margin: 14px 0 0; border: 1px solid #5b6672; break-inside: avoid; }
.numbers > div { padding: 7px 10px 8px; border-right: 1px solid #d5dbe1; }
.numbers > div:last-child { border-right: 0; }
.numbers dt { font-size: 11.5px; color: #3d4955; line-height: 1.2; }
.numbers dd { margin: 2px 0 0; font-size: 19px; font-weight: bold; line-height: 1.15; }
.numbers dd.note { font-size: 11px; font-weight: normal; color: #3d4955; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { text-align: left; vertical-align: top; padding: 3px 9px 3px 0;
  border-bottom: 1px solid #d5dbe1; }
tr { break-inside: avoid; }
thead th { border-bottom: 1px solid #5b6672; font-size: 11.5px; }
.questions .sign { font-size: 15px; font-weight: bold; width: 20px; line-height: 1.2; }
.questions .question, .questions .answer { white-space: nowrap; }
.questions .answer { font-weight: bold; }
article { break-inside: avoid; margin-bottom: 8px; }
h3 svg, .plan svg { width: 19px; height: 19px; max-width: none; vertical-align: -4px; }
.plan td:first-child { width: 26px; }
.severity { text-transform: uppercase; font-size: 11.5px; letter-spacing: .05em;
  border: 1px solid #5b6672; padding: 0 4px; margin-right: 2px; }
.where { font-weight: normal; }
.why { color: #3d4955; }
.seen { font-size: 12.5px; }
.fix { margin-top: 5px; font-size: 13px; }
.more, .caption { font-size: 12px; color: #3d4955; }
.plan .when { white-space: nowrap; font-weight: bold; }
.figure { break-inside: avoid; }
.rails { font-size: 12px; font-variant-numeric: tabular-nums; }
.rails td, .rails thead th { text-align: right; padding: 2px 0 2px 8px; }
.rails td { white-space: nowrap; }
.rails th:first-child { text-align: left; padding-left: 0; white-space: nowrap; }
.rails tbody th { font-weight: normal; padding: 2px 0; }
.rails .fold th, .rails .fold td { font-style: italic; }
footer { margin-top: 16px; padding-top: 6px; border-top: 1px solid #5b6672; font-size: 12px;
  color: #3d4955; }
@page { margin: 12mm 13mm; }
@media print {
  body { background: #fff; font-size: 11.5px; line-height: 1.32; }
  main { max-width: none; margin: 0; padding: 0; border: 0; }
  h1 { font-size: 23px; }
  h2 { font-size: 13px; margin-top: 13px; }
  h3 { font-size: 11.5px; margin-top: 7px; }
  .summary { font-size: 12.5px; }
  .strip, .caution, .seen, .fix { font-size: 10.5px; }
  .more, .caption, footer, .numbers dt, .numbers dd.note, thead th { font-size: 10px; }
  .numbers { margin-top: 9px; }
  .numbers > div { padding: 4px 8px 5px; }
  .numbers dd { font-size: 15.5px; }
  table { font-size: 11px; }
  .rails { font-size: 10px; }
  .rails td, .rails thead th { padding: 1px 0 1px 7px; }
  .rails tbody th { padding: 1px 0; }
  code, pre { font-size: 10px; }
  pre { background: none; border: 1px solid #9aa5b1; border-left-width: 3px; padding: 3px 7px; }
}
)css";

}  // namespace weir::render
