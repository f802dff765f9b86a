package messaging_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/sandbox"
)

// directoryKind is the kind of a reference whose network knows who is on it.
const directoryKind provider.Kind = "provider-test-directory"

// directory answers by the last digit: 0 is nobody, 9 is not said, and 8 has
// another number there.
type directory struct {
	testProvider

	mu    sync.Mutex
	asked []string
	err   error
}

func (d *directory) Open(_ context.Context, ref provider.Reference, _ provider.Inbox) (provider.Session, error) {
	return &directorySession{testSession{d.net, ref}, d}, nil
}

type directorySession struct {
	testSession
	d *directory
}

func (s *directorySession) CheckNumber(_ context.Context, who provider.Address) (provider.NumberCheck, error) {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	s.d.asked = append(s.d.asked, who.Phone)
	if s.d.err != nil {
		return provider.NumberCheck{}, s.d.err
	}
	switch who.Phone[len(who.Phone)-1] {
	case '0':
		return provider.NumberCheck{Exists: ptr(false)}, nil
	case '9':
		return provider.NumberCheck{}, nil
	case '8':
		return provider.NumberCheck{Exists: ptr(true), Chat: provider.Address{ChatID: "55" + who.Phone, Phone: "55" + who.Phone}}, nil
	}
	return provider.NumberCheck{Exists: ptr(true), Chat: who}, nil
}

func (d *directory) questions() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.asked)
}

func setupDirectory(t *testing.T, db *sqlx.DB) (*fixture, *directory, provider.ReferenceID) {
	t.Helper()
	d := &directory{testProvider: testProvider{newNetwork(), directoryKind}}
	f := setup(t, db, config{idle: true, options: func(o *messaging.Options) { o.Providers = append(o.Providers, d) }})
	return f, d, f.reference(t, directoryKind)
}

// TestCheckNumber asks once a day.
func TestCheckNumber(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, d, ref := setupDirectory(t, db)
		check := func(phone string) messaging.Number {
			n, err := f.acc.Contacts().CheckNumber(t.Context(), ref, phone)
			require.NoError(t, err, phone)
			return n
		}
		one := messaging.Number{Phone: "491", Exists: ptr(true), ChatID: "491"}
		for _, form := range []string{"491", "+49 1", " (49)-1 "} {
			require.Equal(t, one, check(form))
		}
		require.Equal(t, 1, d.questions())
		require.Equal(t, messaging.Number{Phone: "490", Exists: ptr(false), ChatID: "490"}, check("490"))
		require.Equal(t, messaging.Number{Phone: "498", Exists: ptr(true), ChatID: "55498"}, check("498"))
		require.Equal(t, messaging.Number{Phone: "499", ChatID: "499"}, check("499"))
		check("499")
		require.Equal(t, 5, d.questions(), "what was not said is asked again")
		f.clock.Advance(23 * time.Hour)
		require.NoError(t, f.svc.Prune(t.Context()))
		require.Equal(t, one, check("491"))
		require.Equal(t, 5, d.questions())
		f.clock.Advance(2 * time.Hour)
		require.NoError(t, f.svc.Prune(t.Context()))
		require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_number`))
		require.Equal(t, one, check("491"))
		require.Equal(t, 6, d.questions())

		var bad *messaging.Invalid
		for _, phone := range []string{"", "ana", "1@g.us"} {
			_, err := f.acc.Contacts().CheckNumber(t.Context(), ref, phone)
			require.ErrorAs(t, err, &bad, phone)
			require.Equal(t, "phone", bad.Field)
		}
	})
}

// TestNumbersArePaced refuses more than twenty new numbers a minute.
func TestNumbersArePaced(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, d, ref := setupDirectory(t, db)
		var refused *messaging.Error
		var all sync.WaitGroup
		var mu sync.Mutex
		n := 0
		for i := range 30 {
			all.Go(func() {
				_, err := f.acc.Contacts().CheckNumber(t.Context(), ref, "100"+string(rune('0'+i/10))+string(rune('0'+i%10)))
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					n++
				}
			})
		}
		all.Wait()
		require.Equal(t, 10, n)
		require.Equal(t, 20, d.questions())
		f.clock.Advance(20 * time.Second)
		_, err := f.acc.Contacts().CheckNumber(t.Context(), ref, "2001")
		require.ErrorAs(t, err, &refused)
		require.Equal(t, messaging.CodeRateLimited, refused.Code)
		require.Equal(t, 40*time.Second, refused.After)
		_, err = f.acc.Contacts().CheckNumber(t.Context(), f.reference(t, directoryKind), "2001")
		require.NoError(t, err, "another reference has a rate of its own")
		f.clock.Advance(40 * time.Second)
		_, err = f.acc.Contacts().CheckNumber(t.Context(), ref, "2001")
		require.NoError(t, err)
	})
}

// TestNumbersThatCannotBeChecked says why.
func TestNumbersThatCannotBeChecked(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, d, ref := setupDirectory(t, db)
		code := func(ref provider.ReferenceID) string {
			_, err := f.acc.Contacts().CheckNumber(t.Context(), ref, "491")
			var refused *messaging.Error
			require.ErrorAs(t, err, &refused)
			return refused.Code
		}
		require.Equal(t, messaging.CodeUnsupported, code(f.reference(t, testKind)))
		d.err = &provider.RateLimited{After: time.Minute}
		require.Equal(t, messaging.CodeRateLimited, code(ref))
		d.err = &provider.Rejected{Code: "7", Message: "no"}
		require.Equal(t, messaging.CodeProvider, code(ref))
		_, err := f.acc.Sessions().Logout(t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, messaging.CodeSessionNotConnected, code(ref))

		n, err := f.acc.Contacts().CheckNumber(t.Context(), f.reference(t, sandbox.Kind), "ana")
		require.NoError(t, err)
		require.Equal(t, messaging.Number{Phone: "ana", Exists: ptr(true), ChatID: "ana@sandbox"}, n)
		_, err = f.svc.For("another").Contacts().CheckNumber(t.Context(), ref, "491")
		require.ErrorIs(t, err, messaging.ErrNotFound)
	})
}
