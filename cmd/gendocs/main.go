// Command gendocs writes the manual pages and the command line's documentation
// from the command tree: gendocs MANDIR MARKDOWNDIR.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"rdmaprobe/cmd"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: gendocs MANDIR MARKDOWNDIR")
		os.Exit(2)
	}
	if err := generate(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "gendocs:", err)
		os.Exit(1)
	}
}

// generate writes both kinds. Nothing in them depends on the day or the machine.
func generate(manDir, markdownDir string) error {
	for _, dir := range []string{manDir, markdownDir} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	root := cmd.Root()
	root.InitDefaultCompletionCmd()
	plain(root)
	date := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	header := &doc.GenManHeader{Title: "RDMAPROBE", Section: "1", Source: "rdmaprobe", Manual: "rdmaprobe manual", Date: &date}
	if err := doc.GenManTree(root, header, manDir); err != nil {
		return err
	}
	return doc.GenMarkdownTree(root, markdownDir)
}

// plain drops the line that names the day of generation.
func plain(c *cobra.Command) {
	c.DisableAutoGenTag = true
	for _, sub := range c.Commands() {
		plain(sub)
	}
}
