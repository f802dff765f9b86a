package testkit_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

func TestBlocks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		doc  string
		want map[string]string
		err  string
	}{
		"none": {doc: "# Title\n\n```sh\nls\n```\n", want: map[string]string{}},
		"one":  {doc: "<!-- run:a -->\n```sh\nls\n\npwd\n```\n", want: map[string]string{"a": "ls\n\npwd\n"}},

		"blank between":    {doc: "<!-- run:a -->\n\n```sh\nls\n```", want: map[string]string{"a": "ls\n"}},
		"windows lines":    {doc: "<!-- run:a -->\r\n```sh\r\nls\r\n```\r\n", want: map[string]string{"a": "ls\n"}},
		"empty block":      {doc: "<!-- run:a -->\n```sh\n```\n", want: map[string]string{"a": ""}},
		"two":              {doc: "<!-- run:a -->\n```sh\n1\n```\ntext\n<!-- run:b -->\n```sh\n2\n```\n", want: map[string]string{"a": "1\n", "b": "2\n"}},
		"inside a block":   {doc: "```md\n<!-- run:a -->\n```\n", want: map[string]string{}},
		"other language":   {doc: "<!-- run:a -->\n```go\nx\n```\n", want: map[string]string{"a": "x\n"}},
		"no language":      {doc: "<!-- run:a -->\n```\nx\n```\n", err: "follows the marker"},
		"text in between":  {doc: "<!-- run:a -->\ntext\n```sh\nls\n```\n", err: "doc.md:1: no"},
		"not closed":       {doc: "<!-- run:a -->\n```sh\nls\n", err: "follows the marker"},
		"at the very end":  {doc: "<!-- run:a -->", err: "follows the marker"},
		"same name":        {doc: "<!-- run:a -->\n```sh\n1\n```\n<!-- run:a -->\n```sh\n2\n```\n", err: `a second block is named "a"`},
		"marker of no run": {doc: "<!-- walk:a -->\n```sh\n1\n```\n", want: map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "doc.md")
			require.NoError(t, os.WriteFile(path, []byte(c.doc), 0o600))
			got, err := testkit.Blocks(path)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
	_, err := testkit.Blocks(filepath.Join(t.TempDir(), "none.md"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
