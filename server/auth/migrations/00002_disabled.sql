-- +goose Up
ALTER TABLE auth_user ADD COLUMN disabled_us BIGINT NOT NULL DEFAULT 0; -- may not log in since then; 0: he may
