//go:build race

package ledger

// underRace tells that the race detector is on.
const underRace = true
