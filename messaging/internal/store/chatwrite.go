package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/trunklinehq/trunkline/internal/database"
)

func (u *Batch) writeAliases(ctx context.Context) error {
	slices.SortFunc(u.newAliases, compareNames)
	rows := nameRows(u.newAliases)
	for i, n := range u.newAliases {
		rows[i] = append(rows[i], u.Aliases[n])
	}
	err := u.Insert(ctx, `INSERT INTO messaging_alias (reference, kind, alias, chat)`, append(slices.Clip(chatNameTypes), "BIGINT"), rows, "")
	if err != nil {
		return fmt.Errorf("naming chats: %w", moved(err))
	}
	return nil
}

const (
	updateActivity = `UPDATE messaging_chat SET name = v.column2, biz_name = v.column3, unread = v.column4, handoff_us = v.column5,
		last_message = v.column6, activity_us = v.column7, activity_slot = v.column8, window_us = v.column9, updated_us = v.column10,
		username = v.column11, name_us = v.column12`
	sameChat = `messaging_chat.id = v.column1`
)

// ActivitySlot is the batch of activity_slot in microseconds.
const ActivitySlot = 600_000_000

var activityTypes = []string{"BIGINT", "TEXT", "TEXT", "BIGINT", "BIGINT", "BIGINT", "BIGINT", "BIGINT", "BIGINT", "BIGINT", "TEXT", "BIGINT"}

// activity writes what messages change of their chats.
func (u *Batch) activity() database.Rows {
	var rows [][]any
	for _, c := range u.ActiveChats.Items {
		if u.Chats[c.ID] == nil || u.DirtyChats.seen[c] {
			continue // merged away, or written as a whole
		}
		rows = append(rows, []any{
			c.ID, c.Name, c.BizName, c.Unread, c.HandoffUS, c.LastMessage, c.ActivityUS, c.ActivityUS / ActivitySlot, c.WindowUS,
			database.Micros(u.Now), c.Username, c.NameUS,
		})
	}
	return updating(updateActivity, activityTypes, rows, sameChat)
}

func (u *Batch) writeChats(ctx context.Context) error {
	var rows [][]any
	for _, c := range u.DirtyChats.Items {
		if u.Chats[c.ID] == nil {
			continue // merged away
		}
		rows = append(rows, []any{
			c.ID, c.ChatID, c.Phone, c.UserID, c.LID, c.Label, c.Name, c.BizName, c.Unread, c.BotActive, c.Variables, c.Tags, c.Fields,
			c.Language, c.OptedOut, c.HandoffUS, c.LastMessage, c.ActivityUS, c.ActivityUS / ActivitySlot, c.WindowUS,
			database.Micros(u.Now), c.Title, c.TitleUS, c.Username, c.NameUS, c.MovedUS, c.OptedUS, c.Taken, c.AskedUS, c.Asked, c.ActiveBot, c.PSID,
		})
	}
	err := u.update(ctx, `UPDATE messaging_chat SET chat_id = v.column2, phone = v.column3, user_id = v.column4, lid = v.column5,
		label = v.column6, name = v.column7, biz_name = v.column8, unread = v.column9, bot_active = v.column10, variables = v.column11,
		tags = v.column12, fields = v.column13, language = v.column14, opted_out = v.column15, handoff_us = v.column16,
		last_message = v.column17, activity_us = v.column18, activity_slot = v.column19, window_us = v.column20,
		updated_us = v.column21, title = v.column22, title_us = v.column23, username = v.column24, name_us = v.column25,
		moved_us = v.column26, opted_us = v.column27, taken = v.column28, asked_us = v.column29, asked = v.column30,
		active_bot = v.column31, psid = v.column32`,
		[]string{
			"BIGINT", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "BIGINT", "BOOLEAN", "TEXT", "TEXT", "TEXT",
			"TEXT", "BOOLEAN", "BIGINT", "BIGINT", "BIGINT", "BIGINT", "BIGINT", "BIGINT", "TEXT", "BIGINT", "TEXT", "BIGINT", "BIGINT", "BIGINT", "BOOLEAN", "BIGINT", "TEXT", "TEXT", "TEXT",
		}, rows, sameChat)
	if err != nil {
		return fmt.Errorf("updating chats: %w", moved(err))
	}
	return nil
}
