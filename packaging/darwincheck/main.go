package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "darwincheck: name the programs to inspect")
		os.Exit(2)
	}
	status := 0
	for _, path := range os.Args[1:] {
		p, err := open(path)
		if err != nil {
			fmt.Fprintln(os.Stderr, "darwincheck:", err)
			os.Exit(2)
		}
		faults := p.faults()
		for _, f := range faults {
			fmt.Fprintf(os.Stderr, "%s: %s\n", path, f)
			status = 1
		}
		if len(faults) == 0 {
			fmt.Printf("%s: %s\n", path, p.summary())
		}
	}
	os.Exit(status)
}
