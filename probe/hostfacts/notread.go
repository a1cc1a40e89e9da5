package hostfacts

// NotRead names a host fact that could not be read. Fact is its path in the
// document (thunderbolt.links), Source the file or program that was asked, Why
// one sentence for a person.
type NotRead struct {
	Fact   string `json:"fact"`
	Source string `json:"source"`
	Why    string `json:"why"`
}
