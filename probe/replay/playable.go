package replay

import (
	"fmt"
	"strings"

	"rdmaprobe/probe"
)

// playable refuses documents that no profile could give again.
func playable(d *probe.Document) error {
	switch {
	case len(d.Hosts) > 0 || len(d.Sources) > 1:
		return cannot("", "it is a report of several hosts or files; take that of one")
	case d.Host == nil:
		return cannot("host", "it does not say of which machine it is")
	case d.Error != "":
		return cannot("error", "the run itself failed: %s", d.Error)
	}
	for i := range d.Observations {
		if why := unplayable(&d.Observations[i]); why != "" {
			return cannot(rowPath(&d.Observations[i]), "%s", why)
		}
	}
	return nil
}

// unplayable says why a row cannot be seen again, "" where it may be.
func unplayable(o *probe.Observation) string {
	by, _ := o.Data["closed_by"].(map[string]any)
	switch {
	case o.Host != "":
		return "it is of one of several hosts"
	case o.Reason == probe.Interrupted:
		return "the run was interrupted"
	case strings.HasPrefix(o.Probe, "serve."):
		return "it is the answering end of another host's connection"
	case o.Reason == probe.Unproven:
		return "the end that received did not show that it did, which no simulated one does"
	case o.Params["mode"] == "two hosts" || o.Params["handshake"] != nil:
		return "the other end was another host, which no profile holds"
	case o.Reason == probe.Guarded && by["event"] == "busy":
		return "another process had the device"
	case o.Reason == probe.Guarded && len(by) > 0 && by["event"] != "holder" && by["run"] != o.Run:
		return fmt.Sprintf("an event of an earlier run (%v) had closed it", by["event"])
	}
	return ""
}

// rowPath names an observation: DEVICE/ID, the port and the probe.
func rowPath(o *probe.Observation) string {
	path := "observations[" + o.Key()
	if o.Port > 0 {
		path += fmt.Sprintf(" port %d", o.Port)
	}
	if o.Probe != "" {
		path += " by " + o.Probe
	}
	return path + "]"
}
