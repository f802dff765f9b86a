package messaging_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

const templateKind provider.Kind = "provider-test-templates"

// approver is a network that approves templates. Its pages hold one each.
type approver struct {
	testProvider

	mu      sync.Mutex
	list    []provider.TemplateInfo
	fetches int
	during  func() // called once, while a list is fetched
	err     error
	deletes bool // templates, as real networks do
}

func newApprover() *approver {
	return &approver{testProvider: testProvider{newNetwork(), templateKind}}
}

func (a *approver) Open(ctx context.Context, ref provider.Reference, inbox provider.Inbox) (provider.Session, error) {
	s, err := a.testProvider.Open(ctx, ref, inbox)
	return &approverSession{s.(*testSession), a}, err
}

// put adds or replaces a template with one variable.
func (a *approver) put(name, language, status string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = slices.DeleteFunc(a.list, func(t provider.TemplateInfo) bool { return t.Name == name && t.Language == language })
	a.list = append(a.list, provider.TemplateInfo{
		TemplateDefinition: provider.TemplateDefinition{
			Name: name, Language: language, Category: "UTILITY", ParameterFormat: "positional",
			Components: []json.RawMessage{json.RawMessage(`{"type":"BODY","text":"Hello {{1}}"}`)},
		},
		ID: name + "." + language, Status: provider.TemplateStatusOf(status), ProviderStatus: status,
	})
}

func (a *approver) fetched() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.fetches
}

type approverSession struct {
	*testSession
	a *approver
}

func (s *approverSession) Templates(_ context.Context, cursor string) ([]provider.TemplateInfo, string, error) {
	s.a.mu.Lock()
	defer s.a.mu.Unlock()
	at := 0
	if cursor == "" {
		s.a.fetches++
	} else if _, err := fmt.Sscan(cursor, &at); err != nil {
		return nil, "", err
	}
	if s.a.err != nil {
		return nil, "", s.a.err
	}
	if during := s.a.during; during != nil {
		s.a.during = nil
		page := slices.Clone(s.a.list)
		s.a.mu.Unlock()
		during()
		s.a.mu.Lock()
		return page, "", nil
	}
	if at >= len(s.a.list) {
		return nil, "", nil
	}
	next := ""
	if at+1 < len(s.a.list) {
		next = fmt.Sprint(at + 1)
	}
	return s.a.list[at : at+1], next, nil
}

func (s *approverSession) CreateTemplate(_ context.Context, t provider.TemplateDefinition) (provider.TemplateInfo, error) {
	s.a.put(t.Name, t.Language, "PENDING")
	return provider.TemplateInfo{TemplateDefinition: t, ID: t.Name + "." + t.Language, Status: provider.TemplatePending, ProviderStatus: "PENDING"}, nil
}

func (s *approverSession) DeleteTemplate(_ context.Context, name, language string) error {
	s.a.mu.Lock()
	defer s.a.mu.Unlock()
	if !s.a.deletes {
		return &provider.Rejected{Code: "100", Message: "No"}
	}
	s.a.list = slices.DeleteFunc(s.a.list, func(t provider.TemplateInfo) bool { return t.Name == name && t.Language == language })
	return nil
}

// reviewed is news of an English template.
func reviewed(name, status string, at time.Time) *provider.TemplateChange {
	return &provider.TemplateChange{
		Raw: provider.Raw{
			ID: fmt.Sprint(name, status, at), Kind: "template_status", Body: json.RawMessage(`{}`),
		},
		TemplateID: name + ".en", Name: name, Language: "en", At: at, Status: status,
	}
}

// statuses are the templates of a reference as "name/language:STATUS".
func (f *fixture) statuses(t testing.TB, ref provider.ReferenceID) []string {
	t.Helper()
	p, err := f.acc.Templates().List(t.Context(), ref, messaging.TemplateFilter{}, messaging.List{Limit: 200})
	require.NoError(t, err)
	out := []string{}
	for _, v := range p.Items {
		out = append(out, v.Name+"/"+v.Language+":"+v.ProviderStatus)
	}
	slices.Sort(out)
	return out
}

