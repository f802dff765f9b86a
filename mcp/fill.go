package mcp

import "reflect"

// fill makes nil slices and maps of a result empty, since the types of its schema
// do not include null. It changes copies, because a handler may keep what it
// returned.
func (s *shape) fill(v reflect.Value) {
	if !s.lists {
		return
	}
	if v.Kind() == reflect.Pointer {
		if !v.IsNil() {
			own := reflect.New(v.Type().Elem())
			own.Elem().Set(v.Elem())
			s.fill(own.Elem())
			v.Set(own)
		}
		return
	}
	switch s.kind {
	case kindObject:
		for _, f := range s.fields {
			f.shape.fill(v.FieldByIndex(f.index))
		}
	case kindArray:
		if v.IsNil() || s.elem.lists {
			own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(own, v)
			for i := range own.Len() {
				s.elem.fill(own.Index(i))
			}
			v.Set(own)
		}
	case kindMap:
		if v.IsNil() || s.elem.lists {
			s.fillMap(v)
		}
	default:
	}
}

func (s *shape) fillMap(v reflect.Value) {
	own := reflect.MakeMapWithSize(v.Type(), v.Len())
	for entry := v.MapRange(); entry.Next(); {
		value := reflect.New(v.Type().Elem()).Elem()
		value.Set(entry.Value())
		s.elem.fill(value)
		own.SetMapIndex(entry.Key(), value)
	}
	v.Set(own)
}
