package graphtest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/graph"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

// TestContentsAreChecked: what Meta would refuse is refused with its code.
func TestContentsAreChecked(t *testing.T) {
	t.Parallel()
	fake := graphtest.Start(&graphtest.Options{Numbers: []graphtest.Number{
		{PhoneNumberID: "1", BusinessAccountID: "2", AccessToken: "token"}, {PhoneNumberID: "3", BusinessAccountID: "2", AccessToken: "token"},
	}})
	t.Cleanup(fake.Close)
	mine, others := fake.Files.Put("1", "image/png", []byte("x")), fake.Files.Put("3", "image/png", []byte("x"))
	post := func(body string) (int, string) {
		body = `{"messaging_product":"whatsapp","to":"16505551234",` + body + `}`
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, fake.URL+"/"+graph.Version+"/1/messages", strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer token")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		answer, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res.StatusCode, string(answer)
	}
	buttons := func(title string) string {
		return `"type":"interactive","interactive":{"type":"button","body":{"text":"x"},"action":{"buttons":[{"type":"reply","reply":{"id":"1","title":"` + title + `"}}]}}`
	}
	for code, bodies := range map[string][]string{
		"": {
			`"type":"image","image":{"id":"` + mine + `","caption":"x"}`, `"type":"sticker","sticker":{"link":"https://a.b"}`, buttons("x"),
			`"type":"reaction","reaction":{"message_id":"x","emoji":""}`, `"type":"location","location":{"latitude":0,"longitude":0}`,
			`"type":"contacts","contacts":[{"name":{"formatted_name":"x","first_name":"x"}}]`,
		},
		"131053": {`"type":"image","image":{"id":"` + others + `"}`, `"type":"image","image":{"id":"7"}`},
		"131008": {
			`"type":"image"`, `"type":"image","image":{}`, `"type":"reaction","reaction":{"message_id":"x"}`, `"type":"location","location":{"latitude":0}`,
			`"type":"contacts","contacts":[{"name":{"formatted_name":"x"}}]`, `"type":"contacts"`, `"type":"interactive"`,
		},
		"131009": {buttons(""), buttons(strings.Repeat("x", 21)), `"type":"interactive","interactive":{"type":"list","body":{"text":"x"},"action":{"button":"x","sections":[]}}`},
		"100":    {`"type":"audio","audio":{"id":"` + mine + `","caption":"x"}`, `"type":"image","image":{"link":"https://a.b","filename":"x"}`, `"type":"image","image":{"url":"x"}`},
		"131051": {`"type":"poll"`},
	} {
		for _, body := range bodies {
			status, answer := post(body)
			if code == "" {
				require.Equal(t, 200, status, answer)
				continue
			}
			require.Equal(t, 400, status, body)
			require.Contains(t, answer, `"code":`+code+`,`, body)
		}
	}
}
