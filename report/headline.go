package report

import (
	"fmt"
	"strings"

	"rdmaprobe/probe"
	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/rdma"
)

// hostsOf are the machines of a document.
func hostsOf(d *probe.Document) []hostfacts.Host {
	if len(d.Hosts) > 0 {
		return d.Hosts
	}
	if d.Host != nil {
		return []hostfacts.Host{*d.Host}
	}
	return nil
}

// hostName is the label of a row's host: its own, else the document's.
func hostName(d *probe.Document, own string) string {
	if own == "" && d.Host != nil {
		own = d.Host.Name
	}
	return own
}

// hostLine is a machine in one line, of what is known.
func hostLine(h hostfacts.Host) string {
	var parts []string
	add := func(s string) {
		if s = strings.TrimSpace(Clean(s)); s != "" {
			parts = append(parts, s)
		}
	}
	system := h.OS + " " + h.OSVersion
	if h.OSBuild != "" {
		system += " (" + h.OSBuild + ")"
	}
	add(system)
	add(h.Arch)
	add(h.Model)
	label := "host"
	if h.Name != "" {
		label = "host " + cleanName(h.Name)
	}
	if len(parts) == 0 {
		return label
	}
	return label + ": " + strings.Join(parts, ", ")
}

// libraryLine names the verbs library that answered; "" when none did.
func libraryLine(d *probe.Document) string {
	l := d.Provider.Library
	if !l.Loaded {
		return ""
	}
	path := l.Path
	if path == "" {
		path = l.Asked
	}
	if path == "" {
		return ""
	}
	s := "library " + Clean(path)
	if l.ID != "" {
		s += " (" + Clean(l.ID) + ")"
	}
	return s
}

func simulatedLine(d *probe.Document) string {
	profile := ""
	if d.Provider.Profile != "" {
		profile = " " + Clean(d.Provider.Profile)
	}
	return fmt.Sprintf("simulated provider%s: no machine gave these answers", profile)
}

// emptyLines say what went wrong and why no device is shown: the document's
// error, a library that did not load, an empty list.
func emptyLines(d *probe.Document) []string {
	var lines []string
	if d.Error != "" {
		lines = append(lines, "error: "+Clean(d.Error))
	}
	l := d.Provider.Library
	noLibrary := !l.Loaded && l.Error != ""
	if noLibrary && !strings.Contains(d.Error, l.Error) {
		lines = append(lines, "no verbs library: "+Clean(l.Error))
	}
	if len(d.Devices) > 0 || noLibrary || d.Error != "" {
		return lines
	}
	if !l.Loaded && len(d.Observations) == 0 {
		return append(lines, "no evidence: nothing has been recorded here yet")
	}
	return append(lines, emptyList(d))
}

// emptyList says why a library that loaded brought no device.
func emptyList(d *probe.Document) string {
	for i := range d.Observations {
		o := &d.Observations[i]
		switch {
		case o.ID != "dev.enumerate":
		case o.Child != nil && o.Child.Outcome != "completed":
			return "it is not known which RDMA devices there are: the child that lists them ended first"
		case o.Level == rdma.CapabilityConfirmed && o.Value != nil && fmt.Sprint(o.Value) == fmt.Sprint(o.Data["nameless"]):
			return "no listed RDMA device has a name"
		case o.Level == rdma.CapabilityConfirmed:
			return "none of the named devices is listed"
		}
	}
	return "no RDMA device listed"
}
