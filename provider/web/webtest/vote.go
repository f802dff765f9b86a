package webtest

import (
	"context"
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

// Vote votes in a poll that the phone got, for options by their names; none
// takes the vote back. Only who has the poll can read the vote.
func (p *Phone) Vote(ctx context.Context, poll *Message, options ...string) (id string, err error) {
	secret := poll.Content.GetMessageContextInfo().GetMessageSecret()
	if len(secret) == 0 {
		return "", errors.New("webtest: the message is no poll")
	}
	author, voter := poll.From.ToNonAD(), p.form(poll.From, 0)
	key := &waCommon.MessageKey{RemoteJID: proto.String(author.String()), FromMe: proto.Bool(false), ID: &poll.ID}
	to := author
	if poll.Chat.Server == types.GroupServer {
		to = poll.Chat
		key.RemoteJID, key.Participant = proto.String(to.String()), proto.String(author.String())
	}
	vote, err := proto.Marshal(&waE2E.PollVoteMessage{SelectedOptions: whatsmeow.HashPollOptions(options)})
	if err != nil {
		return "", err
	}
	sealed, err := sealVote(secret, poll.ID, author, voter, vote)
	if err != nil {
		return "", fmt.Errorf("webtest: encrypting a vote: %w", err)
	}
	return p.Send(ctx, Outgoing{To: to, Message: &waE2E.Message{PollUpdateMessage: &waE2E.PollUpdateMessage{
		PollCreationMessageKey: key, Vote: sealed, SenderTimestampMS: proto.Int64(time.Now().UnixMilli()),
	}}})
}

func sealVote(secret []byte, poll string, author, voter types.JID, vote []byte) (*waE2E.PollEncValue, error) {
	key, err := hkdf.Key(sha256.New, secret, nil, poll+author.String()+voter.String()+string(whatsmeow.EncSecretPollVote), 32)
	if err != nil {
		return nil, err
	}
	gcm, err := newGCM(key)
	if err != nil {
		return nil, err
	}
	iv := make([]byte, gcm.NonceSize())
	_, _ = rand.Read(iv) // never fails
	return &waE2E.PollEncValue{EncPayload: gcm.Seal(nil, iv, vote, []byte(poll+"\x00"+voter.String())), EncIV: iv}, nil
}
