package probe

import (
	"slices"
	"strings"
)

// tableRow is one probe. Its ids are the rows that it alone records; stages that
// it passes (dev.open, pd.alloc, cq.create, teardown) are recorded on the way.
type tableRow struct {
	word   string // names the probe; as in --only, where option is empty
	option string // as in --only, where one word stands for several probes
	flag   string // help of the flag of probe that is called as in --only; "" is no such flag
	qp     qpType // of the queue pair that transition and data probes connect
	class  Class
	when   when
	about  string
	calls  []string                  // provider calls, in order
	onTB   []string                  // those on Thunderbolt, where they differ
	ids    func(r *request) []string // in the order in which they are tried
	run    func(*session)            // in the child

	// answer is what the other end's child does, where two hosts take part, with
	// the id that the row adds to the transitions (rtr adds none).
	answer func(s *session, c *connection, id string)
}

// when is what a row is part of without being asked for by its word, and what
// asking for it means.
type when uint8

const (
	always      when = 1 << iota // every probe, unless --only says otherwise
	inAll                        // probe --all
	inDoctor                     // doctor
	inDoctorOff                  // doctor, not on Thunderbolt
	consent                      // asking for it is consent, which the record keeps
)

func (w when) has(one when) bool { return w&one != 0 }

// table is every probe, in the order in which a device goes through them.
var table = []*tableRow{
	{
		word: "port", class: ClassRead, when: always | inDoctor, about: "open the device, read its attributes and ports", run: probePort,
		calls: []string{"ibv_open_device", "ibv_query_device", "ibv_query_port", "ibv_close_device"},
		ids:   only("port.query", "port.state"),
	},
	{
		word: "gid", class: ClassRead, when: always | inDoctor, about: "read the GID table of every port", run: probeGID,
		calls: []string{"ibv_open_device", "ibv_query_device", "ibv_query_port", "ibv_query_gid", "_ibv_query_gid_ex", "ibv_close_device"},
		onTB:  []string{"ibv_open_device", "ibv_query_device", "ibv_query_port", "ibv_query_gid", "ibv_close_device"},
		ids:   only("gid.usable", "gid.ipv4_mapped"),
	},
	{
		word: "mr", flag: "memory region and rkey (always tried)", class: ClassCreate, when: always | inDoctor, about: "register one memory region and look at its rkey", run: probeMR,
		calls: []string{"ibv_open_device", "ibv_query_device", "ibv_alloc_pd", "ibv_reg_mr", "ibv_dereg_mr", "ibv_dealloc_pd", "ibv_close_device"},
		ids:   mrIDs,
	},
	{
		word: "uc", flag: "UC queue pair (always tried)", class: ClassCreate, when: always | inDoctor, about: "create a UC queue pair and take it to INIT", run: probeQP(qpUC),
		calls: qpCalls, ids: only(qpUC.steps("create", "init")...),
	},
	{
		word: "rc", flag: "also try an RC queue pair", class: ClassCreate, when: inAll | inDoctorOff | consent, about: "create an RC queue pair and take it to INIT", run: probeQP(qpRC),
		calls: qpCalls, ids: only(qpRC.steps("create", "init")...),
	},
	{
		word: "ud", flag: "also try a UD queue pair", class: ClassCreate, when: inAll | inDoctorOff, about: "create a UD queue pair and take it to INIT", run: probeQP(qpUD),
		calls: qpCalls, ids: only(qpUD.steps("create", "init")...),
	},
	{
		word: "events", flag: "also try completion channels", class: ClassCreate, when: inAll, about: "create a completion channel, request a notification and wait for its event", run: probeEvents,
		calls: []string{
			"ibv_open_device", "ibv_query_device", "ibv_create_comp_channel", "ibv_create_cq", "ibv_req_notify_cq", "ibv_alloc_pd", "ibv_create_qp", "ibv_modify_qp",
			"ibv_reg_mr", "ibv_post_recv", "ibv_get_cq_event", "ibv_ack_cq_events", "ibv_dereg_mr", "ibv_destroy_qp", "ibv_dealloc_pd",
			"ibv_destroy_cq", "ibv_destroy_comp_channel", "ibv_close_device",
		},
		onTB: []string{
			"ibv_open_device", "ibv_query_device", "ibv_create_comp_channel", "ibv_create_cq", "ibv_req_notify_cq", "ibv_destroy_cq", "ibv_destroy_comp_channel", "ibv_close_device",
		},
		ids: only("cq.channel", "cq.notify"),
	},
	rtrRow(qpUC), rtrRow(qpRC),
	pingpongRow(qpUC), pingpongRow(qpRC),
	writeRow(qpUC), writeRow(qpRC),
}

