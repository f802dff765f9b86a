package template

import (
	"encoding/json"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Row is a template as its table has it.
type Row struct {
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
	ReportedUS     int64                   `db:"reported_us"` // the latest news of it was of then, by its network's clock; 0: it was only listed
	UpdatedUS      int64                   `db:"updated_us"`
}

// Columns are the columns of [Row].
const Columns = `seq, reference, id, name, language, category, format, components, status, provider_status, reason, quality,
	reported_us, updated_us`

// View is the template as users see it.
func (r *Row) View() payload.Template {
	return payload.Template{
		ID: r.ID, Reference: r.Reference, Name: r.Name, Category: r.Category, Language: r.Language, Components: r.components(),
		Status: string(r.Status), ProviderStatus: r.ProviderStatus, Reason: orNull(r.Reason), Quality: orNull(r.Quality),
		UpdatedAt: payload.TimeOf(r.UpdatedUS),
	}
}

func (r *Row) components() []json.RawMessage {
	out := []json.RawMessage{}
	_ = json.Unmarshal([]byte(r.Components), &out) // written by this package
	return out
}

// RowOf is what a network says of a template, as a row.
func RowOf(ref provider.ReferenceID, t provider.TemplateInfo) *Row {
	components := []json.RawMessage{}
	for _, c := range t.Components {
		if json.Valid(c) {
			components = append(components, c)
		}
	}
	return &Row{
		Reference: ref, ID: text.Sanitize(t.ID), Name: text.Sanitize(t.Name), Language: text.Sanitize(t.Language), Category: text.Sanitize(t.Category),
		Format: text.Sanitize(t.ParameterFormat), Components: text.Sanitize(string(jsonscan.WithoutNUL(payload.MustEncode(components)))), Status: t.Status,
		ProviderStatus: text.Sanitize(t.ProviderStatus), Reason: text.Sanitize(t.Reason), Quality: text.Sanitize(t.Quality),
	}
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// ApplyChange takes over what a report says.
func (r *Row) ApplyChange(e *provider.TemplateChange, at, now int64) {
	if e.Status != "" {
		r.Status, r.ProviderStatus = provider.TemplateStatusOf(text.Sanitize(e.Status)), text.Sanitize(e.Status)
		r.Reason = text.Sanitize(JoinWords(e.Reason, e.Advice))
	}
	if e.Quality != "" {
		r.Quality = text.Sanitize(e.Quality)
	}
	if e.Category != "" {
		r.Category = text.Sanitize(e.Category)
	}
	r.ReportedUS, r.UpdatedUS = at, now
}

// JoinWords joins two texts of which either may be missing.
func JoinWords(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ": " + b
}

// Key is what a template is known by on its reference.
type Key struct{ name, language string }

// Key is what the template is known by.
func (r *Row) Key() Key { return Key{r.Name, r.Language} }
