package web_test

import "go.mau.fi/whatsmeow/proto/waE2E"

func textMessage(words string) *waE2E.Message { return &waE2E.Message{Conversation: &words} }