func rtrRow(t qpType) *tableRow {
	return &tableRow{
		word: "rtr." + string(t), option: "rtr", qp: t, class: ClassTransition, about: "take a " + t.name() + " queue pair to RTR and RTS, sending nothing",
		run: probeRTR, answer: (*session).echoNothing, calls: slices.Concat(connectCalls, closeCalls), ids: only(t.steps("rtr", "rts")...),
	}
}

func pingpongRow(t qpType) *tableRow {
	return &tableRow{
		word: "pingpong." + string(t), option: "pingpong", qp: t, class: ClassData, when: consent,
		flag:  "send messages there and back and check every byte",
		about: "send messages there and back over " + t.name() + " and check every byte",
		run:   probePingpong, answer: (*session).echoRounds, calls: slices.Concat(connectCalls, []string{"ibv_post_recv", "ibv_post_send", "ibv_poll_cq"}, closeCalls),
		ids: only(append(t.steps("rtr", "rts"), "pingpong."+string(t))...),
	}
}

func writeRow(t qpType) *tableRow {
	return &tableRow{
		word: "write." + string(t), option: "write", qp: t, class: ClassData, when: consent,
		flag:  "write into the peer's memory and check the target's bytes",
		about: "write into the peer's memory over " + t.name() + " and check the target's bytes",
		run:   probeWrite, answer: (*session).watchTarget, calls: slices.Concat(connectCalls, []string{"ibv_post_send", "ibv_poll_cq"}, closeCalls),
		ids: only(append(t.steps("rtr", "rts"), "op.rdma_write")...),
	}
}

// connectCalls and closeCalls frame every probe that connects a queue pair.
var (
	connectCalls = []string{
		"ibv_open_device", "ibv_query_device", "ibv_alloc_pd", "ibv_create_cq", "ibv_create_qp", "ibv_query_qp", "ibv_modify_qp", "ibv_reg_mr", "ibv_query_port", "ibv_query_gid",
	}
	closeCalls = []string{"ibv_dereg_mr", "ibv_destroy_qp", "ibv_destroy_cq", "ibv_dealloc_pd", "ibv_close_device"}
)

var qpCalls = []string{
	"ibv_open_device", "ibv_query_device", "ibv_alloc_pd", "ibv_create_cq", "ibv_create_qp", "ibv_query_qp", "ibv_modify_qp",
	"ibv_destroy_qp", "ibv_destroy_cq", "ibv_dealloc_pd", "ibv_close_device",
}

func only(ids ...string) func(*request) []string {
	return func(*request) []string { return ids }
}

func mrIDs(r *request) []string {
	if r.Thunderbolt {
		return []string{"mr.register", "mr.rkey", "mr.register.local"}
	}
	return []string{"mr.register", "mr.rkey"}
}

// rowOf is the probe of a word. The answering end of one that two hosts take part
// in has the same calls and ids, and its word with serve. before it. An unknown word
// has an empty row.
func rowOf(word string) (*tableRow, bool) {
	if base, ok := strings.CutPrefix(word, "serve."); ok {
		asking, known := rowOf(base)
		row := *asking
		row.word, row.run = word, probeEcho
		return &row, known && row.answer != nil && base == row.option+"."+string(row.qp)
	}
	i := slices.IndexFunc(table, func(r *tableRow) bool { return r.word == word })
	if i < 0 {
		return &tableRow{}, false
	}
	return table[i], true
}

// callsOf are a row's provider calls on a device, Thunderbolt or not.
func (t *tableRow) callsOf(thunderbolt bool) []string {
	if thunderbolt && t.onTB != nil {
		return t.onTB
	}
	return t.calls
}

// optionOf is the word of --only that asks for a row.
func (t *tableRow) optionOf() string {
	if t.option != "" {
		return t.option
	}
	return t.word
}

// wordsWhere are the words of the rows that f picks, in the table's order.
func wordsWhere(f func(*tableRow) bool) []string {
	var words []string
	for _, r := range table {
		if f(r) {
			words = append(words, r.word)
		}
	}
	return words
}

// readWords are the preflight of all else.
func readWords() []string {
	return wordsWhere(func(r *tableRow) bool { return r.class == ClassRead })
}

// Ask is a flag of probe that asks for a probe.
type Ask struct {
	Word string // the flag, and what it adds to Options.More
	Help string
	All  bool // --all asks for it too
}

// Asks are the flags that ask for probes.
func Asks() []Ask {
	var asks []Ask
	for _, r := range table {
		a := Ask{Word: r.optionOf(), Help: r.flag, All: r.when.has(inAll)}
		if r.flag != "" && !slices.Contains(asks, a) {
			asks = append(asks, a)
		}
	}
	return asks
}

// Words are the names of the probes, as --only takes them.
func Words() []string {
	var words []string
	for _, r := range table {
		if o := r.optionOf(); o != "rtr" && !slices.Contains(words, o) {
			words = append(words, o)
		}
	}
	return words
}
