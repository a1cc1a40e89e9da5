package hostfacts

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"rdmaprobe/probe/jsonlimit"
)

// rdmaService is the Thunderbolt protocol id of RDMA, 0xFA57. A peer offers it
// only while RDMA is enabled there. Its service key reads "rdma" in text output
// and is garbled in JSON (public captures), so the id decides.
const rdmaService = 64087

// Bounds of a profiler document: hubs nest a few levels deep.
const (
	maxProfilerDepth = 16
	maxLinks         = 64
)

// parseProfiler reads `system_profiler SPThunderboltDataType -json`: one entry a
// bus, with the port in receptacle_1_tag and what is connected in _items. A peer
// is an item with a domain_uuid_key; a hub or disk has a switch_uid_key, and its
// own _items may hold a peer. Missing keys are absent facts. Source of the
// shape: outputs quoted in exo-explore/exo issue 1390 and public test fixtures.
func parseProfiler(out []byte) (*Thunderbolt, error) {
	var doc struct {
		Buses []profilerNode `json:"SPThunderboltDataType"`
	}
	err := jsonlimit.Check(out)
	if err == nil {
		err = json.Unmarshal(out, &doc)
	}
	if err != nil {
		return nil, fmt.Errorf("parse profiler output: %w", err)
	}
	if doc.Buses == nil {
		return nil, errors.New("parse profiler output: no SPThunderboltDataType")
	}
	tb := &Thunderbolt{Links: []Link{}}
	for _, bus := range doc.Buses {
		tb.add(bus)
	}
	return tb, nil
}

// profilerNode keeps children and tags raw: the walk decides how deep it goes.
type profilerNode struct {
	Name       text            `json:"_name"`
	DeviceName text            `json:"device_name_key"`
	Domain     text            `json:"domain_uuid_key"`
	Items      json.RawMessage `json:"_items"`
	Services   json.RawMessage `json:"services_title"`
	Port       json.RawMessage `json:"receptacle_1_tag"`
}

// text is a JSON string; any other value is an absent one, not an error, so that
// one odd key does not hide the rest.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = text(clean(s))
	}
	return nil
}

// add adds the links of one bus: one for each peer that hangs on it, or one
// without peer.
func (tb *Thunderbolt) add(bus profilerNode) {
	var port struct {
		Speed text `json:"current_speed_key"`
		ID    text `json:"receptacle_id_key"`
	}
	if len(bus.Port) == 0 || json.Unmarshal(bus.Port, &port) != nil {
		return // a bus without a port of its own, or no_hardware
	}
	speed, ceiling := parseSpeed(string(port.Speed))
	if speed > ceiling {
		ceiling = speed
	}
	// A trained link of 40 Gb/s may be a new controller on an old cable, so only a
	// ceiling ("Up to") or a speed that no older one reaches tells the generation.
	if speed == 0 || speed >= 80 {
		tb.Generation = max(tb.Generation, speedGeneration(ceiling))
	}
	base := Link{Port: string(port.ID)}
	peers := findPeers(bus.Items, 0)
	if len(peers) == 0 && len(tb.Links) < maxLinks {
		tb.Links = append(tb.Links, base)
	}
	for _, peer := range peers {
		if len(tb.Links) == maxLinks {
			return
		}
		tb.Links = append(tb.Links, peer.link(base, speed))
	}
}

type peer struct {
	node profilerNode
	hub  bool
}

func findPeers(items json.RawMessage, depth int) []peer {
	var nodes []profilerNode
	if depth == maxProfilerDepth || len(items) == 0 || json.Unmarshal(items, &nodes) != nil {
		return nil
	}
	var found []peer
	for _, n := range nodes {
		if n.Domain != "" {
			found = append(found, peer{n, depth > 0})
		}
		found = append(found, findPeers(n.Items, depth+1)...)
	}
	return found
}

// link describes the peer. Behind a hub the speed of the last hop is not known.
func (p peer) link(l Link, speed float64) Link {
	l.Peer = string(p.node.Name)
	if l.Peer == "" {
		l.Peer = string(p.node.DeviceName)
	}
	if l.Peer == "" {
		l.Peer = "unnamed"
	}
	l.ViaHub = ptr(p.hub)
	l.PeerRDMA = offersRDMA(p.node.Services)
	if !p.hub && speed > 0 {
		l.SpeedGbps = ptr(speed)
	}
	gen := modelGeneration(string(p.node.DeviceName))
	if !p.hub && speed >= 80 {
		gen = 5
	}
	if gen > 0 {
		l.PeerGeneration = ptr(gen)
	}
	return l
}

// offersRDMA looks for the service. A list that is missing or damaged says
// nothing; an empty one says no.
func offersRDMA(services json.RawMessage) *bool {
	var list []struct {
		ID json.RawMessage `json:"protocol_id_key"`
	}
	if len(services) == 0 || json.Unmarshal(services, &list) != nil {
		return nil
	}
	for _, s := range list {
		if strings.Trim(string(s.ID), `"`) == strconv.Itoa(rdmaService) {
			return ptr(true)
		}
	}
	return ptr(false)
}

// parseSpeed reads "80 Gb/s" as a trained speed, and "Up to 120 Gb/s", also with
// lanes ("Up to 40 Gb/s x1"), as the ceiling of an idle port. 0: not there.
func parseSpeed(s string) (trained, ceiling float64) {
	number, idle := strings.CutPrefix(s, "Up to ")
	value, _, ok := strings.Cut(number, " Gb/s")
	v, err := strconv.ParseFloat(value, 64)
	if !ok || err != nil || !(v > 0 && v <= 10000) { // refuses NaN too
		return 0, 0
	}
	if idle {
		return 0, v
	}
	return v, 0
}
