package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
)

// survivors are the mutants that survivors.txt accepts, by [point.key].
type survivors struct {
	reasons map[string]string
	found   map[string]bool // that the code has
}

// readSurvivors reads a list. Each entry has a line with the key of a mutant, and its
// reason on lines that begin with a tab. Lines that begin with # are comments.
func readSurvivors(path string) (*survivors, error) {
	s := &survivors{reasons: map[string]string{}, found: map[string]bool{}}
	text, err := os.ReadFile(path) //nolint:gosec // of the module
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the accepted survivors: %w", err)
	}
	var keys []string
	reasoned := true
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "\t"):
			for _, k := range keys {
				s.reasons[k] += strings.TrimSpace(line) + " "
			}
			reasoned = true
		default:
			if reasoned { // several keys may share a reason
				keys, reasoned = nil, false
			}
			keys = append(keys, line)
			s.reasons[line] = ""
		}
	}
	for _, k := range slices.Sorted(maps.Keys(s.reasons)) {
		if s.reasons[k] == "" {
			return nil, fmt.Errorf("reading the accepted survivors: %s has no reason", k)
		}
	}
	return s, nil
}

// has reports whether the list has a mutant.
func (s *survivors) has(p *point) bool { return s.reasons[p.key()] != "" }

// seen notes the mutants that the code has.
func (s *survivors) seen(all []*point) {
	for _, p := range all {
		s.found[p.key()] = true
	}
}

// unused returns the entries of subjects that the code has not.
func (s *survivors) unused(subjects []subject) []string {
	var unused []string
	for _, k := range slices.Sorted(maps.Keys(s.reasons)) {
		folder, _, _ := strings.Cut(k, " ")
		chosen := slices.ContainsFunc(subjects, func(s subject) bool { return slices.Contains(s.packages, folder) })
		if chosen && !s.found[k] {
			unused = append(unused, k)
		}
	}
	return unused
}
