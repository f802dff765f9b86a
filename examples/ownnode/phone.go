package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/sandbox"
)

// talk sends each typed line from a contact's phone, and prints the answer.
func talk(ctx context.Context, chats *messaging.Service, line provider.ReferenceID, in io.Reader, out io.Writer) error {
	news, err := chats.For(messaging.OneAccount).Changes(ctx, line, "")
	if err != nil {
		return err
	}
	phone := sandbox.Phone{Inbox: chats, Reference: line, Name: "ana"}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		if _, err := phone.Write(ctx, provider.Text{Text: lines.Text()}); err != nil {
			return err
		}
		answer, err := delivered(ctx, news)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintln(out, ">", answer)
	}
	return nil
}

// delivered waits until an answer has arrived on the phone, and returns its text.
func delivered(ctx context.Context, news *messaging.ChangeStream) (string, error) {
	for {
		entries, err := news.Next(ctx, time.Minute)
		if err != nil {
			return "", err
		}
		for _, e := range entries {
			var m messaging.MessagePayload
			if e.Kind == "status" && json.Unmarshal(e.Data, &m) == nil && m.Status == "DELIVERED" {
				return m.Text, nil
			}
		}
	}
}
