package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server/backup"
)

// TestProgress shows a line for each tenth, and on a terminal a bar.
func TestProgress(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	p := newProgress(&lines)
	for i := range int64(1001) {
		p.step(backup.Step{What: "rows", Name: "auth_user", Done: i, Total: 1000})
	}
	p.step(backup.Step{What: "files"})
	p.end()
	require.Equal(t, 12, strings.Count(lines.String(), "\n"))
	require.Contains(t, lines.String(), "rows: 500 of 1000 (50%)\n")
	require.Contains(t, lines.String(), "files: 0 of 0 (100%)\n")

	var bar strings.Builder
	p = &progress{w: &bar, terminal: true}
	p.step(backup.Step{What: "rows", Name: "auth_user", Done: 500, Total: 1000})
	p.shown = time.Now().Add(time.Hour) // too soon for another bar
	p.step(backup.Step{What: "rows", Name: "auth_user", Done: 501, Total: 1000})
	p.end()
	require.Equal(t, "\r\x1b[Krows   ["+strings.Repeat("=", 15)+strings.Repeat(" ", 15)+"]  50%  auth_user\n", bar.String())
}