// TestTemplateCopy follows a copy through fetches and news.
func TestTemplateCopy(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		a := newApprover()
		f := setup(t, db, config{options: func(o *messaging.Options) { o.Providers = append(o.Providers, a) }})
		ref := f.reference(t, templateKind)
		a.put("one", "en", "APPROVED")
		a.put("two", "en", "APPROVED")
		require.Equal(t, []string{"one/en:APPROVED", "two/en:APPROVED"}, f.statuses(t, ref), "all pages, at the first request")
		require.Equal(t, 1, a.fetched())

		// News counts at once; what comes late has the network asked.
		f.receive(t, ref, reviewed("one", "PAUSED", epoch.Add(time.Minute)))
		require.Equal(t, []string{"one/en:PAUSED", "two/en:APPROVED"}, f.statuses(t, ref))
		require.Equal(t, 1, a.fetched())
		a.put("one", "en", "DISABLED")
		f.receive(t, ref, reviewed("one", "APPROVED", epoch))
		f.until(t, "it is fetched", func() bool { return a.fetched() == 2 })
		f.until(t, "the network has the word", func() bool { return f.statuses(t, ref)[0] == "one/en:DISABLED" })

		// Every six hours it is fetched again; what is gone is gone.
		a.mu.Lock()
		a.list = a.list[:1]
		a.mu.Unlock()
		f.clock.Advance(6*time.Hour + time.Second)
		f.until(t, "it is fetched", func() bool { return a.fetched() == 3 && len(f.statuses(t, ref)) == 1 })

		// News that comes while a list is fetched is newer than the list.
		a.mu.Lock()
		a.during = func() {
			f.clock.Advance(time.Second)
			f.receive(t, ref, reviewed("two", "PAUSED", f.clock.Now()))
		}
		a.mu.Unlock()
		f.clock.Advance(6*time.Hour + time.Second)
		f.until(t, "it is fetched", func() bool { return a.fetched() == 4 })
		f.until(t, "the news stays", func() bool {
			return slices.Equal(f.statuses(t, ref), []string{"two/en:PAUSED"})
		})

		// A fetch that fails is tried again after five minutes.
		a.mu.Lock()
		a.err = &provider.Temporary{Err: context.DeadlineExceeded}
		a.mu.Unlock()
		f.clock.Advance(6*time.Hour + time.Second)
		f.until(t, "it is tried", func() bool { return a.fetched() == 5 })
		require.Equal(t, []string{"two/en:PAUSED"}, f.statuses(t, ref), "the copy serves on")
		a.mu.Lock()
		a.err = nil
		a.mu.Unlock()
		f.clock.Advance(5*time.Minute + time.Second)
		f.until(t, "it is tried again", func() bool { return a.fetched() == 6 })
	})
}

// TestTemplateCopy_DeletedMeanwhile deletes a template while a list is fetched that
// still has it. The next fetch fails, so that nothing else corrects the copy.
func TestTemplateCopy_DeletedMeanwhile(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		a := newApprover()
		a.deletes = true
		f := setup(t, db, config{options: func(o *messaging.Options) { o.Providers = append(o.Providers, a) }})
		ref := f.reference(t, templateKind)
		a.put("one", "en", "APPROVED")
		a.put("two", "en", "APPROVED")
		require.Equal(t, []string{"one/en:APPROVED", "two/en:APPROVED"}, f.statuses(t, ref))
		a.put("two", "en", "PAUSED")
		a.mu.Lock()
		a.during = func() {
			f.clock.Advance(time.Second)
			require.NoError(t, f.acc.Templates().Delete(t.Context(), ref, "one", "en"))
			f.clock.Advance(time.Second)
			a.mu.Lock()
			defer a.mu.Unlock()
			a.err = &provider.Temporary{Err: context.DeadlineExceeded}
		}
		a.mu.Unlock()
		f.clock.Advance(6*time.Hour + time.Second)
		f.until(t, "it is fetched, and again because of the deletion", func() bool { return a.fetched() == 3 })
		require.Equal(t, []string{"two/en:PAUSED"}, f.statuses(t, ref), "what is deleted does not come back, and the rest is kept")
	})
}

// TestTemplateSend sends by Tx and by call, with and without a copy.
func TestTemplateSend(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		a := newApprover()
		f := setup(t, db, config{options: func(o *messaging.Options) { o.Providers = append(o.Providers, a) }})
		ref := f.reference(t, templateKind)
		send := func(name, parameters string) error {
			c := provider.Template{Template: provider.TemplateCall{
				Name: name, Language: provider.TemplateLanguage{Code: "en"},
				Components: []json.RawMessage{json.RawMessage(`{"type":"body","parameters":[` + parameters + `]}`)},
			}}
			req := messaging.SendRequest{Reference: ref, ChatID: "111", Content: c, Wait: timeout}
			_, err := f.acc.Send(t.Context(), req)
			tx := db.MustBeginTx(t.Context(), nil)
			defer tx.Rollback() //nolint:errcheck // it is to be undone
			_, inTx := f.acc.SendTx(t.Context(), tx, req)
			require.Equal(t, err, inTx)
			return err
		}
		require.NoError(t, send("unknown", ""), "without a copy the network has the word")
		a.put("one", "en", "APPROVED")
		f.statuses(t, ref)
		requireInvalid(t, send("unknown", ""), "message.template.name")
		requireInvalid(t, send("one", ""), "message.template.components[0].parameters[0]")
		require.NoError(t, send("one", `{"type":"text","text":"Ana"}`))
		require.Equal(t, "Hello Ana", f.messages(t, ref, "111")[0].Text)
		f.receive(t, ref, reviewed("one", "REJECTED", epoch))
		requireInvalid(t, send("one", `{"type":"text","text":"Ana"}`), "message.template.name")

		// What is made here is known here, before the network reports it.
		made, err := f.acc.Templates().Create(t.Context(), ref, provider.TemplateDefinition{Name: "new", Language: "en", Category: "UTILITY"})
		require.NoError(t, err)
		require.Equal(t, "PENDING", made.Status)
		require.Contains(t, f.statuses(t, ref), "new/en:PENDING")
		refused := requireCode(t, f.acc.Templates().Delete(t.Context(), ref, "new", ""), messaging.CodeProvider)
		require.Equal(t, "No", refused.Message)
		require.ErrorIs(t, f.acc.Templates().Delete(t.Context(), ref, "nothing", ""), messaging.ErrNotFound)
	})
}
