// Package treeout writes a tree as lines of text. It replaces github.com/gagliardetto/treeout, which solana-go needs to
// print transactions and which its author publishes without a licence. It is written from the calls that solana-go
// makes, and supports only those.
package treeout

import "strings"

// Branches is a node that can have children.
type Branches interface {
	// Child adds a child and returns it. Its text may have several lines.
	Child(text string) Branches
	// ParentFunc calls fill with this node and returns the node.
	ParentFunc(fill func(parent Branches)) Branches
}

// Tree is a node with its children.
type Tree struct {
	text     string
	children []*Tree
}

var _ Branches = (*Tree)(nil)

// New returns the root of a tree.
func New(text string) *Tree { return &Tree{text: text} }

// Child implements Branches.
func (t *Tree) Child(text string) Branches {
	below := New(text)
	t.children = append(t.children, below)
	return below
}

// ParentFunc implements Branches.
func (t *Tree) ParentFunc(fill func(parent Branches)) Branches {
	fill(t)
	return t
}

// String returns one line per line of the nodes' texts, indented by depth.
func (t *Tree) String() string {
	var out strings.Builder
	t.write(&out, "")
	return out.String()
}

func (t *Tree) write(out *strings.Builder, indent string) {
	for line := range strings.Lines(t.text) {
		out.WriteString(indent + strings.TrimSuffix(line, "\n") + "\n")
	}
	for _, below := range t.children {
		below.write(out, indent+"  ")
	}
}
