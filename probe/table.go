package probe

import "slices"

// tableRow is one probe. Its ids are the rows that it alone records; stages that
// it passes (dev.open, pd.alloc, cq.create, teardown) are recorded on the way.
type tableRow struct {
	word  string // as in --only
	class Class
	about string
	calls []string                  // provider calls, in order
	ids   func(r *request) []string // in the order in which they are tried
	run   func(*session)            // in the child
}

// table is every probe, in the order in which a device goes through them.
var table = []tableRow{
	{
		word: "port", class: ClassRead, about: "open the device, read its attributes and ports", run: probePort,
		calls: []string{"ibv_open_device", "ibv_query_device", "ibv_query_port", "ibv_close_device"},
		ids:   only("port.query", "port.state"),
	},
	{
		word: "gid", class: ClassRead, about: "read the GID table of every port", run: probeGID,
		calls: []string{"ibv_open_device", "ibv_query_device", "ibv_query_port", "ibv_query_gid", "ibv_close_device"},
		ids:   only("gid.usable", "gid.ipv4_mapped"),
	},
	{
		word: "mr", class: ClassCreate, about: "register one memory region and look at its rkey", run: probeMR,
		calls: []string{"ibv_open_device", "ibv_alloc_pd", "ibv_reg_mr", "ibv_dereg_mr", "ibv_dealloc_pd", "ibv_close_device"},
		ids:   mrIDs,
	},
	{
		word: "uc", class: ClassCreate, about: "create a UC queue pair and take it to INIT", run: probeQP(qpUC),
		calls: qpCalls, ids: only(qpUC.steps("create", "init")...),
	},
	{
		word: "rc", class: ClassCreate, about: "create an RC queue pair and take it to INIT", run: probeQP(qpRC),
		calls: qpCalls, ids: only(qpRC.steps("create", "init")...),
	},
	{
		word: "ud", class: ClassCreate, about: "create a UD queue pair and take it to INIT", run: probeQP(qpUD),
		calls: qpCalls, ids: only(qpUD.steps("create", "init")...),
	},
}

var qpCalls = []string{
	"ibv_open_device", "ibv_alloc_pd", "ibv_create_cq", "ibv_create_qp", "ibv_query_qp", "ibv_modify_qp",
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

// rowOf is the probe of a word.
func rowOf(word string) (tableRow, bool) {
	i := slices.IndexFunc(table, func(r tableRow) bool { return r.word == word })
	if i < 0 {
		return tableRow{}, false
	}
	return table[i], true
}

// Words are the names of the probes, as --only takes them.
func Words() []string {
	words := make([]string, len(table))
	for i, r := range table {
		words[i] = r.word
	}
	return words
}
