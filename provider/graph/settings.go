package graph

import (
	"fmt"
	"strings"

	"github.com/trunklinehq/trunkline/provider"
)

// The names of the settings that every line of the Graph API has.
const (
	AccessToken = "accessToken"
	AppSecret   = "appSecret"
	VerifyToken = "verifyToken"
)

// Credentials describes those settings, after those of a kind's own; tokenDoc
// says what token is wanted.
func Credentials(tokenDoc string, own ...provider.Setting) []provider.Setting {
	return append(own,
		provider.Setting{Name: AccessToken, Doc: tokenDoc, Required: true, Secret: true},
		provider.Setting{Name: AppSecret, Doc: "The secret of the app; it signs the callbacks.", Required: true, Secret: true},
		provider.Setting{Name: VerifyToken, Doc: "A word of your choice that the app's dashboard asks for beside the callback's address.", Required: true, Secret: true},
	)
}

// Trimmed returns settings without the space that people paste around them. A
// setting that is missing, or that cannot be an id, is an error.
func Trimmed(described []provider.Setting, s provider.Settings) (provider.Settings, error) {
	out := provider.Settings{}
	for _, d := range described {
		v := strings.TrimSpace(s[d.Name])
		switch {
		case v == "" && d.Required:
			return nil, fmt.Errorf("setting %s is missing", d.Name)
		case d.Digits && strings.Trim(v, "0123456789") != "":
			return nil, fmt.Errorf("setting %s must be digits", d.Name)
		}
		out[d.Name] = v
	}
	return out, nil
}

// Secrets returns the app's secret and the token of the handshake.
func Secrets(s provider.Settings) (signing, verify string) {
	return strings.TrimSpace(s[AppSecret]), strings.TrimSpace(s[VerifyToken])
}
