package archtest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	pathTable = regexp.MustCompile(`(?s)<!-- path: .*?-->\n(.*?)<!-- /path -->`)
	pathRow   = regexp.MustCompile("\\| `([\\w.]+)` \\| `([\\w./]+)` \\|$")
)

// TestPathOfAMessage finds the functions of docs/architecture.md's path of a
// message in the files that it names.
func TestPathOfAMessage(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/architecture.md")
	require.NoError(t, err)
	table := pathTable.FindSubmatch(doc)
	require.NotNil(t, table)
	rows := strings.Split(strings.TrimSpace(string(table[1])), "\n")[2:]
	require.NotEmpty(t, rows)
	for _, row := range rows {
		m := pathRow.FindStringSubmatch(row)
		if !assert.NotNil(t, m, "no function and file: %s", row) {
			continue
		}
		source, err := os.ReadFile(filepath.Join("..", "..", m[2]))
		require.NoError(t, err)
		declared := `func ` + regexp.QuoteMeta(m[1]) + `\(`
		if receiver, method, ok := strings.Cut(m[1], "."); ok {
			declared = `func \((?:\w+ )?\*?` + receiver + `\) ` + method + `\(`
		}
		assert.Regexp(t, `(?m)^`+declared, string(source), "%s is not in %s", m[1], m[2])
	}
}

// TestStartingPoints finds the files and folders that docs/architecture.md says to
// start from.
func TestStartingPoints(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/architecture.md")
	require.NoError(t, err)
	_, starts, ok := strings.Cut(string(doc), "## Where to start\n")
	require.True(t, ok)
	places := regexp.MustCompile("`((?:[a-z]\\w*/)+[\\w.]+|provider|messaging)`").FindAllStringSubmatch(starts, -1)
	require.Greater(t, len(places), 20)
	for _, place := range places {
		_, err := os.Stat(filepath.Join("..", "..", place[1]))
		assert.NoError(t, err)
	}
}
