// A textbook implementation, written from the files of the suite alone: binary metrics, bpref, (n)DCG, RBP and ERR.
package main

import (
	"math"
	"sort"
	"strings"
)

const none = -1.0 // the label of a document without one

var names = strings.Fields(`num_ret num_rel num_rel_ret precision recall hit_rate recall_all mrr r_precision map dcg
	dcg_burges ndcg ndcg_burges relative_precision f1 bpref iprec rbp err`)

// The first is the default; "*" takes anything.
var choices = map[string][]string{
	"name": names, "k": {"*"}, "rel_level": {"*"}, "max_depth": {"*"}, "judged_only": {"*"},
	"ties": {"trec", "doc_id_asc", "input"}, "queries": {"qrels", "intersection", "strict"},
	"duplicates": {"once", "first"}, "score_dtype": {"float64", "float32"}, "exclude": {"query_id"},
	"gain": {"linear", "exp2", "binary"}, "discount": {"log2", "jk2"}, "empty": {"zero", "one", "skip", "nan"},
	"ideal": {"judged", "retrieved", "num_ret", "full"}, "ap_norm": {"R", "min_kR", "hits", "min_nkR"},
	"recall_norm": {"R", "min_kR"}, "short_rankings": {"pad", "clip"}, "empty_ranking": {"zero", "skip"},
	"bpref_norm": {"min", "R", "min_nan"}, "negatives": {"skip", "nonrel"}, "rounding": {"v10", "v9"},
	"unranked": {"zero", "nan"}, "gains": {"binary", "raw", "scaled"}, "rbp_norm": {"infinite", "cwl"},
	"p": {"*"}, "recall": {"*"}, "max_grade": {"*"},
}

// Options by which NaN stays in the mean.
var stays = map[string]string{"empty": "nan", "bpref_norm": "min_nan", "unranked": "nan"}

func claims(options map[string]string) bool {
	for key, value := range options {
		known := false
		for _, choice := range choices[key] {
			known = known || choice == "*" || choice == value
		}
		if !known {
			return false
		}
	}
	return true
}

// Evaluate gives the value of each query, and their mean under "all"; nil for a case that is not claimed.
func Evaluate(c Case) map[string]float64 {
	if !claims(c.Options) {
		return nil
	}
	found, sum, count, keeps := map[string]float64{}, 0.0, 0.0, false
	for option, value := range stays {
		keeps = keeps || c.Options[option] == value
	}
	for _, query := range c.Queries {
		run, there := c.Run[query]
		if queries := c.Options["queries"]; !there && queries != "" && queries != "qrels" {
			continue
		}
		labels, judged := map[string]float64{}, []float64{}
		for _, entry := range c.Judged[query] {
			if entry.Value >= 0 || c.Options["negatives"] == "nonrel" {
				label := math.Max(entry.Value, 0)
				labels[entry.Doc], judged = label, append(judged, label)
			}
		}
		found[query] = value(ranked(query, run, c.Listed[query], labels, c.Options), judged, c.Options)
		if !math.IsNaN(found[query]) || keeps {
			sum, count = sum+found[query], count+1
		}
	}
	if strings.HasPrefix(c.Options["name"], "num_") {
		count = 1
	}
	found["all"] = sum / count
	return found
}

// The label at each rank.
func ranked(query string, run []Entry, listed bool, labels map[string]float64, options map[string]string) []float64 {
	rows := append([]Entry{}, run...)
	if options["score_dtype"] == "float32" {
		for i := range rows {
			rows[i].Value = float64(float32(rows[i].Value))
		}
	}
	sort.SliceStable(rows, func(i, j int) bool {
		a, b := rows[i], rows[j]
		if listed || a.Value != b.Value || options["ties"] == "input" {
			return !listed && a.Value > b.Value
		}
		return (a.Doc > b.Doc) == (options["ties"] != "doc_id_asc") && a.Doc != b.Doc
	})
	found, seen := []float64{}, map[string]bool{}
	for _, row := range rows {
		label, judged := labels[row.Doc]
		if (seen[row.Doc] && options["duplicates"] == "first") || (row.Doc == query && options["exclude"] != "") {
			continue
		}
		if !judged || seen[row.Doc] {
			label = none
		}
		seen[row.Doc], found = true, append(found, label)
	}
	if depth := options["max_depth"]; depth != "" {
		found = first(found, int(number(depth)))
	}
	if options["judged_only"] == "true" {
		kept := []float64{}
		for _, label := range found {
			if label != none {
				kept = append(kept, label)
			}
		}
		return kept
	}
	return found
}

func first(x []float64, k int) []float64 {
	if k > 0 && k < len(x) {
		return x[:k]
	}
	return x
}

func least(a, b int) int {
	if a < b {
		return a
	}
	return b
}

func over(a float64, b int) float64 {
	if b == 0 {
		return 0
	}
	return a / float64(b)
}

func gainsOf(labels []float64, gain string, level float64) []float64 {
	gains := make([]float64, len(labels))
	for i, label := range labels {
		switch {
		case label == none:
		case gain == "exp2":
			gains[i] = math.Pow(2, label) - 1
		case gain != "binary":
			gains[i] = label
		case label >= level:
			gains[i] = 1
		}
	}
	return gains
}

func dcg(values []float64, discount string) float64 {
	total := 0.0
	for i, value := range values {
		switch {
		case i == 0:
			total += value
		case discount == "jk2":
			total += value / math.Log2(float64(i+1))
		default:
			total += value / math.Log2(float64(i+2))
		}
	}
	return total
}

