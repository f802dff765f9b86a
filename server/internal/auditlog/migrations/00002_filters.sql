-- +goose Up
-- Each filter finds its entries without reading the others.
CREATE INDEX auditlog_entry_user ON auditlog_entry (account, user_id, id);
CREATE INDEX auditlog_entry_action ON auditlog_entry (account, action, id);
CREATE INDEX auditlog_entry_kind ON auditlog_entry (account, kind, id);
CREATE INDEX auditlog_entry_type ON auditlog_entry (account, object_type, id);
CREATE INDEX auditlog_entry_reference ON auditlog_entry (account, reference_id, id) WHERE reference_id <> 0;
