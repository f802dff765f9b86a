package knowledge

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/page"
)

// NewFile is a file to add.
type NewFile struct {
	Name string // with its extension; at most 200 characters
	Type string // media type; "" or application/octet-stream: derived from the extension
	Data []byte
}

// File is a file of a project.
type File struct {
	ID        string
	Name      string
	Type      string
	Bytes     int64 // size of the original file
	Passages  int64
	CreatedAt time.Time
}

// List selects a page of a list.
type List = page.List

// Page is a page of a list.
type Page[T any] = page.Page[T]

type fileRow struct {
	Number    int64
	ID        string
	Name      string
	Type      string
	Bytes     int64
	Passages  int64
	CreatedUS int64 `db:"created_us"`
}

func (r fileRow) view() File {
	return File{ID: r.ID, Name: r.Name, Type: r.Type, Bytes: r.Bytes, Passages: r.Passages, CreatedAt: database.Time(r.CreatedUS)}
}

const fileColumns = `number, id, name, type, bytes, passages, created_us`

// Add adds the text of a file. It stores the file in many small transactions, so
// that other writers do not have to wait. The file can be found when Add returns.
// After a crash or an error the file is never found, and [Service.Run] removes it.
func (a *Account) Add(ctx context.Context, project string, n NewFile) (File, error) {
	n.Name = strings.TrimSpace(n.Name)
	switch {
	case n.Name == "" || utf8.RuneCountInString(n.Name) > 200:
		return File{}, &Invalid{Field: "name", Message: "must have 1 to 200 characters"}
	case !utf8.ValidString(n.Name) || strings.ContainsFunc(n.Name, func(r rune) bool { return r < ' ' }):
		return File{}, &Invalid{Field: "name", Message: "must be UTF-8 without control characters"}
	case len(n.Data) > MaxFile:
		return File{}, &TooLarge{"file", MaxFile}
	}
	if err := a.exists(ctx, project); err != nil {
		return File{}, err
	}
	kind, err := typeOf(n.Name, n.Type)
	if err != nil {
		return File{}, err
	}
	sections, err := read(kind, n.Data)
	if err != nil {
		return File{}, err
	}
	passages := split(sections)
	if len(passages) == 0 {
		return File{}, &Invalid{Field: "data", Message: "must have some text"}
	}
	if len(passages) > maxPassages {
		return File{}, &Invalid{Field: "data", Message: fmt.Sprintf("has more than %d sections: split it into several files", maxPassages)}
	}
	id, err := uuid.NewV7()
	if err != nil {
		return File{}, fmt.Errorf("making an id: %w", err)
	}
	row := &fileRow{
		ID: id.String(), Name: n.Name, Type: kind, Bytes: int64(len(n.Data)), Passages: int64(len(passages)),
		CreatedUS: database.Micros(a.s.opts.Now()),
	}
	if a.s.opts.Admit != nil {
		if err := a.s.opts.Admit(ctx, a.id, row.Bytes); err != nil {
			return File{}, err
		}
	}
	in := index(passages)
	vectors := a.s.vectors(ctx, Texts{Account: a.id, Project: project, Texts: passages})
	if err := a.store(ctx, project, row, passages, vectors, in); err != nil {
		return File{}, fmt.Errorf("storing a file: %w", err)
	}
	return row.view(), nil
}

// Bytes returns the total size of the files of an account, including those that are
// being stored.
func (s *Service) Bytes(ctx context.Context, q database.Reader, account string) (n int64, err error) {
	err = q.GetContext(ctx, &n, `SELECT CAST(COALESCE(SUM(f.bytes), 0) AS BIGINT) FROM knowledge_file AS f JOIN aiflow_project AS p ON p.id = f.project
		WHERE p.account = $1 AND NOT p.removed AND (f.ready OR f.due_us > 0)`, account)
	return n, err
}

// exists returns an error unless the account has the project.
func (a *Account) exists(ctx context.Context, project string) error {
	if uuid.Validate(project) != nil {
		return ErrNotFound
	}
	var is bool
	err := a.s.db.GetContext(ctx, &is, `SELECT EXISTS (SELECT 1 FROM aiflow_project WHERE id = $1 AND account = $2 AND NOT removed)`, project, a.id)
	if err != nil {
		return fmt.Errorf("looking for a project: %w", err)
	}
	if !is {
		return ErrNotFound
	}
	return nil
}

// Files lists the files of a project, the oldest first.
func (a *Account) Files(ctx context.Context, project string, l List) (Page[File], error) {
	if _, _, err := l.Parse(); err != nil {
		return Page[File]{}, err
	}
	if err := a.exists(ctx, project); err != nil {
		return Page[File]{}, err
	}
	return page.Select(ctx, a.s.db, l, "files", func(r fileRow) int64 { return r.Number }, fileRow.view,
		`SELECT `+fileColumns+` FROM knowledge_file WHERE project = $1 AND account = $2 AND number > $3 AND ready ORDER BY number LIMIT $4`, project, a.id)
}

// postings maps words to the passages of a file that contain them.
type postings struct {
	terms   map[string][]byte
	lengths []byte // words of each passage
	words   int64
}

func index(passages []string) *postings {
	p := &postings{terms: map[string][]byte{}}
	last := map[string]int{}
	for i, text := range passages {
		counts := map[string]int{}
		all := words(text)
		for _, w := range all {
			counts[w]++
		}
		p.words += int64(len(all))
		p.lengths = binary.AppendUvarint(p.lengths, uint64(len(all)))
		for w, n := range counts {
			mark := binary.AppendUvarint(p.terms[w], uint64(i+1-last[w]))
			p.terms[w] = binary.AppendUvarint(mark, uint64(n))
			last[w] = i + 1
		}
	}
	return p
}
