package sim

// Attribute bits of ibv_modify_qp, enum ibv_qp_attr_mask.
const (
	maskState         = 1 << 0
	maskCurState      = 1 << 1
	maskSQDNotify     = 1 << 2
	maskAccess        = 1 << 3
	maskPKeyIndex     = 1 << 4
	maskPort          = 1 << 5
	maskQKey          = 1 << 6
	maskAV            = 1 << 7
	maskPathMTU       = 1 << 8
	maskTimeout       = 1 << 9
	maskRetryCnt      = 1 << 10
	maskRNRRetry      = 1 << 11
	maskRQPSN         = 1 << 12
	maskMaxRDAtomic   = 1 << 13
	maskAltPath       = 1 << 14
	maskMinRNRTimer   = 1 << 15
	maskSQPSN         = 1 << 16
	maskMaxDestAtomic = 1 << 17
	maskPathMigState  = 1 << 18
	maskDestQPN       = 1 << 20
)

// attrMask is what a step needs and what else it takes.
type attrMask struct{ required, optional int32 }

// step is a pair of states.
type step struct{ from, to int32 }

// steps is the kernel's qp_state_table (drivers/infiniband/core/verbs.c) for RC,
// UC and UD. Every state may go to RESET and ERR with the state alone.
var steps = map[step]map[int32]attrMask{
	{qpsReset, qpsInit}: {
		qptUD: {required: maskPKeyIndex | maskPort | maskQKey},
		qptUC: {required: maskPKeyIndex | maskPort | maskAccess},
		qptRC: {required: maskPKeyIndex | maskPort | maskAccess},
	},
	{qpsInit, qpsInit}: {
		qptUD: {optional: maskPKeyIndex | maskPort | maskQKey},
		qptUC: {optional: maskPKeyIndex | maskPort | maskAccess},
		qptRC: {optional: maskPKeyIndex | maskPort | maskAccess},
	},
	{qpsInit, qpsRTR}: {
		qptUD: {optional: maskPKeyIndex | maskQKey},
		qptUC: {required: maskAV | maskPathMTU | maskDestQPN | maskRQPSN, optional: maskAltPath | maskAccess | maskPKeyIndex},
		qptRC: {
			required: maskAV | maskPathMTU | maskDestQPN | maskRQPSN | maskMaxDestAtomic | maskMinRNRTimer,
			optional: maskAltPath | maskAccess | maskPKeyIndex,
		},
	},
	{qpsRTR, qpsRTS}: {
		qptUD: {required: maskSQPSN, optional: maskCurState | maskQKey},
		qptUC: {required: maskSQPSN, optional: maskCurState | maskAltPath | maskAccess | maskPathMigState},
		qptRC: {
			required: maskTimeout | maskRetryCnt | maskRNRRetry | maskSQPSN | maskMaxRDAtomic,
			optional: maskCurState | maskAltPath | maskAccess | maskMinRNRTimer | maskPathMigState,
		},
	},
	{qpsRTS, qpsRTS}: {
		qptUD: {optional: maskCurState | maskQKey},
		qptUC: {optional: maskCurState | maskAccess | maskAltPath | maskPathMigState},
		qptRC: {optional: maskCurState | maskAccess | maskAltPath | maskPathMigState | maskMinRNRTimer},
	},
	{qpsRTS, qpsSQD}: {
		qptUD: {optional: maskSQDNotify}, qptUC: {optional: maskSQDNotify}, qptRC: {optional: maskSQDNotify},
	},
	{qpsSQD, qpsRTS}: {
		qptUD: {optional: maskCurState | maskQKey},
		qptUC: {optional: maskCurState | maskAltPath | maskAccess | maskPathMigState},
		qptRC: {optional: maskCurState | maskAltPath | maskAccess | maskMinRNRTimer | maskPathMigState},
	},
	{qpsSQE, qpsRTS}: {
		qptUD: {optional: maskCurState | maskQKey}, qptUC: {optional: maskCurState | maskAccess},
	},
}

// stepAllowed reports whether a queue pair may go from one state to another with
// these attributes.
func stepAllowed(qpType, from, to, mask int32) bool {
	given := mask &^ maskState
	if to == qpsReset || to == qpsErr {
		return given == 0
	}
	m, ok := steps[step{from, to}][qpType]
	return ok && given&m.required == m.required && given&^(m.required|m.optional) == 0
}
