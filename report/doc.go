// Package report renders a probe.Document: for a terminal (table, wide), for
// programs (json, jsonl, prometheus, junit) and for people elsewhere (markdown,
// html). It also reads documents back (Read) and holds their schema (Schema).
//
// A renderer computes nothing that the document does not say. What several of
// them show, the matrix of devices and capabilities, is worked out once, in
// matrix.go.
//
// The rules that all renderings for people follow:
//
//   - The word comes first, the colour second: without colour nothing is lost.
//     "ok" is confirmed, "no" rejected, "0" a measured zero, "?" unknown.
//   - Colour only when Options.Color says so, truncation only to a known width.
//   - A table fits 80 columns where names and addresses are of ordinary length;
//     what does not fit is in wide, which has everything.
//   - Every text from a provider, a file or the environment passes Clean.
//   - Findings come worst first, each with what to do.
//   - Times are shown as ages; wide shows local time with its offset, machine
//     formats UTC.
//
// A renderer returns the first error of its writer.
package report
