package probe

import (
	"fmt"
	"slices"
	"strings"

	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/rdma"
)

// loadFailure is the row of a library that could not be loaded because of class.
func (v *findingView) loadFailure(class rdma.LoadClass) *Observation {
	for _, o := range v.of("", "lib.load") {
		if o.Level == rdma.CapabilityUnknown && o.Reason == LibraryMissing && rdma.LoadClass(dataText(o.Data, "class")) == class {
			return o
		}
	}
	return nil
}

// firstMacOS is the first release with the verbs library (TN3205).
var firstMacOS = [2]int{26, 2}

func osTooOld(v *findingView) []findingHit {
	version, ok := hostfacts.MacOSVersion(v.h.OSVersion)
	failed := v.loadFailure(rdma.LoadMissingFile)
	if !v.mac() || !ok || failed == nil || slices.Compare(version[:], firstMacOS[:]) >= 0 {
		return nil
	}
	remedy := "update to macOS 26.2 or newer, on every machine of the cluster to the same build"
	if v.oldThunderbolt() {
		remedy = "an update would bring the library and no RDMA: the controllers of this Mac cannot do it"
	}
	return []findingHit{{
		message: fmt.Sprintf("this is macOS %s, and RDMA over Thunderbolt came with 26.2: the verbs library is not part of it", printable(v.h.OSVersion)),
		remedy:  remedy,
		seen:    keysOf(failed), facts: []string{"host.os_version"},
	}}
}

func runningTranslated(v *findingView) []findingHit {
	if v.h.Translated == nil || !*v.h.Translated {
		return nil
	}
	return []findingHit{{
		message: "this rdmaprobe is built for Intel and runs translated by Rosetta, where the verbs library cannot be loaded",
		remedy:  "use the arm64 build of rdmaprobe, from a terminal that is not itself set to open using Rosetta",
		facts:   []string{"host.translated"},
	}}
}

func verbsLibraryMissing(v *findingView) []findingHit {
	failed := v.loadFailure(rdma.LoadMissingFile)
	if failed == nil {
		return nil
	}
	h := findingHit{seen: keysOf(failed), facts: []string{"provider.library.error"}}
	asked := printable(v.d.Provider.Library.Asked)
	switch {
	case v.libraryNamed():
		h.message = "the verbs library that was asked for, " + asked + ", or one that it needs, is not there"
		h.remedy = "correct the path given with --library, or leave it out to use the system's library"
	case v.mac():
		h.message = "the verbs library /usr/lib/librdma.dylib cannot be loaded: this system does not have it"
		h.remedy = "it comes with macOS 26.2 and newer and cannot be installed by itself; check the version with `sw_vers`"
	default:
		h.message = "the verbs library libibverbs.so.1, or a library that it needs, is not installed"
		h.remedy = "install rdma-core's library and its providers: " + v.packages(map[string]string{
			"apt": "install libibverbs1 ibverbs-providers", "dnf": "install libibverbs", "zypper": "install libibverbs1 libibverbs",
		})
	}
	if text := printable(v.d.Provider.Library.Error); text != "" {
		h.message += " (" + text + ")"
	} else {
		h.facts = nil
	}
	return []findingHit{h}
}

func rdmaDisabled(v *findingView) []findingHit {
	if v.h.RDMACtl != "disabled" || v.h.Thunderbolt == nil || v.h.Thunderbolt.Generation < 5 {
		return nil
	}
	message := "rdma_ctl says disabled: RDMA over Thunderbolt is off until it has been enabled once from Recovery"
	if v.anyActive() {
		message += ". A port is ACTIVE all the same: one of the two does not tell the present state"
	}
	return []findingHit{{
		message: message,
		remedy: "shut the Mac down, start it into Recovery (hold the power button until the startup options appear), open Utilities > Terminal there, " +
			"run `rdma_ctl enable` and restart; the running system refuses it, whatever the user's rights, and it cannot be done remotely",
		undo:  "`rdma_ctl disable` in the same place",
		facts: []string{"host.rdma_ctl", "host.thunderbolt.generation"},
	}}
}

func thunderboltGenerationUnsupported(v *findingView) []findingHit {
	if !v.oldThunderbolt() {
		return nil
	}
	return []findingHit{{
		message: fmt.Sprintf("this Mac's own controllers are Thunderbolt %d, and RDMA needs Thunderbolt 5 at both ends; "+
			"a listed device or a flag that says enabled does not change that", v.h.Thunderbolt.Generation),
		remedy: "no setting helps: use IP over Thunderbolt between these machines, or Macs with Thunderbolt 5",
		facts:  []string{"host.thunderbolt.generation"},
	}}
}

func linkSpeedBelowTB5(v *findingView) []findingHit {
	if !v.mac() || v.h.Thunderbolt == nil || v.h.Thunderbolt.Generation < 5 {
		return nil
	}
	var hits []findingHit
	for _, l := range v.links() {
		if l.Peer == "" || !slowLink(&l) {
			continue
		}
		h := findingHit{
			scope: l.Interface,
			message: fmt.Sprintf("both ends are Thunderbolt 5, but the link to %s runs at %g Gb/s: RDMA needs a Thunderbolt 5 link of 80 Gb/s",
				printable(l.Peer), *l.SpeedGbps),
			remedy: "replace the cable by one that is certified for Thunderbolt 5, and plug it firmly at both ends",
			facts:  []string{"host.thunderbolt.generation", "host.thunderbolt.links"},
		}
		if l.ViaHub != nil && *l.ViaHub {
			h.remedy = "connect the two Macs directly, without the hub between them, by a cable that is certified for Thunderbolt 5"
		}
		if l.Interface == "" {
			h.message = "on the Thunderbolt port " + printable(l.Port) + " " + h.message
		}
		hits = append(hits, h)
	}
	return hits
}

