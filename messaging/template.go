package messaging

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Template is a message template of a reference, as its network last described it.
type Template struct {
	ID             string               `json:"id" doc:"The network's id."`
	Reference      provider.ReferenceID `json:"reference"`
	Name           string               `json:"name"`
	Category       string               `json:"category" doc:"MARKETING, UTILITY or AUTHENTICATION." example:"UTILITY"`
	Language       string               `json:"language" example:"en_US"`
	Components     []json.RawMessage    `json:"components" nullable:"false" doc:"As the network has them."`
	Status         string               `json:"status" enum:"PENDING,APPROVED,REJECTED,DISABLED"`
	ProviderStatus string               `json:"providerStatus" doc:"The network's own word." example:"PAUSED"`
	Reason         *string              `json:"reason" doc:"Why it has its status."`
	Quality        *string              `json:"quality" doc:"GREEN, YELLOW, RED or UNKNOWN." example:"GREEN"`
	UpdatedAt      UnixTime             `json:"updatedAt"`
}

// TemplateFilter chooses among the templates of a reference; "": all.
type TemplateFilter struct{ Name, Status string }

// templateRow is a template as its table has it.
type templateRow struct {
	Seq            int64                   `db:"seq"`
	Reference      provider.ReferenceID    `db:"reference"`
	ID             string                  `db:"id"`
	Name           string                  `db:"name"`
	Language       string                  `db:"language"`
	Category       string                  `db:"category"`
	Format         string                  `db:"format"`     // of its parameters: "positional", "named" or ""
	Components     string                  `db:"components"` // a JSON array
	Status         provider.TemplateStatus `db:"status"`
	ProviderStatus string                  `db:"provider_status"`
	Reason         string                  `db:"reason"`
	Quality        string                  `db:"quality"`
	HeardUS        int64                   `db:"heard_us"` // the latest news of it was of then, by its network's clock; 0: it was only listed
	UpdatedUS      int64                   `db:"updated_us"`
}

const templateColumns = `seq, reference, id, name, language, category, format, components, status, provider_status, reason, quality,
	heard_us, updated_us`

func (r *templateRow) view() Template {
	return Template{
		ID: r.ID, Reference: r.Reference, Name: r.Name, Category: r.Category, Language: r.Language, Components: r.components(),
		Status: string(r.Status), ProviderStatus: r.ProviderStatus, Reason: orNull(r.Reason), Quality: orNull(r.Quality),
		UpdatedAt: payload.TimeOf(r.UpdatedUS),
	}
}

func (r *templateRow) components() []json.RawMessage {
	out := []json.RawMessage{}
	_ = json.Unmarshal([]byte(r.Components), &out) // written by this package
	return out
}

