package guard

// zombie is not known here.
func zombie(int) bool { return false }
