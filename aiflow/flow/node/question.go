package node

import (
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// questionConfig asks, waits for the answer and understands it.
type questionConfig struct {
	Prompt       *messageConfig  `json:"prompt" doc:"What is asked, as in a message; without it the node only waits."`
	Expect       string          `json:"expect" default:"text" enum:"text,integer,number,phone,email,url,date,time,datetime,choice,boolean,location,image,file,any" doc:"What an answer is."`
	Choices      []choiceConfig  `json:"choices" max:"20" doc:"What can be chosen, with expect choice."`
	Fuzzy        float64         `json:"fuzzy" default:"0.85" min:"0.5" max:"1" doc:"How alike an answer and a choice must be; 1: the same but for case and accents."`
	Validate     flow.Expression `json:"validate" want:"boolean" scope:"answer" doc:"Must be true of answer, or it is invalid."`
	Min          flow.Data       `json:"min" doc:"The least number or earliest date; of text the fewest characters."`
	Max          flow.Data       `json:"max" doc:"The greatest number or latest date; of text the most characters."`
	Retries      int             `json:"retries" default:"2" min:"0" max:"10" doc:"How often it asks again after an invalid answer."`
	RetryMessage flow.Text       `json:"retryMessage" max:"4096" doc:"What it says then; without it the prompt is repeated."`
	Timeout      time.Duration   `json:"timeout" min:"PT10S" max:"P30D" doc:"How long it waits; without it the replyTimeout of the settings."`
	Debounce     time.Duration   `json:"debounce" default:"PT0S" max:"PT30S" doc:"How long it waits for further messages, which are joined to one answer."`
	SaveTo       string          `json:"saveTo" pattern:"variable" writes:"true" doc:"Variable that takes the answer."`
	CancelWords  []string        `json:"cancelWords" max:"10" itemMin:"1" itemMax:"64" doc:"Answers that leave through cancel."`
}

type choiceConfig struct {
	ID       string    `json:"id" required:"true" pattern:"id" doc:"Names the output choice:<id>, and is the answer's value."`
	Title    flow.Text `json:"title" max:"200" doc:"What the contact sees and may write; without it the id."`
	Synonyms []string  `json:"synonyms" max:"20" itemMin:"1" itemMax:"200" doc:"What else means it."`
}

func questionType() flow.NodeType {
	return flow.NodeType{
		Name: "question", Group: "talk", Text: "Asks, waits for the answer and checks it.",
		Outputs: []flow.Output{
			{Name: "out", Text: "a valid answer"},
			{Name: "choice:<id>", Text: "that choice (not wired: out)"},
			{Name: "invalid", Text: "no valid answer after all retries"},
			{Name: "timeout", Text: "no answer in time"},
			{Name: "cancel", Text: "one of the cancel words"},
			{Name: "error", Text: "the prompt could not be sent"},
		},
		Wait: "reply", Effect: "send",
		Errors: []string{"channel.window_closed", "channel.unsupported", "channel.rejected", "template.not_found"},
		Config: func() flow.Config { return &questionConfig{} },
	}
}

func (q *questionConfig) Outputs() []string {
	outs := []string{"out", "invalid", "timeout", "cancel", "error"}
	if q.Expect == "choice" {
		for _, c := range q.Choices {
			outs = append(outs, "choice:"+c.ID)
		}
	}
	return outs
}

func (q *questionConfig) Check(c *flow.Checker) {
	if q.Prompt != nil {
		q.Prompt.check(c, "prompt")
	}
	if q.Expect == "choice" {
		c.Need(len(q.Choices) > 0, "choices")
	} else if q.Choices != nil {
		c.Warn("question.unused", "choices are for expect choice", "", "choices")
	}
	titles := flow.NewOnce(c, "question.twice")
	for i, choice := range q.Choices {
		c.OwnID(choice.ID, "choices", i, "id")
		titles.Text("title", choice.Title, []any{"choices", i, "title"})
	}
	q.checkBounds(c)
	c.Saves(q.SaveTo, flow.AnswerTypes[q.Expect].Kind, "saveTo")
}

// measures are the answers that min and max bound, and how a bound is
// written.
var measures = map[string]string{
	"text": "integer", "integer": "number", "number": "number",
	"date": "date", "datetime": "datetime", "time": "clock",
}

func (q *questionConfig) checkBounds(c *flow.Checker) {
	for _, b := range []struct {
		name  string
		bound flow.Data
	}{{"min", q.Min}, {"max", q.Max}} {
		v, constant := b.bound.Constant()
		kind, bounded := measures[q.Expect]
		switch {
		case !b.bound.Present():
		case !bounded:
			c.Warn("question.unused", b.name+" bounds no answer of kind "+q.Expect, "", b.name)
		case constant && !isBound(v, kind):
			c.Problem("question.bound", "is no "+kind+" as an answer of kind "+q.Expect+" is measured by", "", b.name)
		}
	}
}

func isBound(v any, kind string) bool {
	if kind == "clock" {
		s, ok := v.(string)
		return ok && flow.Patterns["clock"].MatchString(s)
	}
	if _, text := v.(string); text && (kind == "number" || kind == "integer") {
		return false
	}
	v, err := flow.Conform(v, kind)
	return err == nil && v != nil
}

func (q *questionConfig) Expects() string { return q.Expect }
