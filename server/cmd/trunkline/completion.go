package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCommand prints a script with which a shell completes command lines.
type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (c completionCommand) run(_ context.Context, _ flags, to streams) error {
	var line commandLine
	words := wordsOf(parserOf(&line).Model.Node, "")
	return map[string]func(io.Writer, []wordList) error{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[c.Shell](to.out, words)
}

// wordList has the words that may follow a command.
type wordList struct {
	path     string // "user create"; "": the program
	commands []word
	flags    []word
	files    bool // its argument is the name of a file
}

// word is a command or a flag.
type word struct {
	text, help string
	values     []string // of a flag, if they are known
	file       bool     // its value is the name of a file
	takes      bool     // a value
}

// wordsOf returns the word lists of a command and its subcommands.
func wordsOf(n *kong.Node, path string) []wordList {
	l := wordList{path: path}
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			l.flags = append(l.flags, flagWord(f))
		}
	}
	for _, p := range n.Positional {
		l.files = l.files || p.Name == "file"
		for _, v := range p.EnumSlice() {
			if v != "" {
				l.commands = append(l.commands, word{text: v, help: p.Help})
			}
		}
	}
	below := []wordList{}
	for _, c := range n.Children {
		l.commands = append(l.commands, word{text: c.Name, help: c.Help})
		below = append(below, wordsOf(c, strings.TrimSpace(path+" "+c.Name))...)
	}
	return append([]wordList{l}, below...)
}

// flagWord describes a flag by the placeholder in its help.
func flagWord(f *kong.Flag) word {
	w := word{text: "--" + f.Name, help: f.Help, takes: !f.IsBool()}
	switch shown := f.PlaceHolder; {
	case strings.Contains(shown, "FILE"), strings.Contains(shown, "FOLDER"):
		w.file = true
	case shown == "LEVEL":
		w.values = []string{"debug", "info", "warn", "error"}
	case strings.Contains(shown, "|") && strings.ToLower(shown) == shown:
		w.values = strings.Split(shown, "|")
	}
	return w
}

// texts returns the texts of words, separated by spaces.
func texts(words []word) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.text
	}
	return strings.Join(out, " ")
}

// paths returns the commands that have subcommands, for the loop that finds the
// command of a line.
func paths(lists []wordList) []string {
	var out []string
	for _, l := range lists {
		if l.path != "" {
			out = append(out, l.path)
		}
	}
	return out
}

// valueFlags groups the flags with a value: those of files, those with known
// values, and the others.
func valueFlags(lists []wordList) (files, others []string, known []word) {
	seen := map[string]bool{}
	for _, l := range lists {
		for _, f := range l.flags {
			switch {
			case !f.takes || seen[f.text]:
			case f.file:
				files = append(files, f.text)
			case len(f.values) > 0:
				known = append(known, f)
			default:
				others = append(others, f.text)
			}
			seen[f.text] = true
		}
	}
	slices.Sort(files)
	slices.Sort(others)
	return files, others, known
}

func bashCompletion(w io.Writer, lists []wordList) error {
	files, others, known := valueFlags(lists)
	var b strings.Builder
	b.WriteString("# bash completion of trunkline: source <(trunkline completion bash)\n_trunkline() {\n")
	b.WriteString("\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path='' commands='' flags='' files=false i\n\tCOMPREPLY=()\n")
	fmt.Fprintf(&b, "\tcase $prev in\n\t%s) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n", strings.Join(files, "|"))
	for _, f := range known {
		fmt.Fprintf(&b, "\t%s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n", f.text, strings.Join(f.values, " "))
	}
	fmt.Fprintf(&b, "\t%s) return ;;\n\tesac\n", strings.Join(others, "|"))
	b.WriteString("\tfor ((i = 1; i < COMP_CWORD; i++)); do\n\t\tcase \"${path:+$path }${COMP_WORDS[i]}\" in\n")
	for _, p := range paths(lists) {
		fmt.Fprintf(&b, "\t\t'%s') path='%[1]s' ;;\n", p)
	}
	b.WriteString("\t\tesac\n\tdone\n\tcase $path in\n")
	for _, l := range lists {
		fmt.Fprintf(&b, "\t'%s') commands='%s' flags='%s' files=%t ;;\n", l.path, texts(l.commands), texts(l.flags), l.files)
	}
	b.WriteString(`	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$flags" -- "$cur"))
	elif $files; then
		COMPREPLY=($(compgen -f -- "$cur"))
	else
		COMPREPLY=($(compgen -W "$commands" -- "$cur"))
	fi
}
complete -o filenames -F _trunkline trunkline
`)
	_, err := io.WriteString(w, b.String())
	return err
}

