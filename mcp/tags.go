package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// rules parses the tags of a field.
func (s *shape) rules(tag reflect.StructTag) error {
	s.doc = tag.Get("doc")
	if list, ok := tag.Lookup("enum"); ok {
		if s.kind != kindString {
			return errors.New("enum is for texts")
		}
		s.enum = strings.Split(list, ",")
	}
	for name, to := range map[string]**float64{"minimum": &s.minimum, "maximum": &s.maximum} {
		if err := s.bound(tag, name, to); err != nil {
			return err
		}
	}
	for name, to := range map[string]*int{"minLength": &s.minLen, "maxLength": &s.maxLen} {
		if err := s.length(tag, name, to); err != nil {
			return err
		}
	}
	if text, ok := tag.Lookup("default"); ok {
		return s.setFallback(text)
	}
	return nil
}

func (s *shape) bound(tag reflect.StructTag, name string, to **float64) error {
	text, ok := tag.Lookup(name)
	if !ok {
		return nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || s.kind != kindInteger && s.kind != kindNumber {
		return fmt.Errorf("%s is a number, for numbers", name)
	}
	*to = &n
	return nil
}

func (s *shape) length(tag reflect.StructTag, name string, to *int) error {
	text, ok := tag.Lookup(name)
	if !ok {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || s.kind != kindString && s.kind != kindArray {
		return fmt.Errorf("%s is a number, for texts and slices", name)
	}
	*to = n
	return nil
}

// setFallback parses the tag of a default, which must satisfy the other tags.
func (s *shape) setFallback(text string) error {
	s.fallback = json.RawMessage(text)
	if s.kind == kindString {
		s.fallback, _ = json.Marshal(text) // encoding a text cannot fail
	}
	if !json.Valid(s.fallback) {
		return errors.New("default is not valid JSON")
	}
	d := &decoder{}
	if d.value(nil, s.fallback, s, reflect.New(s.typ).Elem()); len(d.details) > 0 {
		return fmt.Errorf("default %s", d.details[0].Message)
	}
	return nil
}
