//go:build (darwin || linux) && (amd64 || arm64)

package sim

// SymbolForTest is the address of a verb, for calls that the binding refuses.
func SymbolForTest(_ *Provider, name string) uintptr { return callbacks().symbols[name] }