func zshCompletion(w io.Writer, lists []wordList) error {
	files, others, known := valueFlags(lists)
	var b strings.Builder
	b.WriteString("#compdef trunkline\n# zsh completion of trunkline: trunkline completion zsh > \"${fpath[1]}/_trunkline\"\n_trunkline() {\n")
	b.WriteString("\tlocal path_ word\n\tlocal -a commands flags\n")
	fmt.Fprintf(&b, "\tcase ${words[CURRENT-1]} in\n\t(%s) _files; return ;;\n", strings.Join(files, "|"))
	for _, f := range known {
		fmt.Fprintf(&b, "\t(%s) compadd -- %s; return ;;\n", f.text, strings.Join(f.values, " "))
	}
	fmt.Fprintf(&b, "\t(%s) return ;;\n\tesac\n", strings.Join(others, "|"))
	b.WriteString("\tfor word in ${words[2,CURRENT-1]}; do\n\t\tcase \"${path_:+$path_ }$word\" in\n")
	for _, p := range paths(lists) {
		fmt.Fprintf(&b, "\t\t('%s') path_='%[1]s' ;;\n", p)
	}
	b.WriteString("\t\tesac\n\tdone\n\tcase $path_ in\n")
	for _, l := range lists {
		fmt.Fprintf(&b, "\t('%s')\n\t\tcommands=(%s)\n\t\tflags=(%s)\n", l.path, described(l.commands), described(l.flags))
		if l.files {
			b.WriteString("\t\t_files\n")
		}
		b.WriteString("\t\t;;\n")
	}
	b.WriteString("\tesac\n\t_describe command commands\n\t_describe flag flags\n}\n")
	b.WriteString("if [[ ${funcstack[1]} == _trunkline ]]; then _trunkline \"$@\"; else compdef _trunkline trunkline; fi\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// described returns words with their help in the format of zsh's _describe.
func described(words []word) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = "'" + w.text + ":" + strings.ReplaceAll(w.help, "'", "’") + "'"
	}
	return strings.Join(out, " ")
}

func fishCompletion(w io.Writer, lists []wordList) error {
	var b strings.Builder
	b.WriteString("# fish completion of trunkline: trunkline completion fish > ~/.config/fish/completions/trunkline.fish\n")
	b.WriteString("function __trunkline_at\n\tset -l path\n\tfor word in (commandline -opc)[2..]\n\t\tswitch (string join ' ' -- $path $word)\n\t\t\tcase")
	for _, p := range paths(lists) {
		fmt.Fprintf(&b, " '%s'", p)
	}
	b.WriteString("\n\t\t\t\tset -a path $word\n\t\tend\n\tend\n\ttest \"$path\" = \"$argv\"\nend\ncomplete -c trunkline -f\n")
	for _, l := range lists {
		at := fmt.Sprintf("complete -c trunkline -n \"__trunkline_at %s\"", l.path)
		if l.files {
			fmt.Fprintf(&b, "%s -F\n", at)
		}
		for _, c := range l.commands {
			fmt.Fprintf(&b, "%s -a %s -d '%s'\n", at, c.text, strings.ReplaceAll(c.help, "'", "’"))
		}
		for _, f := range l.flags {
			fmt.Fprintf(&b, "%s -l %s -d '%s'%s\n", at, strings.TrimPrefix(f.text, "--"), strings.ReplaceAll(f.help, "'", "’"), fishValue(f))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// fishValue returns the options with which fish completes a flag's value.
func fishValue(f word) string {
	switch {
	case !f.takes:
		return ""
	case f.file:
		return " -r -F"
	case len(f.values) > 0:
		return " -x -a '" + strings.Join(f.values, " ") + "'"
	}
	return " -x"
}
