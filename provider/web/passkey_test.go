package web_test

import (
	"encoding/base64"
	"encoding/json"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"go.mau.fi/whatsmeow/types"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// asked is a reference whose owner was asked for a passkey, and the request.
func asked(t *testing.T, db *sqlx.DB, o webtest.PhoneOptions, byCode bool) (*fixture, *provider.Connection) {
	t.Helper()
	o.Passkey = true
	f := newReference(t, db, &o)
	f.open(t)
	phone := ""
	if byCode {
		phone = f.owner.JID().User
	}
	require.NoError(t, f.session.(provider.Linker).Link(soon(t), phone))
	shown := await(t, f.inbox, func(c *provider.Connection) bool { return c.QR != "" || c.Code != "" })
	var err error
	if byCode {
		_, err = f.owner.EnterCode(soon(t), shown.Code)
	} else {
		_, err = f.owner.Scan(soon(t), shown.QR)
	}
	require.ErrorIs(t, err, webtest.ErrPasskey)
	return f, await(t, f.inbox, func(c *provider.Connection) bool { return c.Passkey != nil })
}

// signed is what the owner's passkey answers to a request.
func (f *fixture) signed(t *testing.T, c *provider.Connection) provider.PasskeyAnswer {
	t.Helper()
	var w types.WebAuthnResponse
	require.NoError(t, json.Unmarshal(f.owner.Passkey().Sign(c.Passkey.Options.Challenge), &w))
	return provider.PasskeyAnswer{
		CredentialID: w.RawID, ClientDataJSON: w.Response.ClientDataJSON, AuthenticatorData: w.Response.AuthenticatorData,
		Signature: w.Response.Signature, UserHandle: *w.Response.UserHandle,
	}
}

// TestPasskey_Links links an account with the answer of its passkey, after a QR code
// and after a code that was typed. The phone knows that the QR code was scanned, so
// that no code is compared.
func TestPasskey_Links(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		for _, byCode := range []bool{false, true} {
			f, request := asked(t, db, webtest.PhoneOptions{}, byCode)
			require.Equal(t, provider.Pairing, request.State)
			require.Equal(t, f.clock.now().Add(5*time.Minute).Unix(), request.Expires.Unix())
			require.Equal(t, "whatsapp.com", request.Passkey.Options.RPID)
			require.Equal(t, "required", request.Passkey.Options.UserVerification)
			require.Len(t, request.Passkey.Options.AllowCredentials, 1)
			answer := f.signed(t, request)
			require.Equal(t, base64.RawURLEncoding.EncodeToString(answer.CredentialID), request.Passkey.Options.AllowCredentials[0].ID)
			require.NoError(t, f.session.(provider.PasskeyLinker).AnswerPasskey(soon(t), answer))
			connected := f.inbox.state(t, provider.Connected)
			require.Equal(t, f.owner.JID().User, connected.Account.ID)
			f.says(t, fake.AddPhone(nil), textMessage("linked"))
		}
	})
}

// TestPasskey_ComparesCodes shows a code when the network wants it compared.
func TestPasskey_ComparesCodes(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, request := asked(t, db, webtest.PhoneOptions{ForgetsHandoff: true}, false)
		linker := f.session.(provider.PasskeyLinker)
		require.NoError(t, linker.AnswerPasskey(soon(t), f.signed(t, request)))
		var rejected *provider.Rejected
		require.ErrorAs(t, linker.ConfirmPasskey(soon(t)), &rejected, "there is no code yet")
		require.NoError(t, linker.AnswerPasskey(soon(t), f.signed(t, request)))
		compare := await(t, f.inbox, func(c *provider.Connection) bool { return c.Passkey != nil && c.Passkey.Code != "" })
		require.Nil(t, compare.Passkey.Options)
		require.Equal(t, f.owner.Passkey().Code(), compare.Passkey.Code)
		require.False(t, f.inbox.has(provider.Connected))
		require.NoError(t, linker.ConfirmPasskey(soon(t)))
		f.inbox.state(t, provider.Connected)
	})
}

// TestPasskey_RefusesOtherAnswers names what is wrong with an answer. What only the
// network can check, it refuses. The right answer is accepted after all of them.
func TestPasskey_RefusesOtherAnswers(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, request := asked(t, db, webtest.PhoneOptions{}, false)
		linker := f.session.(provider.PasskeyLinker)
		other := *request
		other.Passkey = &provider.PasskeyRequest{Options: &provider.PasskeyOptions{Challenge: "b3RoZXI"}}
		for field, answer := range map[string]provider.PasskeyAnswer{
			"credential.response.clientDataJSON": f.signed(t, &other),
			"credential.response.authenticatorData": func() provider.PasskeyAnswer {
				a := f.signed(t, request)
				a.AuthenticatorData[0]++
				return a
			}(),
		} {
			var invalid *provider.Invalid
			require.ErrorAs(t, linker.AnswerPasskey(soon(t), answer), &invalid)
			require.Equal(t, field, invalid.Field)
		}
		forged := f.signed(t, request)
		forged.Signature[len(forged.Signature)-1]++
		var rejected *provider.Rejected
		require.ErrorAs(t, linker.AnswerPasskey(soon(t), forged), &rejected)
		require.NoError(t, linker.AnswerPasskey(soon(t), f.signed(t, request)))
		f.inbox.state(t, provider.Connected)
		require.ErrorAs(t, linker.AnswerPasskey(soon(t), f.signed(t, request)), &rejected, "it is linked")
	})
}

// TestPasskey_Expires ends an attempt for which nobody gives a passkey.
func TestPasskey_Expires(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, request := asked(t, db, webtest.PhoneOptions{}, false)
		f.clock.add(request.Expires.Sub(f.clock.now()))
		require.Equal(t, provider.PasskeyRequired, f.inbox.state(t, provider.Disconnected).Reason)
	})
}
