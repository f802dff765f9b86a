package graph

import (
	"fmt"
	"strings"

	"github.com/trunklinehq/trunkline/provider"
)

// The names of the settings of all references of the Graph API.
const (
	AccessToken = "accessToken"
	AppSecret   = "appSecret"
	VerifyToken = "verifyToken"
)

// Credentials describes these settings, after those of the kind. tokenDoc says
// which token is needed.
func Credentials(tokenDoc string, own ...provider.Setting) []provider.Setting {
	return append(own,
		provider.Setting{Name: AccessToken, Doc: tokenDoc, Required: true, Secret: true},
		provider.Setting{Name: AppSecret, Doc: "The secret of the app; it signs the callbacks. Without it, and without one for all references, callbacks are refused.", Secret: true},
		provider.Setting{Name: VerifyToken, Doc: "A word of your choice that the app's dashboard asks for beside the callback's address.", Secret: true},
	)
}

// Defaults returns the settings of an app for all references that do not have
// their own; "" means none.
func Defaults(appSecret, verifyToken string) provider.Settings {
	out := provider.Settings{}
	for name, value := range map[string]string{AppSecret: appSecret, VerifyToken: verifyToken} {
		if value = strings.TrimSpace(value); value != "" {
			out[name] = value
		}
	}
	return out
}

// CallbacksUnverified is the kind of the warning that the app secret is not
// known.
const CallbacksUnverified = "callbacks.unverified"

// Inspect warns if callbacks are refused because they cannot be verified.
func Inspect(s provider.Settings) []provider.Health {
	if signing, _ := Secrets(s); signing != "" {
		return nil
	}
	return []provider.Health{Lacking(CallbacksUnverified, "callbacks are refused because no app secret is known: set "+AppSecret+", or give the server the secret of the app for all references")}
}

// Lacking returns a warning that a feature does not work because a setting is
// missing.
func Lacking(kind, what string) provider.Health {
	return provider.Health{Raw: provider.Raw{ID: kind, Kind: kind}, Level: provider.HealthWarning, Code: provider.HealthCredentials, Detail: what}
}

// Trimmed returns settings without the white space around the values. It fails
// if a setting is missing or cannot be an id.
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

// Secrets returns the app secret and the token of the handshake.
func Secrets(s provider.Settings) (signing, verify string) {
	return strings.TrimSpace(s[AppSecret]), strings.TrimSpace(s[VerifyToken])
}
