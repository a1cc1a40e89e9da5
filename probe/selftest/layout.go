package selftest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"rdmaprobe/rdma"
)

// layout: the types of this build have the layout that is on record for this
// system.
func layout(context.Context, *Options) (string, error) {
	all := rdma.Layouts()
	structs := 0
	var wrong []string
	for _, l := range all {
		if l.Field == "" {
			structs++
		}
		if l.Have != l.Want {
			wrong = append(wrong, fmt.Sprintf("%s is %d, want %d", strings.TrimSuffix(l.Struct+"."+l.Field, "."), l.Have, l.Want))
		}
	}
	if len(wrong) > 0 {
		return "", errors.New(few(wrong))
	}
	return fmt.Sprintf("%d fields of %d structs are where they belong", len(all)-structs, structs), nil
}

// few names the first of many.
func few(list []string) string {
	const most = 3
	if n := len(list) - most; n > 0 {
		return fmt.Sprintf("%s; and %d more", strings.Join(list[:most], "; "), n)
	}
	return strings.Join(list, "; ")
}
