package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// unreadableVote is the kind of an unknown message that is a vote in a poll
// which is not stored.
const unreadableVote = "poll_vote"

// The largest poll whose votes are read. Apps allow 12 options of 100 characters.
const (
	maxOptions = 100      // a vote takes time in proportion to its square
	maxPoll    = 64 << 10 // bytes of question and options, which each vote repeats
)

// votedPoll is a poll in which an inbound event votes.
type votedPoll struct {
	payload.Poll
	chat int64
	seq  int64 // of its message; 0: the message is in the same batch
}

// readVotes gives votes their content: which options of which poll they choose.
// It runs after the chats are locked and before the messages are stored.
func readVotes(ctx context.Context, u *store.Batch, b *inboundBatch) error {
	var keys store.Ordered[store.MessageKey]
	for _, a := range b.as {
		if e, v := voteOf(a); e != nil {
			keys.Add(pollKey(a, v))
		}
	}
	if len(keys.Items) == 0 {
		return nil
	}
	var err error
	if b.polls, err = findPolls(ctx, u, b.as, keys.Items); err != nil {
		return err
	}
	b.as = slices.Clone(b.as)
	for i, a := range b.as {
		if e, v := voteOf(a); e != nil {
			poll := b.polls[pollKey(a, v)]
			if poll.chat != chatOf(u, a, e) {
				poll = votedPoll{}
			}
			b.as[i] = readVote(a, *e, v, poll.Poll)
		}
	}
	return nil
}

func chatOf(u *store.Batch, a Event, e *provider.Message) int64 {
	return u.ChatOf(store.Person{Reference: a.Reference, Address: e.Chat}).ID
}

// voteOf returns the message of an inbound event that is a vote, or nil.
func voteOf(a Event) (*provider.Message, provider.Vote) {
	e, _ := a.Event.(*provider.Message)
	if e == nil {
		return nil, provider.Vote{}
	}
	v, ok := e.Content.(provider.Vote)
	if !ok {
		return nil, provider.Vote{}
	}
	return e, v
}

func pollKey(a Event, v provider.Vote) store.MessageKey {
	return store.MessageKey{Reference: a.Reference.ID, ID: v.MessageID}
}

// findPolls finds the polls of locked chats that inbound events vote in. A poll
// may come together with votes in it.
func findPolls(ctx context.Context, u *store.Batch, as []Event, keys []store.MessageKey) (map[store.MessageKey]votedPoll, error) {
	out := map[store.MessageKey]votedPoll{}
	for _, a := range as {
		if e, ok := a.Event.(*provider.Message); ok {
			if p := PollIn(a.body); p != nil {
				out[store.MessageKey{Reference: a.Reference.ID, ID: e.ID}] = votedPoll{Poll: *p, chat: chatOf(u, a, e)}
			}
		}
	}
	at, err := u.Locate(ctx, keys)
	if err != nil {
		return nil, err
	}
	var seqs []int64
	for _, l := range at {
		if u.Chats[l.Chat] != nil && u.Messages[l.Seq] == nil {
			seqs = append(seqs, l.Seq)
		}
	}
	if err := u.Load(ctx, seqs); err != nil {
		return nil, err
	}
	for _, l := range at {
		if m := u.Messages[l.Seq]; m != nil {
			poll := out[l.MessageKey].Poll // of a message that can be read only now
			if p := PollIn(m.Body); p != nil {
				poll = *p
			}
			out[l.MessageKey] = votedPoll{Poll: poll, chat: m.Chat, seq: l.Seq}
		}
	}
	return out, nil
}

// PollIn returns the poll that a body asks, or nil.
func PollIn(body string) *payload.Poll {
	if !strings.Contains(body, `"poll":`) {
		return nil
	}
	var b struct{ Poll *payload.Poll }
	_ = json.Unmarshal([]byte(body), &b) // written by this package
	if b.Poll.IsVote() {
		return nil
	}
	return b.Poll
}

// readVote gives a vote its content. A vote that does not fit a stored poll
// becomes a message that cannot be shown.
func readVote(a Event, e provider.Message, v provider.Vote, poll payload.Poll) Event {
	options, fits := optionsOf(v, poll)
	if fits {
		v.Options, v.Hashes = options, nil
		e.Content = v
	} else {
		e.Content = provider.Unknown{Kind: unreadableVote}
	}
	body := bodyOf(&e)
	if e.Mine {
		body.Reply = nil // it answers nothing here
	}
	if fits {
		body.Poll.Question, body.Poll.Options, body.Poll.Multiple = poll.Question, poll.Options, poll.Multiple
	}
	a.Event, a.body = &e, text.Sanitize(string(jsonscan.WithoutNUL(payload.MustEncode(body))))
	return a
}

// optionsOf returns the names of the options that a vote chooses, in the order
// of the poll, or false if one of them is not an option of the poll, or if they
// are more than the poll allows: the voter's app may be any program.
func optionsOf(v provider.Vote, p payload.Poll) ([]string, bool) {
	chosen, names := max(len(v.Options), len(v.Hashes)), []string{}
	if isTooLarge(p) || chosen > len(p.Options) || chosen > 1 && !p.Multiple {
		return nil, false
	}
	for _, o := range p.Options {
		hash := sha256.Sum256([]byte(o))
		named := slices.Contains(v.Options, o)
		if named || slices.ContainsFunc(v.Hashes, func(h []byte) bool { return string(h) == string(hash[:]) }) {
			names = append(names, o)
		}
	}
	return names, len(p.Options) > 0 && len(names) >= chosen
}

func isTooLarge(p payload.Poll) bool {
	size := len(p.Question)
	for _, o := range p.Options {
		size += len(o)
	}
	return len(p.Options) > maxOptions || size > maxPoll
}

// countVote counts a vote among the results of its poll, instead of the voter's
// earlier vote. m is the message of the vote.
func countVote(u *store.Batch, b *inboundBatch, a Event, m *store.Message) {
	e, v := voteOf(a)
	if e == nil {
		return
	}
	key := pollKey(a, v)
	poll := u.Added[key]
	if in := b.polls[key]; in.seq != 0 {
		poll = u.Messages[in.seq]
	}
	if poll != nil && poll.Chat == m.Chat {
		CountVote(u, a.Reference, poll, voters(u.Chats[m.Chat], e), v.Options)
	}
}

// CountVote counts what a voter chooses among the results of a poll, and shows
// the poll on the stream. names are those of the voter: see [payload.Poll.Count].
func CountVote(u *store.Batch, l store.ReferenceInfo, poll *store.Message, names, selected []string) {
	var body payload.Body
	_ = json.Unmarshal([]byte(poll.Body), &body) // written by this package
	if body.Poll == nil {
		return
	}
	body.Poll.Count(names, selected)
	poll.Body = string(payload.MustEncode(body))
	u.Rewritten.Add(poll)
	u.Publish(l.Account, poll.Reference, string(payload.EventMessage), poll.Record(payload.MustEncode(poll.Head(u.Chats[poll.Chat]))))
}

// voters returns the names under which a voter may have been counted. The first
// is the present one.
func voters(c *store.Chat, e *provider.Message) []string {
	who := e.From.Address
	if !e.Mine && !c.IsGroup {
		who = c.Address()
	}
	names := []string{who.RemoteJID()}
	if who.LID != "" {
		names = append(names, provider.Address{LID: who.LID, ChatID: who.LID + "@lid"}.RemoteJID())
	}
	return names
}
