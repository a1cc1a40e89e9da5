package probe

import "testing"

// Of two statuses the one that comes first counts, whichever was there first.
func TestWorst(t *testing.T) {
	order := []int{2, 130, 5, 4, 3, 1, 0}
	if len(order) != len(ExitCodes) {
		t.Fatalf("%d statuses, %d are described", len(order), len(ExitCodes))
	}
	for i, a := range order {
		for j, b := range order {
			if got := Worst(a, b); got != order[min(i, j)] {
				t.Errorf("%d and %d: %d", a, b, got)
			}
		}
	}
}
