//go:build !darwin && !(linux && (amd64 || arm64))

package abi

// MutexSize is a placeholder: nothing is bound on this system.
const MutexSize = 40
