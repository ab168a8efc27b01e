"""The style sheet of reports: light and dark as the reader's system is set, and fit for print."""

from __future__ import annotations

from typing import Final

STYLE: Final = """
:root {
  --paper: #fdfdfb; --ink: #1d2327; --soft: #59636b; --rule: #d9dee2; --panel: #f1f4f6;
  --bar: #3d7ea6; --whisker: #12283a; --floor: #a8480d; --warn: #a8480d;
  --tint: 90%; --tone: 62%; --letter: 20%; --way: 40%;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14181b; --ink: #e7ebee; --soft: #a5b0b8; --rule: #343c42; --panel: #1d2327;
    --bar: #4a8fba; --whisker: #f0f4f7; --floor: #f0a05c; --warn: #f0a05c;
    --tint: 24%; --tone: 36%; --letter: 90%; --way: 68%;
  }
}
* { box-sizing: border-box; }
html { background: var(--paper); color: var(--ink); }
body {
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  max-width: 50rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem;
}
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0; letter-spacing: -0.01em; }
h2 {
  font-size: 1.4rem; margin: 2.5rem 0 1rem; padding-top: 1rem; border-top: 2px solid var(--ink);
}
h3 { font-size: 1.05rem; margin: 2.25rem 0 0.5rem; }
p { margin: 0.5rem 0; max-width: 44rem; }
a { color: inherit; }
code { font: 0.9em ui-monospace, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.subject, .legend, figcaption, footer { color: var(--soft); }
.legend, figcaption p { font-size: 0.875rem; }
footer {
  margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--rule); font-size: 0.875rem;
}
nav ul { display: flex; gap: 1.25rem; list-style: none; padding: 0; }
.facts {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: 0.75rem;
  margin: 1rem 0;
}
.facts div { background: var(--panel); border-radius: 0.5rem; padding: 0.75rem 1rem; }
.facts dt { color: var(--soft); font-size: 0.875rem; }
.facts dd { margin: 0; }
.facts strong {
  display: block; font-size: 1.5rem; line-height: 1.3; font-variant-numeric: tabular-nums;
}
.facts small { color: var(--soft); }
figure { margin: 0.75rem 0; overflow-x: auto; }
.picture { display: block; width: 100%; min-width: 34rem; height: auto; }
.picture text {
  font: 13px system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif; fill: var(--ink);
}
.picture .tick, .picture .note {
  fill: var(--soft); font-variant-numeric: tabular-nums; white-space: pre;
}
.picture .grid { stroke: var(--rule); stroke-width: 1; }
.picture .axis { stroke: var(--soft); stroke-width: 1; }
.picture .bar { fill: var(--bar); }
.picture .whisker { stroke: var(--whisker); stroke-width: 1.5; }
.picture .floor { stroke: var(--floor); stroke-width: 3; }
.picture .curve { fill: none; stroke: var(--bar); stroke-width: 2.5; stroke-linejoin: round; }
.picture .way {
  fill: none; stroke: hsl(var(--hue) 65% var(--way)); stroke-width: 2.5; stroke-linejoin: round;
}
.picture .way.hue1 { stroke-dasharray: 9 3; }
.picture .way.hue2 { stroke-dasharray: 4 3; }
.picture .way.hue3 { stroke-dasharray: 9 3 2 3; }
.picture .way.plain { stroke: var(--soft); stroke-dasharray: 1 4; stroke-linecap: round; }
.picture .name { fill: hsl(var(--hue) 65% var(--way)); }
.picture .name.plain { fill: var(--soft); }
.picture .dot { fill: var(--bar); }
.picture.narrow { max-width: 34rem; min-width: 0; }
.picture .ideal { stroke: var(--soft); stroke-width: 1.5; stroke-dasharray: 5 4; }
.picture .mass { fill: var(--rule); }
.picture .count { font-size: 10px; font-variant-numeric: tabular-nums; }
.picture .over5 { fill: var(--paper); }
.picture .cell { fill: var(--panel); }
.picture .share { fill: color-mix(in srgb, var(--ink) var(--of), var(--panel)); }
.picture .right { --heat: var(--bar); }
.picture .wrong { --heat: var(--floor); }
.picture .shade1 { fill: color-mix(in srgb, var(--heat) 20%, var(--panel)); }
.picture .shade2 { fill: color-mix(in srgb, var(--heat) 40%, var(--panel)); }
.picture .shade3 { fill: color-mix(in srgb, var(--heat) 60%, var(--panel)); }
.picture .shade4 { fill: color-mix(in srgb, var(--heat) 80%, var(--panel)); }
.picture .shade5 { fill: var(--heat); }
.scroll { overflow-x: auto; }
table {
  border-collapse: collapse; width: 100%; margin: 0.5rem 0; font-variant-numeric: tabular-nums;
}
caption { text-align: left; color: var(--soft); font-size: 0.875rem; padding-bottom: 0.25rem; }
th, td {
  text-align: left; padding: 0.3rem 0.75rem 0.3rem 0; border-bottom: 1px solid var(--rule);
  font-size: 0.9375rem;
}
th { font-weight: 600; }
tbody th { font-weight: 400; }
.number { text-align: right; padding-right: 0; padding-left: 0.75rem; white-space: nowrap; }
.number + :not(.number) { padding-left: 1.25rem; }
.states td { vertical-align: top; }
.states td:nth-child(n+3) { min-width: 10.5rem; overflow-wrap: anywhere; }
.states td:nth-child(5) { min-width: 5.5rem; }
.states th[scope="row"] { vertical-align: top; white-space: nowrap; }
.states ul { list-style: none; margin: 0; padding: 0; }
.miss { color: var(--warn); }
td small { display: block; color: var(--soft); }
details { margin: 0.5rem 0; }
summary { cursor: pointer; color: var(--soft); }
.notice { background: var(--panel); border-left: 4px solid var(--soft); padding: 0.75rem 1rem; }
.example {
  display: grid; grid-template-columns: 7.5rem 1fr; gap: 0.15rem 0.75rem; align-items: baseline;
  margin: 0; padding: 0.6rem 0; border-bottom: 1px solid var(--rule);
}
.example dt { color: var(--soft); font-size: 0.875rem; }
.example dd { margin: 0; line-height: 1.9; }
.wrong dt:last-of-type { color: var(--warn); font-weight: 600; }
.slot {
  background: hsl(var(--hue) var(--tone) var(--tint)); color: hsl(var(--hue) 60% var(--letter));
  border-radius: 0.3rem; padding: 0.1rem 0.35rem; white-space: nowrap;
}
.slot small { font-size: 0.72rem; font-weight: 600; margin-left: 0.2rem; }
.hue0 { --hue: 205; } .hue1 { --hue: 30; } .hue2 { --hue: 140; } .hue3 { --hue: 335; }
.hue4 { --hue: 265; } .hue5 { --hue: 60; } .hue6 { --hue: 180; } .hue7 { --hue: 0; }
@media print {
  :root {
    --paper: #fff; --ink: #000; --soft: #444; --rule: #bbb; --panel: #f4f4f4;
    --bar: #3d7ea6; --whisker: #000; --floor: #a8480d; --warn: #a8480d;
    --tint: 90%; --tone: 62%; --letter: 20%; --way: 36%;
  }
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .picture { min-width: 0; }
  figure, .facts, .example, tr { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
}
"""
