package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vssgp/vssgp"
)

// appendJSON appends v as encoding/json writes it, but for what results hold: a
// number that is not finite is null, a duration is in seconds, the terms of a bound
// are an object in their own order, and fields without a json tag are left out.
func appendJSON(b []byte, v reflect.Value) []byte {
	if !v.IsValid() {
		return append(b, "null"...)
	}
	switch x := v.Interface().(type) {
	case time.Duration:
		return appendNumber(b, x.Seconds())
	case []vssgp.Term:
		return appendList(b, "{}", len(x), func(b []byte, i int) []byte { return appendNumber(appendKey(b, x[i].Name), x[i].Value) })
	case map[string]any:
		keys := slices.Sorted(maps.Keys(x))
		return appendList(b, "{}", len(x), func(b []byte, i int) []byte { return appendJSON(appendKey(b, keys[i]), reflect.ValueOf(x[keys[i]])) })
	}
	switch v.Kind() {
	case reflect.Float64:
		return appendNumber(b, v.Float())
	case reflect.Pointer, reflect.Interface:
		return appendJSON(b, v.Elem())
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.IsNil() {
			return append(b, "null"...)
		}
		return appendList(b, "[]", v.Len(), func(b []byte, i int) []byte { return appendJSON(b, v.Index(i)) })
	case reflect.Struct:
		return appendStruct(b, v)
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v.Interface()); err != nil {
		panic("print JSON: " + err.Error())
	}
	return append(b, bytes.TrimSuffix(text.Bytes(), []byte("\n"))...)
}

func appendStruct(b []byte, v reflect.Value) []byte {
	var fields []reflect.Value
	var names []string
	for _, f := range reflect.VisibleFields(v.Type()) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		value := v.FieldByIndex(f.Index)
		list := value.Kind() == reflect.Slice || value.Kind() == reflect.Map
		if options == "omitempty" && (value.IsZero() || list && value.Len() == 0) {
			continue
		}
		fields, names = append(fields, value), append(names, name)
	}
	return appendList(b, "{}", len(fields), func(b []byte, i int) []byte { return appendJSON(appendKey(b, names[i]), fields[i]) })
}

// appendList appends n items with commas between, in brackets.
func appendList(b []byte, brackets string, n int, item func(b []byte, i int) []byte) []byte {
	b = append(b, brackets[0])
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = item(b, i)
	}
	return append(b, brackets[1])
}

func appendKey(b []byte, key string) []byte { return append(strconv.AppendQuote(b, key), ':') }

// appendNumber appends the shortest text that reads back as the same float64.
func appendNumber(b []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}
