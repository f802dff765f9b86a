package testkit

import (
	"fmt"
	"os"
	"strings"
)

const (
	markerStart = "<!-- run:"
	markerEnd   = "-->"
	fence       = "```"
)

// Blocks reads a Markdown document and returns its runnable blocks by name, so
// that a test runs the very lines that a reader copies. A block has a language,
// and is runnable when the line before it, blank lines aside, is a marker:
//
//	<!-- run:quickstart -->
//	```sh
//	go run ./server/cmd/trunkline
//	```
//
// A name used twice, and a marker that no such block follows, are errors.
func Blocks(path string) (map[string]string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading blocks: %w", err)
	}
	lines := strings.Split(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n")
	blocks := map[string]string{}
	for i := 0; i < len(lines); i++ {
		if strings.HasPrefix(lines[i], fence) { // a block may contain a marker
			i = blockEnd(lines, i)
			continue
		}
		name, ok := marker(lines[i])
		if !ok {
			continue
		}
		if _, twice := blocks[name]; twice {
			return nil, fmt.Errorf("%s:%d: a second block is named %q", path, i+1, name)
		}
		start := nextLine(lines, i)
		end := blockEnd(lines, start)
		if start == len(lines) || !hasLanguage(lines[start]) || end == len(lines) {
			return nil, fmt.Errorf("%s:%d: no block with a language follows the marker %q", path, i+1, name)
		}
		blocks[name] = ""
		for _, line := range lines[start+1 : end] {
			blocks[name] += line + "\n"
		}
		i = end
	}
	return blocks, nil
}

// marker returns the name in a marker line.
func marker(line string) (string, bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), markerStart)
	name, closed := strings.CutSuffix(rest, markerEnd)
	name = strings.TrimSpace(name)
	return name, ok && closed && name != ""
}

// hasLanguage reports whether a line opens a block with a language.
func hasLanguage(line string) bool {
	language, ok := strings.CutPrefix(strings.TrimSpace(line), fence)
	return ok && language != ""
}

// nextLine returns the first line after i that is not blank, or len(lines).
func nextLine(lines []string, i int) int {
	for i++; i < len(lines) && strings.TrimSpace(lines[i]) == ""; i++ {
	}
	return i
}

// blockEnd returns the line of the fence that closes the block opened at start, or
// len(lines).
func blockEnd(lines []string, start int) int {
	for i := start + 1; i < len(lines); i++ {
		if strings.TrimRight(lines[i], " ") == fence {
			return i
		}
	}
	return len(lines)
}
