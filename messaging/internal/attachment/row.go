package attachment

import (
	"cmp"
	"context"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// fileRow is a file as its table has it.
type fileRow struct {
	ID        string               `db:"id"`
	Account   string               `db:"account"`
	Reference provider.ReferenceID `db:"reference"`
	Message   int64                `db:"message"`
	Waiting   bool                 `db:"waiting"`
	Gone      bool                 `db:"gone"`
	Detail    string               `db:"detail"`
	SHA256    string               `db:"sha256"`
}

const fileColumns = `f.id, f.account, f.reference, f.message, f.waiting, f.gone, f.detail, f.sha256`

// file reads one row of messaging_media.
func (fs *Files) file(ctx context.Context, id string) (*fileRow, error) {
	f := &fileRow{}
	return f, fs.Store.DB.GetContext(ctx, f, `SELECT `+fileColumns+` FROM messaging_media f WHERE f.id = $1`, id)
}

// fileName is what a file is called in its link.
func fileName(f *store.FileSource, contentType string) string {
	return cmp.Or(f.Name, f.Title, string(f.Kind)+extension(contentType))
}

// extension ends the names of files of a type; "" when it is not known.
func extension(contentType string) string {
	bare, _, _ := strings.Cut(contentType, ";")
	if t := mimetype.Lookup(strings.TrimSpace(bare)); t != nil {
		return t.Extension()
	}
	return ""
}
