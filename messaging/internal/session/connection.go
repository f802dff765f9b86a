package session

import (
	"cmp"
	"encoding/base64"
	"encoding/json"

	"rsc.io/qr"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// ApplyConnection makes the session say what the provider said.
func ApplyConnection(r *store.Reference, c *provider.Connection, node string, u *store.Batch) {
	now := database.Micros(u.Now)
	r.QR, r.PairingCode, r.PairingUS, r.Node = text.Sanitize(c.QR), text.Sanitize(c.Code), database.Micros(c.Expires), node
	r.Passkey = ""
	if c.Passkey != nil {
		r.Passkey = string(payload.MustEncode(c.Passkey))
	}
	switch c.State {
	case provider.Connecting:
		if r.State != payload.StateConnected && r.State != payload.StateReconnecting {
			r.State = payload.StateStarting
			break
		}
		r.State = payload.StateReconnecting // another node has had it
	case provider.Reconnecting:
		r.State = payload.StateReconnecting
	case provider.Pairing:
		r.State = payload.StatePairing
	case provider.Connected:
		MarkConnected(r, now)
		r.Proved = true
	case provider.LoggedOut:
		r.State, r.Node = payload.StateLoggedOut, ""
	case provider.Disconnected:
		r.State, r.Node = payload.StateFailed, ""
	}
	if r.State != payload.StateConnected && r.State != payload.StateReconnecting {
		r.ConnectedUS = 0
	}
	if a := c.Account; a != nil {
		r.RemoteID, r.RemoteName, r.RemoteBiz = text.Sanitize(a.ID), text.Sanitize(a.Name), text.Sanitize(a.VerifiedBizName)
	}
	if c.Reason != "" {
		r.ErrorCode, r.ErrorMessage = text.Sanitize(string(c.Reason)), cmp.Or(text.Sanitize(c.Detail), NoReason)
		r.ErrorUS, r.ErrorRetryUS = cmp.Or(database.Micros(c.At), now), database.Micros(c.Until)
	}
}

// qrView is a code that can still be scanned.
func qrView(r *store.Reference, nowUS int64) *payload.QR {
	if r.QR == "" || r.PairingUS <= nowUS {
		return nil
	}
	code, err := qr.Encode(r.QR, qr.L)
	if err != nil {
		return nil // too long for a code
	}
	return &payload.QR{
		Code: r.QR, Image: "data:image/png;base64," + base64.StdEncoding.EncodeToString(code.PNG()),
		ExpiresAt: payload.TimeOf(r.PairingUS),
	}
}

// passkeyView is a request for a passkey that can still be answered.
func passkeyView(r *store.Reference, nowUS int64) *payload.Passkey {
	var asked provider.PasskeyRequest
	if r.Passkey == "" || r.PairingUS <= nowUS || json.Unmarshal([]byte(r.Passkey), &asked) != nil {
		return nil
	}
	out := &payload.Passkey{Options: asked.Options, ExpiresAt: payload.TimeOf(r.PairingUS)}
	if asked.Code != "" {
		out.Code = &asked.Code
	}
	return out
}
