package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/scenario"
	"github.com/stormglass/stormglass/scenario/document"
)

const paramsIntro = "\n## Parameters of presets\n\n" +
	"What `params` may hold beside `preset`: the library's settings in snake case, with the library's defaults. A percent is written `40%` or `40`, a ratio\n" +
	"`40%` or `0.4`. A bare number between 0 and 1 as a percent, or above 1 as a ratio, is refused, since it may be meant either way; other numbers take no\n" +
	"percent sign. Mappings are written as they are shown: `params: {wait_in_open_state: {initial_interval: 5s, multiplier: 2}}`.\n"

var kindTitles = map[string]string{"breaker": "breakers", "budget": "budgets", "backoff": "back-offs"}

// A row is a parameter that is no mapping, written with the mappings it is in.
type row struct {
	key string
	document.Param
}

func rows(params []document.Param, before, after string) (all []row) {
	for _, p := range params {
		if p.Inner == nil {
			all = append(all, row{before + p.Key + after, p})
		}
		all = append(all, rows(p.Inner, before+p.Key+": {", "}"+after)...)
	}
	return all
}

// A family is the presets that have the same parameters.
type family struct {
	names []string
	rows  [][]row // of each
}

// writeParams writes a table for each family. What a parameter means is said by
// the comments of the sources below root.
func writeParams(b *strings.Builder, root string) error {
	b.WriteString(paramsIntro)
	var titles []string
	families := make(map[string]*family)
	without := make(map[string][]string)
	for _, p := range scenario.Presets() {
		list := rows(p.Params, "", "")
		if len(list) == 0 {
			without[p.Of] = append(without[p.Of], "`"+p.Name+"`")
			continue
		}
		title := p.Of
		for _, r := range list {
			title += fmt.Sprint(" ", r.Owner, r.key)
		}
		if families[title] == nil {
			families[title] = &family{}
			titles = append(titles, title)
		}
		f := families[title]
		f.names, f.rows = append(f.names, "`"+p.Name+"`"), append(f.rows, list)
	}
	sources, last := make(sources), ""
	for _, title := range titles {
		if of, _, _ := strings.Cut(title, " "); of != last {
			fmt.Fprintf(b, "\n### params of %s\n", kindTitles[of])
			if last = of; len(without[of]) > 0 {
				fmt.Fprintf(b, "\n%s: no parameters.\n", strings.Join(without[of], ", "))
			}
		}
		if err := families[title].write(b, root, sources); err != nil {
			return err
		}
	}
	return nil
}

func (f *family) write(b *strings.Builder, root string, sources sources) error {
	fmt.Fprintf(b, "\n%s:\n\n| key | value | default | meaning |\n|---|---|---|---|\n", strings.Join(f.names, ", "))
	keys := make(map[string]string)
	for _, r := range f.rows[0] {
		keys[r.Field] = document.ParamKey(r.Field)
	}
	for i, r := range f.rows[0] {
		s, err := sources.of(root, r.Owner)
		if err != nil {
			return err
		}
		doc, values := s.describe(r.Owner.Name(), r.Field, keys)
		if doc == "" {
			return fmt.Errorf("%v.%s has no comment", r.Owner, r.Field)
		}
		kind := f.told(i, document.Param.Type)
		if len(values) > 0 {
			kind = strings.Join(values, ", ")
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", r.key, kind, f.told(i, document.Param.Text), doc)
	}
	return nil
}

// told is a fact about a parameter, with the presets that it is true of if it
// is not the same for all.
func (f *family) told(i int, fact func(document.Param) string) string {
	var texts []string
	names := make(map[string][]string)
	for k, list := range f.rows {
		text := fact(list[i].Param)
		if text == "" {
			text = "–"
		}
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
		names[text] = append(names[text], f.names[k])
	}
	if len(texts) == 1 {
		return texts[0]
	}
	for k, text := range texts {
		texts[k] = fmt.Sprintf("%s (%s)", text, strings.Join(names[text], ", "))
	}
	return strings.Join(texts, ", ")
}
