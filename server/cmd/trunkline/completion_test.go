package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// script writes the completion of a shell into a file.
func script(t *testing.T, shell string) string {
	t.Helper()
	var out bytes.Buffer
	require.Zero(t, run([]string{"completion", shell}, &out, t.Output()))
	name := filepath.Join(t.TempDir(), "completion."+shell)
	require.NoError(t, os.WriteFile(name, out.Bytes(), 0o600))
	return name
}

// TestCompletion completes lines as bash does.
func TestCompletion(t *testing.T) {
	t.Parallel()
	name := script(t, "bash")
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "monday.backup"), nil, 0o600))
	complete := func(words ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "bash", append([]string{"-c", `source "$0"; COMP_WORDS=(trunkline "$@"); COMP_CWORD=$#
			_trunkline; echo "${COMPREPLY[*]}"`, name}, words...)...)
		cmd.Dir = folder
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return strings.TrimSpace(string(out))
	}
	require.Contains(t, complete(""), "serve version backup restore")
	require.Equal(t, "backup", complete("b"))
	require.Equal(t, "list create password owner disable enable second-factor-off reset", complete("--data", "x", "user", ""))
	require.Equal(t, "--permissions", complete("user", "create", "--perm"))
	require.Empty(t, complete("user", "list", "--perm"))
	require.Equal(t, "open closed", complete("--signup", ""))
	require.Equal(t, "text json", complete("serve", "--log-format", ""))
	require.Equal(t, "monday.backup", complete("restore", "mon"))
	require.Equal(t, "monday.backup", complete("--tls-cert", ""))
	require.Empty(t, complete("--base-url", ""), "nobody knows it")
	require.Equal(t, "zsh", complete("completion", "z"))
}

// TestCompletionIsRead lets each shell that is here read its script.
func TestCompletionIsRead(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		name := script(t, shell)
		if _, err := exec.LookPath(shell); err == nil {
			out, err := exec.CommandContext(context.WithoutCancel(t.Context()), shell, "-n", name).CombinedOutput()
			require.NoError(t, err, "%s: %s", shell, out)
			require.Empty(t, string(out), shell)
		}
	}
	var errs bytes.Buffer
	require.Equal(t, 2, run([]string{"completion", "tcsh"}, t.Output(), &errs))
	require.Contains(t, errs.String(), "must be one of")
}
