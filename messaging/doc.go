// Package messaging is the domain of this module: references (connections to chat
// networks), their sessions, chats, messages and statuses. It stores what arrives,
// sends what is to be sent, and tells a [Sink] what happened, each in the
// transaction that makes it necessary: nothing is lost by a crash and nothing
// leaves twice.
//
// It speaks to networks through package provider and knows no HTTP route, no
// webhook and no bot.
//
// # A bot
//
// [Options].OnMessage is called for each message of a contact. Here the contact is a
// simulated one, who writes what you type:
//
//	ctx := context.Background()
//	db := sqldb.MustOpen(ctx, "sqlite://bot.db")
//	chats, err := messaging.New(ctx, db, &messaging.Options{
//		Providers: []provider.Provider{sandbox.New()},
//		OnMessage: func(ctx context.Context, m messaging.Message, reply *messaging.Replier) error {
//			return reply.Text(ctx, "You wrote: "+m.Text)
//		},
//	})
//	if err != nil {
//		log.Fatal(err)
//	}
//	go func() { log.Fatal(chats.Run(ctx)) }() // handles, sends, retries
//
//	shop, err := chats.For(messaging.OneAccount).References().Create(ctx, messaging.NewReference{Name: "Shop", Type: sandbox.Kind})
//	if err != nil {
//		log.Fatal(err)
//	}
//	ana := sandbox.Phone{Inbox: chats, Reference: shop.ID, Name: "ana"}
//	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
//		if _, err := ana.Write(ctx, provider.Text{Text: lines.Text()}); err != nil {
//			log.Fatal(err)
//		}
//	}
//
// # One account
//
// What belongs to one account is reached through [Service.For]; every query of
// the [Account] it returns carries the account. A program that serves a single
// owner uses [OneAccount]:
//
//	acc := chats.For(messaging.OneAccount)
//	ref, err := acc.References().Create(ctx, messaging.NewReference{Name: "Shop", Type: "provider-sandbox"})
//	sent, err := acc.Send(ctx, messaging.SendRequest{
//		Reference: ref.ID, ChatID: "ana@sandbox", Content: provider.Text{Text: "Hello"},
//	})
//
// Methods about references, sessions, templates, groups, contacts and simulated
// phones are in groups, as in acc.Sessions().Start(ctx, ref.ID).
//
// # What arrives
//
// Networks repeat themselves and keep no order. A message is stored once, its
// status only rises, and of two words about a contact (its names, its number,
// whether it wants to be written to) the later one counts, whichever came
// first: the same events in any order come to the same. A contact with a new
// number keeps its chat, to which the old number still leads. Where a network
// says up to when a contact has read, that holds for each own message that is
// not newer, stored before or after. Names are asked for where messages come
// without, and hold none of them up. Imported history is stored before all
// other messages of its chat, and makes no [Event].
//
// # Times and ids
//
// Times are [UnixTime]: a time.Time whose JSON is UNIX seconds. A message's id
// is the network's own wherever there is one; until then it is ours
// ("out-<uuid>"), which stays an alias for good.
package messaging
