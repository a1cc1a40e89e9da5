// Package bundle packs what one machine can tell about itself into one file that
// can be sent to somebody else, and reads such a file back.
//
// A bundle is a gzipped tar archive that tar(1) can unpack. Its entries, regular
// files all, are manifest.json and then, sorted by name:
//
//	document.json      the machine, its devices and the evidence (package report)
//	host/SOURCE.txt    what each source of host facts gave, as it was
//	identity.json      which build made this, and which library it found
//	ledger.jsonl       the evidence file's rows
//	selftest.json      the checks of the build on this machine
//	verify.json        how the listing compares with ibv_devinfo -v
//
// The manifest lists each file with its size, its SHA-256 and what it is, and what
// is not in the bundle, with the reason. The document and the identity are always
// there; another file is there, or the manifest says why it is not.
//
// One bundle has one form: modes, owners, times, order and padding are fixed, the
// time of all entries is the document's, and there is no path of the machine in
// it. The same contents give the same bytes, as long as the same version of Go
// compresses them. The gzip header carries, in an extra field (RFC 1952, 2.3.1.1),
// the SHA-256 of all that follows it.
//
// Read takes that form and no other, so that damage at any bit is an error, and so
// is what a stranger could add: links, devices, other names, a second archive
// behind the first. It needs no more memory than the bounds below, whatever the
// file claims. An error says that the file is no bundle of ours, or not whole; that
// a bundle can be read says nothing about the truth of what is in it.
package bundle
