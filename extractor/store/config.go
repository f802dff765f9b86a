package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/extractor"
	"github.com/trunklinehq/trunkline/extractor/entity"
	"github.com/trunklinehq/trunkline/extractor/intent"
)

// The kinds of extractors.
const (
	Regex  = "regex"  // config: [extractor.RegexConfig]
	Entity = "entity" // config: [EntityConfig]
	Intent = "intent" // config: [IntentConfig]
	AI     = "ai"     // config: [AIConfig]
)

// Limits of a config.
const (
	MaxConfig       = 8 << 20 // bytes of JSON
	maxTests        = 1000
	maxInstructions = 8000 // bytes
	maxModel        = 128
	maxLocale       = 35
)

// EntityConfig is the config of kind [Entity].
type EntityConfig struct {
	Types          []string         `json:"types,omitempty"`          // of [entity.Types]; optional with a dictionary
	Locale         string           `json:"locale,omitempty"`         // of the text, such as pt-BR; "": the writer's
	Region         string           `json:"region,omitempty"`         // of phone numbers without a country, such as BR; "": the writer's
	PossiblePhones bool             `json:"possiblePhones,omitempty"` // also numbers of a possible length that are not valid
	Dictionary     []entity.Entry   `json:"dictionary,omitempty"`     // words of the account's own
	Tests          []extractor.Test `json:"tests,omitempty"`
}

// IntentConfig is the config of kind [Intent].
type IntentConfig struct {
	Intents   []intent.Intent  `json:"intents"`
	Threshold *float64         `json:"threshold,omitempty"` // from 0 to 1; a less likely intent does not match; nil: 0.5
	Fallback  *Fallback        `json:"fallback,omitempty"`  // model for texts that match no intent; nil: none
	Tests     []extractor.Test `json:"tests,omitempty"`
}

const usualThreshold = 0.5

// Fallback configures the model that determines the intent of a message that no
// intent matches.
type Fallback struct {
	Model string `json:"model"` // provider/model
}

// AIConfig is the config of kind [AI].
type AIConfig struct {
	Model        string           `json:"model"` // provider/model
	Instructions string           `json:"instructions,omitempty"`
	Schema       json.RawMessage  `json:"schema"`         // JSON Schema of an object: its properties are the values
	When         string           `json:"when,omitempty"` // [Always], or [Missing] (also "")
	Tests        []extractor.Test `json:"tests,omitempty"`
}

// When to ask a model.
const (
	Always  = "always"
	Missing = "missing" // for values that the other extractors of the message have not found
)

// read decodes a config strictly: it refuses unknown members.
func read[T any](raw json.RawMessage) (T, error) {
	var c T
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(&c)
	var mistyped *json.UnmarshalTypeError
	switch {
	case err == nil:
		return c, nil
	case errors.As(err, &mistyped) && mistyped.Field != "":
		return c, &Invalid{Field: "config." + mistyped.Field, Message: "must not be of the type " + mistyped.Value}
	}
	if _, name, unknown := strings.Cut(err.Error(), "unknown field "); unknown {
		return c, &Invalid{Field: "config." + strings.Trim(name, `"`), Message: "is unknown"}
	}
	return c, &Invalid{Field: "config", Message: "must be an object with the members of its kind"}
}

// ready compiles the config of an extractor.
func ready(e Extractor) (*compiled, error) {
	if len(e.Config) > MaxConfig {
		return nil, &Invalid{Field: "config", Message: fmt.Sprintf("must have at most %d bytes", MaxConfig)}
	}
	if bytes.Contains(e.Config, []byte(`\u0000`)) {
		return nil, &Invalid{Field: "config", Message: "must not hold zero bytes"}
	}
	c := &compiled{Extractor: e}
	var err error
	switch e.Kind {
	case Regex:
		err = c.readRegex()
	case Entity:
		err = c.readEntity()
	case Intent:
		err = c.readIntent()
	case AI:
		err = c.readAI()
	default:
		return nil, &Invalid{Field: "kind", Message: "must be regex, entity, intent or ai"}
	}
	if err != nil {
		return nil, err
	}
	return c, c.checkTests()
}

