package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
)

//go:embed assets
var assets embed.FS

var (
	style  = asset("page.css")
	script = "\"use strict\";\n" + asset("sound.js") + asset("engine.js") + asset("player.js") + asset("boot.js")
	policy = fmt.Sprintf("default-src 'none'; img-src data:; "+
		"style-src %s; script-src %s; base-uri 'none'; form-action 'none'", hash(style), hash(script))
)

// asset returns an embedded file.
func asset(name string) string {
	b, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // it is part of the program
	}
	return string(b)
}

// hash names a script or style for a content security policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

var templates = template.New("page")

func init() { // show uses templates
	template.Must(templates.Funcs(template.FuncMap{"show": show}).Parse(asset("page.html")))
}

// show writes a part by its template.
func show(p part) (template.HTML, error) {
	var b bytes.Buffer
	err := templates.ExecuteTemplate(&b, fmt.Sprintf("%T", p), p)
	return template.HTML(b.String()), err
}
