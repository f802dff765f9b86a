package provider

import "context"

// Defaulter is a Provider with values for all references that have none of
// their own, as the operator has set them.
type Defaulter interface {
	// Defaults returns the values by the names that [Provider.Settings] lists.
	Defaults() Settings
}

// Completer is a Provider that asks its network for settings that a reference
// lacks.
type Completer interface {
	// Complete returns the settings that s lacks and that the network tells.
	// It is nil, and the network is not asked, when s lacks nothing. What it
	// returns also proves that the credentials of s may read the ids of s. It
	// fails when the network does not tell.
	Complete(ctx context.Context, s Settings) (Settings, error)
}

// Inspector is a Provider that knows what a reference cannot do with the
// settings that it has.
type Inspector interface {
	// Inspect returns a warning for each such thing. It does no I/O.
	Inspect(s Settings) []Health
}

// With returns the settings with those of defaults for names that have no
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