func (c *compiled) readRegex() error {
	config, err := read[extractor.RegexConfig](c.Config)
	if err != nil {
		return err
	}
	r, err := extractor.NewRegex(config)
	if err != nil {
		return inConfig(err)
	}
	c.regex, c.tests = r, config.Tests
	return nil
}

func (c *compiled) readEntity() error {
	config, err := read[EntityConfig](c.Config)
	if err != nil {
		return err
	}
	if len(config.Types)+len(config.Dictionary) == 0 {
		return &Invalid{Field: "config.types", Message: "must have at least one type"}
	}
	for i, t := range config.Types {
		if !slices.Contains(entity.Types(), t) {
			return &Invalid{Field: fmt.Sprintf("config.types[%d]", i), Message: "must be one of " + strings.Join(entity.Types(), ", ")}
		}
	}
	if slices.Contains(config.Types, entity.Dictionary) && len(config.Dictionary) == 0 {
		return &Invalid{Field: "config.dictionary", Message: "must have at least one value for the type dictionary"}
	}
	if len(config.Locale) > maxLocale || len(config.Region) > maxLocale {
		return &Invalid{Field: "config.locale", Message: "must be a locale such as pt-BR, and region one such as BR"}
	}
	o := &entity.Options{Types: config.Types, Locale: config.Locale, Region: config.Region, PossiblePhones: config.PossiblePhones}
	if len(config.Dictionary) > 0 {
		words, err := entity.NewDictionary(variable(c.Name), config.Dictionary)
		if err != nil {
			return inConfig(err)
		}
		o.Dictionaries = []*entity.WordList{words}
		if !slices.Contains(o.Types, entity.Dictionary) {
			o.Types = append(slices.Clone(o.Types), entity.Dictionary)
		}
	}
	c.entity, c.tests = o, config.Tests
	return nil
}

func (c *compiled) readIntent() error {
	config, err := read[IntentConfig](c.Config)
	if err != nil {
		return err
	}
	if err := intent.Check(config.Intents); err != nil {
		return inConfig(err)
	}
	for i, in := range config.Intents {
		if in.Name == intent.NoMatch || len(in.Name) > maxName {
			return &Invalid{Field: fmt.Sprintf("config.intents[%d].name", i), Message: "must have at most 200 bytes and not be " + intent.NoMatch}
		}
	}
	c.threshold = usualThreshold
	if t := config.Threshold; t != nil {
		if !(*t >= 0 && *t <= 1) {
			return &Invalid{Field: "config.threshold", Message: "must be between 0 and 1"}
		}
		c.threshold = *t
	}
	if f := config.Fallback; f != nil {
		if err := checkModel("config.fallback.model", f.Model); err != nil {
			return err
		}
		c.fallback = f.Model
	}
	for _, in := range config.Intents {
		c.intents = append(c.intents, in.Name)
	}
	c.tests = config.Tests
	return nil
}

func checkModel(field, model string) error {
	provider, name, ok := strings.Cut(model, "/")
	if !ok || provider == "" || name == "" || len(model) > maxModel {
		return &Invalid{Field: field, Message: "must be provider/model"}
	}
	return nil
}

// checkTests refuses tests that cannot be evaluated.
func (c *compiled) checkTests() error {
	if len(c.tests) > maxTests {
		return &Invalid{Field: "config.tests", Message: fmt.Sprintf("must be at most %d", maxTests)}
	}
	for i, t := range c.tests {
		if strings.TrimSpace(t.Text) == "" || len(t.Text) > entity.MaxText {
			return &Invalid{Field: fmt.Sprintf("config.tests[%d].text", i), Message: fmt.Sprintf("must have 1 to %d bytes", entity.MaxText)}
		}
	}
	return nil
}

// variable returns a name for a value: letters, digits and underscores.
func variable(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !isWord(r) })
	if len(words) == 0 {
		return entity.Dictionary
	}
	return strings.Join(words, "_")
}
