//go:build race

package selftest

const underRace = true
