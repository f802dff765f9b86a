package webtest

import (
	"context"
	"slices"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waWeb"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"
)

// handlePeer answers what a linked device asks its phone.
func (p *Phone) handlePeer(m *Message) {
	p.s.mu.Lock()
	d := p.s.device(m.From)
	p.s.mu.Unlock()
	asked := m.Content.GetProtocolMessage()
	var err error
	switch {
	case d == nil:
	case asked.GetAppStateSyncKeyRequest() != nil:
		_, err = p.ShareState(p.s.over, d)
	case p.opts.Resends && len(asked.GetPeerDataOperationRequestMessage().GetPlaceholderMessageResendRequest()) > 0:
		err = p.giveMessages(p.s.over, d, m.ID, asked.GetPeerDataOperationRequestMessage())
	}
	if err != nil {
		p.s.strange("%s cannot answer its device: %v", p.jid, err)
	}
}

// giveMessages gives a linked device those of the messages that the phone has.
func (p *Phone) giveMessages(ctx context.Context, d *Device, request string, asked *waE2E.PeerDataOperationRequestMessage) error {
	var results []*waE2E.PeerDataOperationRequestResponseMessage_PeerDataOperationResult
	for _, one := range asked.GetPlaceholderMessageResendRequest() {
		raw, err := p.webMessage(one.GetMessageKey())
		if err != nil {
			return err
		}
		if raw == nil {
			continue
		}
		results = append(results, &waE2E.PeerDataOperationRequestResponseMessage_PeerDataOperationResult{
			PlaceholderMessageResendResponse: &waE2E.PeerDataOperationRequestResponseMessage_PeerDataOperationResult_PlaceholderMessageResendResponse{
				WebMessageInfoBytes: raw,
			},
		})
	}
	if len(results) == 0 {
		return nil
	}
	_, err := p.sendProtocol(ctx, d, &waE2E.ProtocolMessage{
		Type: waE2E.ProtocolMessage_PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE.Enum(),
		PeerDataOperationRequestResponseMessage: &waE2E.PeerDataOperationRequestResponseMessage{
			PeerDataOperationRequestType: asked.PeerDataOperationRequestType, StanzaID: &request, PeerDataOperationResult: results,
		},
	})
	return err
}

// webMessage is a message that the phone has, in the form of its history; nil
// when it has not got it.
func (p *Phone) webMessage(key *waCommon.MessageKey) ([]byte, error) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	at := slices.IndexFunc(p.messages, func(m *Message) bool { return m.ID == key.GetID() && m.Content != nil })
	if at < 0 {
		return nil, nil
	}
	m := p.messages[at]
	info := &waWeb.WebMessageInfo{Key: key, Message: m.Content, MessageTimestamp: proto.Uint64(uint64(m.At.Unix()))}
	if sender := p.s.phone(m.From); sender != nil {
		info.PushName = proto.String(sender.opts.Name)
	}
	if m.Chat.Server == types.GroupServer {
		info.Participant = proto.String(m.From.ToNonAD().String())
	}
	return proto.Marshal(info)
}
