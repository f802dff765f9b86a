package mail_test

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"net"
	"net/textproto"
	"strings"

	"github.com/trunklinehq/trunkline/server/mail"
)

// A mail is handed to a server, here one that shows it.
func Example() {
	ctx := context.Background()
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	shown := make(chan string)
	go receive(l, shown)

	sender, err := mail.New("smtp://"+l.Addr().String()+"?from=chat@example.org", nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := sender.Send(ctx, "ana@example.org", "Hello", "Set a new password."); err != nil {
		log.Fatal(err)
	}
	fmt.Println(<-shown)
	// Output: <ana@example.org> Hello
}

// receive is a mail server that takes one mail (RFC 5321).
func receive(l net.Listener, shown chan<- string) {
	conn, err := l.Accept()
	if err != nil {
		return
	}
	defer conn.Close() //nolint:errcheck // the mail is over
	to, r := "", textproto.NewReader(bufio.NewReader(conn))
	_, _ = fmt.Fprint(conn, "220 example.org\r\n")
	for {
		line, err := r.ReadLine()
		switch {
		case err != nil:
			return
		case strings.HasPrefix(line, "RCPT TO:"):
			to = strings.TrimPrefix(line, "RCPT TO:")
		case line == "DATA":
			_, _ = fmt.Fprint(conn, "354 go on\r\n")
			header, _ := r.ReadMIMEHeader()
			_, _ = r.ReadDotBytes()
			defer func() { shown <- to + " " + header.Get("Subject") }()
		case line == "QUIT":
			_, _ = fmt.Fprint(conn, "221 bye\r\n")
			return
		}
		_, _ = fmt.Fprint(conn, "250 fine\r\n")
	}
}