func value(x, judged []float64, options map[string]string) float64 {
	name, k, level, gain := options["name"], 0, 1.0, options["gain"]
	if options["k"] != "" {
		k = int(number(options["k"]))
	}
	if options["rel_level"] != "" {
		level = number(options["rel_level"])
	}
	if strings.HasSuffix(name, "burges") {
		gain = "exp2"
	}
	total, hits, inTotal, precisions, firstHit := 0, 0, 0, 0.0, 0
	for _, label := range judged {
		if label >= level {
			total++
		}
	}
	for i, label := range x {
		if label == none || label < level {
			continue
		}
		if i < total {
			inTotal++
		}
		if k == 0 || i < k {
			hits++
			precisions += float64(hits) / float64(i+1)
			if hits == 1 {
				firstHit = i + 1
			}
		}
	}
	best := gainsOf(judged, gain, level)
	worth := total > 0
	if strings.Contains(name, "dcg") {
		worth = false
		for _, value := range best {
			worth = worth || value > 0
		}
	}
	if options["empty_ranking"] == "skip" && len(x) == 0 {
		return math.NaN()
	}
	if empty := options["empty"]; !worth && empty != "" && empty != "zero" {
		return map[string]float64{"one": 1, "skip": math.NaN(), "nan": math.NaN()}[empty]
	}
	shown, atMost := first(x, k), total
	if k > 0 {
		atMost = least(k, total)
	}
	switch name {
	case "relative_precision":
		return over(float64(hits), least(len(first(x, k))+padding(x, k), total))
	case "f1":
		return over(2*float64(hits), len(first(x, k))+padding(x, k)+total)
	case "bpref":
		return bpref(x, total, len(judged)-total, level, options["bpref_norm"])
	case "iprec":
		return iprec(x, total, level, options)
	case "rbp":
		return rbp(shown, judged, level, options)
	case "err":
		return err(shown, setting(options, "max_grade", 4))
	case "map":
		norms := map[string]int{"": total, "R": total, "min_kR": atMost, "hits": hits, "min_nkR": least(len(x), atMost)}
		return over(precisions, norms[options["ap_norm"]])
	case "precision":
		if len(x) == 0 || k == 0 || options["short_rankings"] == "clip" {
			return over(float64(hits), len(shown))
		}
		return over(float64(hits), k)
	case "recall":
		if options["recall_norm"] == "min_kR" {
			return over(float64(hits), atMost)
		}
		return over(float64(hits), total)
	case "r_precision":
		return over(float64(inTotal), total)
	case "mrr":
		return over(1, firstHit)
	case "hit_rate":
		return float64(least(hits, 1))
	case "recall_all":
		if total > 0 && hits == total {
			return 1
		}
		return 0
	case "num_ret":
		return float64(len(x))
	case "num_rel":
		return float64(total)
	case "num_rel_ret":
		return float64(hits)
	}
	gained := dcg(gainsOf(shown, gain, level), options["discount"])
	if !strings.HasPrefix(name, "n") {
		return gained
	}
	length := len(x)
	if k > 0 {
		length = k
	}
	if options["ideal"] == "retrieved" {
		best = gainsOf(x, gain, level)
	}
	sort.Sort(sort.Reverse(sort.Float64Slice(best)))
	switch {
	case options["ideal"] == "full" && len(best) > 0:
		top := best[0]
		best = make([]float64, length)
		for i := range best {
			best[i] = top
		}
	case options["ideal"] == "num_ret":
		best = best[:least(least(length, len(x)), len(best))]
	default:
		best = first(best, k)
	}
	if top := dcg(best, options["discount"]); top > 0 {
		return gained / top
	}
	return 0
}

// The number of an option.
func setting(options map[string]string, name string, usual float64) float64 {
	if options[name] == "" {
		return usual
	}
	return number(options[name])
}

// How many documents a ranking lacks to the cutoff.
func padding(x []float64, k int) int {
	if k > len(x) {
		return k - len(x)
	}
	return 0
}

func bpref(x []float64, total, others int, level float64, norm string) float64 {
	worst := least(total, others)
	if norm == "R" {
		worst = total
	}
	above, found := 0, 0.0
	for _, label := range x {
		switch {
		case label == none:
		case label < level:
			above++
		case above > 0 || norm == "min_nan":
			found += 1 - float64(least(above, total))/float64(worst)
		default:
			found++
		}
	}
	return over(found, total)
}

func iprec(x []float64, total int, level float64, options map[string]string) float64 {
	share := setting(options, "recall", 0) * float64(total)
	needed := int(math.Floor(share + 0.5))
	if options["rounding"] == "v9" {
		needed = int(math.Floor(share + 0.9))
	}
	if len(x) == 0 && needed == 0 && options["unranked"] == "nan" {
		return math.NaN()
	}
	hits, best := 0, 0.0
	for i, label := range x {
		if label != none && label >= level {
			hits++
			if hits >= needed {
				best = math.Max(best, float64(hits)/float64(i+1))
			}
		}
	}
	return best
}

func rbp(shown, judged []float64, level float64, options map[string]string) float64 {
	p, most, all, weight, seen := setting(options, "p", 0.8), 1e-9, 1.0, 1.0, 0.0
	for _, label := range judged {
		most = math.Max(most, label)
	}
	if options["rbp_norm"] == "cwl" {
		shown, all = first(shown, 1000), 1-math.Pow(p, 1000)
	}
	for _, label := range shown {
		switch {
		case label == none:
		case options["gains"] == "raw":
			seen += label * weight
		case options["gains"] == "scaled":
			seen += label / most * weight
		case label >= level:
			seen += weight
		}
		weight *= p
	}
	return seen * (1 - p) / all
}

func err(shown []float64, maxGrade float64) float64 {
	going, found := 1.0, 0.0
	for i, label := range shown {
		stops := (math.Pow(2, math.Max(label, 0)) - 1) / math.Pow(2, maxGrade)
		found += going * stops / float64(i+1)
		going *= 1 - stops
	}
	return found
}
