// Run an implementation (Evaluate of another file) against the suite's line form: go run run.go textbook.go FOLDER
package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Entry is a document with its label or its score; in a list the score means nothing.
type Entry struct {
	Doc   string
	Value float64
}

// Case is one case; Queries are those of Judged in their order, and Listed says which rankings have no scores.
type Case struct {
	ID, Tolerance string
	Options       map[string]string
	Queries       []string
	Judged, Run   map[string][]Entry
	Listed        map[string]bool
	Expected      map[string]float64
}

func number(text string) float64 {
	value, _ := strconv.ParseFloat(text, 64)
	return value
}

func entries(words []string, step int) []Entry {
	found := []Entry{}
	for i := 0; i+step <= len(words); i += step {
		found = append(found, Entry{words[i], number(words[i+step-1])})
	}
	return found
}

func parse(block string) Case {
	c := Case{Options: map[string]string{}, Judged: map[string][]Entry{}, Run: map[string][]Entry{},
		Listed: map[string]bool{}, Expected: map[string]float64{}}
	for _, line := range strings.Split(block, "\n") {
		words := strings.Split(line, "\t")
		switch words[0] {
		case "case":
			c.ID, c.Tolerance = words[1], words[2]
		case "options":
			for i := 2; i < len(words); i += 2 {
				c.Options[words[i-1]] = words[i]
			}
		case "judged":
			c.Queries, c.Judged[words[1]] = append(c.Queries, words[1]), entries(words[2:], 2)
		case "scores":
			c.Run[words[1]] = entries(words[2:], 2)
		case "list":
			c.Run[words[1]], c.Listed[words[1]] = entries(words[2:], 1), true
		case "parents":
			c.Options["parents"] = strings.Join(words[1:], "\t")
		case "expect":
			c.Expected[words[1]] = number(words[3]) // the hexadecimal form
		}
	}
	return c
}

func isClose(value, expected float64, tolerance string) bool {
	size := math.Abs(expected)
	within := map[string]float64{"last bit": math.Nextafter(size, 2*size+1) - size, "1e-12": 1e-12 * math.Max(1, size)}
	return math.Abs(value-expected) <= within[tolerance] || (math.IsNaN(value) && math.IsNaN(expected))
}

func main() {
	names, _ := filepath.Glob(filepath.Join(os.Args[len(os.Args)-1], "*.txt"))
	total, claimed, failed := 0, 0, map[string]bool{}
	for _, name := range names {
		text, _ := os.ReadFile(name)
		for _, block := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
			c := parse(block)
			found := Evaluate(c)
			total++
			if found != nil {
				claimed++
			}
			for query, expected := range c.Expected {
				value, there := found[query]
				if found != nil && (!there || len(found) != len(c.Expected) || !isClose(value, expected, c.Tolerance)) {
					fmt.Printf("%s (%s) %s: %v, expected %v\n", c.ID, c.Tolerance, query, value, expected)
					failed[c.ID] = true
				}
			}
		}
	}
	fmt.Printf("go: %d of %d claimed cases passed, %d of %d not claimed\n", claimed-len(failed), claimed, total-claimed, total)
	if len(failed) > 0 {
		os.Exit(1)
	}
}
