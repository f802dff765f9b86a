package llm

import (
	"fmt"
	"regexp"
	"strings"
)

// Models are the models of several providers under names of the form
// "provider/model".
type Models struct{ byProvider map[string]Model }

var providerName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

// NewModels returns the models of providers by the provider's name.
func NewModels(byProvider map[string]Model) (*Models, error) {
	m := &Models{byProvider: make(map[string]Model, len(byProvider))}
	for name, model := range byProvider {
		if !providerName.MatchString(name) {
			return nil, fmt.Errorf("llm: %q is not a valid name of a provider", name)
		}
		if model == nil {
			return nil, fmt.Errorf("llm: the model of %s is nil", name)
		}
		m.byProvider[name] = model
	}
	return m, nil
}

// Find returns the model for a name such as "openai/gpt-5", and the provider's name
// of it: "gpt-5". If there is no such provider the error has [CodeNoModel].
func (m *Models) Find(ref string) (Model, string, error) {
	provider, name, ok := strings.Cut(ref, "/")
	if ok && name != "" && m != nil {
		if model := m.byProvider[provider]; model != nil {
			return model, name, nil
		}
	}
	return nil, "", &Error{Code: CodeNoModel, Message: fmt.Sprintf("there is no model %q", ref), Provider: provider, Model: name}
}
