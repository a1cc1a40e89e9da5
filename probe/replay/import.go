package replay

import (
	"context"
	"fmt"

	"rdmaprobe/probe"
)

// Runner plays a profile: it has what was recorded asked again of the simulated
// machine and returns the document, in the same form as the recorded one.
type Runner func(ctx context.Context, profile []byte) (*probe.Document, error)

// Import derives a document's profile, plays it and compares. It returns a
// profile that answers in every place as the document says, or an error: a
// *CannotError, a *DifferError, or why it could not be played at all.
func Import(ctx context.Context, d *probe.Document, play Runner) ([]byte, error) {
	profile, err := Derive(d)
	if err != nil {
		return nil, err
	}
	if err := Verify(ctx, d, profile, play); err != nil {
		return nil, err
	}
	return profile, nil
}

// Verify plays a profile and compares it with a document.
func Verify(ctx context.Context, d *probe.Document, profile []byte, play Runner) error {
	again, err := play(ctx, profile)
	if err != nil {
		return fmt.Errorf("play the derived profile: %w", err)
	}
	found, err := Compare(d, again)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return &DifferError{Differences: found}
	}
	return nil
}