// studioModels are the Mac Studios with Thunderbolt 5, by hw.model.
var studioModels = []string{"Mac15,14", "Mac16,9"}

// studioPort tells whether an interface is the port of a Mac Studio that carries no
// RDMA.
func (v *findingView) studioPort(iface string) bool {
	return iface == "en2" && v.mac() && (slices.Contains(studioModels, v.h.Model) || strings.Contains(v.h.Model, "Mac Studio"))
}

func macStudioPortEn2(v *findingView) []findingHit {
	cabled, _ := v.connected("en2")
	if !v.studioPort("en2") || v.device("rdma_en2") == nil || !cabled {
		return nil
	}
	return []findingHit{{
		scope:   "rdma_en2",
		message: "the cable sits in the port beside the Ethernet jack (en2), which carries no RDMA on a Mac Studio although its device is listed",
		remedy:  "move the cable to another Thunderbolt 5 port of this Mac",
		facts:   []string{"host.model", "host.thunderbolt.links"},
	}}
}

func addressManagerResets(v *findingView) []findingHit {
	if v.h.AddressManagerDaemon == nil || !*v.h.AddressManagerDaemon {
		return nil
	}
	var manual []string
	facts := []string{"host.address_manager_daemon"}
	for _, name := range v.thunderboltInterfaces() {
		if i := v.h.Interfaces[name]; i.Manual != nil && *i.Manual {
			manual = append(manual, printable(name))
			facts = append(facts, "host.interfaces."+name+".manual")
		}
	}
	if len(manual) == 0 {
		return nil
	}
	return []findingHit{{
		message: "the launch daemon io.exo.networksetup is installed and puts Thunderbolt services back to DHCP every half hour; the manual address of " +
			sentence(manual) + " will not last",
		remedy: "remove the daemon while you use fixed addresses: `sudo launchctl bootout system/io.exo.networksetup`, " +
			"and take its file out of /Library/LaunchDaemons",
		undo:  "put the file back and run `sudo launchctl bootstrap system` with its path; exo installs it again by itself",
		facts: facts,
	}}
}

// osBuildsDiffer compares this host with the peers that were talked to. Only
// Macs: a Mac finds its peer's ports only when the builds are the same, while
// Linux kernels may differ.
func osBuildsDiffer(v *findingView) []findingHit {
	if !v.mac() || v.h.OSBuild == "" {
		return nil
	}
	for _, p := range v.c.Peers {
		if p.OSBuild == "" || p.OSBuild == v.h.OSBuild || p.OS != "" && p.OS != "macos" {
			continue
		}
		return []findingHit{{
			message: fmt.Sprintf("this Mac runs build %s and the peer %s runs %s: with different builds the ports may not find each other",
				printable(v.h.OSBuild), printable(p.Host), printable(p.OSBuild)),
			remedy: "bring all machines of the cluster to the same macOS build",
			facts:  []string{"host.os_build", "peer.os_build"},
		}}
	}
	return nil
}

// buildsOfHosts is osBuildsDiffer for the Macs of a merged report.
func buildsOfHosts(hosts []hostfacts.Host) []findingHit {
	builds := map[string][]string{}
	for _, h := range hosts {
		if h.OS == "macos" && h.OSBuild != "" {
			builds[h.OSBuild] = append(builds[h.OSBuild], printable(h.Name))
		}
	}
	if len(builds) < 2 {
		return nil
	}
	var texts []string
	for b, names := range builds {
		slices.Sort(names)
		texts = append(texts, printable(b)+" on "+sentence(names))
	}
	slices.Sort(texts)
	return []findingHit{{
		message: "these Macs run different builds, and their ports may then not find each other: " + strings.Join(texts, "; "),
		remedy:  "bring all machines of the cluster to the same macOS build",
		facts:   []string{"hosts"},
	}}
}

func peerNotAdvertisingRDMA(v *findingView) []findingHit {
	if v.anyActive() || !v.couldUseThunderbolt() {
		return nil
	}
	var peers []string
	old := true
	for _, l := range v.links() {
		if l.Peer == "" {
			continue
		}
		if l.PeerRDMA == nil || *l.PeerRDMA {
			return nil
		}
		old = old && oldPeer(&l)
		peers = append(peers, printable(l.Peer))
	}
	if len(peers) == 0 {
		return nil
	}
	h := findingHit{
		message: "the Thunderbolt link to " + sentence(union(nil, peers)) + " is up, but the other end offers no RDMA on it, only networking",
		remedy:  "enable RDMA on the peer, or load its Thunderbolt RDMA driver: this end makes its ports usable only when the other end offers the same",
		check:   "rdmaprobe doctor, on both machines",
		facts:   []string{"host.thunderbolt.links"},
	}
	switch {
	case old && v.mac():
		h.remedy = "the peer's controllers are older than Thunderbolt 5, so it cannot offer RDMA: use IP over Thunderbolt with it, or another machine"
	case v.mac():
		h.remedy = "run `rdmaprobe doctor` on the peer: it has to be a Thunderbolt 5 Mac with the same macOS build and RDMA enabled (`rdma_ctl status` says so)"
	}
	return []findingHit{h}
}

// couldUseThunderbolt is false on a host whose devices are all of another kind:
// its Thunderbolt link has nothing to do with them.
func (v *findingView) couldUseThunderbolt() bool {
	if v.mac() || len(v.d.Devices) == 0 && len(v.h.SysfsDevices) == 0 {
		return true
	}
	return slices.ContainsFunc(v.d.Devices, func(d Device) bool { return d.thunderbolt(v.h.OS) })
}
