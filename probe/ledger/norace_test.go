//go:build !race

package ledger

// underRace tells that the race detector is off.
const underRace = false
