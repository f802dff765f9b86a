package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// TestWebFormats links a reference, for which receivers in the formats of three other
// projects get events: the code to scan first, then that the reference is connected.
func TestWebFormats(t *testing.T) {
	t.Parallel()
	r := newWebEnv(t)
	n := r.launch(t, "--data", t.TempDir())
	r.balancer.open(n)
	r.signUp(t)
	ref := int(r.call(t, 201, "POST", "/reference", `{"name":"Shop","type":"provider-web"}`)["id"].(float64))
	received := map[string]chan map[string]any{}
	for _, format := range []string{"evolution", "waha", "wuzapi"} {
		got := make(chan map[string]any, 100)
		receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
			var body map[string]any
			if raw, err := io.ReadAll(req.Body); err == nil && json.Unmarshal(raw, &body) == nil {
				got <- body
			}
		}))
		t.Cleanup(receiver.Close)
		received[format] = got
		r.call(t, 201, "POST", "/references/registerWebHook",
			fmt.Sprintf(`{"reference":%d,"webhook":%q,"format":%q,"events":["session"]}`, ref, receiver.URL, format))
	}
	// await is the first body with this event, or of this type.
	await := func(format, event string, fits func(map[string]any) bool) map[string]any {
		t.Helper()
		for {
			select {
			case body := <-received[format]:
				if (body["event"] == event || body["type"] == event) && fits(body) {
					return body
				}
			case <-within(t).Done():
				require.Fail(t, "nothing came", "%s %s", format, event)
			}
		}
	}
	always := func(map[string]any) bool { return true }
	status := func(want string) func(map[string]any) bool {
		return func(body map[string]any) bool { return body["payload"].(map[string]any)["status"] == want }
	}

	r.call(t, 200, "POST", "/reference/session/start", fmt.Sprintf(`{"reference":%d,"method":"qr"}`, ref))
	qr := await("evolution", "qrcode.updated", always)["data"].(map[string]any)["qrcode"].(map[string]any)
	require.Equal(t, "Shop", qr["instance"])
	require.Contains(t, qr["base64"], "data:image/png;base64,")
	require.Contains(t, await("wuzapi", "QR", always)["qrCodeBase64"], "data:image/png;base64,")
	await("waha", "session.status", status("SCAN_QR_CODE"))

	owner := r.fake.AddPhone(&webtest.PhoneOptions{Name: "Our shop"})
	device, err := owner.Scan(within(t), qr["code"].(string))
	require.NoError(t, err, "the code that was told is the one to scan")
	require.NoError(t, device.AwaitActive(within(t)))
	open := await("evolution", "connection.update", func(body map[string]any) bool { return body["data"].(map[string]any)["state"] == "open" })
	require.Equal(t, number(owner)+"@s.whatsapp.net", open["data"].(map[string]any)["wuid"])
	require.Equal(t, number(owner)+"@s.whatsapp.net", open["sender"])
	working := await("waha", "session.status", status("WORKING"))
	require.Equal(t, number(owner)+"@c.us", working["me"].(map[string]any)["id"])
	await("wuzapi", "Connected", always)
	n.terminate(t)
}
