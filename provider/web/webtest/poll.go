package webtest

import (
	"cmp"
	"context"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"
)

// Ballot is a vote in a poll that a phone has received.
type Ballot struct {
	Poll    *Message
	Options []string // by name; none withdraws the vote
	// To is the number or LID of the poll's author, or the group, to which the
	// vote is sent; zero: as the poll was addressed. Author and Voter are the
	// ids with which the vote is encrypted; zero: as it is addressed.
	To, Author, Voter types.JID
	Nonce             []byte // damaged, if it has not 12 bytes; nil: a new one
	Damage            int    // see [Outgoing.Damage]
}

// PhonePolls votes in polls as a [Phone].
type PhonePolls struct{ p *Phone }

// Polls returns the polls of the phone.
func (p *Phone) Polls() PhonePolls { return PhonePolls{p} }

// Vote votes in a poll that the phone has received, for options by name: see
// [PhonePolls.Cast].
func (ps PhonePolls) Vote(ctx context.Context, poll *Message, options ...string) (id string, err error) {
	return ps.Cast(ctx, Ballot{Poll: poll, Options: options})
}

// Cast sends a vote. Only devices that have the poll can decrypt it.
func (ps PhonePolls) Cast(ctx context.Context, b Ballot) (id string, err error) {
	secret := secretOf(b.Poll)
	if len(secret) == 0 {
		return "", errors.New("webtest: the message is not a poll")
	}
	from := b.Poll.From.ToNonAD()
	author, voter, to := cmp.Or(b.Author, from), cmp.Or(b.Voter, ps.p.form(b.Poll.From, 0)), cmp.Or(b.To, from)
	key := &waCommon.MessageKey{RemoteJID: proto.String(author.String()), FromMe: proto.Bool(false), ID: &b.Poll.ID}
	if b.Poll.Chat.Server == types.GroupServer {
		to = b.Poll.Chat
		key.RemoteJID, key.Participant = proto.String(to.String()), proto.String(author.String())
	}
	vote, err := proto.Marshal(&waE2E.PollVoteMessage{SelectedOptions: whatsmeow.HashPollOptions(b.Options)})
	if err != nil {
		return "", err
	}
	sealed, err := sealVote(secret, b.Poll.ID, author, voter, vote)
	if err != nil {
		return "", fmt.Errorf("webtest: encrypting a vote: %w", err)
	}
	if b.Nonce != nil {
		sealed.EncIV = b.Nonce
	}
	return ps.p.Send(ctx, Outgoing{To: to, Damage: b.Damage, Message: &waE2E.Message{PollUpdateMessage: &waE2E.PollUpdateMessage{
		PollCreationMessageKey: key, Vote: sealed, SenderTimestampMS: proto.Int64(time.Now().UnixMilli()),
	}}})
}

// secretOf returns the key of the votes in a poll.
func secretOf(poll *Message) []byte { return poll.Content.GetMessageContextInfo().GetMessageSecret() }

// Open returns the names of the options that a vote in a poll chooses. The
// vote is a message that the phone has received. It is encrypted with the number
// of the voter if the poll names its author by number, else with the LID.
func (ps PhonePolls) Open(poll, vote *Message) ([]string, error) {
	update := vote.Content.GetPollUpdateMessage()
	author := poll.From.ToNonAD()
	ps.p.s.mu.Lock()
	from := ps.p.s.phone(vote.From)
	ps.p.s.mu.Unlock()
	if from == nil {
		return nil, fmt.Errorf("webtest: %s has no account", vote.From)
	}
	voter := from.form(author, 0)
	gcm, err := voteCipher(secretOf(poll), poll.ID, author, voter)
	if err != nil {
		return nil, err
	}
	plain, err := gcm.Open(nil, update.GetVote().GetEncIV(), update.GetVote().GetEncPayload(), voteData(poll.ID, voter))
	if err != nil {
		return nil, fmt.Errorf("webtest: decrypting a vote: %w", err)
	}
	var chosen waE2E.PollVoteMessage
	if err := proto.Unmarshal(plain, &chosen); err != nil {
		return nil, err
	}
	names := []string{}
	for _, o := range poll.Content.GetPollCreationMessage().GetOptions() {
		hash := whatsmeow.HashPollOptions([]string{o.GetOptionName()})[0]
		for _, h := range chosen.GetSelectedOptions() {
			if string(h) == string(hash) {
				names = append(names, o.GetOptionName())
			}
		}
	}
	return names, nil
}

func sealVote(secret []byte, poll string, author, voter types.JID, vote []byte) (*waE2E.PollEncValue, error) {
	gcm, err := voteCipher(secret, poll, author, voter)
	if err != nil {
		return nil, err
	}
	iv := make([]byte, gcm.NonceSize())
	_, _ = rand.Read(iv) // never fails
	return &waE2E.PollEncValue{EncPayload: gcm.Seal(nil, iv, vote, voteData(poll, voter)), EncIV: iv}, nil
}

// voteCipher returns the cipher of the votes of one voter in a poll.
func voteCipher(secret []byte, poll string, author, voter types.JID) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, secret, nil, poll+author.String()+voter.String()+string(whatsmeow.EncSecretPollVote), 32)
	if err != nil {
		return nil, err
	}
	return newGCM(key)
}

// voteData returns what a vote is authenticated with.
func voteData(poll string, voter types.JID) []byte { return []byte(poll + "\x00" + voter.String()) }
