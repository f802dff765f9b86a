package archtest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// listed are the programs of the table in docs/embedding.md, with the most modules that
// some of them may link.
var listed = []struct {
	dir, about string
	modules    int // 0: no limit
}{
	{"internal/archtest/testdata/programs/extractor", "extractors alone", 0},
	{"internal/archtest/testdata/programs/webhook", "webhooks, on SQLite", 18},
	{"examples/webhookonly", "webhooks in the transactions of a shop", 18},
	{"internal/archtest/testdata/programs/messaging", "a bot on a simulated phone", 0},
	{"examples/ownprovider", "a network of one's own", 0},
	{"examples/bottest", "a bot for the Cloud API", 0},
	{"examples/echobot", "a bot that answers in the transaction of the message", 0},
	{"internal/archtest/testdata/programs/aiflow", "flows", 0},
	{"examples/embed", "the whole engine under a router", 0},
}

// programsAtLength is how many rounds make the test build and measure all programs.
const programsAtLength = 10

// programRow is a row of the table: the program, what it is, lines, modules, MiB.
var programRow = regexp.MustCompile(`(?m)^\| \[([^\]]+)\]\([^)]*\) \| ([^|]+) \| (\d+) \| (\d+) \| (\d+) \|$`)

// TestProgramTable compares the table in docs/embedding.md with the programs. It builds
// them in runs at length, and with -update, which writes the table.
func TestProgramTable(t *testing.T) {
	t.Parallel()
	file := filepath.Join(root, "docs", "embedding.md")
	guide, err := os.ReadFile(file)
	require.NoError(t, err)
	rows := programRow.FindAllStringSubmatch(string(guide), -1)
	build := *update || testkit.Rounds(programsAtLength) >= programsAtLength
	var want strings.Builder
	for i, p := range listed {
		name := path.Base(p.dir)
		source, err := os.ReadFile(filepath.Join(root, p.dir, "main.go"))
		require.NoError(t, err)
		modules := strings.Count(linked(t, "../../"+p.dir), "\n")
		if p.modules > 0 {
			require.LessOrEqual(t, modules, p.modules, "%s links more modules than it may", p.dir)
		}
		size := "0"
		if i < len(rows) && rows[i][1] == name {
			size = rows[i][5]
		}
		if build {
			size = programSize(t, p.dir)
		}
		fmt.Fprintf(&want, "| [%s](../%s/main.go) | %s | %d | %d | %s |\n", name, p.dir, p.about, strings.Count(string(source), "\n"), modules, size)
	}
	var got strings.Builder
	for _, row := range rows {
		got.WriteString(row[0] + "\n")
	}
	if *update {
		require.NotEmpty(t, rows, "the table has no row")
		require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(guide), got.String(), want.String(), 1)), 0o600))
		return
	}
	require.Equal(t, want.String(), got.String(), "write the table with -update")
	require.LessOrEqual(t, strings.Count(linked(t, "../../provider/cloud"), "\n"), 2, "provider/cloud links more modules than it may")
}

// programSize returns the size in MiB of a program for Linux on amd64 without symbols.
func programSize(t *testing.T, dir string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "program")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, "./"+dir)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	message, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", message)
	info, err := os.Stat(out)
	require.NoError(t, err)
	return fmt.Sprint((info.Size() + 1<<19) >> 20)
}
