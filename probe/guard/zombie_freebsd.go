package guard

// stopped is not known here.
func stopped(int) bool { return false }

// zombie is not known here.
func zombie(int) bool { return false }
