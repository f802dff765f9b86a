package archtest_test

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

var (
	testLine  = regexp.MustCompile(`(?m)(?:\w+=(?:'[^'\n]*'|[^\s'` + "`" + `]+) +)*(?:go test|make bench)\b[^` + "`#\n" + `]*`)
	shellWord = regexp.MustCompile(`(?:'[^']*'|[^\s'])+`)
)

// TestTestsThatAreRun checks the lines of the documents that run tests and
// benchmarks: their packages exist, and each alternative of their patterns matches
// a function.
func TestTestsThatAreRun(t *testing.T) {
	t.Parallel()
	functions := map[string][]string{}
	walk(t, "_test.go", func(file, text string) {
		folder := path.Dir(file)
		for _, m := range function.FindAllStringSubmatch(text, -1) {
			functions[folder] = append(functions[folder], m[1])
		}
	})
	for doc, text := range documents(t) {
		for _, line := range testLine.FindAllString(text, -1) {
			packages, patterns := readLine(line)
			var there []string
			for _, p := range packages {
				found := in(functions, p)
				assert.NotEmptyf(t, found, "%s: %s: there are no tests in %s", doc, line, p)
				there = append(there, found...)
			}
			for kind, pattern := range patterns {
				for one := range strings.SplitSeq(pattern, "|") {
					assert.Truef(t, len(there) == 0 || matches(there, kind, one), "%s: %s: there is no %s %s", doc, line, kind, one)
				}
			}
		}
	}
}

// readLine returns what a line runs: packages, and patterns by the kind of function.
func readLine(line string) (packages []string, patterns map[string]string) {
	patterns = map[string]string{}
	kinds := map[string]string{"-run": "Test", "-bench": "Benchmark", "-fuzz": "Fuzz"}
	kind := ""
	for _, word := range shellWord.FindAllString(line, -1) {
		word = strings.ReplaceAll(word, "'", "")
		switch {
		case kind != "":
			patterns[kind], _, _ = strings.Cut(word, "/")
			kind = ""
		case strings.HasPrefix(word, "./"):
			packages = append(packages, word)
		case strings.HasPrefix(word, "PACKAGES="):
			packages = append(packages, strings.TrimPrefix(word, "PACKAGES="))
		case strings.HasPrefix(word, "BENCH="):
			patterns["Benchmark"] = strings.TrimPrefix(word, "BENCH=")
		default:
			kind = kinds[word]
		}
	}
	return packages, patterns
}

// in returns the functions of a package, or of all below a folder.
func in(functions map[string][]string, pattern string) []string {
	folder, below := strings.CutSuffix(strings.TrimPrefix(pattern, "./"), "/...")
	var found []string
	for at, names := range functions {
		if at == folder || below && strings.HasPrefix(at, folder+"/") {
			found = append(found, names...)
		}
	}
	return found
}

// matches reports whether a pattern fits a function of a kind; "^$" is none.
func matches(functions []string, kind, pattern string) bool {
	re, err := regexp.Compile(pattern)
	if err != nil || pattern == "^$" {
		return err == nil
	}
	for _, name := range functions {
		if strings.HasPrefix(name, kind) && re.MatchString(name) {
			return true
		}
	}
	return false
}
