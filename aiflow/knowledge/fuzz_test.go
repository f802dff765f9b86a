package knowledge_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/knowledge"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

func FuzzAdd(f *testing.F) {
	for _, s := range []struct{ name, text string }{
		{"a.md", harbourHouse},
		{"a.md", "####### x\n# \n#\n"},
		{"a.html", "<h1>a<h2>b</h1><script>"},
		{"a.html", "<p>a&#0;b"},
		{"a.csv", "a;b\n\"x"},
		{"a.csv", "a,b\n1\n1,2,3\n"},
		{"a.json", `[[1,"a",null,{"b":{}}]]`},
		{"a.txt", "\xef\xbb\xbf"},
		{"a.txt", "ข้าว 東京 é"},
	} {
		f.Add(s.name, []byte(s.text))
	}
	x := setup(f, testkit.Open(f, testkit.SQLiteURL(f)), &knowledge.Options{})
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		file, err := x.Add(t.Context(), x.project, knowledge.NewFile{Name: name, Data: data})
		if err != nil {
			var bad *knowledge.Invalid
			if !errors.As(err, &bad) {
				require.ErrorIs(t, err, knowledge.ErrUnsupported)
			}
			return
		}
		require.Positive(t, file.Passages)
		_, err = x.Search(t.Context(), x.project, knowledge.Query{Text: string(data)})
		require.NoError(t, err)
		require.NoError(t, x.Delete(t.Context(), x.project, file.ID))
	})
}