// templateOf is what a network says of a template, as a row.
func templateOf(ref provider.ReferenceID, t provider.TemplateInfo) *templateRow {
	components := []json.RawMessage{}
	for _, c := range t.Components {
		if json.Valid(c) {
			components = append(components, c)
		}
	}
	return &templateRow{
		Reference: ref, ID: store.Sanitize(t.ID), Name: store.Sanitize(t.Name), Language: store.Sanitize(t.Language), Category: store.Sanitize(t.Category),
		Format: store.Sanitize(t.ParameterFormat), Components: store.Sanitize(string(store.WithoutNUL(payload.MustEncode(components)))), Status: t.Status,
		ProviderStatus: store.Sanitize(t.ProviderStatus), Reason: store.Sanitize(t.Reason), Quality: store.Sanitize(t.Quality),
	}
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// templateReference is a reference of the account whose network has templates. The
// manager is nil where they are kept here: [Service.reviewer].
func (a *Account) templateReference(ctx context.Context, id provider.ReferenceID) (*referenceRow, provider.TemplateManager, error) {
	row, _, err := a.opened(ctx, id)
	if err != nil || a.s.reviewer(row.Kind) != nil {
		return row, nil, err
	}
	m, err := a.s.templateManager(ctx, row)
	return row, m, err
}

func (s *Service) templateManager(ctx context.Context, row *referenceRow) (provider.TemplateManager, error) {
	sess, err := s.sessions.get(ctx, s, row)
	if err != nil {
		return nil, err
	}
	m, ok := sess.(provider.TemplateManager)
	if !ok {
		return nil, &Error{Code: CodeUnsupported, Message: "A line of type " + string(row.Kind) + " has no templates."}
	}
	return m, nil
}

// Templates lists a reference's templates from our copy, which is fetched from the
// network when there is none yet.
func (a *Account) Templates(ctx context.Context, ref provider.ReferenceID, f TemplateFilter, l List) (Page[Template], error) {
	limit, err := l.limit()
	if err != nil {
		return Page[Template]{}, err
	}
	after, err := parseCursor("cursor", l.Cursor, 1)
	if err != nil {
		return Page[Template]{}, err
	}
	row, m, err := a.templateReference(ctx, ref)
	if err != nil {
		return Page[Template]{}, err
	}
	if err := a.s.haveTemplates(ctx, row, m); err != nil {
		return Page[Template]{}, err
	}
	p := params{row.ID}
	q := `SELECT ` + templateColumns + ` FROM messaging_template WHERE reference = $1`
	if f.Name != "" {
		q += ` AND name = ` + p.add(store.Sanitize(f.Name))
	}
	if f.Status != "" {
		q += ` AND status = ` + p.add(store.Sanitize(f.Status))
	}
	if after != nil {
		q += ` AND seq > ` + p.add(after[0])
	}
	var rows []*templateRow
	if err := a.s.db.SelectContext(ctx, &rows, q+` ORDER BY seq LIMIT `+p.add(limit+1), p...); err != nil {
		return Page[Template]{}, fmt.Errorf("listing templates: %w", err)
	}
	return page(rows, limit, func(r *templateRow) cursor { return cursor{r.Seq} }, (*templateRow).view), nil
}

// CreateTemplate hands a template in for approval. What breaks a rule of the
// network is an [*Invalid], its refusal an [*Error] with its own words.
func (a *Account) CreateTemplate(ctx context.Context, ref provider.ReferenceID, t provider.TemplateDefinition) (Template, error) {
	row, m, err := a.templateReference(ctx, ref)
	if err != nil {
		return Template{}, err
	}
	if r := a.s.reviewer(row.Kind); r != nil {
		return a.s.keepTemplate(ctx, row, r, t)
	}
	info, err := m.CreateTemplate(ctx, t)
	if err != nil {
		return Template{}, templateRefused(ctx, err)
	}
	made := templateOf(row.ID, info)
	if made.Status == "" {
		made.Status = provider.TemplateStatusOf(made.ProviderStatus)
	}
	// It exists now, whether or not the caller still listens.
	err = a.s.db.InTx(context.WithoutCancel(ctx), func(tx *sqlx.Tx) error {
		u := a.s.newBatch(tx)
		made.UpdatedUS = database.Micros(u.Now)
		if err := putTemplates(ctx, u, made); err != nil {
			return err
		}
		if err := recordTemplateTx(ctx, tx, audit.TemplateCreate, row.ID, made.ID, made.Name, made.Language); err != nil {
			return err
		}
		return templatesDue(ctx, u, row) // the network may have changed it, and other references have it too
	})
	return made.view(), err
}

// DeleteTemplate deletes a template in one language; "": in all. One that the
// network does not know is [ErrNotFound].
func (a *Account) DeleteTemplate(ctx context.Context, ref provider.ReferenceID, name, language string) error {
	row, m, err := a.templateReference(ctx, ref)
	if err != nil {
		return err
	}
	if a.s.reviewer(row.Kind) != nil {
		return a.s.dropTemplate(ctx, row.ID, name, language)
	}
	if err := m.DeleteTemplate(ctx, name, language); err != nil {
		return a.s.notDeleted(ctx, row.ID, name, language, err)
	}
	ctx = context.WithoutCancel(ctx)
	return a.s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		if _, err := deleteTemplates(ctx, tx, row.ID, name, language); err != nil {
			return err
		}
		if err := recordTemplateTx(ctx, tx, audit.TemplateDelete, row.ID, "", name, language); err != nil {
			return err
		}
		return templatesDue(ctx, a.s.newBatch(tx), row)
	})
}

// deleteTemplates deletes the rows of a template in one language, or in all,
// and counts them.
func deleteTemplates(ctx context.Context, tx *sqlx.Tx, ref provider.ReferenceID, name, language string) (int64, error) {
	p := params{ref, store.Sanitize(name)}
	q := `DELETE FROM messaging_template WHERE reference = $1 AND name = $2`
	if language != "" {
		q += ` AND language = ` + p.add(store.Sanitize(language))
	}
	res, err := tx.ExecContext(ctx, q, p...)
	if err != nil {
		return 0, fmt.Errorf("deleting a template: %w", err)
	}
	return res.RowsAffected()
}

// notDeleted is the error of a refused deletion: [ErrNotFound] when our copy,
// too, has no such template.
func (s *Service) notDeleted(ctx context.Context, ref provider.ReferenceID, name, language string, err error) error {
	var rejected *provider.Rejected
	if !errors.As(err, &rejected) {
		return templateRefused(ctx, err)
	}
	var have []string
	found := s.db.SelectContext(ctx, &have, `SELECT language FROM messaging_template WHERE reference = $1 AND name = $2`, ref, store.Sanitize(name))
	if found == nil && len(have) == 0 || language != "" && !slices.Contains(have, store.Sanitize(language)) {
		return ErrNotFound
	}
	return templateRefused(ctx, err)
}

// codeNoTemplate is how the Cloud API says that it has no such template.
const codeNoTemplate = "132001"

// templateRefused is the error of a call about templates that failed.
func templateRefused(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if broken := brokenRules(err); broken != nil {
		return broken
	}
	return networkError(err)
}
