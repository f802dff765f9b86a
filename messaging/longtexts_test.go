package messaging_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
)

// TestSearchMessages_LongTexts stores and finds texts of a megabyte: the words of one
// must fit into an index, however many and long they are.
func TestSearchMessages_LongTexts(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		var different strings.Builder
		for i := range 6000 {
			different.WriteString(strings.Repeat("𐐷", 36) + fmt.Sprintf("%04d ", i))
		}
		for name, part := range map[string]string{"word": "x", "groups": "1 ", "han": "会", "emoji": "👍🏽", "joined": "👩\u200d", "quotes": `'\"`, "colons": "a:*|&! ", "different": different.String()} {
			long := strings.Repeat(part, max(1, 900_000/len(part)))
			f.receive(t, ref, text(name, "111", "before"+name+" "+long))
			found, err := f.acc.SearchMessages(t.Context(), messaging.SearchQuery{Text: "before" + name})
			require.NoError(t, err, name)
			require.Len(t, found.Items, 1, name)
			require.Equal(t, name, found.Items[0].Message.ID)
		}
	})
}
