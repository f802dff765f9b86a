package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/graph"
)

// outcome names the provider error that err is.
func outcome(err error) string { return strings.TrimPrefix(fmt.Sprintf("%T", err), "*provider.") }

func TestOutcomesOfCodes(t *testing.T) {
	t.Parallel()
	for want, codes := range map[string][]string{
		"AuthExpired":  {"0", "3", "10", "104", "131005", "190", "190/458", "190/460", "190/463", "190/467", "200", "230", "299"},
		"RateLimited":  {"4", "17", "32", "613", "80007", "80004", "130429", "131048", "131056", "131064", "133016"},
		"Temporary":    {"1", "2", "1200", "131000", "131016", "131057", "133004", "133015", "135000"},
		"WindowClosed": {"131047", "10/2018278", "10/2534022", "10/2018065"},
		"BadRecipient": {"131026", "131030", "131021", "130403", "551/1545041", "200/1545041", "100/2018001", "10/2018108"},
		"Rejected": {
			"33", "100", "100/33", "368", "803", "36000", "10/2018300", "130472", "130497", "131008", "131009", "131031", "131037",
			"131042", "131049", "131050", "131051", "131053", "131062", "132000", "132001", "132018", "133010", "137000", "138000", "147001", "999999",
			"131044", "131045", "131052", "131055", "131060", "131063", "132005", "132007", "132008", "132012", "132015", "132016", "132068", "132069",
			"133000", "133005", "133006", "133008", "133009", "136024", "136025", "138018", "139000", "139004", "139100", "139103", "147005",
			"2388019", "2388039", "2388040", "2388047", "2388072", "2388073", "2388293", "2388299", "100/2388040", "2593107", "2593108", "2593109",
		},
	} {
		for _, code := range codes {
			t.Run(code, func(t *testing.T) {
				t.Parallel()
				number, sub, _ := strings.Cut(code, "/")
				if sub == "" {
					sub = "0"
				}
				err := answering(t, 400, nil, `{"error":{"message":"m","code":`+number+`,"error_subcode":`+sub+`}}`).Post(t.Context(), "x", nil, nil)
				require.Equal(t, want, outcome(graph.SendError(err)))
				require.Equal(t, want, outcome(graph.CallError(err)))
			})
		}
	}
}

func TestOutcomesOfStatuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status     int
		body, want string
	}{
		{400, `nothing`, "Rejected"},
		{401, `{}`, "AuthExpired"},
		{404, `<html>`, "Rejected"},
		{408, ``, "Temporary"},
		{429, `slow down`, "RateLimited"},
		{302, ``, "Temporary"},
		{500, `<html>`, "Ambiguous"},
		{502, ``, "Ambiguous"},
		{503, `{"error":{"message":"m","code":999999}}`, "Ambiguous"},
		{503, `{"error":{"message":"m","code":999999,"is_transient":true}}`, "Temporary"},
		{500, `{"error":{"message":"m","code":2}}`, "Temporary"},
		{200, `{"error":{"message":"m","code":999999}}`, "Rejected"},
		{200, `no json`, "Ambiguous"},
		{200, ``, "Ambiguous"},
	} {
		t.Run(fmt.Sprint(c.status, c.body), func(t *testing.T) {
			t.Parallel()
			var out struct{}
			err := answering(t, c.status, nil, c.body).Post(t.Context(), "x", nil, &out)
			require.Equal(t, c.want, outcome(graph.SendError(err)), "%v", err)
			if c.want == "Ambiguous" {
				require.Equal(t, "Temporary", outcome(graph.CallError(err)))
			}
		})
	}
	require.NoError(t, graph.SendError(nil))
	require.NoError(t, graph.CallError(nil))
}
