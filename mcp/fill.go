package mcp

import "reflect"

// fill makes slices and maps of a result that are nil empty: null is none of
// the types that its schema speaks of.
func (s *shape) fill(v reflect.Value) {
	if !s.lists {
		return
	}
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	switch s.kind {
	case kindObject:
		for _, f := range s.fields {
			f.shape.fill(v.FieldByIndex(f.index))
		}
	case kindArray:
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		for i := range v.Len() {
			s.elem.fill(v.Index(i))
		}
	case kindMap: // its values cannot be set
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
	default:
	}
}
