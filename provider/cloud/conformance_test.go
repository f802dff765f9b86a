package cloud_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/provider/providertest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Harness{
		New:     conformanceLine,
		ChatIDs: []string{"+1 (650) 555-1234", "16505551234", "US.40070010020030040055", "120363041234567890@g.us"},
		Junk:    []string{"", "ana", "ana@sandbox", "12", "16505551234@s.whatsapp.net", "1234567890123456789", "us.1"},
	})
}

// conformanceLine is a line with the fake behind it.
func conformanceLine(t *testing.T) providertest.Line {
	fake := graphtest.Start(&graphtest.Options{Lines: []graphtest.Line{fakeLine()}})
	t.Cleanup(fake.Close)
	return providertest.Line{
		Provider:  cloud.New(&cloud.Options{GraphURL: fake.URL, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))}),
		Reference: provider.Reference{ID: 1, Name: "Shop", Settings: settings()},
		Shown: func() []string {
			var texts []string
			for _, m := range fake.Shown("16505551234") {
				texts = append(texts, m.Text)
			}
			return texts
		},
		Fail: func(f providertest.Fault) bool {
			fake.Fail(map[providertest.Fault]graphtest.Fault{
				providertest.RateLimited: {Code: 130429},
				providertest.Window:      {Code: 131047},
				providertest.Expired:     {Code: 190, Subcode: 463, Status: http.StatusUnauthorized},
				providertest.Unreachable: {Code: 131026},
				providertest.Refused:     {Code: 132000},
				providertest.Unavailable: {Code: 2, Status: http.StatusInternalServerError, Transient: true},
				providertest.Lost:        {Cut: true, Taken: true},
				providertest.Hanging:     {Hang: true},
			}[f])
			return true
		},
		Callback: func(t *testing.T, text string) (header http.Header, body []byte) {
			return capture(t, fake, graphtest.Inbound{From: "16505551234", Name: "Ana", Text: text})
		},
	}
}

// capture returns the callback that the fake posts for what a contact writes.
func capture(t *testing.T, fake *graphtest.Server, in graphtest.Inbound) (header http.Header, body []byte) {
	t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		header = r.Header.Clone()
		body, _ = io.ReadAll(r.Body)
	}))
	defer receiver.Close()
	fake.SetCallback(receiver.URL)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := fake.Write(ctx, in)
	require.NoError(t, err)
	return header, body
}
