package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// sqliteOnly skips the halves of tests that run on PostgreSQL, which start a server.
const sqliteOnly = `.*/^postgres$|.*/.*/^postgres$`

// binary is the test binary of a subject, with all its mutants.
type binary struct {
	root, dir string
	suite     suite
	points    int // their number
	workers   int
	budget    time.Duration

	path    string         // of the file
	reach   map[int][]test // by the number of a point; the shortest first
	other   map[int]bool   // points that only tests on PostgreSQL reach
	failing []string       // tests that fail without a mutant
	whole   time.Duration  // what all tests take on PostgreSQL
	all     string         // the pattern of these
}

// test is a test function.
type test struct {
	name string
	cost time.Duration // of a process that runs it alone
}

// build compiles the tests with what an overlay replaces.
func (b *binary) build(ctx context.Context, overlay string) error {
	b.path = filepath.Join(b.dir, "test")
	_, err := output(ctx, b.root, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", b.path, "./"+b.suite.folder)
	return err
}

// record runs each test alone, without a mutant, and notes its time and the points
// that it reaches. If there are others, it runs all tests together on PostgreSQL.
func (b *binary) record(ctx context.Context) error {
	list, err := output(ctx, filepath.Join(b.root, b.suite.folder), b.path, "-test.list", cmp.Or(b.suite.tests, "^(Test|Example|Fuzz)"))
	if err != nil {
		return err
	}
	names := strings.Fields(string(list))
	b.reach, b.other = map[int][]test{}, map[int]bool{}
	var mu sync.Mutex
	var errs []error
	b.each(len(names), func(i int) {
		began := time.Now()
		reached, outcome, err := b.reached(ctx, names[i], "-test.run", pattern(names[i]), "-test.skip", sqliteOnly)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			errs = append(errs, err)
		}
		if outcome != survived {
			b.failing = append(b.failing, names[i])
			return
		}
		for _, id := range reached {
			b.reach[id] = append(b.reach[id], test{names[i], time.Since(began)})
		}
	})
	for _, tests := range b.reach {
		slices.SortFunc(tests, func(x, y test) int { return cmp.Or(cmp.Compare(x.cost, y.cost), cmp.Compare(x.name, y.name)) })
	}
	slices.Sort(b.failing)
	if len(b.reach) == b.points && len(errs) == 0 {
		return nil
	}
	b.all = pattern(slices.DeleteFunc(names, func(n string) bool { return slices.Contains(b.failing, n) })...) + "/^postgres$"
	began := time.Now()
	reached, _, err := b.reached(ctx, "all", "-test.run", b.all)
	b.whole = time.Since(began)
	for _, id := range reached {
		b.other[id] = b.reach[id] == nil
	}
	return errors.Join(append(errs, err)...)
}

// baseline bounds a run without a mutant.
const baseline = 10 * time.Minute

// reached runs tests and returns the points that they reach.
func (b *binary) reached(ctx context.Context, name string, args ...string) ([]int, outcome, error) {
	path := filepath.Join(b.dir, "reached-"+name)
	outcome := b.run(ctx, baseline, []string{"MUTANT_RECORD=" + path}, args...)
	text, err := os.ReadFile(path) //nolint:gosec // in a folder of this command
	if errors.Is(err, os.ErrNotExist) {
		return nil, outcome, nil
	}
	if err != nil {
		return nil, outcome, fmt.Errorf("reading what %s reaches: %w", name, err)
	}
	seen := map[int]bool{}
	var ids []int
	for _, word := range strings.Fields(string(text)) {
		id, err := strconv.Atoi(word)
		if err != nil {
			return nil, outcome, fmt.Errorf("reading what %s reaches: %w", name, err)
		}
		if !seen[id] { // processes that the test starts write it, too
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids, outcome, nil
}

// run runs the binary and reports what the tests say of the mutant. Its temporary
// files are removed afterwards.
func (b *binary) run(ctx context.Context, timeout time.Duration, env []string, args ...string) outcome {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	tmp, err := os.MkdirTemp(b.dir, "t")
	if err != nil {
		return unreached
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	cmd := exec.CommandContext(ctx, b.path, args...) //nolint:gosec // the binary that build made
	cmd.Dir = filepath.Join(b.root, b.suite.folder)
	cmd.Env = append(append(os.Environ(), "TMPDIR="+tmp), env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Second // a process of the test may keep the output open
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return late
	case err != nil:
		return killed
	}
	return survived
}

// each calls fn for the numbers below n, some at a time.
func (b *binary) each(n int, fn func(i int)) {
	var wait sync.WaitGroup
	next := make(chan int)
	for range b.workers {
		wait.Go(func() {
			for i := range next {
				fn(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wait.Wait()
}

// pattern matches the names of tests, and no others.
func pattern(names ...string) string { return "^(" + strings.Join(names, "|") + ")$" }
