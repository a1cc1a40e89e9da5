package cmd

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"rdmaprobe/probe"
	"rdmaprobe/report"
)

// age is how old something is, as a flag: 90d, 2w, 12h, 1h30m.
type age time.Duration

// String is the flag's text; 0 is not given.
func (a *age) String() string {
	if *a == 0 {
		return ""
	}
	return time.Duration(*a).String()
}

// Type names the kind of value in help.
func (a *age) Type() string { return "age" }

// Set reads an age: days or weeks, or what Go takes for a duration.
func (a *age) Set(text string) error {
	const wrong = "want an age, such as 90d, 2w or 12h"
	for unit, d := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		digits, ok := strings.CutSuffix(text, unit)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n <= 0 || n > math.MaxInt64/int64(d) {
			return errors.New(wrong)
		}
		*a = age(time.Duration(n) * d)
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return errors.New(wrong)
	}
	*a = age(d)
	return nil
}

// prune drops what is old from the ledger, and says what.
func (a *app) prune(f *reportFlags) error {
	if err := a.onlyText("report --prune", "text or json"); err != nil {
		return err
	}
	p, err := probe.Prune(f.Options, time.Duration(f.prune), time.Now())
	if err != nil {
		return err
	}
	if a.format == "json" {
		return a.object(p)
	}
	var b strings.Builder
	for _, r := range p.Runs {
		fmt.Fprintf(&b, "dropped run %d of %s (%s), records: %d\n", r.N, r.At.UTC().Format("2006-01-02 15:04:05Z"), report.Clean(r.Run), r.Records)
	}
	fmt.Fprintf(&b, "%s: dropped runs: %d, records: %d; kept records: %d\n", report.Clean(a.scrub(p.Path)), len(p.Runs), p.Dropped, p.Kept)
	if p.Damaged > 0 {
		fmt.Fprintf(&b, "damaged lines: %d; they stay as they are: what cannot be read is not dropped\n", p.Damaged)
	}
	if p.KeptOld > 0 {
		fmt.Fprintf(&b, "runs from before %s that stay, since something still stands on them: %d\n", p.Before.Format("2006-01-02 15:04:05Z"), p.KeptOld)
	}
	_, err = fmt.Fprint(a.out, b.String())
	return err
}
