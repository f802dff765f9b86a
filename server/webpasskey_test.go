package server_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// askedForPasskey links a reference until its owner is asked for a passkey, and
// returns the challenge.
func (c client) askedForPasskey(t *testing.T, ref int, owner *webtest.Phone) string {
	t.Helper()
	_, err := owner.Scan(t.Context(), c.shownQR(t, ref))
	require.ErrorIs(t, err, webtest.ErrPasskey)
	s := c.session(t, ref, func(s map[string]any) bool { return s["passkey"] != nil })
	require.Equal(t, "PAIRING", s["state"])
	require.Nil(t, s["qr"])
	asked := s["passkey"].(map[string]any)
	require.Nil(t, asked["code"])
	require.NotZero(t, asked["expiresAt"])
	options := asked["options"].(map[string]any)
	require.Equal(t, "whatsapp.com", options["rpId"])
	return options["challenge"].(string)
}

// answerPasskey answers with a credential.
func (c client) answerPasskey(t *testing.T, ref int, credential []byte) answer {
	t.Helper()
	return c.call(t, "POST", "/reference/session/passkey", fmt.Sprintf(`{"reference":%d,"credential":%s}`, ref, credential))
}

func (c client) confirmPasskey(t *testing.T, ref int) answer {
	t.Helper()
	return c.call(t, "POST", "/reference/session/passkey", fmt.Sprintf(`{"reference":%d,"confirmed":true}`, ref))
}

// TestWebPasskey links a reference whose owner has a passkey.
func TestWebPasskey(t *testing.T) {
	t.Parallel()
	fake, ana := withWeb(t)
	ref := ana.reference(t, `{"name":"Shop","type":"provider-web"}`)
	owner := fake.AddPhone(&webtest.PhoneOptions{Passkey: true})
	early := ana.answerPasskey(t, ref, owner.Passkey().Sign("x")).json(409)
	require.Equal(t, "conflict", early["code"])
	challenge := ana.askedForPasskey(t, ref, owner)

	refused := func(a answer, code int, location string) {
		t.Helper()
		p := a.json(code)
		require.Equal(t, location, p["errors"].([]any)[0].(map[string]any)["location"], p)
	}
	good := owner.Passkey().Sign(challenge)
	changed := func(member, to string) []byte {
		var credential map[string]any
		require.NoError(t, json.Unmarshal(good, &credential))
		of, name := credential, member
		if inner, ok := strings.CutPrefix(member, "response."); ok {
			of, name = credential["response"].(map[string]any), inner
		}
		of[name] = to
		out, err := json.Marshal(credential)
		require.NoError(t, err)
		return out
	}
	refused(ana.answerPasskey(t, ref, changed("response.signature", "no base64!")), 422, "body.credential.response.signature")
	refused(ana.answerPasskey(t, ref, changed("id", "b3RoZXI")), 422, "body.credential.id")
	refused(ana.answerPasskey(t, ref, changed("type", "password")), 422, "body.credential.type")
	refused(ana.answerPasskey(t, ref, changed("response.authenticatorData", "b3RoZXI")), 422, "body.credential.response.authenticatorData")
	refused(ana.answerPasskey(t, ref, owner.Passkey().Sign("b3RoZXI")), 422, "body.credential.response.clientDataJSON")
	refused(ana.call(t, "POST", "/reference/session/passkey", fmt.Sprintf(`{"reference":%d}`, ref)), 422, "body.credential")
	require.Equal(t, "provider_error", ana.answerPasskey(t, ref, changed("response.signature", "b3RoZXI")).json(502)["code"])
	ana.confirmPasskey(t, ref).json(409)

	ana.answerPasskey(t, ref, good).json(200)
	s := ana.session(t, ref, func(s map[string]any) bool { return s["state"] == "CONNECTED" })
	require.NotContains(t, s, "passkey")
	require.Equal(t, owner.JID().User, s["account"].(map[string]any)["id"])
	ana.answerPasskey(t, ref, good).json(409)
	require.Equal(t, "unsupported", ana.answerPasskey(t, ana.sandbox(t), good).json(422)["code"])
	require.Empty(t, fake.Unknown())
}

// TestPasskeyScript runs the script of the guide on the page of a browser that asks the
// owner's passkey, and links the reference with what it prints.
func TestPasskeyScript(t *testing.T) {
	t.Parallel()
	fake, ana := withWeb(t)
	ref := ana.reference(t, `{"name":"Shop","type":"provider-web"}`)
	owner := fake.AddPhone(&webtest.PhoneOptions{Passkey: true})
	challenge := ana.askedForPasskey(t, ref, owner)
	options, err := json.Marshal(ana.session(t, ref, func(map[string]any) bool { return true })["passkey"].(map[string]any)["options"])
	require.NoError(t, err)
	page := fmt.Sprintf(`
		const signed = %s, challenge = %q;
		globalThis.PublicKeyCredential = { parseRequestOptionsFromJSON: (o) => ({ ...o, challenge: Buffer.from(o.challenge, "base64url") }) };
		Object.defineProperty(globalThis, "navigator", { value: { credentials: { get: async ({ publicKey }) => {
			if (publicKey.challenge.toString("base64url") !== challenge || publicKey.rpId !== "whatsapp.com") throw new Error("not asked for");
			return { toJSON: () => signed };
		} } } });
	`, owner.Passkey().Sign(challenge), challenge)
	script := testkit.ReadGuide(t, "../docs/whatsapp-web.md").Block(t, "passkey", `{"challenge": "…"}`, string(options))
	printed, err := exec.CommandContext(t.Context(), testkit.Program(t, "node"), programFile(t, "page.mjs", page+script)).Output()
	require.NoError(t, err)
	ana.answerPasskey(t, ref, printed).json(200)
	ana.session(t, ref, func(s map[string]any) bool { return s["state"] == "CONNECTED" })
}

// TestWebPasskeyCode links a reference after its owner has compared a code.
func TestWebPasskeyCode(t *testing.T) {
	t.Parallel()
	fake, ana := withWeb(t)
	ref := ana.reference(t, `{"name":"Shop","type":"provider-web"}`)
	owner := fake.AddPhone(&webtest.PhoneOptions{Passkey: true, ForgetsHandoff: true})
	good := owner.Passkey().Sign(ana.askedForPasskey(t, ref, owner))
	ana.answerPasskey(t, ref, good).json(200)
	ana.answerPasskey(t, ref, good).json(200)
	s := ana.session(t, ref, func(s map[string]any) bool { return s["passkey"].(map[string]any)["code"] != nil })
	require.Equal(t, owner.Passkey().Code(), s["passkey"].(map[string]any)["code"])
	require.Nil(t, s["passkey"].(map[string]any)["options"])
	ana.confirmPasskey(t, ref).json(200)
	ana.session(t, ref, func(s map[string]any) bool { return s["state"] == "CONNECTED" })
	require.Empty(t, fake.Unknown())
}
