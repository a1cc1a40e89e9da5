package sim

import "encoding/json"

// rule is how a verb answers when a condition holds. A rule without an effect
// keeps the transport's default: it shields its case from the rules below it.
type rule struct {
	When        when                       `json:"when"`
	Errno       *string                    `json:"errno"` // "" = fails with errno left unset
	Fault       fault                      `json:"fault"`
	Return      *int32                     `json:"return"` // returned as it is, with errno set where that stands beside it; nothing else happens
	Set         map[string]json.RawMessage `json:"set"`    // what a query fills in
	WC          *wcEffect                  `json:"wc"`
	Stdout      string                     `json:"stdout"` // written raw on file descriptor 1
	FD3         string                     `json:"fd3"`    // written raw on file descriptor 3
	Stderr      string                     `json:"stderr"` // a line on file descriptor 2
	Repeat      *int                       `json:"repeat"` // how often the three are written; nil: once
	RKey        *number                    `json:"rkey"`
	LKey        *number                    `json:"lkey"`
	WCStatus    *wcStatus                  `json:"wc_status"`
	Deliver     *bool                      `json:"deliver"`      // false: a completion without a delivery
	LoseEvery   *int                       `json:"lose_every"`   // every Nth message vanishes silently
	RepeatEvery *int                       `json:"repeat_every"` // every Nth message comes once more, into the next receive
	WrongEvery  *int                       `json:"wrong_every"`  // every Nth message arrives with its last byte inverted
	Source      string                     `json:"source"`       // where it was reported
	Confidence  confidence                 `json:"confidence"`

	errno int32
	set   []fieldValue
}

// wcEffect distorts a completion.
type wcEffect struct {
	WRID      *number `json:"wr_id"`
	Duplicate bool    `json:"duplicate"` // it is reported twice
}

// when is the condition of a rule: every key must hold. Keys of a queue pair
// are those of the one concerned; a completion queue concerns all of its own.
type when struct {
	QPType          *qpType  `json:"qp_type"`
	To              *qpState `json:"to"`
	SGIDIndex       *int32   `json:"sgid_index"`
	PathMTU         *MTU     `json:"path_mtu"`
	IsGlobal        *int32   `json:"is_global"`
	MaxInlineData   *int64   `json:"max_inline_data"`
	Memory          *memory  `json:"memory"`
	PD              *string  `json:"pd"` // "null"
	SizeOver        *int64   `json:"size_over"`
	After           *int64   `json:"after"`            // holds from the N+1st call on that the other keys fit; posts count work requests
	OutstandingOver *int64   `json:"outstanding_over"` // work requests posted and not completed, this one included
	Opcode          *opcode  `json:"opcode"`
}

type (
	qpType     int32
	qpState    int32
	opcode     int32
	wcStatus   int32
	memory     int32
	fault      int32
	confidence string
)

func (v *qpType) UnmarshalJSON(b []byte) error   { return qpTypes.decode(b, (*int32)(v)) }
func (v *qpState) UnmarshalJSON(b []byte) error  { return qpStates.decode(b, (*int32)(v)) }
func (v *opcode) UnmarshalJSON(b []byte) error   { return opcodes.decode(b, (*int32)(v)) }
func (v *wcStatus) UnmarshalJSON(b []byte) error { return wcStatuses.decode(b, (*int32)(v)) }
func (v *memory) UnmarshalJSON(b []byte) error   { return memories.decodeKnown(b, (*int32)(v)) }
func (v *fault) UnmarshalJSON(b []byte) error    { return faults.decodeKnown(b, (*int32)(v)) }

// confidences says how sure the source of a rule is.
var confidences = enum{{"documented", 1}, {"measured", 2}, {"reported", 3}, {"inferred", 4}, {"assumed", 5}, {"conflicting", 6}}

func (v *confidence) UnmarshalJSON(b []byte) error {
	var n int32
	if err := confidences.decodeKnown(b, &n); err != nil {
		return err
	}
	*v = confidence(confidences.name(n))
	return nil
}
