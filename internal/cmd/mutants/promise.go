package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// promise is a sentence of docs/reliability.md, a change of the code that breaks it,
// and the test that notices.
type promise struct {
	says     string
	file     string // below the module, with slashes
	old, new string
	tests    string // the folder of a package
	test     string // a name, perhaps with subtests, as -test.run has it
}

// readPromises reads a list. An entry is
//
//	the promise, on one line
//	file internal/queue/put.go
//	-the lines of the file that are changed
//	+what is there instead
//	test internal/queue TestName
//
// with an empty line after it. Lines that begin with # are comments.
func readPromises(path string) ([]promise, error) {
	text, err := os.ReadFile(path) //nolint:gosec // of the module
	if err != nil {
		return nil, fmt.Errorf("reading the promises: %w", err)
	}
	var all []promise
	for entry := range strings.SplitSeq(string(text), "\n\n") {
		var p promise
		for line := range strings.Lines(entry) {
			rest := strings.TrimSuffix(line, "\n")
			switch {
			case rest == "" || strings.HasPrefix(rest, "#"):
			case strings.HasPrefix(rest, "-"):
				p.old += line[1:]
			case strings.HasPrefix(rest, "+"):
				p.new += line[1:]
			case strings.HasPrefix(rest, "file "):
				p.file = strings.TrimPrefix(rest, "file ")
			case strings.HasPrefix(rest, "test "):
				p.tests, p.test, _ = strings.Cut(strings.TrimPrefix(rest, "test "), " ")
			default:
				p.says = rest
			}
		}
		if p == (promise{}) {
			continue
		}
		if p.says == "" || p.file == "" || p.old == "" || p.old == p.new || p.test == "" {
			return nil, fmt.Errorf("reading the promises: %q needs a promise, a file, a change and a test", entry)
		}
		all = append(all, p)
	}
	return all, nil
}

// breakPromises breaks each promise of a list and runs its test, which must fail.
func (o *options) breakPromises(ctx context.Context, tmp, list string, promises []promise) error {
	began := time.Now()
	b := &binary{root: o.root, workers: o.workers}
	errs := make([]error, len(promises))
	var mu sync.Mutex
	b.each(len(promises), func(i int) {
		errs[i] = promises[i].breaks(ctx, o.root, filepath.Join(tmp, list+strconv.Itoa(i)))
		if o.verbose {
			mu.Lock()
			defer mu.Unlock()
			o.printf("%s: %s: %v\n", promises[i].test, promises[i].says, errs[i] == nil)
		}
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	o.printf("%s: each of %d changes fails its test, in %v\n", list, len(promises), time.Since(began).Round(time.Second))
	return nil
}

// breaks makes the change in a binary of its own, in dir, and runs the test.
func (p promise) breaks(ctx context.Context, root, dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	path := filepath.Join(root, filepath.FromSlash(p.file))
	text, err := os.ReadFile(path) //nolint:gosec // of the module
	if err != nil {
		return fmt.Errorf("reading the code of a promise: %w", err)
	}
	if n := bytes.Count(text, []byte(p.old)); n != 1 {
		return fmt.Errorf("promise %q: %s has the text %d times, not once: %s", p.says, p.file, n, p.old)
	}
	changed := filepath.Join(dir, "changed.go")
	if err := os.WriteFile(changed, bytes.Replace(text, []byte(p.old), []byte(p.new), 1), 0o600); err != nil { //nolint:gosec // in a folder of this command
		return fmt.Errorf("writing the changed code: %w", err)
	}
	replaced, err := writeOverlay(dir, map[string]string{path: changed})
	if err != nil {
		return err
	}
	b := &binary{root: root, dir: dir, suite: suite{folder: p.tests}}
	if err := b.build(ctx, replaced); err != nil {
		return fmt.Errorf("promise %q: %w", p.says, err)
	}
	defer func() { _ = os.Remove(b.path) }()
	if b.run(ctx, brokenFor, nil, "-test.failfast", "-test.run", p.test) == survived {
		return fmt.Errorf("promise %q is broken, and %s passes", p.says, p.test)
	}
	return nil
}

// brokenFor bounds the test of a broken promise.
const brokenFor = 3 * time.Minute
