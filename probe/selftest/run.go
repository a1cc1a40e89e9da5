package selftest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"rdmaprobe/probe/guard"
)

// Options say how the children are started, and what to look at.
type Options struct {
	Exe     string   // this executable
	Args    []string // that make it a child, which calls Child for a task of ours
	Library string   // for dlopen; "" is the system's
	Header  bool     // compile against the system's infiniband/verbs.h
	Dir     string   // an empty directory for what the checks write
}

// Request is what a child is asked to do. It is a subset of the requests of
// package probe, whose child passes on those for which IsTask holds.
type Request struct {
	Task    string `json:"task"`
	Library string `json:"library,omitempty"`
}

// prefix begins the names of our tasks.
const prefix = "selftest."

// IsTask tells whether a task is for Child.
func IsTask(task string) bool { return strings.HasPrefix(task, prefix) }

// part is some checks that are made together.
type part struct {
	names []string
	run   func(context.Context, *Options) []Check
}

// parts are all of them, in the order of the report.
func parts() []part {
	return []part{
		childPart(taskCalls, callNames()),
		single("layout", layout),
		headerPart(),
		childPart(taskLibrary, libraryNames()),
		single("child.crash", crash),
		single("child.hang", hang),
		single("child.stuck", stuck),
		single("child.lifeline", lifeline),
		single("child.flood", flood),
		single("ledger", keepLedger),
		single("lock", holdLock),
	}
}

// Names are the names of all checks, in the order of the report.
func Names() []string {
	var names []string
	for _, p := range parts() {
		names = append(names, p.names...)
	}
	return names
}

// Run makes all checks. It ends with ctx: what was not done then has failed.
func Run(ctx context.Context, o Options) *Report {
	all := parts()
	results := make([][]Check, len(all))
	var wg sync.WaitGroup
	for i, p := range all {
		wg.Go(func() { results[i] = p.run(ctx, &o) })
	}
	wg.Wait()
	return newReport(slices.Concat(results...))
}

// single is a part of one check.
func single(name string, f func(context.Context, *Options) (string, error)) part {
	return part{[]string{name}, func(ctx context.Context, o *Options) []Check {
		detail, err := f(ctx, o)
		return []Check{checkOf(name, detail, err)}
	}}
}

// msgCheck is the message of a child that has made a check: a Check.
const msgCheck = "check"

// childPart is a part whose checks one child makes and sends.
func childPart(task string, names []string) part {
	return part{names, func(ctx context.Context, o *Options) []Check {
		sent := map[string]Check{}
		res, err := o.child(ctx, task, nil, func(m guard.Message) {
			var c Check
			if m.Type == msgCheck && json.Unmarshal(m.Body, &c) == nil && slices.Contains(names, c.Name) {
				sent[c.Name] = c
			}
		})
		checks := make([]Check, 0, len(names))
		for _, name := range names {
			c, ok := sent[name]
			if !ok {
				c = checkOf(name, "", notReached(res, err))
			}
			checks = append(checks, c)
		}
		return checks
	}}
}

// notReached says why a child did not make a check.
func notReached(res guard.Result, err error) error {
	switch {
	case err != nil:
		return err
	case res.Outcome == guard.Completed:
		return fmt.Errorf("the child left it out")
	}
	return fmt.Errorf("the child ended before: %s", ending(res))
}

// ending is how a child ended, in words.
func ending(res guard.Result) string {
	text := string(res.Outcome) + ", " + res.Exit
	if res.InCall {
		text += ", in " + res.Verb
	}
	for _, more := range []string{res.Signal, res.Panic} {
		if more != "" {
			text += ", " + more
		}
	}
	return text
}
