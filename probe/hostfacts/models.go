package hostfacts

import (
	"slices"
	"strconv"
	"strings"
)

// speedGeneration is the Thunderbolt generation that a port's ceiling in Gb/s
// belongs to: 10 and 20 are 1 and 2, 40 is 3 or 4, 80 and 120 are 5. Thunderbolt
// 3 and 4 cannot be told apart by it, and need not be: neither has RDMA.
func speedGeneration(gbps float64) int {
	switch {
	case gbps >= 80:
		return 5
	case gbps >= 40:
		return 4
	case gbps >= 20:
		return 2
	case gbps >= 10:
		return 1
	}
	return 0
}

// thunderbolt5Models are the Macs with Thunderbolt 5 by public tables of model
// identifiers, which agree on them: MacBook Pro with M4 Pro, M4 Max and M5 Max, Mac
// Studio with M4 Max and M3 Ultra, Mac mini with M4 Pro. The table is used only
// where no speed tells, and a model that is not in it stays unknown.
var thunderbolt5Models = []string{
	"Mac15,14", "Mac16,5", "Mac16,6", "Mac16,7",
	"Mac16,8", "Mac16,9", "Mac16,11", "Mac17,6", "Mac17,7",
}

// thunderbolt4Models are the others of the same families.
var thunderbolt4Models = []string{
	"Mac16,1", "Mac16,2", "Mac16,3", "Mac16,10",
	"Mac16,12", "Mac16,13", "Mac17,2",
}

// modelGeneration is the generation of a Mac by its model identifier (hw.model),
// for a port whose speed does not tell; 0 for a model that is not known. The
// families Mac13 to Mac15 (M1 Ultra to M3 Max) have 4, but for the Mac Studio
// with M3 Ultra.
func modelGeneration(model string) int {
	switch {
	case slices.Contains(thunderbolt5Models, model):
		return 5
	case slices.Contains(thunderbolt4Models, model):
		return 4
	}
	family, minor, ok := strings.Cut(strings.TrimPrefix(model, "Mac"), ",")
	if _, err := strconv.Atoi(minor); !ok || err != nil {
		return 0
	}
	switch family {
	case "13", "14", "15":
		return 4
	}
	return 0
}
