package provider

import "context"

// Defaulter is a Provider that has default values of settings, which the
// operator configures.
type Defaulter interface {
	// Defaults returns the values by the names that [Provider.Settings] lists.
	Defaults() Settings
}

// Completer is a Provider that can ask its network for missing settings of a
// reference.
type Completer interface {
	// Complete returns the settings that s does not have and the network knows.
	// It returns nil without asking the network if nothing is missing. If it
	// returns settings, the credentials of s are good for the ids of s. It
	// fails if the network does not know the settings.
	Complete(ctx context.Context, s Settings) (Settings, error)
}

// Inspector is a Provider that knows which features do not work with the
// settings of a reference.
type Inspector interface {
	// Inspect returns a warning for each such feature. It does no I/O.
	Inspect(s Settings) []Health
}

// With returns the settings, and those of defaults for names that have no
// value.
func (s Settings) With(defaults Settings) Settings {
	out := make(Settings, len(s)+len(defaults))
	for name, value := range defaults {
		out[name] = value
	}
	for name, value := range s {
		if value != "" {
			out[name] = value
		}
	}
	return out
}
