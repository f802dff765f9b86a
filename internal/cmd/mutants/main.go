// Command mutants shows how many faults the tests find. It changes the code of a
// package in one place at a time (a mutant), runs the tests that reach the place,
// and counts the mutants that no test notices (survivors).
//
//	go run ./internal/cmd/mutants [-sample N] [-atleast PERCENT] [SUBJECT ...]
//
// All mutants of a subject are in one test binary, which is compiled once: each
// place asks the environment which code to run. The rewritten files are outside of
// the repository.
//
// A large subject has thousands of mutants. The command runs a sample of them, the
// same one each time, unless -sample is 0. It fails if the tests kill less than
// -atleast percent of the mutants of all subjects. survivors.txt lists survivors
// that change nothing that a caller can see, with the reason of each; they do not
// count.
//
// It then breaks each promise of docs/reliability.md with the change of promises.txt, and
// puts back the mended faults of bugs.txt. It fails if the test that is named there does
// not. The subjects promises and bugs are these alone.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// lists are the subjects that are lists of changes, each in the file of its name.
var lists = []string{"promises", "bugs"}

// options are the flags.
type options struct {
	root     string
	sample   int
	seed     uint64
	atLeast  float64
	workers  int
	budget   time.Duration
	verbose  bool
	subjects []string
	out      io.Writer
}

func main() {
	if err := command(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// command reads the flags and runs all subjects and promises that they choose.
func command(args []string, out io.Writer) error {
	o := options{out: out}
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	flags.StringVar(&o.root, "root", ".", "the folder of the module")
	flags.IntVar(&o.sample, "sample", 100, "the maximum number of mutants of a subject; 0: all")
	flags.Uint64Var(&o.seed, "seed", 1, "chooses the sample")
	flags.Float64Var(&o.atLeast, "atleast", 80, "the percentage of mutants that tests must kill")
	flags.IntVar(&o.workers, "workers", 2, "the number of test processes at a time")
	flags.DurationVar(&o.budget, "budget", 30*time.Second, "the time of the tests that run for a mutant, the shortest first")
	flags.BoolVar(&o.verbose, "v", false, "print each mutant with its outcome")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("reading the flags: %w", err)
	}
	o.subjects = flags.Args()
	var err error
	if o.root, err = filepath.Abs(o.root); err != nil {
		return fmt.Errorf("finding the module: %w", err)
	}
	return o.run(context.Background(), subjects)
}

// run runs the subjects that the arguments name, or all, and the promises.
func (o *options) run(ctx context.Context, all []subject) error {
	chosen, err := o.choose(all)
	if err != nil {
		return err
	}
	here := filepath.Join(o.root, "internal", "cmd", "mutants")
	accepted, err := readSurvivors(filepath.Join(here, "survivors.txt"))
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(tmp) }()

	var total counts
	for _, s := range chosen {
		began := time.Now()
		c, err := o.subject(ctx, tmp, s, accepted)
		if err != nil {
			return fmt.Errorf("subject %s: %w", s.name, err)
		}
		o.printf("%s: %v, in %v\n", s.name, c, time.Since(began).Round(time.Second))
		total.add(c)
	}
	var errs []error
	if len(chosen) > 0 {
		o.printf("all: %v\n", total)
		if total.percent() < o.atLeast {
			errs = append(errs, fmt.Errorf("the tests kill %.1f %% of the mutants: %.1f %% are required", total.percent(), o.atLeast))
		}
	}
	for _, s := range accepted.unused(chosen) {
		errs = append(errs, fmt.Errorf("survivors.txt: the code has no mutant %s: remove it", s))
	}
	for _, name := range lists {
		if len(o.subjects) > 0 && !slices.Contains(o.subjects, name) {
			continue
		}
		list, err := readPromises(filepath.Join(here, name+".txt"))
		if err != nil {
			return err
		}
		errs = append(errs, o.breakPromises(ctx, tmp, name, list))
	}
	return errors.Join(errs...)
}

// choose returns the subjects that the arguments name.
func (o *options) choose(all []subject) ([]subject, error) {
	if len(o.subjects) == 0 {
		return all, nil
	}
	var chosen []subject
	for _, name := range o.subjects {
		if slices.Contains(lists, name) {
			continue
		}
		i := slices.IndexFunc(all, func(s subject) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no subject %s", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

func (o *options) printf(format string, args ...any) { _, _ = fmt.Fprintf(o.out, format, args...) }

// subject runs the mutants of one subject and prints its survivors.
func (o *options) subject(ctx context.Context, tmp string, s subject, accepted *survivors) (counts, error) {
	files, err := load(ctx, o.root, s.packages)
	if err != nil {
		return counts{}, err
	}
	all := points(files)
	accepted.seen(all)
	points := sample(all, o.sample, o.seed)
	for i, p := range points {
		p.id = i + 1
	}
	dir, err := os.MkdirTemp(tmp, "s")
	if err != nil {
		return counts{}, fmt.Errorf("making a folder: %w", err)
	}
	replaced, err := overlay(dir, files, points)
	if err != nil {
		return counts{}, err
	}
	outcomes := make([]outcome, len(points))
	for i, p := range points {
		outcomes[i] = unreached
		if accepted.has(p) {
			outcomes[i] = accept
		}
	}
	for i, tests := range s.suites {
		b := &binary{root: o.root, dir: filepath.Join(dir, strconv.Itoa(i)), suite: tests, points: len(points), workers: o.workers, budget: o.budget}
		if err := b.judgeAll(ctx, replaced, points, outcomes); err != nil {
			return counts{}, err
		}
		for _, name := range b.failing {
			o.printf("%s: %s of %s fails without a mutant: it is not used\n", s.name, name, tests.folder)
		}
	}
	c := counts{all: len(all)}
	for i, p := range points {
		outcome := outcomes[i]
		c.outcomes[outcome]++
		if o.verbose || outcome == survived || outcome == unreached {
			o.printf("%s:%d: %s: %s\n", p.file, p.line, outcome, p.key())
		}
	}
	return c, nil
}

// counts are the mutants of a subject by outcome, and the number of all that its
// code has.
type counts struct {
	all      int
	outcomes [outcomeCount]int
}

func (c *counts) add(d counts) {
	c.all += d.all
	for i, n := range d.outcomes {
		c.outcomes[i] += n
	}
}

// percent returns the share of mutants that were killed, of those that count.
func (c *counts) percent() float64 {
	killed := c.outcomes[killed] + c.outcomes[late]
	counted := killed + c.outcomes[survived] + c.outcomes[unreached]
	if counted == 0 {
		return 100
	}
	return 100 * float64(killed) / float64(counted)
}

func (c counts) String() string {
	n := 0
	for _, k := range c.outcomes {
		n += k
	}
	return fmt.Sprintf("%.1f %% of %d of %d mutants killed (%d by a test that failed, %d by one that did not end; %d survived, %d were not reached, %d are accepted)",
		c.percent(), n, c.all, c.outcomes[killed], c.outcomes[late], c.outcomes[survived], c.outcomes[unreached], c.outcomes[accept])
}
