package hostfacts

import (
	"io/fs"
	"os"
)

// nodeMode does not follow a symbolic link at the end: a node is what it is.
func nodeMode(path string) (fs.FileMode, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return 0, err
	}
	return st.Mode(), nil
}

// lsMode writes a mode as ls does, "crw-rw-rw-". fs.FileMode's own text has a
// different first letter.
func lsMode(m fs.FileMode) string {
	kind := byte('-')
	switch {
	case m&fs.ModeCharDevice != 0:
		kind = 'c'
	case m&fs.ModeDevice != 0:
		kind = 'b'
	case m.IsDir():
		kind = 'd'
	case m&fs.ModeSymlink != 0:
		kind = 'l'
	case m&fs.ModeNamedPipe != 0:
		kind = 'p'
	case m&fs.ModeSocket != 0:
		kind = 's'
	}
	text := []byte("?rwxrwxrwx")
	text[0] = kind
	for i := range 9 {
		if m&(1<<(8-i)) == 0 {
			text[1+i] = '-'
		}
	}
	for _, b := range []struct {
		bit fs.FileMode
		at  int
		x   byte
	}{{fs.ModeSetuid, 3, 's'}, {fs.ModeSetgid, 6, 's'}, {fs.ModeSticky, 9, 't'}} {
		if m&b.bit != 0 {
			if text[b.at] == '-' {
				b.x -= 'a' - 'A'
			}
			text[b.at] = b.x
		}
	}
	return string(text)
}
