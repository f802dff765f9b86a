package messaging_test

import (
	"context"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

func (s *wireSession) AnswerPasskey(_ context.Context, a provider.PasskeyAnswer) error {
	return s.call("passkey " + string(a.Signature))
}

func (s *wireSession) ConfirmPasskey(context.Context) error { return s.call("confirm") }

// credential is a signature by the passkey "key".
func credential() messaging.PasskeyCredential {
	return messaging.PasskeyCredential{
		ID: "a2V5", RawID: "a2V5", Type: "public-key",
		Response: messaging.PasskeyAssertion{ClientDataJSON: "e30", AuthenticatorData: "eA", Signature: "c2lnbmVk"},
	}
}

// asksPasskey makes the network ask for a passkey, or to compare a code.
func (w *wire) asksPasskey(t *testing.T, f *fixture, ref provider.ReferenceID, p *provider.PasskeyRequest) {
	t.Helper()
	require.NoError(t, w.session(ref).report(t.Context(), &provider.Connection{State: provider.Pairing, Passkey: p, Expires: f.clock.Now().Add(time.Minute)}))
}

// TestPasskey_IsShownAndAnswered shows what the network asks for by status and
// stream, until it is answered or too old.
func TestPasskey_IsShownAndAnswered(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		w := newWire()
		f := node(t, db, w, true)
		ref := f.reference(t, kindWire)
		_, err := f.acc.Sessions().Start(t.Context(), ref)
		require.NoError(t, err)
		f.awaitState(t, ref, messaging.StatePairing)
		refused := func(err error, code string) {
			t.Helper()
			r, _ := messaging.Refused(err)
			require.Equal(t, code, r.Code, err)
		}
		answer := func() error {
			_, err := f.acc.Sessions().AnswerPasskey(t.Context(), ref, credential())
			return err
		}
		confirm := func() error {
			_, err := f.acc.Sessions().ConfirmPasskey(t.Context(), ref)
			return err
		}
		refused(answer(), messaging.CodeConflict)

		options := &provider.PasskeyOptions{Challenge: "Y2g", RPID: "example.org", AllowCredentials: []provider.PasskeyCredential{}}
		news := len(f.news(t, "session"))
		w.asksPasskey(t, f, ref, &provider.PasskeyRequest{Options: options})
		require.Len(t, f.news(t, "session"), news+1, "the stream has it")
		s, err := f.acc.Sessions().Status(t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, options, s.Passkey.Options)
		require.Nil(t, s.Passkey.Code)
		require.Nil(t, s.QR)
		refused(confirm(), messaging.CodeConflict)
		require.NoError(t, answer())
		require.Equal(t, 1, w.called("passkey signed"))
		w.refuse(&provider.Invalid{Field: "credential.response.clientDataJSON", Message: "is another"})
		requireInvalid(t, answer(), "credential.response.clientDataJSON")
		w.refuse(&provider.Rejected{Code: "refused", Message: "No."})
		refused(answer(), messaging.CodeProvider)
		w.refuse(nil)

		w.asksPasskey(t, f, ref, &provider.PasskeyRequest{Code: "ABCD-1234"})
		s, err = f.acc.Sessions().Status(t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, "ABCD-1234", *s.Passkey.Code)
		refused(answer(), messaging.CodeConflict)
		require.NoError(t, confirm())
		require.Equal(t, 1, w.called("confirm"))
		_, err = f.svc.For("another").Sessions().ConfirmPasskey(t.Context(), ref)
		require.ErrorIs(t, err, messaging.ErrNotFound)

		f.clock.Advance(time.Minute)
		refused(confirm(), messaging.CodeConflict)
		w.asksPasskey(t, f, ref, &provider.PasskeyRequest{Code: "ABCD-1234"})
		require.NoError(t, w.scan(t.Context(), ref))
		require.Nil(t, f.awaitState(t, ref, messaging.StateConnected).Passkey)

		_, err = f.acc.Sessions().ConfirmPasskey(t.Context(), f.reference(t, testKind))
		refused(err, messaging.CodeUnsupported)
	})
}

// TestPasskey_RefusesMalformedCredentials names each member that cannot be read.
func TestPasskey_RefusesMalformedCredentials(t *testing.T) {
	t.Parallel()
	f := setup(t, testkit.Open(t, testkit.SQLiteURL(t)), config{idle: true})
	for field, change := range map[string]func(*messaging.PasskeyCredential){
		"credential.id":                         func(c *messaging.PasskeyCredential) { c.ID = "b3RoZXI" },
		"credential.rawId":                      func(c *messaging.PasskeyCredential) { c.ID, c.RawID = "", "" },
		"credential.type":                       func(c *messaging.PasskeyCredential) { c.Type = "password" },
		"credential.response.clientDataJSON":    func(c *messaging.PasskeyCredential) { c.Response.ClientDataJSON = "e30=" },
		"credential.response.authenticatorData": func(c *messaging.PasskeyCredential) { c.Response.AuthenticatorData = "+/" },
		"credential.response.signature":         func(c *messaging.PasskeyCredential) { c.Response.Signature = "" },
		"credential.response.userHandle":        func(c *messaging.PasskeyCredential) { c.Response.UserHandle = "!" },
	} {
		c := credential()
		change(&c)
		_, err := f.acc.Sessions().AnswerPasskey(t.Context(), 1, c)
		requireInvalid(t, err, field)
	}
}
