-- +goose Up
-- the contacts of an account are counted, and its groups found, without reading chats
CREATE INDEX messaging_chat_contact ON messaging_chat (reference) WHERE NOT is_group;
CREATE INDEX messaging_chat_group ON messaging_chat (reference) WHERE is_group;
