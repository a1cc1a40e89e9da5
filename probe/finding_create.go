package probe

import (
	"fmt"
	"slices"
	"strings"

	"rdmaprobe/rdma"
)

// How making a queue pair of a type went.
const (
	qpUsable   = "usable"   // made, and taken to INIT where that was tried
	qpRejected = "rejected" // the provider says that it has no such type
	qpRefused  = "refused"  // it failed in another way
	qpUntried  = ""
)

// queuePair tells how making a queue pair of a type went on a device, with the rows
// of what failed.
func (v *findingView) queuePair(device string, t qpType) (how string, failed []*Observation) {
	created, initialised := v.of(device, t.id("create")), v.of(device, t.id("init"))
	for _, o := range slices.Concat(created, initialised) {
		switch {
		case readRefused(o):
			failed = append(failed, o)
		case o.Level == rdma.CapabilityRejected:
			how = qpRejected
		}
	}
	switch {
	case how == qpRejected:
		return how, nil
	case len(failed) > 0:
		return qpRefused, failed
	case v.confirmedOn(device, t.id("create")):
		return qpUsable, nil
	}
	return qpUntried, nil
}

// blockingFailures are the rows of a device in which the provider failed to make
// what every connection needs, and so, why nothing can be sent: a completion queue, a
// region with any access, a queue pair of any type that can be connected. A failure
// beside something of the same kind that works blocks nothing.
func (v *findingView) blockingFailures(device string) (rows []*Observation, so []string) {
	add := func(failed []*Observation, text string) {
		failed = slices.DeleteFunc(failed, func(o *Observation) bool { return v.explained(device, o) })
		if len(failed) > 0 {
			rows, so = append(rows, failed...), append(so, text)
		}
	}
	add(v.readFailures(device, "cq.create"), "no queue pair can be made without a completion queue")
	if !v.confirmedOn(device, "mr.register") && !v.confirmedOn(device, "mr.register.local") {
		small := slices.DeleteFunc(v.readFailures(device, "mr.register", "mr.register.local"), func(o *Observation) bool {
			length, known := dataInt(o.Params, "length")
			return known && length > onePage // a smaller region may well be taken
		})
		add(small, "no memory can be registered")
	}
	add(v.queuePairFailures(device))
	return rows, so
}

// queuePairFailures are those of blockingFailures of queue pairs. Where only one of the
// types was tried EINVAL is no failure: drivers say it of a type that they do not have.
// On Thunderbolt there is no other type than UC (TN3205).
func (v *findingView) queuePairFailures(device string) (failed []*Observation, so string) {
	untried := false
	for _, t := range []qpType{qpUC, qpRC} {
		how, refused := v.queuePair(device, t)
		if how == qpUsable {
			return nil, ""
		}
		failed, untried = append(failed, refused...), untried || how == qpUntried
	}
	if !untried || v.thunderbolt(device) {
		return failed, "no queue pair can be made that could be connected"
	}
	failed = slices.DeleteFunc(failed, func(o *Observation) bool { return errnoNamed(o, "EINVAL") })
	return failed, "no queue pair was made that could be connected, and no other type was tried"
}

// explained tells whether a failure has its cause in another finding's terms.
func (v *findingView) explained(device string, o *Observation) bool {
	dev := v.device(device)
	return v.memlockRefused(o) || v.pageRefused(o) || dev != nil && (qpPool.refuses(v, dev, o) || mrPool.refuses(v, dev, o))
}

func objectCreateFailed(v *findingView) []findingHit {
	var hits []findingHit
	for i := range v.d.Devices {
		dev := &v.d.Devices[i]
		rows, so := v.blockingFailures(dev.Name)
		if len(rows) == 0 {
			continue
		}
		var texts []string
		for _, o := range rows {
			texts = union(texts, []string{madeText(o)})
		}
		hits = append(hits, findingHit{
			scope: dev.Name, message: sentence(texts) + ": " + strings.Join(so, "; "), remedy: v.createRemedy(dev.Name, rows[0]), seen: keysOf(rows...),
		})
	}
	return hits
}

// madeText names what failed: ibv_create_qp (UC) failed with errno 16 (EBUSY).
func madeText(o *Observation) string {
	text := refusedText(o)
	if parts := strings.Split(o.ID, "."); parts[0] == "qp" && len(parts) == 3 {
		what := strings.ToUpper(parts[1])
		if parts[2] == "init" {
			what += " to INIT"
		}
		text = strings.Replace(text, printable(o.Call), fmt.Sprintf("%s (%s)", printable(o.Call), what), 1)
	}
	return text
}

// createRemedy fits the errno and the kind of device.
func (v *findingView) createRemedy(device string, o *Observation) string {
	const gently = "end other RDMA programs on the device gently, which gives back what they hold; "
	switch {
	case errnoNamed(o, "EMFILE", "ENFILE"):
		return v.readRemedy(device, o)
	case v.thunderbolt(device):
		return gently + "look for the provider's reason in " + v.driverLog() + ", and restart the " + v.machine() + " if it stays. Do not retry in a loop"
	case errnoNamed(o, "ENOMEM") && v.linux() && v.h.MemlockKiB == nil:
		return "see what `ulimit -l` says where the program runs: a limit other than unlimited is the usual cause. Else " + gently + "look at the kernel log (`sudo dmesg`)"
	case errnoNamed(o, "ENOMEM", "EBUSY", "EAGAIN", "ENOSPC"):
		return gently + "look at the kernel log (`sudo dmesg`) for the driver's reason; reload the driver or restart the machine if it stays"
	}
	return "look at the kernel log (`sudo dmesg`) for the driver's reason, and take libibverbs, its provider and the kernel driver from one release"
}

// teardownFailed: what a probe made stays when it cannot be given back.
func teardownFailed(v *findingView) []findingHit {
	var hits []findingHit
	for i := range v.d.Devices {
		dev := &v.d.Devices[i]
		rows := v.readFailures(dev.Name, teardownID)
		if len(rows) == 0 {
			continue
		}
		var texts []string
		for _, o := range rows {
			texts = union(texts, []string{refusedText(o)})
		}
		h := findingHit{
			scope: dev.Name, seen: keysOf(rows...),
			message: "what a probe had made could not be given back: " + sentence(texts),
			remedy: "the kernel takes it back with the process that had it, so that nothing has to be done at once; a program that makes and releases objects all the time will run out of them. " +
				"Take libibverbs, its provider and the kernel driver from one release, and look at the kernel log (`sudo dmesg`)",
		}
		if dev.thunderbolt(v.h.OS) {
			h.remedy = "do not repeat probes of this device more than needed: on Thunderbolt what is not given back can be lost until the next restart of the " + v.machine() + ", which gives it back"
		}
		hits = append(hits, h)
	}
	return hits
}
