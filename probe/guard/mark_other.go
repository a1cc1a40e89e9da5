//go:build darwin || freebsd

package guard

import "os"

func pageFile() (*os.File, error) { return unlinkedFile() }
