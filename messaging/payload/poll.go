package payload

import "slices"

// Poll is a question with answers to tick, or a vote on one.
type Poll struct {
	Question  string       `json:"question"`
	Options   []string     `json:"options" nullable:"false" minItems:"1"`
	Multiple  bool         `json:"multiple"`
	MessageID string       `json:"messageId,omitempty" doc:"Of a vote: id of the message with the poll."`
	Selected  []string     `json:"selected,omitempty" nullable:"false" doc:"Of a vote: the options that are selected now. Absent if the vote was withdrawn."`
	Results   []PollResult `json:"results,omitempty" nullable:"false" doc:"Of a poll, in records: its options with the votes until now. Absent before the first vote."`
}

// PollResult is an option of a poll with its votes.
type PollResult struct {
	Option string   `json:"option"`
	Votes  int64    `json:"votes" doc:"Number of people who select it now."`
	Voters []string `json:"voters" nullable:"false" doc:"The remoteJid of each person who selects it now, in the order of the votes."`
}

// Count counts what a voter selects instead of what the voter has selected
// before. names are those under which the voter may have been counted; the
// first is the present one.
func (p *Poll) Count(names, selected []string) {
	if p.Results == nil {
		for _, o := range p.Options {
			p.Results = append(p.Results, PollResult{Option: o})
		}
	}
	for i := range p.Results {
		r := &p.Results[i]
		r.Voters = slices.DeleteFunc(append([]string{}, r.Voters...), func(v string) bool { return slices.Contains(names, v) })
		if slices.Contains(selected, r.Option) {
			r.Voters = append(r.Voters, names[0])
		}
		r.Votes = int64(len(r.Voters))
	}
}

// Counts reports whether a voter is counted under one of the names.
func (p *Poll) Counts(names []string) bool {
	return slices.ContainsFunc(p.Results, func(r PollResult) bool {
		return slices.ContainsFunc(r.Voters, func(v string) bool { return slices.Contains(names, v) })
	})
}

// IsVote reports whether p is a vote on a poll.
func (p *Poll) IsVote() bool { return p != nil && p.MessageID != "" }
