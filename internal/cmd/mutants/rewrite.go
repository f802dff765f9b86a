package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// rewrite returns the text of a file with the edits of points.
func rewrite(text []byte, points []*point) []byte {
	type insertion struct {
		at    int
		order [3]int // of those at the same place
		text  string
		skips int // the bytes that the text replaces
	}
	var all []insertion
	for _, p := range points {
		number := func(s string) string { return strings.ReplaceAll(s, "$", strconv.Itoa(p.id)) }
		for _, e := range p.edits {
			if e.replaces {
				all = append(all, insertion{e.from, [3]int{1}, number(e.before), e.to - e.from})
				continue
			}
			// What ends at a place comes before what begins there; inside out for
			// the ends, outside in for the beginnings.
			all = append(all,
				insertion{e.from, [3]int{1, -e.to, e.rank}, number(e.before), 0},
				insertion{e.to, [3]int{0, -e.from, -e.rank}, number(e.after), 0})
		}
	}
	slices.SortStableFunc(all, func(a, b insertion) int {
		return cmp.Or(cmp.Compare(a.at, b.at), slices.Compare(a.order[:], b.order[:]))
	})
	var out bytes.Buffer
	done := 0
	for _, i := range all {
		if i.at > done {
			out.Write(text[done:i.at])
			done = i.at
		}
		out.WriteString(i.text)
		done += i.skips
	}
	out.Write(text[done:])
	return out.Bytes()
}

// overlay writes the files of points to dir, and the file that shows them to the go
// command in place of the files of the repository. It returns the name of that file.
func overlay(dir string, files []*source, points []*point) (string, error) {
	of := map[*source][]*point{}
	for _, p := range points {
		of[p.source] = append(of[p.source], p)
	}
	replace := map[string]string{}
	write := func(path string, text []byte) error {
		to := filepath.Join(dir, strconv.Itoa(len(replace))+".go")
		replace[path] = to
		return os.WriteFile(to, text, 0o600)
	}
	helped := map[string]bool{}
	for _, s := range files {
		if len(of[s]) == 0 {
			continue
		}
		if err := write(s.path, rewrite(s.text, of[s])); err != nil {
			return "", fmt.Errorf("writing a mutated file: %w", err)
		}
		if folder := filepath.Dir(s.path); !helped[folder] {
			helped[folder] = true
			text := strings.ReplaceAll(strings.ReplaceAll(helpers, "PACKAGE", s.name), "COUNT", strconv.Itoa(len(points)+1))
			if err := write(filepath.Join(folder, "mutant_helpers.go"), []byte(text)); err != nil {
				return "", fmt.Errorf("writing the helpers of mutants: %w", err)
			}
		}
	}
	return writeOverlay(dir, replace)
}

// writeOverlay writes the file of the flag -overlay.
func writeOverlay(dir string, replace map[string]string) (string, error) {
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("encoding the overlay: %w", err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		return "", fmt.Errorf("writing the overlay: %w", err)
	}
	return path, nil
}

// helpers is a file of each mutated package. MUTANT is the number of the mutant that
// runs. MUTANT_RECORD names a file that gets the number of each point when it is
// first reached.
const helpers = `package PACKAGE

import (
	"cmp"
	"os"
	"strconv"
	"sync/atomic"
)

var (
	mutantActive, _ = strconv.Atoi(os.Getenv("MUTANT"))
	mutantRecord    = os.Getenv("MUTANT_RECORD")
	mutantReached   [COUNT]atomic.Bool
)

func mutantOn(id int) bool {
	if mutantRecord != "" && !mutantReached[id].Load() && !mutantReached[id].Swap(true) {
		f, err := os.OpenFile(mutantRecord, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			panic(err)
		}
		if _, err := f.WriteString(strconv.Itoa(id) + "\n"); err != nil {
			panic(err)
		}
		if err := f.Close(); err != nil {
			panic(err)
		}
	}
	return id == mutantActive
}

func mutantIf[T any](id int, mutant, original func() T) T {
	if mutantOn(id) {
		return mutant()
	}
	return original()
}

// The choices below ask for the mutant only where it makes a difference, so that no
// test counts as reaching the others.

func mutantLess[T cmp.Ordered](id int, a, b T) bool {
	return a < b || a == b && mutantOn(id)
}

func mutantLessEqual[T cmp.Ordered](id int, a, b T) bool {
	return a < b || a == b && !mutantOn(id)
}

func mutantMore[T cmp.Ordered](id int, a, b T) bool {
	return a > b || a == b && mutantOn(id)
}

func mutantMoreEqual[T cmp.Ordered](id int, a, b T) bool {
	return a > b || a == b && !mutantOn(id)
}

type mutantInteger interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

type mutantNumber interface {
	mutantInteger | ~float32 | ~float64
}

func mutantPlus[T mutantNumber](id int, a, b T) T {
	return mutantIf(id, func() T { return a - b }, func() T { return a + b })
}

func mutantMinus[T mutantNumber](id int, a, b T) T {
	return mutantIf(id, func() T { return a + b }, func() T { return a - b })
}

func mutantTimes[T mutantNumber](id int, a, b T) T {
	return mutantIf(id, func() T { return a / b }, func() T { return a * b })
}

func mutantDivided[T mutantNumber](id int, a, b T) T {
	return mutantIf(id, func() T { return a * b }, func() T { return a / b })
}

func mutantModulo[T mutantInteger](id int, a, b T) T {
	return mutantIf(id, func() T { return a * b }, func() T { return a % b })
}

func mutantNext[T mutantNumber](id int, a T) T {
	return mutantIf(id, func() T { return a + 1 }, func() T { return a })
}

func mutantNil(id int, err error) error {
	if err != nil && mutantOn(id) {
		return nil
	}
	return err
}
`
